/// The rules file of a set of documents, and the path patterns it uses.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/resource.hpp>

#include "base/ignore/gitignore.hpp"

namespace hondana::docs {

/// Path patterns as in `.gitignore`. Paths and patterns are compared as UTF-8 in normal form C (see `display_path`); width and
/// case count. Immutable. Threads: any.
class patterns {
 public:
  /// Compiles one pattern per line. `owner`: the name of the patterns in errors. Errors: invalid_argument for a line that is
  /// empty, a comment, contains a line break or can match nothing.
  [[nodiscard]] static result<patterns> compile(const std::vector<std::string>& lines, const std::string& owner);

  /// Whether a file, or a folder above it, matches. `path`: relative to the folder of the set, as on disk.
  [[nodiscard]] bool match(std::string_view path) const;
  /// Whether a folder itself matches. Folders above it are not considered.
  [[nodiscard]] bool match_folder(std::string_view path) const;
  [[nodiscard]] bool is_empty() const noexcept { return list_.size() == 0; }

 private:
  [[nodiscard]] bool matches(std::string_view path, bool is_folder) const noexcept;
  [[nodiscard]] bool matches_with_parents(std::string_view path) const noexcept;

  ignore::pattern_list list_;
};

/// The result of the rules for one document. Each value is from the last matching rule that has it. Empty: no rule has it.
struct rule_result {
  std::optional<double> priority{};  ///< 0 to 1.
  std::size_t priority_line = 0;     ///< Line of the rule with this priority.
  std::vector<chat_role> audience{};
  std::string lang{};  ///< BCP 47 tag.
  std::string title{};
  std::string charset{};          ///< Encoding of the file.
  bool is_excluded = false;       ///< The file is not served.
  std::size_t excluded_line = 0;  ///< Line of the rule that decides about `is_excluded`.
};

/// The rules of a set. Immutable. Threads: any.
class rules {
 public:
  static constexpr std::size_t max_bytes = 1u << 20;  ///< Of the text.
  static constexpr std::size_t max_rules = 1000;

  /// Parses a TOML text of tables `[[rule]]` with `match` (patterns as in `.gitignore`) and any of `priority`, `audience`,
  /// `lang`, `title`, `charset` and `exclude`. `file`: its name in errors. Errors: invalid_argument, "FILE:LINE: what is
  /// wrong".
  [[nodiscard]] static result<rules> parse(std::string_view text, const std::string& file);

  /// `path`: relative to the folder of the set.
  [[nodiscard]] rule_result evaluate(std::string_view path) const;

 private:
  struct path_rule {
    patterns match{};
    std::size_t line = 0;
    std::optional<double> priority{};
    std::vector<chat_role> audience{};
    std::optional<std::string> lang{}, title{}, charset{};
    std::optional<bool> exclude{};
  };
  friend class rule_reader;
  std::vector<path_rule> rules_;
};

}  // namespace hondana::docs
