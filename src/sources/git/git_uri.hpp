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
  tree,     ///< A folder at a revision.
  blob,     ///< A file, link or submodule at a revision.
  diff,     ///< The differences between two revisions.
  blame,    ///< Which commit wrote each line of a file.
  history,  ///< The commits that changed a file.
  stashes,
  worktrees,
  changes,  ///< The uncommitted changes in the work tree.
};

/// The name of a kind in URIs.
[[nodiscard]] std::string_view name_of(resource_kind kind) noexcept;

/// Lines of a file, counted from 1.
struct line_range {
  std::size_t first = 1;
  std::optional<std::size_t> last{};  ///< Inclusive. nullopt: to the end.

  bool operator==(const line_range&) const = default;
};

/// The parts of a `git://` URI. Members that the kind does not use are empty.
struct address {
  std::string repo;  ///< The slug of the repository.
  resource_kind kind = resource_kind::overview;
  std::string rev{};                             ///< The revision of a commit, tree, blob, blame or history.
  std::string from_rev{}, to_rev{};              ///< The revisions of a diff.
  std::string path{};                            ///< Decoded bytes, as in trees. Empty: the top folder, or all files.
  std::optional<line_range> lines{};             ///< Of a blob or blame. nullopt: all.
  std::string ref{};                             ///< The revision at which a log begins. Empty: HEAD.
  std::string author{}, grep{};                  ///< `log_filter::author` and `log_filter::grep` of a log.
  std::optional<std::int64_t> since{}, until{};  ///< Of a log: seconds since 1970, inclusive.
  std::optional<std::size_t> limit{};            ///< Commits on a page of a log or history.
  std::string cursor{};                          ///< The start of a page. Empty: the first page.
  bool is_json = false;                          ///< JSON instead of Markdown.

  bool operator==(const address&) const = default;
};

inline constexpr std::size_t max_page_size = 1000;  ///< Maximum of `address::limit`.

/// Parses a canonical URI (`canonical_uri`). Does not check whether the resource exists. Errors: resource_not_found for other
/// URIs; invalid_argument for revisions that cannot exist (`check_revision`), and as of `uri::parse_query`. Except for unknown
/// parameters, the text begins with the name of the variable.
[[nodiscard]] result<address> parse_address(std::string_view uri);

/// Makes the canonical URI of an address. `parse_address` returns an equal address.
[[nodiscard]] std::string uri_of(const address& address);

/// The prefix of all URIs of a repository, with a slash at the end. `repo`: the slug.
[[nodiscard]] std::string uri_prefix(std::string_view repo);

/// Escapes the bytes of a path for a URI. Slashes stay.
[[nodiscard]] std::string encode_path(std::string_view path);

/// The templates of all kinds, in the order of `resource_kind`.
[[nodiscard]] std::vector<resource_template> address_templates();

}  // namespace hondana::git
