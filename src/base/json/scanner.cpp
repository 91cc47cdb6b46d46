/// Finds the structure and the strings of a JSON text that arrives in pieces.
#include "base/json/scanner.hpp"

#include <algorithm>

#include "base/ascii/ascii.hpp"
#include "base/json/escape.hpp"

namespace hondana::json {
namespace {

bool is_atom_character(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
}

std::string_view consume(std::string_view& input, std::size_t count) noexcept {
  const auto prefix = input.substr(0, count);
  input.remove_prefix(count);
  return prefix;
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

bool scanner::is_member(std::size_t container, std::string_view name) const noexcept {
  const auto& key = levels_[container];
  return !is_array_[container] && key.key_size < key_bytes && std::string_view(key.key.data(), key.key_size) == name;
}

scanner::part scanner::mark_malformed() noexcept {
  is_malformed_ = true;
  return {part_kind::malformed};
}

scanner::part scanner::next(std::string_view& input) {
  if (is_malformed_) return {part_kind::malformed};
  if (input.empty()) return {};
  return is_in_string_ ? scan_string(input) : scan_outside(input);
}

scanner::part scanner::scan_outside(std::string_view& input) {
  if (is_in_atom_ || is_atom_character(input.front())) {
    const auto end = std::find_if_not(input.begin(), input.end(), is_atom_character);
    if (end != input.begin()) {
      if (!is_in_atom_) {
        if (expects_ != expected::value && expects_ != expected::value_or_close) return mark_malformed();
        is_in_atom_ = true;
        expects_ = depth_ == 0 ? expected::end : expected::comma_or_close;
      }
      return {part_kind::atom, consume(input, static_cast<std::size_t>(end - input.begin()))};
    }
    is_in_atom_ = false;
  }
  if (input.front() == '"') return begin_string(input);
  std::size_t count = 0;
  for (; count < input.size(); ++count) {
    const char c = input[count];
    if (ascii::is_json_space(c)) continue;
    if (c == '"' || is_atom_character(c)) break;
    // Return the valid part before the error first.
    if (!accept_punctuation(c)) {
      if (count == 0) return mark_malformed();
      is_malformed_ = true;
      break;
    }
  }
  return {part_kind::punctuation, consume(input, count)};
}

bool scanner::accept_punctuation(char c) noexcept {
  switch (c) {
    case '{':
      return open_container(false);
    case '[':
      return open_container(true);
    case '}':
      return close_container(false);
    case ']':
      return close_container(true);
    case ':':
      if (expects_ != expected::colon) return false;
      expects_ = expected::value;
      return true;
    case ',': {
      if (expects_ != expected::comma_or_close) return false;
      const bool is_array = is_array_[depth_ - 1];
      if (is_array && depth_ <= levels_.size()) ++levels_[depth_ - 1].index;
      expects_ = is_array ? expected::value : expected::key;
      return true;
    }
    default:
      return false;
  }
}

bool scanner::open_container(bool is_array) noexcept {
  if (expects_ != expected::value && expects_ != expected::value_or_close) return false;
  if (depth_ == max_open) return false;
  is_array_[depth_] = is_array;
  if (depth_ < levels_.size()) levels_[depth_] = {};
  ++depth_;
  expects_ = is_array ? expected::value_or_close : expected::key_or_close;
  return true;
}

bool scanner::close_container(bool is_array) noexcept {
  const auto empty = is_array ? expected::value_or_close : expected::key_or_close;
  if (depth_ == 0 || (expects_ != empty && expects_ != expected::comma_or_close) || is_array_[depth_ - 1] != is_array)
    return false;
  --depth_;
  expects_ = depth_ == 0 ? expected::end : expected::comma_or_close;
  return true;
}

scanner::part scanner::begin_string(std::string_view& input) {
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
      return mark_malformed();
  }
  is_in_string_ = true;
  return {is_key_ ? part_kind::key : part_kind::open_quote, consume(input, 1)};
}

scanner::part scanner::scan_string(std::string_view& input) {
  if (escape_size_ != 0) return scan_escape(input);
  if (const std::size_t run_bytes = plain_run(input); run_bytes != 0) {
    const auto raw = consume(input, run_bytes);
    if (is_key_) add_to_key(raw);
    return {is_key_ ? part_kind::key : part_kind::text, raw, raw};
  }
  if (input.front() == '\\') return scan_escape(input);
  if (input.front() != '"') return mark_malformed();  // a control character
  is_in_string_ = false;
  if (is_key_) {
    expects_ = expected::colon;
    return {part_kind::key, consume(input, 1)};
  }
  expects_ = depth_ == 0 ? expected::end : expected::comma_or_close;
  return {part_kind::close_quote, consume(input, 1)};
}

scanner::part scanner::scan_escape(std::string_view& input) {
  std::size_t count = 0;
  decoded_size_ = 0;
  for (auto state = step::incomplete; state == step::incomplete && count < input.size(); ++count) {
    state = accept_escaped(input[count]);
    if (state == step::invalid) return mark_malformed();
    if (state == step::complete) escape_size_ = 0;
  }
  const std::string_view decoded(decoded_.data(), decoded_size_);
  if (is_key_) add_to_key(decoded);
  return {is_key_ ? part_kind::key : part_kind::escape, consume(input, count), decoded};
}

scanner::step scanner::accept_escaped(char c) noexcept {
  switch (escape_size_++) {
    case 0:  // the backslash that starts the escape
      high_surrogate_ = 0;
      unit_ = 0;
      return step::incomplete;
    case 1:
      if (c == 'u') return step::incomplete;
      decoded_[0] = unescaped(c);
      decoded_size_ = 1;
      return decoded_[0] == '\0' ? step::invalid : step::complete;
    case 6:
      return c == '\\' ? step::incomplete : step::invalid;
    case 7:
      return c == 'u' ? step::incomplete : step::invalid;
    default:
      return accept_hex_digit(c);
  }
}

scanner::step scanner::accept_hex_digit(char c) noexcept {
  const char lower = static_cast<char>(c | 0x20);
  char32_t digit = 0;
  if (c >= '0' && c <= '9') {
    digit = static_cast<char32_t>(c - '0');
  } else if (lower >= 'a' && lower <= 'f') {
    digit = static_cast<char32_t>(lower - 'a' + 10);
  } else {
    return step::invalid;
  }
  unit_ = unit_ << 4 | digit;
  if (escape_size_ != 6 && escape_size_ != 12) return step::incomplete;
  const bool is_low = unit_ >= 0xDC00 && unit_ <= 0xDFFF;
  if (escape_size_ == 12) {
    if (!is_low) return step::invalid;
    store_code_point(0x10000 + ((high_surrogate_ - 0xD800) << 10) + (unit_ - 0xDC00));
    return step::complete;
  }
  if (is_low) return step::invalid;
  if (unit_ >= 0xD800 && unit_ <= 0xDBFF) {
    high_surrogate_ = unit_;
    unit_ = 0;
    return step::incomplete;
  }
  store_code_point(unit_);
  return step::complete;
}

void scanner::store_code_point(char32_t code_point) noexcept {
  const auto continuation = [code_point](unsigned shift) { return static_cast<char>(0x80U | (code_point >> shift & 0x3FU)); };
  if (code_point < 0x80) {
    decoded_ = {static_cast<char>(code_point)};
    decoded_size_ = 1;
  } else if (code_point < 0x800) {
    decoded_ = {static_cast<char>(0xC0U | code_point >> 6), continuation(0)};
    decoded_size_ = 2;
  } else if (code_point < 0x10000) {
    decoded_ = {static_cast<char>(0xE0U | code_point >> 12), continuation(6), continuation(0)};
    decoded_size_ = 3;
  } else {
    decoded_ = {static_cast<char>(0xF0U | code_point >> 18), continuation(12), continuation(6), continuation(0)};
    decoded_size_ = 4;
  }
}

void scanner::add_to_key(std::string_view decoded) noexcept {
  if (depth_ > levels_.size()) return;
  auto& current = levels_[depth_ - 1];
  const std::size_t count = std::min(decoded.size(), key_bytes - current.key_size);
  std::copy_n(decoded.begin(), count, current.key.begin() + static_cast<std::ptrdiff_t>(current.key_size));
  current.key_size += count;
}

}  // namespace hondana::json
