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

constexpr std::size_t most_headers = 16;
constexpr std::size_t least_run = 24;  // minimum length of base64 that counts as part of a key

/// Whether this is a character between the base64 lines of a key in comments, quotations, string literals and escapes. A plus
/// between blanks or quotes joins literals; elsewhere it is base64.
bool is_trimming(std::string_view text, std::size_t at) noexcept {
  const auto is_apart = [text](std::size_t where) {
    return where >= text.size() || is(kind::blank, text[where]) || text[where] == '"' || text[where] == '\'';
  };
  if (text[at] == '+') return at > 0 && is_apart(at - 1) && is_apart(at + 1);
  return is(kind::blank, text[at]) || std::string_view("\"'`#>*|,;()\\").find(text[at]) != std::string_view::npos;
}

bool is_header(std::string_view line) noexcept {
  constexpr std::string_view names[] = {
      "Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:", "Charset:", "Subject:", "MessageID:"};
  return std::any_of(std::begin(names), std::end(names), [line](auto name) { return line.starts_with(name); });
}

/// Whether most of the text is base64 in long runs.
bool is_mostly_base64(std::string_view body) noexcept {
  std::size_t in_runs = 0;
  std::size_t all = 0;
  for (std::size_t at = 0; at < body.size();) {
    const auto run = run_of(kind::base64, body.substr(at));
    if (run == 0) {
      if (!is(kind::blank, body[at])) ++all;
      ++at;
      continue;
    }
    all += run;
    if (run >= least_run) in_runs += run;
    at += run;
  }
  return in_runs >= least_run && in_runs * 10 >= all * 6;
}

/// The end of the lines of a key that has no end line.
std::size_t end_of_lines(std::string_view text, std::size_t at) noexcept {
  auto end = at;
  bool has_run = false;
  for (std::size_t headers = 0;;) {
    at = skip_trimming(text, at);
    const auto rest = text.substr(at);
    if (headers < most_headers && is_header(rest)) {
      ++headers;
      const auto newline = rest.find('\n');
      at += newline == std::string_view::npos ? rest.size() : newline;
      end = has_run ? end : at;
      continue;
    }
    const auto run = run_of(kind::base64, rest);
    const bool is_at_end = run == rest.size();
    if (run == 0) return has_run ? end : std::string_view::npos;
    if (run >= least_run) {
      has_run = true;
      at += run;
      end = at;
      continue;
    }
    // The last line of a key is short. A short run of base64 may also be a word of prose, but then another word follows.
    const bool is_alone = is_at_end || (rest[run] != ' ' && rest[run] != '.' && rest[run] != ':' && rest[run] != '_');
    if ((has_run && is_alone) || is_at_end) return at + run;
    return has_run ? end : std::string_view::npos;
  }
}

std::optional<span> trimmed(std::string_view text, std::size_t begin, std::size_t end) noexcept {
  begin = std::min(skip_trimming(text, begin), end);
  for (;;) {
    const bool is_escape = end >= begin + 2 && text[end - 2] == '\\' && (text[end - 1] == 'n' || text[end - 1] == 'r');
    if (!is_escape && (end == begin || !is_trimming(text, end - 1))) break;
    end -= is_escape ? 2 : 1;
  }
  if (end == begin) return std::nullopt;
  return span{begin, end};
}

/// The next begin or end line of a key (armor).
struct armour {
  std::size_t at = std::string_view::npos;
  bool is_end = false;
};

/// Everything that begins a key for `match_private_key` counts as armor, so no two keys examine the same text.
armour next_armour(std::string_view text, std::size_t at) noexcept {
  for (auto dashes = text.find("---", at); dashes != std::string_view::npos;) {
    const auto words = text.find_first_not_of('-', dashes);
    if (words == std::string_view::npos) break;
    const bool is_apart = text[words] == ' ';
    const auto label = text.substr(is_apart ? words + 1 : words);
    if (is_apart || words - dashes > 3) {
      if (label.starts_with("END ")) return {dashes, true};
      if (label.starts_with("BEGIN ")) return {dashes, false};
    }
    dashes = text.find("---", words);
  }
  return {};
}

}  // namespace

std::size_t skip_trimming(std::string_view text, std::size_t at) noexcept {
  while (at < text.size() && is_trimming(text, at)) {
    const bool is_escape = text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == 'n' || text[at + 1] == 'r');
    at += is_escape ? 2 : 1;
  }
  return at;
}

std::optional<span> match_private_key(const place& near) {
  const auto text = near.text;
  const auto label_at = near.at + 1;  // after a dash or a blank
  const auto before = near.at > 3 ? text.substr(near.at - 3, 3) : std::string_view();
  if (before != "---" || !near.from(label_at).starts_with("BEGIN ")) return std::nullopt;
  const auto dashes = text.substr(label_at, 80).find("----");
  if (dashes == std::string_view::npos) return std::nullopt;
  auto label = text.substr(label_at, dashes);
  if (label.ends_with(' ')) label.remove_suffix(1);
  if (!label.ends_with("PRIVATE KEY") && !label.ends_with("PRIVATE KEY BLOCK") && !label.ends_with("SECRET KEY BLOCK"))
    return std::nullopt;
  const auto begin = text.find_first_not_of('-', label_at + dashes);
  if (begin == std::string_view::npos) return std::nullopt;
  const auto next = next_armour(text, begin);
  // Each byte of the body is examined three times: for the next armor, for base64 and for lines.
  near.count(3 * (std::min(next.at, text.size()) - begin));
  if (next.is_end && is_mostly_base64(text.substr(begin, next.at - begin))) return trimmed(text, begin, next.at);
  const auto upto = text.substr(0, next.at);
  const auto end = end_of_lines(upto, begin);
  if (end == std::string_view::npos) return std::nullopt;
  return trimmed(text, begin, end);
}

std::optional<span> match_putty_key(const place& near) {
  constexpr std::string_view front = "Private-Lines:";
  constexpr std::size_t offset = 5;  // of "te-L"
  if (near.at < offset || !near.from(near.at - offset).starts_with(front)) return std::nullopt;
  const auto newline = near.text.substr(0, near.at + 40).find('\n', near.at);
  if (newline == std::string_view::npos) return std::nullopt;
  const auto end = end_of_lines(near.text, newline);
  near.count(2 * ((end == std::string_view::npos ? near.at + looked_at_most : end) - newline));
  if (end == std::string_view::npos) return std::nullopt;
  return trimmed(near.text, newline, end);
}

namespace {

using namespace std::string_view_literals;

constexpr std::uint8_t no_digit = 64;
/// The values of base64 digits, in both alphabets.
constexpr auto digit_values = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(no_digit);
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < digits.size(); ++i) table[static_cast<unsigned char>(digits[i])] = static_cast<std::uint8_t>(i);
  table['-'] = 62;
  table['_'] = 63;
  return table;
}();

/// The `+` or `-` of a patch, if it is all of the line before `at`; NUL otherwise.
char sign_before(std::string_view text, std::size_t at) noexcept {
  const bool is_sign = at > 0 && at <= text.size() && (text[at - 1] == '+' || text[at - 1] == '-');
  return is_sign && (at == 1 || text[at - 2] == '\n') ? text[at - 1] : '\0';
}

/// Reads base64 digit by digit, also across wrapped lines.
class base64_digits {
 public:
  static constexpr unsigned bits = 6;
  base64_digits(std::string_view text, std::size_t at) noexcept : text_(text), at_(at), sign_(sign_before(text, at)) {}

  [[nodiscard]] std::optional<unsigned> next() noexcept {
    auto at = at_;
    if (value_at(at) == no_digit) at = behind_wrap(at);
    const unsigned value = value_at(at);
    if (value == no_digit) return std::nullopt;
    at_ = at + 1;
    return value;
  }
  /// The position after the last digit read.
  [[nodiscard]] std::size_t at() const noexcept { return at_; }

 private:
  [[nodiscard]] std::uint8_t value_at(std::size_t at) const noexcept {
    return at < text_.size() ? digit_values[static_cast<unsigned char>(text_[at])] : no_digit;
  }
  /// The position after a newline with its surroundings, or after the backslash that JSON may have before a slash.
  [[nodiscard]] std::size_t behind_wrap(std::size_t at) const noexcept {
    const auto next = skip_trimming(text_, at);
    const auto between = text_.substr(std::min(at, text_.size()), next - at);
    const bool is_wrap = between.find('\n') != std::string_view::npos || between.find("\\n") != std::string_view::npos;
    if (!is_wrap && between != "\\") return at;
    return sign_ != '\0' && sign_before(text_, next + 1) == sign_ ? next + 1 : next;
  }

  std::string_view text_;
  std::size_t at_;
  char sign_;  // at the beginning of each line of a patch
};

/// Reads percent-encoded text byte by byte.
class percent_bytes {
 public:
  static constexpr unsigned bits = 8;
  percent_bytes(std::string_view text, std::size_t at, bool has_plus) noexcept : text_(text), at_(at), has_plus_(has_plus) {}

  [[nodiscard]] std::optional<unsigned> next() noexcept {
    if (at_ >= text_.size() || !is(kind::credential, text_[at_])) return std::nullopt;
    const char* const from = text_.data() + at_ + 1;
    unsigned value = 0;
    const bool is_code =
        text_[at_] == '%' && text_.size() - at_ > 2 && std::from_chars(from, from + 2, value, 16).ptr == from + 2;
    at_ += is_code ? 3 : 1;
    if (is_code) return value;
    return from[-1] == '+' && has_plus_ ? ' ' : static_cast<unsigned char>(from[-1]);
  }
  /// The position after the last byte read.
  [[nodiscard]] std::size_t at() const noexcept { return at_; }

 private:
  std::string_view text_;
  std::size_t at_;
  bool has_plus_;  // a plus means a space
};

/// Decodes up to `most` bytes, but not beyond the next key: no two keys share a byte of the text.
template <class Units>
std::string decoded(Units& units, std::size_t most) {
  constexpr std::string_view next_key = "-----BEGIN";
  constexpr std::size_t behind_first = 16;
  std::string out;
  unsigned value = 0;
  unsigned bits = 0;
  while (out.size() < most) {
    const auto unit = units.next();
    if (!unit) break;
    value = (value << Units::bits | *unit) & 0xFFFF;
    bits += Units::bits;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>(value >> bits & 0xFF);
    if (out.back() == 'N' && out.size() > behind_first && out.ends_with(next_key)) break;
  }
  return out;
}

/// The position after `count` units, or before the first one at which `stops` returns true.
template <class Units, class Stops>
std::size_t behind(Units units, std::size_t count, Stops stops) {
  for (; count != 0; --count) {
    const auto before = units.at();
    if (!units.next() || stops(before, units.at())) return before;
  }
  return units.at();
}

/// The body of a PEM key whose first line is encoded at `units`.
template <class Units>
std::optional<span> match_encoded_pem(const place& near, const Units& units) {
  constexpr std::size_t longest_label = 96;
  auto front = units;
  const auto label = decoded(front, longest_label);
  near.count(front.at() - units.at());
  const auto begin = label.find("-BEGIN ");
  const bool is_key = label.find("PRIVATE KEY") != std::string::npos || label.find("SECRET KEY") != std::string::npos;
  if (begin == std::string::npos || !is_key) return std::nullopt;
  auto reading = units;
  const auto plain = decoded(reading, reach_ahead);
  known_runs runs(plain);
  const auto body = match_private_key({plain, begin, 0, &runs});
  near.count(3 * (reading.at() - units.at()) + runs.steps());
  if (!body) return std::nullopt;
  const auto position = [&units](std::size_t count) { return behind(units, count, [](auto, auto) { return false; }); };
  // The last digits of a key that is cut off may not make a whole byte.
  const auto end = body->end == plain.size() ? reading.at() : position((body->end * 8 + Units::bits - 1) / Units::bits);
  return span{position(body->begin * 8 / Units::bits), end};
}

constexpr std::size_t front_of_der = 192;  // bytes that suffice to identify a DER key and its length
constexpr unsigned char integer = 0x02, octets = 0x04, identifier = 0x06, sequence = 0x30;

struct element {
  unsigned char tag = 0;
  std::size_t begin = 0;  // of its content
  std::size_t end = 0;    // may be beyond the known text
};

std::optional<element> element_at(std::string_view der, std::size_t at) noexcept {
  const auto byte = [der](std::size_t i) -> std::size_t { return static_cast<unsigned char>(der[i]); };
  if (at + 2 > der.size()) return std::nullopt;
  const auto first = byte(at + 1);
  const std::size_t more = first < 0x80 ? 0 : first - 0x80;
  if (more > 2 || first == 0x80 || at + 2 + more > der.size()) return std::nullopt;
  const auto size = more == 0 ? first : more == 1 ? byte(at + 2) : byte(at + 2) << 8 | byte(at + 3);
  return element{static_cast<unsigned char>(der[at]), at + 2 + more, at + 2 + more + size};
}

/// The secret part of the private key at the beginning of `front`, in PKCS#8 (encrypted or not), PKCS#1 or SEC1 format. Its
/// first bytes stay readable, so that people see its type. Certificates, public keys, requests and CMS messages are not keys.
std::optional<span> secret_in_der(std::string_view front) noexcept {
  const auto whole = element_at(front, 0);
  if (!whole || whole->tag != sequence) return std::nullopt;
  const auto first = element_at(front, whole->begin);
  if (!first || first->end >= whole->end) return std::nullopt;
  const auto has_tag = [front](std::size_t at, unsigned char tag) {
    return at >= front.size() || static_cast<unsigned char>(front[at]) == tag;
  };
  if (first->tag == sequence) {
    // Password-based encryption of PKCS#5 or PKCS#12.
    constexpr auto by_pkcs5 = "\x06\x09\x2A\x86\x48\x86\xF7\x0D\x01\x05"sv;
    constexpr auto by_pkcs12 = "\x06\x0A\x2A\x86\x48\x86\xF7\x0D\x01\x0C\x01"sv;
    const auto name = front.substr(first->begin);
    const bool is_known = name.starts_with(by_pkcs5) || name.starts_with(by_pkcs12);
    if (!is_known || !has_tag(first->end, octets)) return std::nullopt;
    return span{first->end, whole->end};
  }
  const auto second = element_at(front, first->end);
  if (first->tag != integer || first->end - first->begin != 1 || !second || second->end > whole->end) return std::nullopt;
  const auto version = static_cast<unsigned char>(front[first->begin]);
  const auto size = second->end - second->begin;
  if (version > 1) return std::nullopt;
  if (second->tag == sequence) {
    const bool is_algorithm = second->begin < front.size() && has_tag(second->begin, identifier);
    if (!is_algorithm || second->end >= whole->end || !has_tag(second->end, octets)) return std::nullopt;
    return span{second->end, whole->end};
  }
  // A modulus, followed by numbers that are longer in total.
  const bool is_rsa = second->tag == integer && size >= 64 && whole->end > second->end + size;
  // A private number of an elliptic curve. Not an SNMP community, which is followed by a request.
  const auto third = element_at(front, second->end);
  const bool is_last = second->end == whole->end || (third && (third->tag & 0xFEu) == 0xA0 && third->begin < front.size() &&
                                                     !has_tag(third->begin, integer));
  const bool is_curve = second->tag == octets && version == 1 && size >= 16 && size <= 80 && is_last;
  if (!is_rsa && !is_curve) return std::nullopt;
  return span{first->end, whole->end};
}

std::optional<span> secret_in_base64(std::string_view text, std::size_t at) {
  base64_digits digits(text, at);
  return secret_in_der(decoded(digits, front_of_der));
}

}  // namespace

std::optional<span> match_base64_key(const place& near) {
  // "-----BEGIN " in base64 at the three possible byte offsets, with the position of the anchor in it and the number of digits
  // before it.
  struct front {
    std::string_view digits;
    std::size_t offset;
    std::size_t before;
  };
  constexpr std::array<front, 3> fronts{{{"LS0tLS1CRUdJTi", 0, 0}, {"0tLS0tQkVHSU4g", 2, 2}, {"tLS0tLUJFR0lOI", 1, 3}}};
  for (const auto& one : fronts) {
    const auto back = one.offset + one.before;
    if (near.at < back || !near.from(near.at - one.offset).starts_with(one.digits)) continue;
    return match_encoded_pem(near, base64_digits(near.text, near.at - back));
  }
  return std::nullopt;
}

std::optional<span> match_percent_key(const place& near) {
  const auto label = near.from(near.at + 1);
  const bool has_plus = label.starts_with("BEGIN+");
  if (!has_plus && !label.starts_with("BEGIN%20")) return std::nullopt;
  const std::size_t dashes = near[near.at] == '-' ? 5 : 15;  // %2D
  if (near.at + 1 < dashes) return std::nullopt;
  return match_encoded_pem(near, percent_bytes(near.text, near.at + 1 - dashes, has_plus));
}

std::optional<span> match_base64_der(const place& near) {
  // The version after a header of two, three or four bytes, or the name of an algorithm.
  constexpr std::array<std::size_t, 3> offsets{4, 6, 8};
  for (const auto offset : offsets) {
    if (near.at < offset || near[near.at - offset] != 'M' || !begins_anew(near, near.at - offset)) continue;
    const auto begin = near.at - offset;
    // A digit before it is accepted only if it is the sign of a patch line. So no two keys share a byte of the text.
    const char before = begin == 0 ? '\0' : near[begin - 1];
    if ("+-/_"sv.find(before) != std::string_view::npos && sign_before(near.text, begin) == '\0') continue;
    near.count(2 * looked_at_most);
    const auto secret = secret_in_base64(near.text, begin);
    if (!secret) continue;
    const base64_digits digits(near.text, begin);
    const auto is_next_key = [&near](std::size_t last, std::size_t at) {
      if (at == last + 1) return false;
      const auto next = sign_before(near.text, at) == '\0' ? at - 1 : at;
      return near[next] == 'M' && secret_in_base64(near.text, next).has_value();
    };
    const span out{behind(digits, secret->begin * 8 / 6, is_next_key), behind(digits, (secret->end * 8 + 5) / 6, is_next_key)};
    near.count(2 * (out.end - begin));
    if (out.begin < out.end) return out;
  }
  return std::nullopt;
}

std::optional<span> match_der(const place& near) {
  // The anchor is directly after the header of a key, or in the name of its algorithm.
  constexpr std::size_t farthest = 13;
  near.count(2 * farthest);
  for (std::size_t back = 2; back <= std::min(farthest, near.at); ++back) {
    const auto begin = near.at - back;
    if (static_cast<unsigned char>(near[begin]) != sequence) continue;
    const auto secret = secret_in_der(near.from(begin).substr(0, front_of_der));
    const auto end = std::min(begin + (secret ? secret->end : 0), near.text.size());
    if (secret && begin + secret->begin < end) return span{begin + secret->begin, end};
  }
  return std::nullopt;
}

}  // namespace hondana::secrets
