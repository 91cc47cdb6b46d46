/// Reads small files of /proc and /sys, and splits them into lines, words and numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::host {

/// A file below /proc or /sys, at most 4 MiB of it. Nothing: it is not there, is no file, or may not be read.
[[nodiscard]] std::optional<std::string> read_text(const std::string& path);
/// Its first line without blanks around it.
[[nodiscard]] std::optional<std::string> read_line(const std::string& path);
/// The number that it holds: `12`, `-1`, or `0x1003`.
[[nodiscard]] std::optional<double> read_number(const std::string& path);
/// Names in a folder that begin so, at most 4096, in order.
[[nodiscard]] std::vector<std::string> names_in(const std::string& folder, std::string_view prefix = {});

/// The line up to the next feed, which is taken off `text` with it. Nothing: there is no more.
[[nodiscard]] std::optional<std::string_view> next_line(std::string_view& text) noexcept;
/// The word up to the next blank or tab, which is taken off. Empty: there is no more.
[[nodiscard]] std::string_view next_word(std::string_view& line) noexcept;
/// At most 64 words.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view line);
/// A whole word as a number: integers with or without sign, and decimal fractions. Nothing: it is none, or not finite.
[[nodiscard]] std::optional<double> number_in(std::string_view word) noexcept;
[[nodiscard]] std::optional<double> hexadecimal_in(std::string_view word) noexcept;
[[nodiscard]] std::string_view without_blanks(std::string_view text) noexcept;

}  // namespace hondana::host
