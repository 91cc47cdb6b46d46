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

#include <hondana/entry_snapshot.hpp>
#include <hondana/provider.hpp>
#include <hondana/skill.hpp>
#include <hondana/value.hpp>

namespace hondana::skills {

/// A file that may belong to a skill. The path uses `/` as separator and begins with the collection's prefix.
struct candidate_file {
  std::string path;
  std::uint64_t size = 0;
  std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modified{};
};

/// The result of reading a file to its end.
struct file_summary {
  std::string digest;      ///< As in `skill_file`.
  std::uint64_t size = 0;  ///< Number of bytes digested.
  /// For a SKILL.md: its front matter, or why that is invalid.
  std::optional<tl::expected<value, std::string>> frontmatter{};
};

/// Reads a file to its end. Errors: resource_not_found for a file that no longer exists, access_denied for one that cannot be
/// read. Any other error ends `collection::build`.
using file_inspector = std::function<result<std::shared_ptr<const file_summary>>(const candidate_file&)>;

/// Digests these bytes and, for a SKILL.md, parses the front matter.
[[nodiscard]] file_summary summarize(std::string_view path, std::string_view bytes);

/// A file or folder that is not served, and the reason.
struct omitted_entry {
  std::string path;
  std::string reason;
  bool is_skill = false;  ///< It has a SKILL.md, so its author expects it to be served.

  bool operator==(const omitted_entry&) const = default;
};

/// An immutable set of skills with their files. Threads: any.
class collection {
 public:
  /// Finds the skills among `files`. Reads only files of skills that are within the limits. `prefix`: a path that all files
  /// begin with, or empty. `known_omitted`: omissions that are already known.
  /// Errors: those of `inspector` that concern more than one file.
  [[nodiscard]] static result<std::shared_ptr<const collection>> build(std::string prefix, std::vector<candidate_file> files,
                                                                       const file_inspector& inspector,
                                                                       std::vector<omitted_entry> known_omitted = {});

  /// As the provider's calls of the same names.
  [[nodiscard]] list_result list(const list_request& request) const { return entries_.page(request); }
  [[nodiscard]] result<list_result> children(const children_request& request) const;
  [[nodiscard]] skills_result skills(const list_request& request) const;
  [[nodiscard]] result<skill> find_skill(const skill_request& request) const;
  /// As `provider::describe`. The version of a folder is that of its content.
  [[nodiscard]] result<resource> describe(const describe_request& request) const;
  void inventory(const std::function<void(const inventory_item&)>& visitor) const;

  /// Notifies `listener` of everything that was added, removed or changed since the older collection `previous`.
  void notify_changes_since(const collection& previous, change_listener& listener) const;

  /// The path of a served file; null for any other URI.
  [[nodiscard]] const std::string* path_of(const std::string& uri) const;
  [[nodiscard]] bool is_folder(const std::string& uri) const;
  /// The content of a folder: the URIs of its children, one per line. Errors: response_too_large.
  [[nodiscard]] result<read_result> read_folder(const read_request& request) const;

  [[nodiscard]] std::size_t size() const noexcept { return skills_.size(); }
  [[nodiscard]] const std::vector<omitted_entry>& omitted() const noexcept { return omitted_; }

 private:
  struct parts;
  explicit collection(parts contents);

  std::string root_uri_;  // the URI that all others are below
  entry_snapshot entries_;
  std::vector<skill> skills_;                              // in segment order
  std::map<std::string, std::string, std::less<>> paths_;  // by URI
  std::vector<omitted_entry> omitted_;                     // ordered by path
  friend class collection_builder;
};

/// The URI that contains all others of a collection with this prefix. Its provider claims it.
[[nodiscard]] std::string uri_prefix(std::string_view prefix);

/// Documents the `skill` scheme.
[[nodiscard]] scheme_documentation describe_scheme();

}  // namespace hondana::skills
