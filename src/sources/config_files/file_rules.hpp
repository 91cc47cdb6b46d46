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

/// Immutable. Threads: any.
class file_rules {
 public:
  /// Errors: invalid_argument for a pattern that can match nothing.
  [[nodiscard]] static result<file_rules> create(const options& options);

  /// The format of a file by its name; empty if unknown.
  [[nodiscard]] std::optional<located::config_format> format_of(std::string_view path) const;

  /// Why a folder is not entered or a file not served, for display; empty if it is. Ignores the folders above.
  [[nodiscard]] std::string rejection_reason(std::string_view path, bool is_folder) const;
  /// The same, but checks the folders above first.
  [[nodiscard]] std::string path_rejection_reason(std::string_view path) const;
  /// The same for the target of a link, whose format and `include` patterns do not count.
  [[nodiscard]] std::string target_rejection_reason(std::string_view path) const;
  /// Whether a path is in a folder that only links use: one of a Kubernetes volume, whose name begins with two dots.
  [[nodiscard]] bool is_in_volume(std::string_view path) const noexcept;

 private:
  [[nodiscard]] std::string credential_reason(std::string_view path, bool is_folder) const;
  [[nodiscard]] std::string link_rejection_reason(std::string_view path, bool is_folder) const;
  [[nodiscard]] bool matches_path_or_parent(const ignore::pattern_list& patterns, std::string_view path) const;

  ignore::pattern_list include_;
  ignore::pattern_list exclude_;
  ignore::pattern_list allow_;
  bool has_include_ = false;
  bool show_hidden_ = false;
  bool redact_ = true;
  struct format_pattern {
    ignore::glob glob;
    bool matches_name;
    located::config_format format;
  };
  std::vector<format_pattern> formats_;
};

/// The last name of a path.
[[nodiscard]] std::string_view last_name(std::string_view path) noexcept;
/// Everything before its last `/`; empty if there is none.
[[nodiscard]] std::string_view parent_folder(std::string_view path) noexcept;

}  // namespace hondana::config_files
