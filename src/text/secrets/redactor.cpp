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

constexpr std::size_t min_front_bytes = 8;  // shorter texts contain no secret

bool is_control(char32_t code) noexcept { return code < 0x20 && !(code >= 0x08 && code <= 0x0D) && code != 0x1B; }

/// Whether this is UTF-8 without control characters, except for a character that is cut off at the end.
bool is_plain_utf8(std::string_view front) noexcept {
  while (!front.empty()) {
    const auto character = ascii::first_character(front);
    if (!character.is_well_formed)
      return character.bytes == front.size() && front.size() < 4 && static_cast<unsigned char>(front[0]) >= 0xC2;
    if (is_control(character.code)) return false;
    front.remove_prefix(character.bytes);
  }
  return true;
}

char32_t read_unit(std::string_view text, std::size_t position, wide_encoding encoding) noexcept {
  const auto bytes = unit_size(encoding);
  const bool is_big = ascii_byte_index(encoding) != 0;
  char32_t code = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    code = code << 8 | static_cast<unsigned char>(text[position + (is_big ? i : bytes - 1 - i)]);
  return code;
}

bool is_private(char32_t code) noexcept { return (code >= 0xE000 && code <= 0xF8FF) || code >= 0xF0000; }

/// Whether at most one in thirty characters is invalid or rare in texts. Private-use characters exclude compressed and random
/// data, where one in ten 16-bit units is one.
bool may_be_encoded(std::string_view front, wide_encoding encoding) noexcept {
  const auto bytes = unit_size(encoding);
  std::size_t units = 0, invalid = 0;
  bool is_after_high = false;
  for (std::size_t position = 0; position + bytes <= front.size(); position += bytes, ++units) {
    const auto code = read_unit(front, position, encoding);
    const bool is_low = code >= 0xDC00 && code <= 0xDFFF;
    const bool is_alone = bytes == 2 ? is_low != is_after_high : code >= 0xD800 && code <= 0xDFFF;
    is_after_high = bytes == 2 && code >= 0xD800 && code <= 0xDBFF;
    if (is_alone || is_control(code) || is_private(code) || code == 0xFFFE || code == 0xFFFF) ++invalid;
  }
  return invalid <= 1 || invalid * 30 <= units;
}

/// The UTF-16 byte order, if the text is evidently ASCII in UTF-16.
std::optional<wide_encoding> evident_encoding(std::string_view front) noexcept {
  const auto units = front.size() / 2;
  std::array<std::size_t, 2> zeros{};
  for (std::size_t i = 0; i < 2 * units; ++i) {
    if (front[i] == '\0') ++zeros[i % 2];
  }
  if (zeros[0] == 0 && zeros[1] * 2 >= units) return wide_encoding::utf16_le;
  if (zeros[1] == 0 && zeros[0] * 2 >= units) return wide_encoding::utf16_be;
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

template <std::size_t UnitBytes>
std::string narrow_units(std::string_view wide, std::size_t ascii_index) {
  std::string out(wide.size() / UnitBytes, '\x80');
  for (std::size_t i = 0; i < out.size(); ++i) {
    unsigned other_bits = 0;
    for (std::size_t k = 0; k < UnitBytes; ++k) {
      if (k != ascii_index) other_bits |= static_cast<unsigned char>(wide[UnitBytes * i + k]);
    }
    const char low = wide[UnitBytes * i + ascii_index];
    if (other_bits == 0 && static_cast<unsigned char>(low) < 0x80) out[i] = low;
  }
  return out;
}

}  // namespace

wide_encodings detect_encodings(std::string_view front) noexcept {
  using namespace std::string_view_literals;
  front = front.substr(0, front_bytes);
  wide_encodings out;
  const auto begins_with_mark = [&](std::string_view mark, wide_encoding encoding) {
    if (!front.starts_with(mark)) return;
    out.add(encoding);
    out.is_evident = true;
  };
  begins_with_mark("\xFF\xFE"sv, wide_encoding::utf16_le);
  begins_with_mark("\xFE\xFF"sv, wide_encoding::utf16_be);
  begins_with_mark("\xFF\xFE\0\0"sv, wide_encoding::utf32_le);
  begins_with_mark("\0\0\xFE\xFF"sv, wide_encoding::utf32_be);
  if (out.any() || front.size() < min_front_bytes || is_plain_utf8(front)) return out;
  if (const auto evident = evident_encoding(front)) {
    out.add(*evident);
    out.is_evident = true;
    return out;
  }
  for (const auto encoding : all_wide_encodings) {
    if (may_be_encoded(front, encoding)) out.add(encoding);
  }
  return out;
}

wide_encodings find_encodings(std::string_view text) noexcept {
  // A row of at least 23 bytes contains one of these words.
  constexpr std::size_t stride = 16;
  wide_encodings out;
  for (std::size_t position = 0; position + sizeof(std::uint64_t) <= text.size(); position += stride) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + position, sizeof word);
    if ((word & beyond_ascii) != 0) continue;
    if (is_ascii_in(word, ones_of_16, 0)) out.add(wide_encoding::utf16_le);
    if (is_ascii_in(word, ones_of_16, 8)) out.add(wide_encoding::utf16_be);
    if (is_ascii_in(word, ones_of_32, 0)) out.add(wide_encoding::utf32_le);
    if (is_ascii_in(word, ones_of_32, 24)) out.add(wide_encoding::utf32_be);
  }
  return out;
}

std::string narrow(std::string_view wide, wide_encoding encoding) {
  const auto ascii_index = ascii_byte_index(encoding);
  return unit_size(encoding) == 2 ? narrow_units<2>(wide, ascii_index) : narrow_units<4>(wide, ascii_index);
}

namespace {

bool is_line_end(char byte) noexcept { return byte == '\n' || byte == '\r'; }

/// Parameters whose values grant access.
bool is_sensitive_parameter(std::string_view name) {
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
  return std::any_of(names.begin(), names.end(),
                     [name](std::string_view entry) { return ascii::equals_ignore_case(entry, name); });
}

}  // namespace

std::vector<span> redactor::secret_ranges::merged() const {
  auto out = narrow;
  for (const auto& [encoding, spans] : wide) out.insert(out.end(), spans.begin(), spans.end());
  merge_spans(out);
  return out;
}

redactor::secret_ranges redactor::scan(std::string_view text) const {
  secret_ranges matches;
  secrets::find(text, policy_, matches.narrow);
  // All patterns are ASCII. Without NUL bytes, the text contains no ASCII in wider characters.
  if (text.find('\0') == std::string_view::npos) return matches;
  const auto embedded = find_encodings(text);
  for (const auto encoding : all_wide_encodings) {
    if (!encodings_.contains(encoding) && !embedded.contains(encoding)) continue;
    std::vector<span> spans;
    // Whether secrets in shorter rows are found would depend on where the text begins, so ignore them.
    secrets::find(narrow(text, encoding), policy_, spans, encodings_.contains(encoding) ? 0 : row_bytes / unit_size(encoding));
    if (spans.empty()) continue;
    for (auto& match : spans) match = {unit_size(encoding) * match.begin, unit_size(encoding) * match.end};
    matches.wide.emplace_back(encoding, std::move(spans));
  }
  return matches;
}

void redactor::find(std::string_view text, std::vector<span>& spans) const { spans = scan(text).merged(); }

void redactor::overwrite(std::span<char> text, const secret_ranges& matches) const noexcept {
  for (const auto& narrow_match : matches.narrow) {
    // Keep NULs, because they may belong to wider characters in between.
    for (char& byte : text.subspan(narrow_match.begin, narrow_match.end - narrow_match.begin)) {
      if (!is_line_end(byte) && byte != '\0') byte = '*';
    }
  }
  for (const auto& [encoding, spans] : matches.wide) {
    const auto bytes = unit_size(encoding);
    const auto ascii_index = ascii_byte_index(encoding);
    for (const auto& wide_match : spans) {
      for (std::size_t position = wide_match.begin; position + bytes <= wide_match.end; position += bytes) {
        const auto unit = text.subspan(position, bytes);
        const bool is_ascii = std::count(unit.begin(), unit.end(), '\0') + 1 == static_cast<std::ptrdiff_t>(bytes);
        if (is_ascii && is_line_end(unit[ascii_index])) continue;
        std::fill(unit.begin(), unit.end(), '\0');
        unit[ascii_index] = '*';
      }
    }
  }
}

std::size_t redactor::mask(std::span<char> text) const { return mask_part(text, 0, text.size(), true); }

std::size_t redactor::mask_part(std::span<char> text, std::size_t begin, std::size_t end, bool is_first) const {
  const auto matches = scan(std::string_view(text.data(), text.size()));
  overwrite(text, matches);
  const auto is_counted = [=](const span& match) {
    return match.begin < end && (match.begin >= begin || (is_first && match.end > begin));
  };
  if (matches.wide.empty())
    return static_cast<std::size_t>(std::count_if(matches.narrow.begin(), matches.narrow.end(), is_counted));
  const auto merged = matches.merged();
  return static_cast<std::size_t>(std::count_if(merged.begin(), merged.end(), is_counted));
}

metadata redaction_metadata(std::size_t count) {
  if (count == 0) return {};
  return {{"dev.hondana/redacted", static_cast<std::int64_t>(count)}};
}

std::string redact_text(std::string_view text) {
  std::string out(text);
  redactor(masking_policy::settings, {}).mask(out);
  return out;
}

std::string redact_uri(std::string_view uri) {
  auto out = redact_text(uri);
  const auto mask_range = [&out](std::size_t begin, std::size_t end) {
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(begin), out.begin() + static_cast<std::ptrdiff_t>(end), '*');
  };
  if (const auto authority = out.find("://"); authority != std::string::npos) {
    const auto begin = authority + 3;
    const auto end = std::min(out.find_first_of("/?#", begin), out.size());
    const auto at_sign = out.rfind('@', end);
    const auto colon = out.find(':', begin);
    if (at_sign != std::string::npos && at_sign > begin && at_sign < end && colon < at_sign) mask_range(colon + 1, at_sign);
  }
  for (auto position = out.find_first_of("?#&"); position != std::string::npos;
       position = out.find_first_of("?#&", position + 1)) {
    const auto end = std::min(out.find_first_of("#&", position + 1), out.size());
    const auto equals = out.find('=', position);
    if (equals < end && is_sensitive_parameter(std::string_view(out).substr(position + 1, equals - position - 1)))
      mask_range(equals + 1, end);
  }
  return out;
}

namespace {

std::string mask_text(std::string text, masking_policy policy) {
  redactor(policy, {}).mask(text);
  return text;
}

/// Masks the text as in a file with the line `name: text`, so that the name identifies headers and settings.
std::string mask_member(std::string_view name, const std::string& text, masking_policy policy) {
  if (name.empty()) return mask_text(text, policy);
  constexpr std::string_view separator = ": ";
  std::string line(name);
  line += separator;
  line += mask_text(text, policy);
  return mask_text(std::move(line), policy).substr(name.size() + separator.size());
}

/// `name`: of the member that this value is, or is an element of; empty: none. `is_secret`: mask every text in it.
value mask_value(const value& input, std::string_view name, masking_policy policy, bool is_secret) {
  if (const auto* text = input.as_string())
    return is_secret ? std::string(text->size(), '*') : mask_member(name, *text, policy);
  if (const auto* elements = input.as_array()) {
    value::array out;
    out.reserve(elements->size());
    for (const auto& element : *elements) out.push_back(mask_value(element, name, policy, is_secret));
    return out;
  }
  if (const auto* members = input.as_object()) {
    value::object out;
    out.reserve(members->size());
    std::set<std::string> names;
    std::map<std::string, std::size_t> counts;
    const auto* const type = input.find("kty");
    const auto* const web_key = type == nullptr ? nullptr : type->as_string();
    for (const auto& [key, member] : *members) {
      // Names that differ only in their secrets must stay different.
      const auto masked_key = mask_text(key, policy);
      auto unique_key = masked_key;
      if (!names.insert(unique_key).second) {
        auto& count = counts.try_emplace(masked_key, 1).first->second;
        do {
          unique_key = masked_key + '~' + std::to_string(++count);
        } while (!names.insert(unique_key).second);
      }
      const bool is_private = policy != masking_policy::none && web_key != nullptr && is_private_member(*web_key, key);
      out.emplace_back(std::move(unique_key), mask_value(member, key, policy, is_secret || is_private));
    }
    return out;
  }
  return input;
}

}  // namespace

value redact_value(const value& input, masking_policy policy) { return mask_value(input, {}, policy, false); }

}  // namespace hondana::secrets
