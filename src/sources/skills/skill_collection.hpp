/// An immutable collection of skills, built from a list of files.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/entry_snapshot.hpp>
#include <hondana/provider.hpp>
#include <hondana/skill.hpp>
#include <hondana/value.hpp>

namespace hondana::skills {

/// A file that may belong to a skill.
struct candidate_file {
  std::string path;  ///< With `/` between names; begins with the prefix of the collection.
  std::uint64_t size = 0;
  std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modified{};
};

/// The result of reading a file to its end.
struct file_summary {
  std::string digest;      ///< As `skill_file::digest`, but of the masked bytes if secrets are masked.
  std::uint64_t size = 0;  ///< Number of these bytes.
  /// For a SKILL.md: its front matter, or why that is invalid. Absent for other files.
  std::optional<tl::expected<value, std::string>> frontmatter{};
};

/// Reads a file to its end. Must return resource_not_found for a file that no longer exists, and access_denied for one that
/// cannot be read. Any other error ends `collection::build`.
using file_inspector = std::function<result<std::shared_ptr<const file_summary>>(const candidate_file&)>;

/// Summarizes the file at `path` with these bytes, without masking them.
[[nodiscard]] file_summary summarize(std::string_view path, std::string_view bytes);

/// A file or folder that is not served.
struct omitted_entry {
  std::string path;
  std::string reason;     ///< For people.
  bool is_skill = false;  ///< It is a folder with a SKILL.md, so its author expects it to be served.

  bool operator==(const omitted_entry&) const = default;
};

/// An immutable set of skills with their files. Threads: any.
class collection {
 public:
  /// Finds the skills among `files`. `prefix`: the path that all files begin with, without a trailing slash; may be empty.
  /// `inspector`: called for each file of a skill that is within `max_skill_files` and `max_skill_bytes`. `known_omitted`:
  /// entries that the caller has omitted, for `omitted`. Errors: those of `inspector`, except resource_not_found and
  /// access_denied.
  [[nodiscard]] static result<std::shared_ptr<const collection>> build(std::string prefix, std::vector<candidate_file> files,
                                                                       const file_inspector& inspector,
                                                                       std::vector<omitted_entry> known_omitted = {});

  // As the functions of `provider` with these names:
  [[nodiscard]] list_result list(const list_request& request) const { return entries_.page(request); }
  [[nodiscard]] result<list_result> children(const children_request& request) const;
  [[nodiscard]] skills_result skills(const list_request& request) const;
  [[nodiscard]] result<skill> find_skill(const skill_request& request) const;
  /// The version of a folder is that of `read_folder`.
  [[nodiscard]] result<resource> describe(const describe_request& request) const;
  void inventory(const std::function<void(const inventory_item&)>& visitor) const;

  /// Notifies `listener` of everything that was added, removed or changed since `previous`.
  void notify_changes_since(const collection& previous, change_listener& listener) const;

  /// The path of the served file with this URI; null if there is none. Valid as long as the collection.
  [[nodiscard]] const std::string* path_of(const std::string& uri) const;
  /// Whether this is the URI of a folder that contains served files, or of the whole collection.
  [[nodiscard]] bool is_folder(const std::string& uri) const;
  /// The content of a folder: the URIs of its children, one per line. Empty if the URI is not one of a folder. Errors:
  /// response_too_large.
  [[nodiscard]] result<read_result> read_folder(const read_request& request) const;

  /// The number of skills.
  [[nodiscard]] std::size_t size() const noexcept { return skills_.size(); }
  [[nodiscard]] const std::vector<omitted_entry>& omitted() const noexcept { return omitted_; }

 private:
  struct parts;
  explicit collection(parts contents);

  std::string root_uri_;  // see `uri_prefix`
  entry_snapshot entries_;
  std::vector<skill> skills_;                              // in segment order
  std::map<std::string, std::string, std::less<>> paths_;  // by URI
  std::vector<omitted_entry> omitted_;                     // ordered by path
  friend class collection_builder;
};

/// The URI above all others of a collection with this prefix: `skill://PREFIX`. The provider of the collection claims it.
[[nodiscard]] std::string uri_prefix(std::string_view prefix);

/// The error of a URI without a file. That of `uri::parse_query` if it has a parameter: no URI of a skill has any.
[[nodiscard]] tl::unexpected<failure> file_not_found(std::string_view uri);

/// Documents the `skill` scheme.
[[nodiscard]] scheme_documentation describe_scheme();

}  // namespace hondana::skills
