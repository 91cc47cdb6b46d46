/// One ignore file, compiled: which of its lines, if any, decides about a path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/ignore/glob.hpp"
#include "base/ignore/literal_table.hpp"

namespace hondana::ignore {

/// How many steps one decision about one path may take; 20 000 ordinary wildcard patterns take fewer.
inline constexpr std::uint64_t most_steps = 1'000'000;

/// What an ignore file says about a path.
enum class decision {
  none,      ///< No pattern matches.
  ignored,   ///< The last pattern that matches ignores it.
  included,  ///< The last pattern that matches begins with `!`.
};

/// The answer of one file.
struct found {
  decision outcome = decision::none;
  std::size_t line = 0;      ///< The deciding line, from 1; 0 when no pattern matches.
  std::string_view pattern;  ///< As written, without line end and unquoted trailing spaces. Lives as long as the list.
  std::uint64_t steps = 0;   ///< Bytes that wildcard matching looked at and patterns it tried.
  bool gave_up = false;      ///< More steps than allowed: nothing is known, and the outcome is `ignored`.
};

/// The patterns of one `.gitignore`, `.hondanaignore` or `info/exclude`.
///
/// Threads: immutable, any number may match at once. Source: gitignore(5); where that is silent, what git 2.39 does. Case
/// matters (core.ignoreCase is not read), and so does every byte: names need not be UTF-8.
class pattern_list {
 public:
  /// A file without patterns.
  pattern_list() = default;
  pattern_list(pattern_list&&) noexcept = default;
  pattern_list& operator=(pattern_list&&) noexcept = default;
  pattern_list(const pattern_list&) = delete;
  pattern_list& operator=(const pattern_list&) = delete;
  ~pattern_list() = default;

  /// Compiles the text of an ignore file. Never fails: like git, a malformed pattern matches nothing.
  ///
  /// A leading UTF-8 byte order mark is skipped, lines end in LF or CRLF, and a NUL byte ends its line's pattern.
  /// Of the text, 1 MiB is used (whole lines), of its lines those of up to 4096 bytes, of its patterns 50 000, and of those as
  /// many as compile to 8 MiB.
  /// `source` names the file in answers and warnings, best as a path relative to the root.
  [[nodiscard]] static pattern_list parse(std::string_view text, std::string source = {});

  /// Stands for a file that is there but cannot be read: it has no patterns and is not complete. `why` is for people.
  [[nodiscard]] static pattern_list unusable(std::string source, std::string why);

  /// What the file says about a path relative to the file's own folder: no `/` at either end, no `.` segments. A symbolic
  /// link is not a directory. Ancestors are not looked at: `build/` says nothing about `build/x`.
  /// After `most` steps it gives up.
  [[nodiscard]] found match(std::string_view path, bool is_directory,
                            std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const noexcept;

  [[nodiscard]] const std::string& source() const noexcept { return source_; }

  /// What was left out for a cap and what can never match, with source and line; the first 100, then a count.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

  /// False when a cap left patterns out, or all of them could not be read: more is included than the file's author meant.
  [[nodiscard]] bool complete() const noexcept { return fault_.empty(); }

  /// Why the list is not complete, in words for people; empty when it is.
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

  /// About how much memory the list holds, in bytes.
  [[nodiscard]] std::size_t bytes() const noexcept;

  /// How many patterns are in use.
  [[nodiscard]] std::size_t size() const noexcept { return rules_.size(); }

 private:
  struct rule {
    std::string_view written;
    std::uint32_t line;
    bool negated;
  };
  struct wildcard_rule {
    glob pattern;
    std::uint32_t ordinal;
    bool folders_only;
    bool name_only;  ///< Matched against the last segment of the path.
  };

  void add(std::string_view written, std::size_t line);
  void add_wildcard(glob pattern, std::uint32_t ordinal, bool folders_only, bool name_only);
  void cut(std::string what);
  void warn(std::string what);

  std::string source_;
  std::vector<char> text_;  // what all views below look into; a vector, since moving it moves no bytes
  std::vector<rule> rules_;
  literal_table names_;
  literal_table paths_;
  literal_table endings_;  // `*literal`, by its literal
  std::vector<wildcard_rule> wildcards_;
  std::vector<std::string> warnings_;
  std::size_t unsaid_warnings_ = 0;
  std::string fault_;
  std::size_t wildcard_bytes_ = 0;
};

}  // namespace hondana::ignore
