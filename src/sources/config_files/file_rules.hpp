/// Rules that choose the configuration files of a folder and their formats.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "base/ignore/gitignore.hpp"
#include "base/ignore/glob.hpp"
#include "sources/config_files/options.hpp"
#include "text/located/format.hpp"

namespace hondana::config_files {

/// The rules of one set for the files in its folders. Paths are relative to such a folder. Immutable. Threads: any.
class file_rules {
 public:
  /// Errors: invalid_argument for a pattern that can match nothing.
  [[nodiscard]] static result<file_rules> create(const options& options);

  /// The format of a file by `options::formats` and its name; nothing if unknown.
  [[nodiscard]] std::optional<located::config_format> format_of(std::string_view path) const;

  /// Why a folder is not entered or a file not served, for people; empty if it is. Does not check the folders above `path`.
  [[nodiscard]] std::string rejection_reason(std::string_view path, bool is_folder) const;
  /// `rejection_reason` of the first folder above a file that is not entered, otherwise of the file.
  [[nodiscard]] std::string path_rejection_reason(std::string_view path) const;
  /// Why the target of a link to a file is not served, for people; empty if it is. As `path_rejection_reason`, but formats and
  /// `include` do not count, and folders whose names begin with two dots are entered.
  [[nodiscard]] std::string target_rejection_reason(std::string_view path) const;
  /// Whether a file is in a folder that only links use, because hidden names are not served and its name begins with two dots.
  /// Kubernetes volumes have such folders.
  [[nodiscard]] bool is_in_volume(std::string_view path) const noexcept;

 private:
  /// `format_of` without `options::environment_format`.
  [[nodiscard]] std::optional<located::config_format> format_by_name(std::string_view path) const;
  /// The part of `rejection_reason` about names of credential files.
  [[nodiscard]] std::string credential_reason(std::string_view path, bool is_folder) const;
  /// `target_rejection_reason` without the folders above.
  [[nodiscard]] std::string link_rejection_reason(std::string_view path, bool is_folder) const;
  /// Whether a pattern matches a file or a folder above it.
  [[nodiscard]] bool matches_path_or_parent(const ignore::pattern_list& patterns, std::string_view path) const;

  ignore::pattern_list include_;
  ignore::pattern_list exclude_;
  ignore::pattern_list allow_;
  bool has_include_ = false;
  bool show_hidden_ = false;
  bool redact_ = true;
  located::config_format environment_format_ = located::config_format::dotenv;
  struct format_pattern {
    ignore::glob glob;
    bool matches_name;  // whether it is compared with the last name, instead of the path
    located::config_format format;
  };
  std::vector<format_pattern> formats_;
};

/// The last name of a path.
[[nodiscard]] std::string_view last_name(std::string_view path) noexcept;
/// Everything before the last `/` of a path; empty if there is none.
[[nodiscard]] std::string_view parent_folder(std::string_view path) noexcept;

}  // namespace hondana::config_files
