/// Parses a command line by the command table, and suggests corrections.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/cli/flags/command_table.hpp"
#include "base/match/suggestion.hpp"

namespace hondana::cli {

/// A parsed command line. It is valid by the command table: choices, numbers and required words.
class command_line {
 public:
  explicit command_line(const command_entry& entry) : entry_(&entry) {}

  [[nodiscard]] const command_entry& entry() const noexcept { return *entry_; }
  /// Whether the flag was given.
  [[nodiscard]] bool has(const flag& flag) const { return !all_values(flag).empty(); }
  /// The flag's value, the last one if it was repeated. Empty if it was not given.
  [[nodiscard]] std::string text(const flag& flag) const;
  /// Every value of a flag, in order. For a switch, an empty text for each time it was given.
  [[nodiscard]] const std::vector<std::string>& all_values(const flag& flag) const;
  /// The flag's value as a number; nullopt if it was not given.
  [[nodiscard]] std::optional<double> number(const flag& flag) const;
  /// The words that are not flags, without the command itself.
  [[nodiscard]] const std::vector<std::string>& words() const noexcept { return words_; }
  /// The word at an index of `words`; empty if there are fewer.
  [[nodiscard]] std::string word(std::size_t index) const { return index < words_.size() ? words_[index] : std::string(); }
  /// The command after `--` that starts a server; empty: none.
  [[nodiscard]] const std::vector<std::string>& server_command() const noexcept { return server_command_; }

 private:
  friend class line_parser;
  const command_entry* entry_;
  std::map<std::string_view, std::vector<std::string>> values_;  // by the flag's name
  std::vector<std::string> words_;
  std::vector<std::string> server_command_;
};

/// The user requested help.
struct help_request {
  const command_entry* entry = nullptr;  ///< The command to explain; null: the help of `group`.
  std::string_view group{};              ///< The first word of several commands; empty: the help of the program.
};
/// The user requested the version.
struct version_request {};
/// A usage error, and the command whose help explains the correct usage.
struct usage_error {
  std::string message;
  std::string command;  ///< Empty if no command is known yet.
};

using parse_outcome = std::variant<command_line, help_request, version_request, usage_error>;

/// Parses a command line. `count` and `arguments` are those of `main`. Accepted forms: `--name value`, `--name=value`, `-n
/// value`, `-nvalue`, several letters in one word. Flags and words may come in any order. After `--` everything is a word, or
/// the command of a server if the entry accepts one.
[[nodiscard]] parse_outcome parse_command_line(int count, const char* const* arguments);

using match::did_you_mean;

}  // namespace hondana::cli
