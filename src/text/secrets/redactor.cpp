/// Masks the secrets of a text, a URI or a JSON value, in UTF-8, UTF-16 and UTF-32.
#include "text/secrets/redactor.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "base/ascii/code_points.hpp"
#include "text/secrets/json_web_key.hpp"

namespace hondana::secrets {
namespace {

constexpr std::size_t least_front = 8;  // shorter texts contain no secret

bool is_control(char32_t code) noexcept { return code < 0x20 && !(code >= 0x08 && code <= 0x0D) && code != 0x1B; }

/// Whether this is UTF-8 without control characters, except for a character that is cut off at the end.
bool is_plain(std::string_view front) noexcept {
  while (!front.empty()) {
    const auto one = ascii::first_character(front);
    if (!one.is_well_formed)
      return one.bytes == front.size() && front.size() < 4 && static_cast<unsigned char>(front[0]) >= 0xC2;
    if (is_control(one.code)) return false;
    front.remove_prefix(one.bytes);
  }
  return true;
}

char32_t unit_at(std::string_view text, std::size_t at, width how) noexcept {
  const auto bytes = bytes_of(how);
  const bool is_big = ascii_byte_of(how) != 0;
  char32_t code = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    code = code << 8 | static_cast<unsigned char>(text[at + (is_big ? i : bytes - 1 - i)]);
  return code;
}

bool is_private(char32_t code) noexcept { return (code >= 0xE000 && code <= 0xF8FF) || code >= 0xF0000; }

/// Whether at most one in thirty characters is invalid or rare in texts. Private-use characters exclude compressed and random
/// data, where one in ten 16-bit units is one.
bool may_be(std::string_view front, width how) noexcept {
  const auto bytes = bytes_of(how);
  std::size_t units = 0, wrong = 0;
  bool is_after_high = false;
  for (std::size_t at = 0; at + bytes <= front.size(); at += bytes, ++units) {
    const auto code = unit_at(front, at, how);
    const bool is_low = code >= 0xDC00 && code <= 0xDFFF;
    const bool is_alone = bytes == 2 ? is_low != is_after_high : code >= 0xD800 && code <= 0xDFFF;
    is_after_high = bytes == 2 && code >= 0xD800 && code <= 0xDBFF;
    if (is_alone || is_control(code) || is_private(code) || code == 0xFFFE || code == 0xFFFF) ++wrong;
  }
  return wrong <= 1 || wrong * 30 <= units;
}

/// The UTF-16 byte order, if the text is evidently ASCII in UTF-16.
std::optional<width> evident_width(std::string_view front) noexcept {
  const auto units = front.size() / 2;
  std::array<std::size_t, 2> zeros{};
  for (std::size_t i = 0; i < 2 * units; ++i) {
    if (front[i] == '\0') ++zeros[i % 2];
  }
  if (zeros[0] == 0 && zeros[1] * 2 >= units) return width::utf16_le;
  if (zeros[1] == 0 && zeros[0] * 2 >= units) return width::utf16_be;
  return std::nullopt;
}

/// Whether eight bytes are ASCII characters of a width, without NUL. `ones` has a 1 for each character; `shift` is the bit
/// position of the ASCII byte in a character.
constexpr bool is_ascii_in(std::uint64_t word, std::uint64_t ones, unsigned shift) noexcept {
  const auto bytes = ones * 0xFF << shift;
  if ((word & ~bytes) != 0) return false;
  return (((word >> shift) + ones * 0x7F) & ones * 0x80) == ones * 0x80;
}
constexpr std::uint64_t ones_of_16 = 0x0001'0001'0001'0001, ones_of_32 = 0x0000'0001'0000'0001;
constexpr std::uint64_t beyond_ascii = 0x8080'8080'8080'8080;
static_assert(std::endian::native == std::endian::little);

template <std::size_t bytes>
std::string narrowed_by(std::string_view wide, std::size_t of_ascii) {
  std::string out(wide.size() / bytes, '\x80');
  for (std::size_t i = 0; i < out.size(); ++i) {
    unsigned others = 0;
    for (std::size_t k = 0; k < bytes; ++k) {
      if (k != of_ascii) others |= static_cast<unsigned char>(wide[bytes * i + k]);
    }
    const char low = wide[bytes * i + of_ascii];
    if (others == 0 && static_cast<unsigned char>(low) < 0x80) out[i] = low;
  }
  return out;
}

}  // namespace

widths widths_of(std::string_view front) noexcept {
  using namespace std::string_view_literals;
  front = front.substr(0, front_bytes);
  widths out;
  const auto begins_with_mark = [&](std::string_view mark, width how) {
    if (!front.starts_with(mark)) return;
    out.add(how);
    out.is_evident = true;
  };
  begins_with_mark("\xFF\xFE"sv, width::utf16_le);
  begins_with_mark("\xFE\xFF"sv, width::utf16_be);
  begins_with_mark("\xFF\xFE\0\0"sv, width::utf32_le);
  begins_with_mark("\0\0\xFE\xFF"sv, width::utf32_be);
  if (out.any() || front.size() < least_front || is_plain(front)) return out;
  if (const auto evident = evident_width(front)) {
    out.add(*evident);
    out.is_evident = true;
    return out;
  }
  for (const auto one : all_widths) {
    if (may_be(front, one)) out.add(one);
  }
  return out;
}

widths widths_within(std::string_view text) noexcept {
  // A row of at least 23 bytes contains one of these words.
  constexpr std::size_t stride = 16;
  widths out;
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= text.size(); at += stride) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & beyond_ascii) != 0) continue;
    if (is_ascii_in(word, ones_of_16, 0)) out.add(width::utf16_le);
    if (is_ascii_in(word, ones_of_16, 8)) out.add(width::utf16_be);
    if (is_ascii_in(word, ones_of_32, 0)) out.add(width::utf32_le);
    if (is_ascii_in(word, ones_of_32, 24)) out.add(width::utf32_be);
  }
  return out;
}

std::string narrowed(std::string_view wide, width how) {
  const auto of_ascii = ascii_byte_of(how);
  return bytes_of(how) == 2 ? narrowed_by<2>(wide, of_ascii) : narrowed_by<4>(wide, of_ascii);
}

namespace {

bool is_line_end(char byte) noexcept { return byte == '\n' || byte == '\r'; }

/// Parameters whose values grant access.
bool is_telling(std::string_view name) {
  constexpr std::array<std::string_view, 25> names{"token",
                                                   "access_token",
                                                   "refresh_token",
                                                   "id_token",
                                                   "auth",
                                                   "authorization",
                                                   "code",
                                                   "state",
                                                   "key",
                                                   "api_key",
                                                   "apikey",
                                                   "api-key",
                                                   "secret",
                                                   "client_secret",
                                                   "password",
                                                   "passwd",
                                                   "pwd",
                                                   "pass",
                                                   "sig",
                                                   "signature",
                                                   "x-amz-signature",
                                                   "x-goog-signature",
                                                   "x-amz-security-token",
                                                   "session",
                                                   "sessionid"};
  return std::any_of(names.begin(), names.end(), [name](std::string_view one) { return ascii::is_same(one, name); });
}

}  // namespace

std::vector<span> redactor::places::all() const {
  auto out = narrow;
  for (const auto& [how, spans] : wide) out.insert(out.end(), spans.begin(), spans.end());
  unite(out);
  return out;
}

redactor::places redactor::look_at(std::string_view text) const {
  places out;
  secrets::find(text, how_, out.narrow);
  // All patterns are ASCII. Without NUL bytes, the text contains no ASCII in wider characters.
  if (text.find('\0') == std::string_view::npos) return out;
  const auto within = widths_within(text);
  for (const auto how : all_widths) {
    if (!widths_.has(how) && !within.has(how)) continue;
    std::vector<span> found;
    // Whether secrets in shorter rows are found would depend on where the text begins, so ignore them.
    secrets::find(narrowed(text, how), how_, found, widths_.has(how) ? 0 : row_bytes / bytes_of(how));
    if (found.empty()) continue;
    for (auto& one : found) one = {bytes_of(how) * one.begin, bytes_of(how) * one.end};
    out.wide.emplace_back(how, std::move(found));
  }
  return out;
}

void redactor::find(std::string_view text, std::vector<span>& into) const { into = look_at(text).all(); }

void redactor::blot(std::span<char> text, const places& found) const noexcept {
  for (const auto& one : found.narrow) {
    // Keep NULs, because they may belong to wider characters in between.
    for (char& byte : text.subspan(one.begin, one.end - one.begin)) {
      if (!is_line_end(byte) && byte != '\0') byte = '*';
    }
  }
  for (const auto& [how, spans] : found.wide) {
    const auto bytes = bytes_of(how);
    const auto of_ascii = ascii_byte_of(how);
    for (const auto& one : spans) {
      for (std::size_t at = one.begin; at + bytes <= one.end; at += bytes) {
        const auto unit = text.subspan(at, bytes);
        const bool is_ascii = std::count(unit.begin(), unit.end(), '\0') + 1 == static_cast<std::ptrdiff_t>(bytes);
        if (is_ascii && is_line_end(unit[of_ascii])) continue;
        std::fill(unit.begin(), unit.end(), '\0');
        unit[of_ascii] = '*';
      }
    }
  }
}

std::size_t redactor::mask(std::span<char> text) const { return mask_part(text, 0, text.size(), true); }

std::size_t redactor::mask_part(std::span<char> text, std::size_t begin, std::size_t end, bool is_first) const {
  const auto found = look_at(std::string_view(text.data(), text.size()));
  blot(text, found);
  const auto is_ours = [=](const span& one) {
    return one.begin < end && (one.begin >= begin || (is_first && one.end > begin));
  };
  if (found.wide.empty()) return static_cast<std::size_t>(std::count_if(found.narrow.begin(), found.narrow.end(), is_ours));
  const auto all = found.all();
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_ours));
}

metadata facts_of(std::size_t masked) {
  if (masked == 0) return {};
  return {{"dev.hondana/redacted", static_cast<std::int64_t>(masked)}};
}

std::string redact_text(std::string_view text) {
  std::string out(text);
  redactor(policy::settings, {}).mask(out);
  return out;
}

std::string redact_uri(std::string_view uri) {
  auto out = redact_text(uri);
  const auto blot = [&out](std::size_t begin, std::size_t end) {
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(begin), out.begin() + static_cast<std::ptrdiff_t>(end), '*');
  };
  if (const auto authority = out.find("://"); authority != std::string::npos) {
    const auto begin = authority + 3;
    const auto end = std::min(out.find_first_of("/?#", begin), out.size());
    const auto at_sign = out.rfind('@', end);
    const auto colon = out.find(':', begin);
    if (at_sign != std::string::npos && at_sign > begin && at_sign < end && colon < at_sign) blot(colon + 1, at_sign);
  }
  for (auto at = out.find_first_of("?#&"); at != std::string::npos; at = out.find_first_of("?#&", at + 1)) {
    const auto end = std::min(out.find_first_of("#&", at + 1), out.size());
    const auto equals = out.find('=', at);
    if (equals < end && is_telling(std::string_view(out).substr(at + 1, equals - at - 1))) blot(equals + 1, end);
  }
  return out;
}

namespace {

std::string masked(std::string text, policy how) {
  redactor(how, {}).mask(text);
  return text;
}

/// Masks the text as in a file with the line `name: text`, so that the name identifies headers and settings.
std::string masked_in_member(std::string_view name, const std::string& text, policy how) {
  if (name.empty()) return masked(text, how);
  constexpr std::string_view between = ": ";
  std::string line(name);
  line += between;
  line += masked(text, how);
  return masked(std::move(line), how).substr(name.size() + between.size());
}

/// `name`: of the member that this value is, or is an element of; empty: none. `is_secret`: mask every text in it.
value masked_value(const value& what, std::string_view name, policy how, bool is_secret) {
  if (const auto* text = what.as_string())
    return is_secret ? std::string(text->size(), '*') : masked_in_member(name, *text, how);
  if (const auto* elements = what.as_array()) {
    value::array out;
    out.reserve(elements->size());
    for (const auto& one : *elements) out.push_back(masked_value(one, name, how, is_secret));
    return out;
  }
  if (const auto* members = what.as_object()) {
    value::object out;
    out.reserve(members->size());
    std::set<std::string> names;
    std::map<std::string, std::size_t> counts;
    const auto* const type = what.find("kty");
    const auto* const web_key = type == nullptr ? nullptr : type->as_string();
    for (const auto& [key, one] : *members) {
      // Names that differ only in their secrets must stay different.
      const auto shown = masked(key, how);
      auto unlike = shown;
      if (!names.insert(unlike).second) {
        auto& count = counts.try_emplace(shown, 1).first->second;
        do {
          unlike = shown + '~' + std::to_string(++count);
        } while (!names.insert(unlike).second);
      }
      const bool is_private = how != policy::none && web_key != nullptr && is_private_member(*web_key, key);
      out.emplace_back(std::move(unlike), masked_value(one, key, how, is_secret || is_private));
    }
    return out;
  }
  return what;
}

}  // namespace

value redact_value(const value& what, policy how) { return masked_value(what, {}, how, false); }

}  // namespace hondana::secrets
