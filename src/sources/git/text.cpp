/// Which encoding it is, from what is said and from the bytes.
#include "sources/git/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/ascii/characters.hpp"
#include "base/json/utf8.hpp"
#include "sources/git/encodings.hpp"

namespace hondana::git {
namespace {

/// Walks over well-formed UTF-8.
char32_t next_point(std::string_view text, std::size_t& at) noexcept {
  const auto lead = static_cast<unsigned char>(text[at++]);
  if (lead < 0x80) return lead;
  const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  char32_t point = lead & (0x3FU >> more);
  for (int i = 0; i < more; ++i) point = (point << 6) | (static_cast<unsigned char>(text[at++]) & 0x3FU);
  return point;
}

/// Whether what a Japanese encoding made of the bytes is likely to be Japanese. One accented letter of a western text and the
/// letter behind it make a character, too, but then it stands alone within a word of Latin letters.
bool is_likely_japanese(std::string_view text) noexcept {
  std::size_t fitting = 0, odd = 0, run = 0;
  bool has_full_width = false, is_touched = false;
  char32_t before = 0;
  const auto end_run = [&](char32_t behind) {
    if (run == 0) return;
    is_touched = is_touched || (behind < 0x80 && ascii::is_letter(static_cast<char>(behind)));
    (run == 1 && is_touched ? odd : fitting) += run;
    run = 0;
  };
  for (std::size_t at = 0; at < text.size();) {
    const auto point = next_point(text, at);
    // What was added for private use, and controls, stand for bytes that mean nothing in that encoding.
    if ((point >= 0x80 && point < 0xA0) || (point >= 0xE000 && point < 0xF900)) return false;
    if (point < 0x80) {
      end_run(point);
    } else {
      if (run++ == 0) is_touched = before < 0x80 && ascii::is_letter(static_cast<char>(before));
      has_full_width = has_full_width || (point >= 0x3000 && point < 0xFF61);
    }
    before = point;
  }
  end_run(0);
  return has_full_width && fitting > odd;
}

std::optional<converted> from_marked_utf16(std::string_view bytes) {
  const bool is_little = bytes.starts_with("\xFF\xFE");
  if (!is_little && !bytes.starts_with("\xFE\xFF")) return std::nullopt;
  const std::string_view name = is_little ? "UTF-16LE" : "UTF-16BE";
  auto text = decoded(bytes.substr(2), name);
  if (!text) return std::nullopt;
  return converted{std::move(*text), std::string(name)};
}

converted guessed(std::string_view bytes) {
  if (json::is_utf8(bytes)) return {std::string(bytes), {}};
  if (auto wide = from_marked_utf16(bytes)) return std::move(*wide);
  for (const std::string_view name : {"EUC-JP", "Shift_JIS"}) {
    auto text = decoded(bytes, name);
    if (text && is_likely_japanese(*text)) return {std::move(*text), std::string(name)};
  }
  return {decoded_windows_1252(bytes), "windows-1252"};
}

/// Whether there are control characters that texts do not have.
bool has_odd_controls(std::string_view bytes) noexcept {
  return std::any_of(bytes.begin(), bytes.end(), [](char c) {
    constexpr std::string_view usual = "\t\n\v\f\r\b\x1b\x1a";
    return c >= 0 && c < ' ' && usual.find(c) == std::string_view::npos;
  });
}

}  // namespace

converted to_utf8(std::string_view bytes, std::string_view said_to_be) {
  const auto name = encoding_called(said_to_be);
  // What is said to be UTF-8 and is not needs a guess just as well.
  if (name.empty() || name == "UTF-8") return guessed(bytes);
  auto text = decoded(bytes, name);
  if (!text) return guessed(bytes);
  return {std::move(*text), std::string(name)};
}

std::optional<converted> text_of_file(std::string_view bytes) {
  if (auto wide = from_marked_utf16(bytes); wide && !json::has_nul(wide->text)) return wide;
  if (json::has_nul(bytes)) return std::nullopt;
  if (!json::is_utf8(bytes) && has_odd_controls(bytes)) return std::nullopt;
  return guessed(bytes);
}

std::string shown_path_of(std::string_view path) {
  std::string out;
  json::append_replacing(out, path);
  return out;
}

}  // namespace hondana::git
