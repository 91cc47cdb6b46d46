/// Fuzzes the JSON reader: what it accepts is JSON and reads back as written, what it refuses has a reason.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "base/json/reader.hpp"
#include "base/json/utf8.hpp"

namespace {

namespace json = hondana::json;

void check(bool holds) {
  if (!holds) std::abort();
}

void walk(const json::value& value, std::size_t depth);

void walk_object(const json::object& object, std::size_t depth) {
  const auto members = object.members();
  std::map<std::string_view, int> names;
  for (const auto& [name, member] : members) {
    check(json::is_utf8(name));
    ++names[name];
    walk(member, depth + 1);
  }
  int looked_up = 0;
  for (const auto& [name, times] : names) {
    if (++looked_up > 100) break;  // looking up is linear
    const auto found = object.find(name);
    check(found.has_value() == (times == 1));
    if (found) {
      check(found->has_value());
    } else {
      check(found.error().message == "occurs twice" && found.error().path == object.path_of(name));
    }
  }
}

/// Exactly one typed access succeeds, or two for integers, which are numbers too.
void walk(const json::value& value, std::size_t depth) {
  check(depth <= 130);
  const auto string = value.as_string("path");
  const auto integer = value.as_integer("path");
  const auto number = value.as_number("path");
  const auto boolean = value.as_boolean("path");
  const auto object = value.as_object("path");
  const auto array = value.as_array("path");
  const auto type = value.type();
  check(string.has_value() == (type == json::kind::string));
  check(number.has_value() == (type == json::kind::integer || type == json::kind::number));
  check(boolean.has_value() == (type == json::kind::boolean));
  check(object.has_value() == (type == json::kind::object));
  check(array.has_value() == (type == json::kind::array));
  check(value.is_null() == (type == json::kind::null));
  if (!integer)
    check(integer.error().path == "path" && (type != json::kind::integer || integer.error().message == "out of range"));
  if (string) check(json::is_utf8(*string));
  if (object) walk_object(*object, depth);
  if (array) {
    const auto elements = array->elements();
    check(elements.size() == array->size());
    for (const auto& one : elements) walk(one, depth + 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto message = json::document::parse(text);
  if (!message) {
    check(!message.error().message.empty());
    return 0;
  }
  check(json::is_utf8(text));
  walk(message->root(), 1);
  check(!json::document::parse(text + " 1"));
  check(!json::document::parse("1 " + text));
  check(json::document::parse(" " + text + "\n").has_value());

  const std::string afresh = message->root().to_json();
  const auto again = json::document::parse(afresh);
  check(again.has_value() && again->root().to_json() == afresh);
  return 0;
}
