/// Parses a command line by the table of commands, and suggests corrections.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/cli/flags/command_table.hpp"

namespace hondana::cli {

/// What was typed: checked against the table, so that choices, numbers and required words hold.
class command_line {
 public:
  explicit command_line(const command_entry& entry) : entry_(&entry) {}

  [[nodiscard]] const command_entry& entry() const noexcept { return *entry_; }
  [[nodiscard]] bool has(const flag& which) const { return !all(which).empty(); }
  /// The flag's value; empty when it was not given.
  [[nodiscard]] std::string text(const flag& which) const;
  /// Every value of a flag, in order; of a switch an empty text each time it was given.
  [[nodiscard]] const std::vector<std::string>& all(const flag& which) const;
  [[nodiscard]] std::optional<double> number(const flag& which) const;
  /// The words that are no flags.
  [[nodiscard]] const std::vector<std::string>& words() const noexcept { return words_; }
  /// One of them; empty when there are fewer.
  [[nodiscard]] std::string word(std::size_t at) const { return at < words_.size() ? words_[at] : std::string(); }
  /// The command behind `--` that starts a server; empty: none.
  [[nodiscard]] const std::vector<std::string>& server() const noexcept { return server_; }

 private:
  friend class line_reader;
  const command_entry* entry_;
  std::map<std::string_view, std::vector<std::string>> values_;  // by the flag's name
  std::vector<std::string> words_;
  std::vector<std::string> server_;
};

/// Help was asked for.
struct help_wanted {
  const command_entry* of = nullptr;  ///< Null: that of `group`.
  std::string_view group{};           ///< The first word of several commands; empty: the program's.
};
struct version_wanted {};
/// What is wrong, and whose help shows what was meant.
struct misuse {
  std::string what;
  std::string command;  ///< Empty before one is known.
};

using line_outcome = std::variant<command_line, help_wanted, version_wanted, misuse>;

/// Takes a line apart. `--name value`, `--name=value`, `-n value`, `-nvalue`, several letters in one word; flags and words in
/// any order; behind `--` everything is a word, or the command of a server where the entry takes one. `count` and `arguments`
/// are those of `main`.
[[nodiscard]] line_outcome read_line(int count, const char* const* arguments);

/// The one of `known` that is fewest slips away from `typed` (letters more, fewer, other or swapped); empty when none is near:
/// within a third of its letters, at least one. Of equals the first.
[[nodiscard]] std::string_view nearest(std::string_view typed, std::span<const std::string_view> known);

/// `; did you mean "X"?`, or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view typed, std::span<const std::string_view> known,
                                       std::string_view before = {});

}  // namespace hondana::cli
