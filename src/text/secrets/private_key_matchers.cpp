/// Matchers for private keys: PEM, OpenSSH, PGP, PuTTY and DER, also encoded.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "text/secrets/matcher.hpp"

namespace hondana::secrets {
namespace {

constexpr std::size_t max_headers = 16;
constexpr std::size_t min_run_bytes = 24;  // minimum length of base64 that counts as part of a key

/// Whether this is a character between the base64 lines of a key in comments, quotations, string literals and escapes. A plus
/// between blanks or quotes joins literals; elsewhere it is base64.
bool is_filler(std::string_view text, std::size_t position) noexcept {
  const auto is_separate = [text](std::size_t index) {
    return index >= text.size() || is_in(byte_set::blank, text[index]) || text[index] == '"' || text[index] == '\'';
  };
  if (text[position] == '+') return position > 0 && is_separate(position - 1) && is_separate(position + 1);
  return is_in(byte_set::blank, text[position]) ||
         std::string_view("\"'`#>*|,;()\\").find(text[position]) != std::string_view::npos;
}

bool is_header(std::string_view line) noexcept {
  constexpr std::string_view names[] = {
      "Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:", "Charset:", "Subject:", "MessageID:"};
  return std::any_of(std::begin(names), std::end(names), [line](auto name) { return line.starts_with(name); });
}

/// Whether most of the text is base64 in long runs.
bool is_mostly_base64(std::string_view body) noexcept {
  std::size_t in_runs = 0;
  std::size_t total = 0;
  for (std::size_t position = 0; position < body.size();) {
    const auto run = run_length(byte_set::base64, body.substr(position));
    if (run == 0) {
      if (!is_in(byte_set::blank, body[position])) ++total;
      ++position;
      continue;
    }
    total += run;
    if (run >= min_run_bytes) in_runs += run;
    position += run;
  }
  return in_runs >= min_run_bytes && in_runs * 10 >= total * 6;
}

/// The end of the lines of a key that has no end line.
std::size_t end_of_lines(std::string_view text, std::size_t position) noexcept {
  auto end = position;
  bool has_run = false;
  for (std::size_t headers = 0;;) {
    position = skip_filler(text, position);
    const auto remaining = text.substr(position);
    if (headers < max_headers && is_header(remaining)) {
      ++headers;
      const auto newline = remaining.find('\n');
      position += newline == std::string_view::npos ? remaining.size() : newline;
      end = has_run ? end : position;
      continue;
    }
    const auto run = run_length(byte_set::base64, remaining);
    const bool is_at_end = run == remaining.size();
    if (run == 0) return has_run ? end : std::string_view::npos;
    if (run >= min_run_bytes) {
      has_run = true;
      position += run;
      end = position;
      continue;
    }
    // The last line of a key is short. A short run of base64 may also be a word of prose, but then another word follows.
    const bool is_alone =
        is_at_end || (remaining[run] != ' ' && remaining[run] != '.' && remaining[run] != ':' && remaining[run] != '_');
    if ((has_run && is_alone) || is_at_end) return position + run;
    return has_run ? end : std::string_view::npos;
  }
}

std::optional<span> trim_filler(std::string_view text, std::size_t begin, std::size_t end) noexcept {
  begin = std::min(skip_filler(text, begin), end);
  for (;;) {
    const bool is_escape = end >= begin + 2 && text[end - 2] == '\\' && (text[end - 1] == 'n' || text[end - 1] == 'r');
    if (!is_escape && (end == begin || !is_filler(text, end - 1))) break;
    end -= is_escape ? 2 : 1;
  }
  if (end == begin) return std::nullopt;
  return span{begin, end};
}

/// The next begin or end line of a key (armor).
struct armor {
  std::size_t position = std::string_view::npos;
  bool is_end = false;
};

/// Everything that begins a key for `match_private_key` counts as armor, so no two keys examine the same text.
armor next_armor(std::string_view text, std::size_t position) noexcept {
  for (auto dashes = text.find("---", position); dashes != std::string_view::npos;) {
    const auto label_begin = text.find_first_not_of('-', dashes);
    if (label_begin == std::string_view::npos) break;
    const bool is_separate = text[label_begin] == ' ';
    const auto label = text.substr(is_separate ? label_begin + 1 : label_begin);
    if (is_separate || label_begin - dashes > 3) {
      if (label.starts_with("END ")) return {dashes, true};
      if (label.starts_with("BEGIN ")) return {dashes, false};
    }
    dashes = text.find("---", label_begin);
  }
  return {};
}

}  // namespace

std::size_t skip_filler(std::string_view text, std::size_t position) noexcept {
  while (position < text.size() && is_filler(text, position)) {
    const bool is_escape =
        text[position] == '\\' && position + 1 < text.size() && (text[position + 1] == 'n' || text[position + 1] == 'r');
    position += is_escape ? 2 : 1;
  }
  return position;
}

std::optional<span> match_private_key(const match_context& context) {
  const auto text = context.text;
  const auto label_at = context.position + 1;  // after a dash or a blank
  const auto preceding = context.position > 3 ? text.substr(context.position - 3, 3) : std::string_view();
  if (preceding != "---" || !context.text_from(label_at).starts_with("BEGIN ")) return std::nullopt;
  const auto dashes = text.substr(label_at, 80).find("----");
  if (dashes == std::string_view::npos) return std::nullopt;
  auto label = text.substr(label_at, dashes);
  if (label.ends_with(' ')) label.remove_suffix(1);
  if (!label.ends_with("PRIVATE KEY") && !label.ends_with("PRIVATE KEY BLOCK") && !label.ends_with("SECRET KEY BLOCK"))
    return std::nullopt;
  const auto begin = text.find_first_not_of('-', label_at + dashes);
  if (begin == std::string_view::npos) return std::nullopt;
  const auto next = next_armor(text, begin);
  // Each byte of the body is examined three times: for the next armor, for base64 and for lines.
  context.count(3 * (std::min(next.position, text.size()) - begin));
  if (next.is_end && is_mostly_base64(text.substr(begin, next.position - begin)))
    return trim_filler(text, begin, next.position);
  const auto limited = text.substr(0, next.position);
  const auto end = end_of_lines(limited, begin);
  if (end == std::string_view::npos) return std::nullopt;
  return trim_filler(text, begin, end);
}

std::optional<span> match_putty_key(const match_context& context) {
  constexpr std::string_view front = "Private-Lines:";
  constexpr std::size_t offset = 5;  // of "te-L"
  if (context.position < offset || !context.text_from(context.position - offset).starts_with(front)) return std::nullopt;
  const auto newline = context.text.substr(0, context.position + 40).find('\n', context.position);
  if (newline == std::string_view::npos) return std::nullopt;
  const auto end = end_of_lines(context.text, newline);
  context.count(2 * ((end == std::string_view::npos ? context.position + max_examined_bytes : end) - newline));
  if (end == std::string_view::npos) return std::nullopt;
  return trim_filler(context.text, newline, end);
}

namespace {

using namespace std::string_view_literals;

constexpr std::uint8_t invalid_digit = 64;
/// The values of base64 digits, in both alphabets.
constexpr auto digit_values = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(invalid_digit);
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < digits.size(); ++i) table[static_cast<unsigned char>(digits[i])] = static_cast<std::uint8_t>(i);
  table['-'] = 62;
  table['_'] = 63;
  return table;
}();

/// The `+` or `-` of a patch, if it is all of the line before `position`; NUL otherwise.
char sign_before(std::string_view text, std::size_t position) noexcept {
  const bool is_sign = position > 0 && position <= text.size() && (text[position - 1] == '+' || text[position - 1] == '-');
  return is_sign && (position == 1 || text[position - 2] == '\n') ? text[position - 1] : '\0';
}

/// Reads base64 digit by digit, also across wrapped lines.
class base64_digits {
 public:
  static constexpr unsigned bits = 6;
  base64_digits(std::string_view text, std::size_t position) noexcept
      : text_(text), position_(position), sign_(sign_before(text, position)) {}

  [[nodiscard]] std::optional<unsigned> next() noexcept {
    auto next_position = position_;
    if (value_at(next_position) == invalid_digit) next_position = skip_wrap(next_position);
    const unsigned value = value_at(next_position);
    if (value == invalid_digit) return std::nullopt;
    position_ = next_position + 1;
    return value;
  }
  /// The position after the last digit read.
  [[nodiscard]] std::size_t position() const noexcept { return position_; }

 private:
  [[nodiscard]] std::uint8_t value_at(std::size_t position) const noexcept {
    return position < text_.size() ? digit_values[static_cast<unsigned char>(text_[position])] : invalid_digit;
  }
  /// The position after a newline with its surroundings, or after the backslash that JSON may have before a slash.
  [[nodiscard]] std::size_t skip_wrap(std::size_t position) const noexcept {
    const auto next = skip_filler(text_, position);
    const auto between = text_.substr(std::min(position, text_.size()), next - position);
    const bool is_wrap = between.find('\n') != std::string_view::npos || between.find("\\n") != std::string_view::npos;
    if (!is_wrap && between != "\\") return position;
    return sign_ != '\0' && sign_before(text_, next + 1) == sign_ ? next + 1 : next;
  }

  std::string_view text_;
  std::size_t position_;
  char sign_;  // at the beginning of each line of a patch
};

/// Reads percent-encoded text byte by byte.
class percent_bytes {
 public:
  static constexpr unsigned bits = 8;
  percent_bytes(std::string_view text, std::size_t position, bool has_plus) noexcept
      : text_(text), position_(position), has_plus_(has_plus) {}

  [[nodiscard]] std::optional<unsigned> next() noexcept {
    if (position_ >= text_.size() || !is_in(byte_set::credential, text_[position_])) return std::nullopt;
    const char* const digits = text_.data() + position_ + 1;
    unsigned value = 0;
    const bool is_code = text_[position_] == '%' && text_.size() - position_ > 2 &&
                         std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2;
    position_ += is_code ? 3 : 1;
    if (is_code) return value;
    return digits[-1] == '+' && has_plus_ ? ' ' : static_cast<unsigned char>(digits[-1]);
  }
  /// The position after the last byte read.
  [[nodiscard]] std::size_t position() const noexcept { return position_; }

 private:
  std::string_view text_;
  std::size_t position_;
  bool has_plus_;  // a plus means a space
};

/// Decodes up to `max_bytes` bytes, but not beyond the next key: no two keys share a byte of the text.
template <class Units>
std::string decode(Units& units, std::size_t max_bytes) {
  constexpr std::string_view next_key = "-----BEGIN";
  constexpr std::size_t min_offset = 16;
  std::string out;
  unsigned value = 0;
  unsigned bits = 0;
  while (out.size() < max_bytes) {
    const auto unit = units.next();
    if (!unit) break;
    value = (value << Units::bits | *unit) & 0xFFFF;
    bits += Units::bits;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>(value >> bits & 0xFF);
    if (out.back() == 'N' && out.size() > min_offset && out.ends_with(next_key)) break;
  }
  return out;
}

/// The position after `count` units, or before the first one at which `is_stop` returns true.
template <class Units, class IsStop>
std::size_t advance(Units units, std::size_t count, IsStop is_stop) {
  for (; count != 0; --count) {
    const auto previous = units.position();
    if (!units.next() || is_stop(previous, units.position())) return previous;
  }
  return units.position();
}

/// The body of a PEM key whose first line is encoded at `units`.
template <class Units>
std::optional<span> match_encoded_pem(const match_context& context, const Units& units) {
  constexpr std::size_t max_label_bytes = 96;
  auto front = units;
  const auto label = decode(front, max_label_bytes);
  context.count(front.position() - units.position());
  const auto begin = label.find("-BEGIN ");
  const bool is_key = label.find("PRIVATE KEY") != std::string::npos || label.find("SECRET KEY") != std::string::npos;
  if (begin == std::string::npos || !is_key) return std::nullopt;
  auto reader = units;
  const auto decoded_text = decode(reader, context_bytes_after);
  run_cache runs(decoded_text);
  const auto body = match_private_key({decoded_text, begin, 0, &runs});
  context.count(3 * (reader.position() - units.position()) + runs.steps());
  if (!body) return std::nullopt;
  const auto position_of = [&units](std::size_t count) { return advance(units, count, [](auto, auto) { return false; }); };
  // The last digits of a key that is cut off may not make a whole byte.
  const auto end =
      body->end == decoded_text.size() ? reader.position() : position_of((body->end * 8 + Units::bits - 1) / Units::bits);
  return span{position_of(body->begin * 8 / Units::bits), end};
}

constexpr std::size_t der_prefix_bytes = 192;  // bytes that suffice to identify a DER key and its length
constexpr unsigned char integer = 0x02, octets = 0x04, identifier = 0x06, sequence = 0x30;

struct element {
  unsigned char tag = 0;
  std::size_t begin = 0;  // of its content
  std::size_t end = 0;    // may be beyond the known text
};

std::optional<element> parse_element(std::string_view der, std::size_t position) noexcept {
  const auto byte = [der](std::size_t i) -> std::size_t { return static_cast<unsigned char>(der[i]); };
  if (position + 2 > der.size()) return std::nullopt;
  const auto first = byte(position + 1);
  const std::size_t length_bytes = first < 0x80 ? 0 : first - 0x80;
  if (length_bytes > 2 || first == 0x80 || position + 2 + length_bytes > der.size()) return std::nullopt;
  const auto size = length_bytes == 0   ? first
                    : length_bytes == 1 ? byte(position + 2)
                                        : byte(position + 2) << 8 | byte(position + 3);
  return element{static_cast<unsigned char>(der[position]), position + 2 + length_bytes, position + 2 + length_bytes + size};
}

/// The secret part of the private key at the beginning of `front`, in PKCS#8 (encrypted or not), PKCS#1 or SEC1 format. Its
/// first bytes stay readable, so that people see its type. Certificates, public keys, requests and CMS messages are not keys.
std::optional<span> find_der_secret(std::string_view front) noexcept {
  const auto outer = parse_element(front, 0);
  if (!outer || outer->tag != sequence) return std::nullopt;
  const auto first = parse_element(front, outer->begin);
  if (!first || first->end >= outer->end) return std::nullopt;
  const auto has_tag = [front](std::size_t position, unsigned char tag) {
    return position >= front.size() || static_cast<unsigned char>(front[position]) == tag;
  };
  if (first->tag == sequence) {
    // Password-based encryption of PKCS#5 or PKCS#12.
    constexpr auto by_pkcs5 = "\x06\x09\x2A\x86\x48\x86\xF7\x0D\x01\x05"sv;
    constexpr auto by_pkcs12 = "\x06\x0A\x2A\x86\x48\x86\xF7\x0D\x01\x0C\x01"sv;
    const auto name = front.substr(first->begin);
    const bool is_known = name.starts_with(by_pkcs5) || name.starts_with(by_pkcs12);
    if (!is_known || !has_tag(first->end, octets)) return std::nullopt;
    return span{first->end, outer->end};
  }
  const auto second = parse_element(front, first->end);
  if (first->tag != integer || first->end - first->begin != 1 || !second || second->end > outer->end) return std::nullopt;
  const auto version = static_cast<unsigned char>(front[first->begin]);
  const auto size = second->end - second->begin;
  if (version > 1) return std::nullopt;
  if (second->tag == sequence) {
    const bool is_algorithm = second->begin < front.size() && has_tag(second->begin, identifier);
    if (!is_algorithm || second->end >= outer->end || !has_tag(second->end, octets)) return std::nullopt;
    return span{second->end, outer->end};
  }
  // A modulus, followed by numbers that are longer in total.
  const bool is_rsa = second->tag == integer && size >= 64 && outer->end > second->end + size;
  // A private number of an elliptic curve. Not an SNMP community, which is followed by a request.
  const auto third = parse_element(front, second->end);
  const bool is_last = second->end == outer->end || (third && (third->tag & 0xFEu) == 0xA0 && third->begin < front.size() &&
                                                     !has_tag(third->begin, integer));
  const bool is_curve = second->tag == octets && version == 1 && size >= 16 && size <= 80 && is_last;
  if (!is_rsa && !is_curve) return std::nullopt;
  return span{first->end, outer->end};
}

std::optional<span> find_base64_der_secret(std::string_view text, std::size_t position) {
  base64_digits digits(text, position);
  return find_der_secret(decode(digits, der_prefix_bytes));
}

}  // namespace

std::optional<span> match_base64_key(const match_context& context) {
  // "-----BEGIN " in base64 at the three possible byte offsets, with the position of the anchor in it and the number of digits
  // before it.
  struct front {
    std::string_view digits;
    std::size_t offset;
    std::size_t digits_before;
  };
  constexpr std::array<front, 3> fronts{{{"LS0tLS1CRUdJTi", 0, 0}, {"0tLS0tQkVHSU4g", 2, 2}, {"tLS0tLUJFR0lOI", 1, 3}}};
  for (const auto& encoded_front : fronts) {
    const auto distance = encoded_front.offset + encoded_front.digits_before;
    if (context.position < distance ||
        !context.text_from(context.position - encoded_front.offset).starts_with(encoded_front.digits))
      continue;
    return match_encoded_pem(context, base64_digits(context.text, context.position - distance));
  }
  return std::nullopt;
}

std::optional<span> match_percent_key(const match_context& context) {
  const auto label = context.text_from(context.position + 1);
  const bool has_plus = label.starts_with("BEGIN+");
  if (!has_plus && !label.starts_with("BEGIN%20")) return std::nullopt;
  const std::size_t dashes = context[context.position] == '-' ? 5 : 15;  // %2D
  if (context.position + 1 < dashes) return std::nullopt;
  return match_encoded_pem(context, percent_bytes(context.text, context.position + 1 - dashes, has_plus));
}

std::optional<span> match_base64_der(const match_context& context) {
  // The version after a header of two, three or four bytes, or the name of an algorithm.
  constexpr std::array<std::size_t, 3> offsets{4, 6, 8};
  for (const auto offset : offsets) {
    if (context.position < offset || context[context.position - offset] != 'M' ||
        !may_begin_token(context, context.position - offset))
      continue;
    const auto begin = context.position - offset;
    // A digit before it is accepted only if it is the sign of a patch line. So no two keys share a byte of the text.
    const char previous = begin == 0 ? '\0' : context[begin - 1];
    if ("+-/_"sv.find(previous) != std::string_view::npos && sign_before(context.text, begin) == '\0') continue;
    context.count(2 * max_examined_bytes);
    const auto secret = find_base64_der_secret(context.text, begin);
    if (!secret) continue;
    const base64_digits digits(context.text, begin);
    const auto is_next_key = [&context](std::size_t last, std::size_t end) {
      if (end == last + 1) return false;
      const auto next = sign_before(context.text, end) == '\0' ? end - 1 : end;
      return context[next] == 'M' && find_base64_der_secret(context.text, next).has_value();
    };
    const span out{advance(digits, secret->begin * 8 / 6, is_next_key),
                   advance(digits, (secret->end * 8 + 5) / 6, is_next_key)};
    context.count(2 * (out.end - begin));
    if (out.begin < out.end) return out;
  }
  return std::nullopt;
}

std::optional<span> match_der(const match_context& context) {
  // The anchor is directly after the header of a key, or in the name of its algorithm.
  constexpr std::size_t max_header_bytes = 13;
  context.count(2 * max_header_bytes);
  for (std::size_t distance = 2; distance <= std::min(max_header_bytes, context.position); ++distance) {
    const auto begin = context.position - distance;
    if (static_cast<unsigned char>(context[begin]) != sequence) continue;
    const auto secret = find_der_secret(context.text_from(begin).substr(0, der_prefix_bytes));
    const auto end = std::min(begin + (secret ? secret->end : 0), context.text.size());
    if (secret && begin + secret->begin < end) return span{begin + secret->begin, end};
  }
  return std::nullopt;
}

}  // namespace hondana::secrets
