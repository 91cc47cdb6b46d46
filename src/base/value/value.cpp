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
class taker {
 public:
  explicit taker(std::size_t most) : left_(most) {}

  json::decoded<value> take(const json::value& from) {
    if (left_ == 0) return tl::unexpected(json::bad_member{{}, "too many values in one JSON text"});
    --left_;
    switch (from.type()) {
      case json::kind::null:
        break;
      case json::kind::boolean:
        return value(*from.as_boolean({}));
      case json::kind::integer:
        if (const auto small = from.as_integer({})) return value(*small);
        return value(*from.as_number({}));
      case json::kind::number:
        return value(*from.as_number({}));
      case json::kind::string:
        return value(*from.as_string({}));
      case json::kind::array:
        return take_array(*from.as_array({}));
      case json::kind::object:
        return take_object(*from.as_object({}));
    }
    return value();
  }

 private:
  static tl::unexpected<json::bad_member> inside(const std::string& step, json::bad_member what) {
    const bool is_member = !what.path.empty() && what.path.front() != '[';
    what.path = step + (is_member ? "." : "") + what.path;
    return tl::unexpected(std::move(what));
  }

  json::decoded<value> take_array(const json::array& from) {
    const auto elements = from.elements();
    value::array out;
    out.reserve(std::min(elements.size(), left_));
    for (std::size_t index = 0; index < elements.size(); ++index) {
      auto one = take(elements[index]);
      if (!one) return inside('[' + std::to_string(index) + ']', std::move(one.error()));
      out.push_back(std::move(*one));
    }
    return value(std::move(out));
  }

  json::decoded<value> take_object(const json::object& from) {
    value::object out;
    std::set<std::string_view> names;
    for (const auto& [name, member] : from.members()) {
      if (!names.insert(name).second) return tl::unexpected(json::bad_member{std::string(name), "occurs twice"});
      auto one = take(member);
      if (!one) return inside(std::string(name), std::move(one.error()));
      out.emplace_back(std::string(name), std::move(*one));
    }
    return value(std::move(out));
  }

  std::size_t left_;
};

}  // namespace

result<value> take_value(const json::value& from, const value::limits& most) {
  auto taken = taker(most.values).take(from);
  if (!taken) return fail(errc::invalid_argument, taken.error().text());
  return std::move(*taken);
}

result<value> value::parse(std::string_view text) { return parse(text, limits{}); }

result<value> value::parse(std::string_view text, const limits& most) {
  if (text.size() > most.bytes) {
    return fail(errc::invalid_argument, "The JSON text has more than " + std::to_string(most.bytes) + " bytes");
  }
  const auto document = json::document::parse(text);
  if (!document) return fail(errc::invalid_argument, document.error().what);
  return take_value(document->root(), most);
}

namespace {

void write_number(json::writer& to, double number) {
  if (!std::isfinite(number)) {
    to.null();
    return;
  }
  std::array<char, 32> digits;
  char* end = std::to_chars(digits.data(), digits.data() + digits.size() - 2, number).ptr;
  if (std::string_view(digits.data(), end).find_first_of(".e") == std::string_view::npos) {
    *end++ = '.';  // keeps it a floating-point number when it is parsed again
    *end++ = '0';
  }
  to.raw(std::string_view(digits.data(), end));
}

void write(json::writer& to, const value& what, bool sorted) {
  if (const auto* text = what.as_string()) {
    to.string(*text);
  } else if (const auto* elements = what.as_array()) {
    to.begin_array();
    for (const auto& one : *elements) write(to, one, sorted);
    to.end_array();
  } else if (const auto* members = what.as_object()) {
    std::vector<const value::member*> order;
    order.reserve(members->size());
    for (const auto& one : *members) order.push_back(&one);
    if (sorted) std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
    to.begin_object();
    for (const auto* one : order) {
      to.key(one->first);
      write(to, one->second, sorted);
    }
    to.end_object();
  } else if (what.type() == value::kind::integer) {
    to.integer(*what.as_integer());
  } else if (what.type() == value::kind::number) {
    write_number(to, *what.as_number());
  } else if (what.type() == value::kind::boolean) {
    to.boolean(*what.as_boolean());
  } else {
    to.null();
  }
}

bool same_members(const value::object& a, const value::object& b) {
  if (a.size() != b.size()) return false;
  const auto sorted = [](const value::object& from) {
    std::vector<const value::member*> order;
    order.reserve(from.size());
    for (const auto& one : from) order.push_back(&one);
    std::sort(order.begin(), order.end(), [](const auto* x, const auto* y) { return x->first < y->first; });
    return order;
  };
  const auto left = sorted(a);
  const auto right = sorted(b);
  return std::equal(left.begin(), left.end(), right.begin(),
                    [](const auto* x, const auto* y) { return x->first == y->first && x->second == y->second; });
}

tl::unexpected<failure> wrong_kind(std::string_view path, std::string_view expected, const value& got) {
  return fail(errc::invalid_argument,
              std::string(path) + ": expected " + std::string(expected) + ", got " + std::string(name_of(got.type())));
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

const value* step_into(const value& from, const std::string& name) {
  const auto* elements = from.as_array();
  if (elements == nullptr) return from.find(name);
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  const bool is_index = error == std::errc{} && end == name.data() + name.size() && (name == "0" || name.front() != '0');
  return is_index && index < elements->size() ? &(*elements)[index] : nullptr;
}

}  // namespace

std::string value::to_text() const {
  std::string out;
  json::writer to(out);
  write(to, *this, false);
  return out;
}

std::string value::to_canonical_text() const {
  std::string out;
  json::writer to(out);
  write(to, *this, true);
  return out;
}

value::kind value::type() const noexcept { return static_cast<kind>(data_.index()); }

std::optional<bool> value::as_boolean() const noexcept {
  const auto* held = std::get_if<bool>(&data_);
  return held != nullptr ? std::optional(*held) : std::nullopt;
}

std::optional<std::int64_t> value::as_integer() const noexcept {
  if (const auto* held = std::get_if<std::int64_t>(&data_)) return *held;
  const auto* number = std::get_if<double>(&data_);
  constexpr double edge = 9223372036854775808.0;  // 2^63
  if (number == nullptr || !(*number >= -edge && *number < edge) || std::trunc(*number) != *number) return {};
  return static_cast<std::int64_t>(*number);
}

std::optional<double> value::as_number() const noexcept {
  if (const auto* held = std::get_if<double>(&data_)) return *held;
  const auto* whole = std::get_if<std::int64_t>(&data_);
  return whole != nullptr ? std::optional(static_cast<double>(*whole)) : std::nullopt;
}

const std::string* value::as_string() const noexcept { return std::get_if<std::string>(&data_); }

const value::array* value::as_array() const noexcept {
  const auto* held = std::get_if<std::shared_ptr<const array>>(&data_);
  return held != nullptr ? held->get() : nullptr;
}

const value::object* value::as_object() const noexcept {
  const auto* held = std::get_if<std::shared_ptr<const object>>(&data_);
  return held != nullptr ? held->get() : nullptr;
}

const value* value::find(std::string_view name) const noexcept {
  const auto* members = as_object();
  if (members == nullptr) return nullptr;
  const auto found = std::find_if(members->begin(), members->end(), [name](const member& one) { return one.first == name; });
  return found == members->end() ? nullptr : &found->second;
}

result<value> value::at(std::string_view path) const {
  const auto* place = this;
  if (!path.starts_with('/')) {
    place = find(path);
  } else {
    for (auto rest = path; place != nullptr && !rest.empty();) {
      const auto end = std::min(rest.find('/', 1), rest.size());
      place = step_into(*place, unescaped(rest.substr(1, end - 1)));
      rest.remove_prefix(end);
    }
  }
  if (place == nullptr) return fail(errc::invalid_argument, std::string(path) + ": missing");
  return *place;
}

result<bool> value::boolean_at(std::string_view path) const {
  return at(path).and_then([path](const value& found) -> result<bool> {
    if (const auto held = found.as_boolean()) return *held;
    return wrong_kind(path, "a boolean", found);
  });
}

result<std::int64_t> value::integer_at(std::string_view path) const {
  return at(path).and_then([path](const value& found) -> result<std::int64_t> {
    if (const auto held = found.as_integer()) return *held;
    return wrong_kind(path, "an integer of 64 bits", found);
  });
}

result<double> value::number_at(std::string_view path) const {
  return at(path).and_then([path](const value& found) -> result<double> {
    if (const auto held = found.as_number()) return *held;
    return wrong_kind(path, "a number", found);
  });
}

result<std::string> value::string_at(std::string_view path) const {
  return at(path).and_then([path](const value& found) -> result<std::string> {
    if (const auto* held = found.as_string()) return *held;
    return wrong_kind(path, "a string", found);
  });
}

result<value::array> value::array_at(std::string_view path) const {
  return at(path).and_then([path](const value& found) -> result<array> {
    if (const auto* held = found.as_array()) return *held;
    return wrong_kind(path, "an array", found);
  });
}

result<value::object> value::object_at(std::string_view path) const {
  return at(path).and_then([path](const value& found) -> result<object> {
    if (const auto* held = found.as_object()) return *held;
    return wrong_kind(path, "an object", found);
  });
}

bool value::operator==(const value& other) const {
  if (type() == kind::integer && other.type() == kind::integer) return data_ == other.data_;
  if (const auto mine = as_number()) {
    const auto theirs = other.as_number();
    if (!theirs || *mine != *theirs) return false;
    // Beyond 2^53, an integer and a number can convert to the same double without being equal.
    const auto exact = as_integer();
    const auto other_exact = other.as_integer();
    return !exact || !other_exact || *exact == *other_exact;
  }
  if (type() != other.type()) return false;
  if (const auto* elements = as_array()) return *elements == *other.as_array();
  if (const auto* members = as_object()) return same_members(*members, *other.as_object());
  return data_ == other.data_;
}

std::string_view name_of(value::kind what) noexcept {
  constexpr std::array<std::string_view, 7> names{"null",     "a boolean", "an integer", "a number",
                                                  "a string", "an array",  "an object"};
  return names[static_cast<std::size_t>(what)];
}

}  // namespace hondana::inline v0
