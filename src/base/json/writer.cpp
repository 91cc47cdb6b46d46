/// Writes JSON into a string.
#include "base/json/writer.hpp"

#include <charconv>
#include <cmath>
#include <cstring>

#include "base/json/escape.hpp"
#include "base/json/utf8.hpp"

namespace hondana::json {
namespace {

constexpr std::size_t max_short_bytes = 256;

void append_quoted(std::string& out, std::string_view text) {
  // Most strings of a message are short and plain: one check replaces validation and escaping.
  if (text.size() <= max_short_bytes && is_plain_ascii(text)) {
    char quoted[max_short_bytes + 2];
    quoted[0] = '"';
    std::memcpy(quoted + 1, text.data(), text.size());
    quoted[text.size() + 1] = '"';
    out.append(quoted, text.size() + 2);
    return;
  }
  out.push_back('"');
  if (is_utf8(text)) {
    append_escaped(out, text);
  } else {
    std::string repaired;
    append_replacing(repaired, text);
    append_escaped(out, repaired);
  }
  out.push_back('"');
}

template <class Number>
void append_number(std::string& out, Number value) {
  char digits[32];  // the longest double has 24 characters
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, end);
}

}  // namespace

void writer::write_separator() {
  if (needs_comma_) out_.push_back(',');
  needs_comma_ = true;
}

writer& writer::begin_object() {
  write_separator();
  out_.push_back('{');
  needs_comma_ = false;
  return *this;
}

writer& writer::end_object() {
  out_.push_back('}');
  needs_comma_ = true;
  return *this;
}

writer& writer::begin_array() {
  write_separator();
  out_.push_back('[');
  needs_comma_ = false;
  return *this;
}

writer& writer::end_array() {
  out_.push_back(']');
  needs_comma_ = true;
  return *this;
}

writer& writer::key(std::string_view name) {
  write_separator();
  append_quoted(out_, name);
  out_.push_back(':');
  needs_comma_ = false;
  return *this;
}

writer& writer::string(std::string_view value) {
  write_separator();
  append_quoted(out_, value);
  return *this;
}

writer& writer::integer(std::int64_t value) {
  write_separator();
  append_number(out_, value);
  return *this;
}

writer& writer::unsigned_integer(std::uint64_t value) {
  write_separator();
  append_number(out_, value);
  return *this;
}

writer& writer::number(double value) {
  if (!std::isfinite(value)) return null();
  write_separator();
  append_number(out_, value);
  return *this;
}

writer& writer::boolean(bool value) {
  write_separator();
  out_.append(value ? "true" : "false");
  return *this;
}

writer& writer::null() {
  write_separator();
  out_.append("null");
  return *this;
}

writer& writer::raw(std::string_view json) {
  write_separator();
  out_.append(json);
  return *this;
}

std::string quoted(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

}  // namespace hondana::json
