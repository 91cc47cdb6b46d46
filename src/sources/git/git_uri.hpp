/// Addresses of repository contents: parsing and writing `git://` URIs, their query parameters and templates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/resource.hpp>

namespace hondana::git {

/// What can be looked at in a repository.
enum class topic : std::uint8_t {
  overview,
  branches,
  tags,
  log,
  commit,
  tree,
  blob,
  diff,
  blame,
  history,
  stashes,
  worktrees,
  changes,
};

/// As it stands in URIs, which is the name of the kind, too.
[[nodiscard]] std::string_view name_of(topic what) noexcept;

/// Lines of a file, from 1, both ends included; without `last`: to the end.
struct line_range {
  std::size_t first = 1;
  std::optional<std::size_t> last{};

  bool operator==(const line_range&) const = default;
};

/// One resource. What a topic has no use for is left empty.
struct address {
  std::string repo;
  topic what = topic::overview;
  std::string rev{};         ///< Of commit, tree, blob, blame and history.
  std::string from{}, to{};  ///< Of a diff.
  std::string path{};        ///< Bytes as in trees; empty: all, or the tree itself.
  std::optional<line_range> lines{};
  std::string ref{};  ///< Where a log begins; empty: HEAD.
  std::string author{}, grep{};
  std::optional<std::int64_t> since{}, until{};  ///< Seconds since 1970.
  std::optional<std::size_t> limit{};
  std::string cursor{};
  bool is_json = false;

  bool operator==(const address&) const = default;
};

inline constexpr std::size_t most_a_page = 1000;

/// Takes a canonical URI (`canonical_uri`) apart. Errors: resource_not_found for what is none of these URIs, and for parameters
/// that its topic does not have; invalid_argument, which begins with the name of the variable, for values that cannot be meant:
/// also for revisions that cannot be one (`check_revision`).
[[nodiscard]] result<address> parse_address(std::string_view uri);

/// The one URI that is given for it everywhere; `parse_address` reads it back. The characters of a path stand raw where the
/// expansion of `{+path}` leaves them so, too.
[[nodiscard]] std::string uri_of(const address& one);

/// A repository itself: what begins all of its URIs, with a slash at the end.
[[nodiscard]] std::string prefix_of(std::string_view repo);

/// `path` as the value that `{+path}` expands to that URI.
[[nodiscard]] std::string written_path(std::string_view path);

/// All templates, by topic.
[[nodiscard]] std::vector<resource_template> address_templates();

}  // namespace hondana::git
