/// An immutable collection of skills: found among files, listed, described and compared.
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

#include <hondana/provider.hpp>
#include <hondana/skill.hpp>
#include <hondana/snapshot.hpp>
#include <hondana/value.hpp>

namespace hondana::skills {

/// A file that may belong to a skill. Paths have `/` between names and begin with the collection's prefix.
struct found_file {
  std::string path;
  std::uint64_t size = 0;
  std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modified{};
};

/// What reading a file through gave.
struct looked_at {
  std::string digest;      ///< As in `skill_file`.
  std::uint64_t size = 0;  ///< Of what was digested.
  /// Of a SKILL.md: its frontmatter, or what is wrong with it.
  std::optional<tl::expected<value, std::string>> frontmatter{};
};

/// Reads a file through. Errors: resource_not_found for one that has gone, access_denied for one that cannot be read; all
/// others end the arranging.
using looker = std::function<result<std::shared_ptr<const looked_at>>(const found_file&)>;

/// What a file with these bytes is.
[[nodiscard]] looked_at look_at(std::string_view path, std::string_view bytes);

/// Something that is not served.
struct omission {
  std::string path;
  std::string reason;
  bool is_skill = false;  ///< It has a SKILL.md, so that somebody may miss it.

  bool operator==(const omission&) const = default;
};

/// Threads: any.
class collection {
 public:
  /// Finds the skills among `files`, of which it reads through only those of skills within the limits. `prefix`: a path
  /// that all files begin with, or empty. Errors: those of `look` that are not of one file.
  [[nodiscard]] static result<std::shared_ptr<const collection>> arrange(std::string prefix, std::vector<found_file> files,
                                                                         const looker& look, std::vector<omission> before = {});

  /// The provider's calls of these names.
  [[nodiscard]] list_result list(const list_request& request) const { return entries_.page(request); }
  [[nodiscard]] result<list_result> children(const children_request& request) const;
  [[nodiscard]] skills_result skills(const list_request& request) const;
  [[nodiscard]] result<skill> find_skill(const skill_request& request) const;
  /// As `provider::describe`; a folder has the version of its content.
  [[nodiscard]] result<resource> describe(const describe_request& request) const;
  void survey(const std::function<void(const survey_item&)>& each) const;

  /// Tells what has come, gone or changed since `before` was the newest.
  void tell_changes_since(const collection& before, change_listener& to) const;

  /// The path of a served file; null when there is none.
  [[nodiscard]] const std::string* path_of(const std::string& uri) const;
  [[nodiscard]] bool is_folder(const std::string& uri) const;
  /// The content of a folder: its children's URIs, one a line. Errors: response_too_large.
  [[nodiscard]] result<reading> read_folder(const read_request& request) const;

  [[nodiscard]] std::size_t size() const noexcept { return skills_.size(); }
  [[nodiscard]] const std::vector<omission>& what_is_left_out() const noexcept { return left_out_; }

 private:
  struct parts;
  explicit collection(parts from);

  std::string root_;  // the URI of what all else lies below
  entry_snapshot entries_;
  std::vector<skill> skills_;                              // in segment order
  std::map<std::string, std::string, std::less<>> paths_;  // by URI
  std::vector<omission> left_out_;                         // in the order of their paths
  friend class arranger;
};

/// The URI that everything of a collection with this prefix lies below: what its provider claims.
[[nodiscard]] std::string claim_of(std::string_view prefix);

/// The documentation of the scheme.
[[nodiscard]] scheme_documentation describe();

}  // namespace hondana::skills
