/// Reads small files of /proc and /sys, and splits them into lines, words and numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::host {

/// Reads up to 4 MiB of a file below /proc or /sys. Returns nothing if it is missing, not a regular file, or unreadable.
[[nodiscard]] std::optional<std::string> read_text(const std::string& path);
/// The first line of a file, without blanks around it.
[[nodiscard]] std::optional<std::string> read_line(const std::string& path);
/// The number in a file: `12`, `-1`, or `0x1003`.
[[nodiscard]] std::optional<double> read_number(const std::string& path);
/// The names in a folder that start with `prefix`, in order, at most 4096.
[[nodiscard]] std::vector<std::string> list_names(const std::string& folder, std::string_view prefix = {});

/// Removes the first line from `text`, with its line feed, and returns it. Nothing at the end.
[[nodiscard]] std::optional<std::string_view> next_line(std::string_view& text) noexcept;
/// Removes the next word, which ends at a blank or tab, and returns it. Empty at the end.
[[nodiscard]] std::string_view next_word(std::string_view& line) noexcept;
/// At most 64 words.
[[nodiscard]] std::vector<std::string_view> split_words(std::string_view line);
/// Parses a whole word as an integer, with or without sign, or a decimal fraction. Returns nothing if it is not a finite
/// number.
[[nodiscard]] std::optional<double> parse_number(std::string_view word) noexcept;
[[nodiscard]] std::optional<double> parse_hexadecimal(std::string_view word) noexcept;
[[nodiscard]] std::string_view trim(std::string_view text) noexcept;

}  // namespace hondana::host
