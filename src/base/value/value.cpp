/// JSON values: parsing, writing, lookup and comparison.
#include "base/value/value.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include <hondana/value.hpp>

#include "base/json/reader.hpp"
#include "base/json/writer.hpp"

namespace hondana::inline v0 {
namespace {

/// Converts a parsed message to an owning value and counts its values. Errors get their path while the recursion unwinds.
class value_copier {
 public:
  explicit value_copier(std::size_t max_values) : remaining_(max_values) {}

  json::decoded<value> copy(const json::value& source) {
    if (remaining_ == 0) return tl::unexpected(json::member_error{{}, "too many values in one JSON text"});
    --remaining_;
    switch (source.type()) {
      case json::kind::null:
        break;
      case json::kind::boolean:
        return value(*source.as_boolean({}));
      case json::kind::integer:
        if (const auto small = source.as_integer({})) return value(*small);
        return value(*source.as_number({}));
      case json::kind::number:
        return value(*source.as_number({}));
      case json::kind::string:
        return value(*source.as_string({}));
      case json::kind::array:
        return copy_array(*source.as_array({}));
      case json::kind::object:
        return copy_object(*source.as_object({}));
    }
    return value();
  }

 private:
  static tl::unexpected<json::member_error> at_step(const std::string& step, json::member_error error) {
    const bool is_member = !error.path.empty() && error.path.front() != '[';
    error.path = step + (is_member ? "." : "") + error.path;
    return tl::unexpected(std::move(error));
  }

  json::decoded<value> copy_array(const json::array& source) {
    const auto elements = source.elements();
    value::array out;
    out.reserve(std::min(elements.size(), remaining_));
    for (std::size_t index = 0; index < elements.size(); ++index) {
      auto element = copy(elements[index]);
      if (!element) return at_step('[' + std::to_string(index) + ']', std::move(element.error()));
      out.push_back(std::move(*element));
    }
    return value(std::move(out));
  }

  json::decoded<value> copy_object(const json::object& source) {
    value::object out;
    std::set<std::string_view> names;
    for (const auto& [name, member] : source.members()) {
      if (!names.insert(name).second) return tl::unexpected(json::member_error{std::string(name), "occurs twice"});
      auto element = copy(member);
      if (!element) return at_step(std::string(name), std::move(element.error()));
      out.emplace_back(std::string(name), std::move(*element));
    }
    return value(std::move(out));
  }

  std::size_t remaining_;
};

}  // namespace

result<value> copy_value(const json::value& source, const value::parse_limits& limits) {
  auto copied = value_copier(limits.max_values).copy(source);
  if (!copied) return fail(errc::invalid_argument, copied.error().text());
  return std::move(*copied);
}

result<value> value::parse(std::string_view text) { return parse(text, parse_limits{}); }

result<value> value::parse(std::string_view text, const parse_limits& limits) {
  if (text.size() > limits.max_bytes) {
    return fail(errc::invalid_argument, "The JSON text has more than " + std::to_string(limits.max_bytes) + " bytes");
  }
  const auto document = json::document::parse(text);
  if (!document) return fail(errc::invalid_argument, document.error().message);
  return copy_value(document->root(), limits);
}

namespace {

void write_number(json::writer& out, double number) {
  if (!std::isfinite(number)) {
    out.null();
    return;
  }
  std::array<char, 32> digits;
  char* end = std::to_chars(digits.data(), digits.data() + digits.size() - 2, number).ptr;
  if (std::string_view(digits.data(), end).find_first_of(".e") == std::string_view::npos) {
    *end++ = '.';  // keeps it a floating-point number when it is parsed again
    *end++ = '0';
  }
  out.raw(std::string_view(digits.data(), end));
}

void write(json::writer& out, const value& source, bool is_sorted) {
  if (const auto* text = source.as_string()) {
    out.string(*text);
  } else if (const auto* elements = source.as_array()) {
    out.begin_array();
    for (const auto& element : *elements) write(out, element, is_sorted);
    out.end_array();
  } else if (const auto* members = source.as_object()) {
    std::vector<const value::member*> order;
    order.reserve(members->size());
    for (const auto& member : *members) order.push_back(&member);
    if (is_sorted) std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
    out.begin_object();
    for (const auto* entry : order) {
      out.key(entry->first);
      write(out, entry->second, is_sorted);
    }
    out.end_object();
  } else if (source.type() == value::kind::integer) {
    out.integer(*source.as_integer());
  } else if (source.type() == value::kind::number) {
    write_number(out, *source.as_number());
  } else if (source.type() == value::kind::boolean) {
    out.boolean(*source.as_boolean());
  } else {
    out.null();
  }
}

bool has_same_members(const value::object& a, const value::object& b) {
  if (a.size() != b.size()) return false;
  const auto sorted = [](const value::object& members) {
    std::vector<const value::member*> order;
    order.reserve(members.size());
    for (const auto& entry : members) order.push_back(&entry);
    std::sort(order.begin(), order.end(), [](const auto* x, const auto* y) { return x->first < y->first; });
    return order;
  };
  const auto left = sorted(a);
  const auto right = sorted(b);
  return std::equal(left.begin(), left.end(), right.begin(),
                    [](const auto* x, const auto* y) { return x->first == y->first && x->second == y->second; });
}

tl::unexpected<failure> wrong_kind(std::string_view path, std::string_view expected, const value& actual) {
  return fail(errc::invalid_argument,
              std::string(path) + ": expected " + std::string(expected) + ", got " + std::string(name_of(actual.type())));
}

/// Decodes ~1 and ~0 in one step of a JSON Pointer.
std::string unescaped(std::string_view step) {
  std::string out;
  for (std::size_t index = 0; index < step.size(); ++index) {
    if (step[index] == '~' && index + 1 < step.size() && (step[index + 1] == '0' || step[index + 1] == '1')) {
      out.push_back(step[++index] == '0' ? '~' : '/');
    } else {
      out.push_back(step[index]);
    }
  }
  return out;
}

const value* step_into(const value& parent, const std::string& name) {
  const auto* elements = parent.as_array();
  if (elements == nullptr) return parent.find(name);
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  const bool is_index = error == std::errc{} && end == name.data() + name.size() && (name == "0" || name.front() != '0');
  return is_index && index < elements->size() ? &(*elements)[index] : nullptr;
}

}  // namespace

std::string value::to_text() const {
  std::string out;
  json::writer output(out);
  write(output, *this, false);
  return out;
}

std::string value::to_canonical_text() const {
  std::string out;
  json::writer output(out);
  write(output, *this, true);
  return out;
}

value::kind value::type() const noexcept { return static_cast<kind>(data_.index()); }

std::optional<bool> value::as_boolean() const noexcept {
  const auto* stored = std::get_if<bool>(&data_);
  return stored != nullptr ? std::optional(*stored) : std::nullopt;
}

std::optional<std::int64_t> value::as_integer() const noexcept {
  if (const auto* stored = std::get_if<std::int64_t>(&data_)) return *stored;
  const auto* number = std::get_if<double>(&data_);
  constexpr double limit = 9223372036854775808.0;  // 2^63
  if (number == nullptr || !(*number >= -limit && *number < limit) || std::trunc(*number) != *number) return {};
  return static_cast<std::int64_t>(*number);
}

std::optional<double> value::as_number() const noexcept {
  if (const auto* stored = std::get_if<double>(&data_)) return *stored;
  const auto* integer = std::get_if<std::int64_t>(&data_);
  return integer != nullptr ? std::optional(static_cast<double>(*integer)) : std::nullopt;
}

const std::string* value::as_string() const noexcept { return std::get_if<std::string>(&data_); }

const value::array* value::as_array() const noexcept {
  const auto* stored = std::get_if<std::shared_ptr<const array>>(&data_);
  return stored != nullptr ? stored->get() : nullptr;
}

const value::object* value::as_object() const noexcept {
  const auto* stored = std::get_if<std::shared_ptr<const object>>(&data_);
  return stored != nullptr ? stored->get() : nullptr;
}

const value* value::find(std::string_view name) const noexcept {
  const auto* members = as_object();
  if (members == nullptr) return nullptr;
  const auto match =
      std::find_if(members->begin(), members->end(), [name](const member& entry) { return entry.first == name; });
  return match == members->end() ? nullptr : &match->second;
}

result<value> value::at(std::string_view path) const {
  const auto* current = this;
  if (!path.starts_with('/')) {
    current = find(path);
  } else {
    for (auto remaining = path; current != nullptr && !remaining.empty();) {
      const auto end = std::min(remaining.find('/', 1), remaining.size());
      current = step_into(*current, unescaped(remaining.substr(1, end - 1)));
      remaining.remove_prefix(end);
    }
  }
  if (current == nullptr) return fail(errc::invalid_argument, std::string(path) + ": missing");
  return *current;
}

result<bool> value::boolean_at(std::string_view path) const {
  return at(path).and_then([path](const value& target) -> result<bool> {
    if (const auto stored = target.as_boolean()) return *stored;
    return wrong_kind(path, "a boolean", target);
  });
}

result<std::int64_t> value::integer_at(std::string_view path) const {
  return at(path).and_then([path](const value& target) -> result<std::int64_t> {
    if (const auto stored = target.as_integer()) return *stored;
    return wrong_kind(path, "an integer of 64 bits", target);
  });
}

result<double> value::number_at(std::string_view path) const {
  return at(path).and_then([path](const value& target) -> result<double> {
    if (const auto stored = target.as_number()) return *stored;
    return wrong_kind(path, "a number", target);
  });
}

result<std::string> value::string_at(std::string_view path) const {
  return at(path).and_then([path](const value& target) -> result<std::string> {
    if (const auto* stored = target.as_string()) return *stored;
    return wrong_kind(path, "a string", target);
  });
}

result<value::array> value::array_at(std::string_view path) const {
  return at(path).and_then([path](const value& target) -> result<array> {
    if (const auto* stored = target.as_array()) return *stored;
    return wrong_kind(path, "an array", target);
  });
}

result<value::object> value::object_at(std::string_view path) const {
  return at(path).and_then([path](const value& target) -> result<object> {
    if (const auto* stored = target.as_object()) return *stored;
    return wrong_kind(path, "an object", target);
  });
}

bool value::operator==(const value& other) const {
  if (type() == kind::integer && other.type() == kind::integer) return data_ == other.data_;
  if (const auto number = as_number()) {
    const auto other_number = other.as_number();
    if (!other_number || *number != *other_number) return false;
    // Beyond 2^53, an integer and a number can convert to the same double without being equal.
    const auto exact = as_integer();
    const auto other_exact = other.as_integer();
    return !exact || !other_exact || *exact == *other_exact;
  }
  if (type() != other.type()) return false;
  if (const auto* elements = as_array()) return *elements == *other.as_array();
  if (const auto* members = as_object()) return has_same_members(*members, *other.as_object());
  return data_ == other.data_;
}

std::string_view name_of(value::kind kind) noexcept {
  constexpr std::array<std::string_view, 7> names{"null",     "a boolean", "an integer", "a number",
                                                  "a string", "an array",  "an object"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace hondana::inline v0
