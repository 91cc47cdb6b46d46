/// Parses JSON messages from peers: strict, with capped nesting, and with errors that name the path of the invalid member.
#include "base/json/reader.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <iterator>
#include <new>
#include <type_traits>

#include "base/json/writer.hpp"
#include "base/threads/thread_instance.hpp"

namespace hondana::json {
namespace {

namespace dom = simdjson::dom;

/// The layout of a simdjson element, so that the header does not depend on simdjson.
struct element_layout {
  const void* tape;
  std::size_t index;
};
static_assert(sizeof(element_layout) == sizeof(dom::element) && std::is_trivially_copyable_v<dom::element>);

dom::element element_at(const void* tape, std::size_t index) noexcept {
  return std::bit_cast<dom::element>(element_layout{tape, index});
}
dom::object object_at(const void* tape, std::size_t index) noexcept {
  return element_at(tape, index).get_object().value_unsafe();
}
dom::array array_at(const void* tape, std::size_t index) noexcept { return element_at(tape, index).get_array().value_unsafe(); }
element_layout layout_of(dom::element element) noexcept { return std::bit_cast<element_layout>(element); }

kind kind_of(dom::element element) noexcept {
  switch (element.type()) {
    case dom::element_type::ARRAY:
      return kind::array;
    case dom::element_type::OBJECT:
      return kind::object;
    case dom::element_type::INT64:
    case dom::element_type::UINT64:
      return kind::integer;
    case dom::element_type::DOUBLE:
      return kind::number;
    case dom::element_type::STRING:
      return kind::string;
    case dom::element_type::BOOL:
      return kind::boolean;
    case dom::element_type::NULL_VALUE:
      break;
  }
  return kind::null;
}

std::string_view name_of(kind type) noexcept {
  switch (type) {
    case kind::null:
      break;
    case kind::boolean:
      return "a boolean";
    case kind::integer:
    case kind::number:
      return "a number";
    case kind::string:
      return "a string";
    case kind::array:
      return "an array";
    case kind::object:
      return "an object";
  }
  return "null";
}

tl::unexpected<member_error> make_error(std::string_view path, std::string message) {
  return tl::make_unexpected(member_error{std::string(path), std::move(message)});
}

tl::unexpected<member_error> mismatch(std::string_view path, std::string_view expected, kind actual) {
  std::string message("expected ");
  return make_error(path, message.append(expected).append(", got ").append(name_of(actual)));
}

void write(writer& out, dom::element element);

void write_double(writer& out, double value) {
  // Shortest form. A decimal point or exponent keeps it distinct from integers when it is parsed again.
  std::array<char, 32> digits;
  char* end = std::to_chars(digits.data(), digits.data() + digits.size() - 2, value).ptr;
  if (std::string_view(digits.data(), end).find_first_of(".e") == std::string_view::npos) {
    *end++ = '.';
    *end++ = '0';
  }
  out.raw(std::string_view(digits.data(), end));
}

void write_object(writer& out, dom::object object) {
  out.begin_object();
  for (const auto [name, member] : object) {
    out.key(name);
    write(out, member);
  }
  out.end_object();
}

void write_array(writer& out, dom::array array) {
  out.begin_array();
  for (const dom::element element : array) write(out, element);
  out.end_array();
}

void write(writer& out, dom::element element) {
  switch (element.type()) {
    case dom::element_type::ARRAY:
      return write_array(out, element.get_array().value_unsafe());
    case dom::element_type::OBJECT:
      return write_object(out, element.get_object().value_unsafe());
    case dom::element_type::INT64:
      out.integer(element.get_int64().value_unsafe());
      return;
    case dom::element_type::UINT64:
      out.unsigned_integer(element.get_uint64().value_unsafe());
      return;
    case dom::element_type::DOUBLE:
      return write_double(out, element.get_double().value_unsafe());
    case dom::element_type::STRING:
      out.string(element.get_string().value_unsafe());
      return;
    case dom::element_type::BOOL:
      out.boolean(element.get_bool().value_unsafe());
      return;
    case dom::element_type::NULL_VALUE:
      break;
  }
  out.null();
}

std::string_view explain(simdjson::error_code error) noexcept {
  switch (error) {
    case simdjson::EMPTY:
      return "the text is empty; send one JSON value";
    case simdjson::UTF8_ERROR:
      return "the text is not well-formed UTF-8";
    case simdjson::DEPTH_ERROR:
      return "arrays and objects are nested deeper than 128 levels";
    case simdjson::CAPACITY:
      return "the text is larger than 4 GiB";
    case simdjson::NUMBER_ERROR:
      return "not JSON: a number is malformed or too large";
    case simdjson::STRING_ERROR:
      return "not JSON: a string contains an invalid escape, such as a lone surrogate";
    case simdjson::UNESCAPED_CHARS:
      return "not JSON: a string contains an unescaped control character";
    case simdjson::UNCLOSED_STRING:
      return "not JSON: a string is not closed";
    default:
      return "not JSON: a value, comma, colon or bracket is missing, misplaced or left over";
  }
}

/// Depth as simdjson counts it: one more than the number of containers that may be open.
constexpr std::size_t parser_depth = max_depth + 1;
static_assert(max_depth == 128, "the message of DEPTH_ERROR says so");

simdjson::error_code parse_with(dom::parser& parser, dom::document& target, std::string_view text, std::size_t capacity) {
  if (parser.capacity() < capacity) {
    if (const auto error = parser.allocate(capacity, parser_depth)) return error;
  }
  return parser.parse_into_document(target, text.data(), text.size()).error();
}

/// Texts up to this size use the parser of the thread, which retains about five times as much memory.
constexpr std::size_t max_shared_parser_bytes = std::size_t{128} << 10;

simdjson::error_code parse_into(dom::document& target, std::string_view text) {
  if (text.empty()) return simdjson::EMPTY;
  auto* const thread_parser = text.size() > max_shared_parser_bytes ? nullptr : threads::thread_instance<dom::parser>();
  if (thread_parser == nullptr) {
    dom::parser local_parser;
    return parse_with(local_parser, target, text, text.size());
  }
  return parse_with(*thread_parser, target, text, std::bit_ceil(std::max<std::size_t>(text.size(), 4096)));
}

}  // namespace

struct document::tape {
  dom::document parsed;
};

document::document() noexcept = default;
document::~document() = default;
document::document(document&&) noexcept = default;
document& document::operator=(document&&) noexcept = default;

tl::expected<document, parse_failure> document::parse(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) {
    return tl::make_unexpected(parse_failure{"the text starts with a byte order mark; send UTF-8 without one"});
  }
  document result;
  result.tape_ = std::make_unique<tape>();
  const auto error = parse_into(result.tape_->parsed, text);
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  if (error != simdjson::SUCCESS) return tl::make_unexpected(parse_failure{std::string(explain(error))});
  return result;
}

value document::root() const noexcept {
  if (tape_ == nullptr) return {};
  const element_layout layout = layout_of(tape_->parsed.root());
  return {layout.tape, layout.index};
}

kind value::type() const noexcept { return tape_ == nullptr ? kind::null : kind_of(element_at(tape_, index_)); }

std::string value::to_json() const {
  std::string out;
  writer output(out);
  if (tape_ == nullptr) {
    output.null();
  } else {
    write(output, element_at(tape_, index_));
  }
  return out;
}

decoded<std::string_view> value::as_string(std::string_view path) const {
  if (type() != kind::string) return mismatch(path, "a string", type());
  return element_at(tape_, index_).get_string().value_unsafe();
}

decoded<std::int64_t> value::as_integer(std::string_view path) const {
  if (type() != kind::integer) return mismatch(path, "an integer", type());
  const auto number = element_at(tape_, index_).get_int64();
  if (number.error() != simdjson::SUCCESS) return make_error(path, "out of range");
  return number.value_unsafe();
}

decoded<double> value::as_number(std::string_view path) const {
  if (type() != kind::integer && type() != kind::number) return mismatch(path, "a number", type());
  return element_at(tape_, index_).get_double().value_unsafe();
}

decoded<bool> value::as_boolean(std::string_view path) const {
  if (type() != kind::boolean) return mismatch(path, "a boolean", type());
  return element_at(tape_, index_).get_bool().value_unsafe();
}

decoded<object> value::as_object(std::string_view path) const {
  if (type() != kind::object) return mismatch(path, "an object", type());
  return object(*this, path);
}

decoded<array> value::as_array(std::string_view path) const {
  if (type() != kind::array) return mismatch(path, "an array", type());
  return array(*this);
}

std::string object::path_of(std::string_view member) const {
  std::string path(path_);
  if (!path.empty()) path.push_back('.');
  return path.append(member);
}

decoded<std::optional<value>> object::find(std::string_view name) const {
  std::optional<value> match;
  if (element_.tape_ == nullptr) return match;
  for (const auto [key, member] : object_at(element_.tape_, element_.index_)) {
    if (key != name) continue;
    if (match) return make_error(path_of(name), "occurs twice");
    const element_layout layout = layout_of(member);
    match = value(layout.tape, layout.index);
  }
  return match;
}

decoded<value> object::get(std::string_view name) const {
  const auto member = find(name);
  if (!member) return tl::make_unexpected(member.error());
  if (!*member) return make_error(path_of(name), "missing");
  return **member;
}

decoded<std::string_view> object::get_string(std::string_view name) const {
  const auto member = get(name);
  if (!member) return tl::make_unexpected(member.error());
  if (member->type() != kind::string) return mismatch(path_of(name), "a string", member->type());
  return member->as_string({});
}

decoded<object> object::get_object(std::string_view name) const {
  const auto member = get(name);
  if (!member) return tl::make_unexpected(member.error());
  return member->as_object(path_of(name));
}

decoded<std::optional<std::string_view>> object::find_string(std::string_view name) const {
  const auto member = find(name);
  if (!member) return tl::make_unexpected(member.error());
  if (!*member) return std::nullopt;
  if ((*member)->type() != kind::string) return mismatch(path_of(name), "a string", (*member)->type());
  return *(*member)->as_string({});
}

decoded<std::optional<object>> object::find_object(std::string_view name) const {
  const auto member = find(name);
  if (!member) return tl::make_unexpected(member.error());
  if (!*member) return std::nullopt;
  auto inner = (*member)->as_object(path_of(name));
  if (!inner) return tl::make_unexpected(std::move(inner.error()));
  return *std::move(inner);
}

std::vector<std::pair<std::string_view, value>> object::members() const {
  std::vector<std::pair<std::string_view, value>> result;
  if (element_.tape_ == nullptr) return result;
  for (const auto [key, member] : object_at(element_.tape_, element_.index_)) {
    const element_layout layout = layout_of(member);
    result.emplace_back(key, value(layout.tape, layout.index));
  }
  return result;
}

std::size_t array::size() const {
  if (element_.tape_ == nullptr) return 0;
  const dom::array elements = array_at(element_.tape_, element_.index_);
  // simdjson's own count saturates at 2^24 - 1.
  constexpr std::size_t saturated = 0xFFFFFF;
  if (elements.size() < saturated) return elements.size();
  return static_cast<std::size_t>(std::distance(elements.begin(), elements.end()));
}

std::vector<value> array::elements() const {
  std::vector<value> result;
  if (element_.tape_ == nullptr) return result;
  const dom::array elements = array_at(element_.tape_, element_.index_);
  result.reserve(elements.size());
  for (const dom::element element : elements) {
    const element_layout layout = layout_of(element);
    result.push_back(value(layout.tape, layout.index));
  }
  return result;
}

}  // namespace hondana::json
