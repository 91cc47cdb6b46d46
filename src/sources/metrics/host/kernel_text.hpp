/// Reads small files of /proc and /sys, and splits them into lines, words and numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::host {

/// Reads up to 4 MiB of a file below /proc or /sys. Returns nullopt if it is missing, not a regular file, or unreadable.
[[nodiscard]] std::optional<std::string> read_text(const std::string& path);
/// Reads the first line of a file, without blanks around it. Returns nullopt as `read_text` does.
[[nodiscard]] std::optional<std::string> read_line(const std::string& path);
/// Reads the number in the first line of a file: `12`, `-1`, or `0x1003`. Returns nullopt if there is none.
[[nodiscard]] std::optional<double> read_number(const std::string& path);
/// Lists the names in a folder that start with `prefix` and not with a dot, in order, at most 4096.
[[nodiscard]] std::vector<std::string> list_names(const std::string& folder, std::string_view prefix = {});

/// Removes the first line from `text`, with its line feed, and returns it without. Returns nullopt if `text` is empty.
[[nodiscard]] std::optional<std::string_view> next_line(std::string_view& text) noexcept;
/// Removes the first word from `line` and returns it. Words are separated by blanks, tabs and CR. Empty: there is none.
[[nodiscard]] std::string_view next_word(std::string_view& line) noexcept;
/// Returns the first 64 words of a line.
[[nodiscard]] std::vector<std::string_view> split_words(std::string_view line);
/// Parses a whole word as a decimal number. Returns nullopt if it is not a finite number.
[[nodiscard]] std::optional<double> parse_number(std::string_view word) noexcept;
/// Parses a whole word of hexadecimal digits, without `0x`. Returns nullopt for other texts and more than 64 bits.
[[nodiscard]] std::optional<double> parse_hexadecimal(std::string_view word) noexcept;
/// Removes blanks, tabs and CR at both ends.
[[nodiscard]] std::string_view trim(std::string_view text) noexcept;

}  // namespace hondana::host
