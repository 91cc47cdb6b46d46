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

/// Threads: immutable.
class rules {
 public:
  /// Errors: invalid_argument for a pattern that can match nothing.
  [[nodiscard]] static result<rules> from(const options& all);

  /// Nothing when it is none that is known.
  [[nodiscard]] std::optional<located::format> format_of(std::string_view path) const;

  /// Why a folder is not looked into or a file not served, in words for people; empty when it is. Those above are not looked
  /// at.
  [[nodiscard]] std::string refusal(std::string_view path, bool is_folder) const;
  /// The same, with those above looked at first.
  [[nodiscard]] std::string refusal_of_all(std::string_view path) const;
  /// The same of what a link leads to, for which its format and `include` do not count.
  [[nodiscard]] std::string refusal_of_target(std::string_view path) const;
  /// Whether it lies in a folder that only links lead to: those of Kubernetes' volumes, whose names begin with two dots.
  [[nodiscard]] bool is_of_volume(std::string_view path) const noexcept;

 private:
  [[nodiscard]] std::string credential(std::string_view path, bool is_folder) const;
  [[nodiscard]] std::string refusal_on_the_way(std::string_view path, bool is_folder) const;
  [[nodiscard]] bool matches_with_those_above(const ignore::pattern_list& one, std::string_view path) const;

  ignore::pattern_list include_;
  ignore::pattern_list exclude_;
  ignore::pattern_list allow_;
  bool has_include_ = false;
  bool hidden_ = false;
  bool redact_ = true;
  struct format_pattern {
    ignore::glob matches;
    bool is_of_name;
    located::format how;
  };
  std::vector<format_pattern> formats_;
};

/// The last name of a path.
[[nodiscard]] std::string_view last_name(std::string_view path) noexcept;
/// Everything before its last `/`; empty when there is none.
[[nodiscard]] std::string_view folder_of(std::string_view path) noexcept;

}  // namespace hondana::config_files
