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

/// The kinds of resources of a repository.
enum class resource_kind : std::uint8_t {
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

/// The name of a kind, as it appears in URIs.
[[nodiscard]] std::string_view name_of(resource_kind kind) noexcept;

/// Lines of a file, from 1, both ends included; without `last`: to the end.
struct line_range {
  std::size_t first = 1;
  std::optional<std::size_t> last{};

  bool operator==(const line_range&) const = default;
};

/// One resource. Members that its kind does not use are empty.
struct address {
  std::string repo;
  resource_kind kind = resource_kind::overview;
  std::string rev{};                 ///< For commit, tree, blob, blame and history.
  std::string from_rev{}, to_rev{};  ///< For a diff.
  std::string path{};                ///< Bytes as in trees; empty: everything, or the tree itself.
  std::optional<line_range> lines{};
  std::string ref{};  ///< Where a log begins; empty: HEAD.
  std::string author{}, grep{};
  std::optional<std::int64_t> since{}, until{};  ///< Seconds since 1970.
  std::optional<std::size_t> limit{};
  std::string cursor{};
  bool is_json = false;

  bool operator==(const address&) const = default;
};

inline constexpr std::size_t max_page_size = 1000;

/// Parses a canonical URI (`canonical_uri`). Errors: resource_not_found for other URIs, and for parameters that the kind does
/// not have. invalid_argument for invalid values, including revisions that cannot exist (`check_revision`); its text begins
/// with the name of the variable.
[[nodiscard]] result<address> parse_address(std::string_view uri);

/// The canonical URI of an address, which `parse_address` reads back. Characters of a path are unescaped where the expansion of
/// `{+path}` leaves them unescaped, too.
[[nodiscard]] std::string uri_of(const address& address);

/// The prefix of all URIs of a repository, with a slash at the end.
[[nodiscard]] std::string uri_prefix(std::string_view repo);

/// `path` as a value with which `{+path}` expands to that URI.
[[nodiscard]] std::string encode_path(std::string_view path);

/// All templates, by kind.
[[nodiscard]] std::vector<resource_template> address_templates();

}  // namespace hondana::git
