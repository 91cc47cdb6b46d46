/// Finds the structure and the strings of a JSON text that arrives in pieces.
#include "base/json/scanner.hpp"

#include <algorithm>

#include "base/ascii/ascii.hpp"
#include "base/json/escape.hpp"

namespace hondana::json {
namespace {

bool is_of_atom(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
}

std::string_view take(std::string_view& rest, std::size_t count) noexcept {
  const auto front = rest.substr(0, count);
  rest.remove_prefix(count);
  return front;
}

/// The character that the escape `\letter` represents; NUL if there is no such escape.
char unescaped(char letter) noexcept {
  switch (letter) {
    case '"':
    case '\\':
    case '/':
      return letter;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return '\0';
  }
}

}  // namespace

bool scanner::is_member(std::size_t at, std::string_view name) const noexcept {
  const auto& key = levels_[at];
  return !is_array_[at] && key.key_size < key_bytes && std::string_view(key.key.data(), key.key_size) == name;
}

scanner::part scanner::broken() noexcept {
  is_broken_ = true;
  return {kind::malformed};
}

scanner::part scanner::next(std::string_view& rest) {
  if (is_broken_) return {kind::malformed};
  if (rest.empty()) return {};
  return is_in_string_ ? inside(rest) : outside(rest);
}

scanner::part scanner::outside(std::string_view& rest) {
  if (is_in_atom_ || is_of_atom(rest.front())) {
    const auto end = std::find_if_not(rest.begin(), rest.end(), is_of_atom);
    if (end != rest.begin()) {
      if (!is_in_atom_) {
        if (expects_ != expected::value && expects_ != expected::value_or_close) return broken();
        is_in_atom_ = true;
        expects_ = depth_ == 0 ? expected::end : expected::comma_or_close;
      }
      return {kind::atom, take(rest, static_cast<std::size_t>(end - rest.begin()))};
    }
    is_in_atom_ = false;
  }
  if (rest.front() == '"') return begin_string(rest);
  std::size_t count = 0;
  for (; count < rest.size(); ++count) {
    const char c = rest[count];
    if (ascii::is_json_space(c)) continue;
    if (c == '"' || is_of_atom(c)) break;
    // Return the valid part before the error first.
    if (!take_mark(c)) {
      if (count == 0) return broken();
      is_broken_ = true;
      break;
    }
  }
  return {kind::mark, take(rest, count)};
}

bool scanner::take_mark(char c) noexcept {
  switch (c) {
    case '{':
      return open(false);
    case '[':
      return open(true);
    case '}':
      return close(false);
    case ']':
      return close(true);
    case ':':
      if (expects_ != expected::colon) return false;
      expects_ = expected::value;
      return true;
    case ',': {
      if (expects_ != expected::comma_or_close) return false;
      const bool array = is_array_[depth_ - 1];
      if (array && depth_ <= levels_.size()) ++levels_[depth_ - 1].index;
      expects_ = array ? expected::value : expected::key;
      return true;
    }
    default:
      return false;
  }
}

bool scanner::open(bool array) noexcept {
  if (expects_ != expected::value && expects_ != expected::value_or_close) return false;
  if (depth_ == most_open) return false;
  is_array_[depth_] = array;
  if (depth_ < levels_.size()) levels_[depth_] = {};
  ++depth_;
  expects_ = array ? expected::value_or_close : expected::key_or_close;
  return true;
}

bool scanner::close(bool array) noexcept {
  const auto empty = array ? expected::value_or_close : expected::key_or_close;
  if (depth_ == 0 || (expects_ != empty && expects_ != expected::comma_or_close) || is_array_[depth_ - 1] != array)
    return false;
  --depth_;
  expects_ = depth_ == 0 ? expected::end : expected::comma_or_close;
  return true;
}

scanner::part scanner::begin_string(std::string_view& rest) {
  switch (expects_) {
    case expected::value:
    case expected::value_or_close:
      is_key_ = false;
      break;
    case expected::key:
    case expected::key_or_close:
      is_key_ = true;
      if (depth_ <= levels_.size()) levels_[depth_ - 1].key_size = 0;
      break;
    default:
      return broken();
  }
  is_in_string_ = true;
  return {is_key_ ? kind::key : kind::open, take(rest, 1)};
}

scanner::part scanner::inside(std::string_view& rest) {
  if (escape_size_ != 0) return inside_escape(rest);
  if (const std::size_t plain = plain_run(rest); plain != 0) {
    const auto raw = take(rest, plain);
    if (is_key_) add_to_key(raw);
    return {is_key_ ? kind::key : kind::text, raw, raw};
  }
  if (rest.front() == '\\') return inside_escape(rest);
  if (rest.front() != '"') return broken();  // a control character
  is_in_string_ = false;
  if (is_key_) {
    expects_ = expected::colon;
    return {kind::key, take(rest, 1)};
  }
  expects_ = depth_ == 0 ? expected::end : expected::comma_or_close;
  return {kind::close, take(rest, 1)};
}

scanner::part scanner::inside_escape(std::string_view& rest) {
  std::size_t count = 0;
  decoded_size_ = 0;
  for (auto taken = step::more; taken == step::more && count < rest.size(); ++count) {
    taken = take_escaped(rest[count]);
    if (taken == step::bad) return broken();
    if (taken == step::done) escape_size_ = 0;
  }
  const std::string_view decoded(decoded_.data(), decoded_size_);
  if (is_key_) add_to_key(decoded);
  return {is_key_ ? kind::key : kind::escape, take(rest, count), decoded};
}

scanner::step scanner::take_escaped(char c) noexcept {
  switch (escape_size_++) {
    case 0:  // the backslash that starts the escape
      high_ = 0;
      unit_ = 0;
      return step::more;
    case 1:
      if (c == 'u') return step::more;
      decoded_[0] = unescaped(c);
      decoded_size_ = 1;
      return decoded_[0] == '\0' ? step::bad : step::done;
    case 6:
      return c == '\\' ? step::more : step::bad;
    case 7:
      return c == 'u' ? step::more : step::bad;
    default:
      return take_hex_digit(c);
  }
}

scanner::step scanner::take_hex_digit(char c) noexcept {
  const char lower = static_cast<char>(c | 0x20);
  char32_t digit = 0;
  if (c >= '0' && c <= '9') {
    digit = static_cast<char32_t>(c - '0');
  } else if (lower >= 'a' && lower <= 'f') {
    digit = static_cast<char32_t>(lower - 'a' + 10);
  } else {
    return step::bad;
  }
  unit_ = unit_ << 4 | digit;
  if (escape_size_ != 6 && escape_size_ != 12) return step::more;
  const bool is_low = unit_ >= 0xDC00 && unit_ <= 0xDFFF;
  if (escape_size_ == 12) {
    if (!is_low) return step::bad;
    decode(0x10000 + ((high_ - 0xD800) << 10) + (unit_ - 0xDC00));
    return step::done;
  }
  if (is_low) return step::bad;
  if (unit_ >= 0xD800 && unit_ <= 0xDBFF) {
    high_ = unit_;
    unit_ = 0;
    return step::more;
  }
  decode(unit_);
  return step::done;
}

void scanner::decode(char32_t point) noexcept {
  const auto continuation = [point](unsigned shift) { return static_cast<char>(0x80U | (point >> shift & 0x3FU)); };
  if (point < 0x80) {
    decoded_ = {static_cast<char>(point)};
    decoded_size_ = 1;
  } else if (point < 0x800) {
    decoded_ = {static_cast<char>(0xC0U | point >> 6), continuation(0)};
    decoded_size_ = 2;
  } else if (point < 0x10000) {
    decoded_ = {static_cast<char>(0xE0U | point >> 12), continuation(6), continuation(0)};
    decoded_size_ = 3;
  } else {
    decoded_ = {static_cast<char>(0xF0U | point >> 18), continuation(12), continuation(6), continuation(0)};
    decoded_size_ = 4;
  }
}

void scanner::add_to_key(std::string_view decoded) noexcept {
  if (depth_ > levels_.size()) return;
  auto& to = levels_[depth_ - 1];
  const std::size_t fits = std::min(decoded.size(), key_bytes - to.key_size);
  std::copy_n(decoded.begin(), fits, to.key.begin() + static_cast<std::ptrdiff_t>(to.key_size));
  to.key_size += fits;
}

}  // namespace hondana::json
