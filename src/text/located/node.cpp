/// Configuration as a tree of values with their places in the text, and its output as JSON.
#include "text/located/node.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <system_error>
#include <utility>

#include "base/json/writer.hpp"

namespace hondana::located {

const node* node::find(std::string_view key) const noexcept {
  const auto found = std::find_if(members.begin(), members.end(), [key](const member& one) { return one.key == key; });
  return is != kind::table || found == members.end() ? nullptr : &found->value;
}

namespace {

void write_node(json::writer& to, const node& what) {
  switch (what.is) {
    case kind::null:
      to.null();
      break;
    case kind::boolean:
      to.boolean(what.truth);
      break;
    case kind::integer:
    case kind::real:
      to.raw(what.text);
      break;
    case kind::text:
      to.string(what.text);
      break;
    case kind::list:
      to.begin_array();
      for (const auto& item : what.items) write_node(to, item);
      to.end_array();
      break;
    case kind::table:
      to.begin_object();
      for (const auto& [key, at, one] : what.members) write_node(to.key(key), one);
      to.end_object();
      break;
  }
}

value number_value(const node& what) {
  const auto* begin = what.text.data();
  const auto* end = begin + what.text.size();
  if (what.is == kind::integer) {
    std::int64_t whole = 0;
    if (const auto read = std::from_chars(begin, end, whole); read.ec == std::errc{} && read.ptr == end) return whole;
  }
  double number = 0;
  const auto read = std::from_chars(begin, end, number);
  // A number too small for a double is zero; one that is too large is null.
  if (read.ec != std::errc{}) return nullptr;
  return number;
}

}  // namespace

void append_json(std::string& out, const node& of) {
  json::writer to(out);
  write_node(to, of);
}

std::string json_text(const node& of) {
  std::string out;
  append_json(out, of);
  return out;
}

value json_of(const node& of) {
  switch (of.is) {
    case kind::null:
      return nullptr;
    case kind::boolean:
      return of.truth;
    case kind::integer:
    case kind::real:
      return number_value(of);
    case kind::text:
      return of.text;
    case kind::list: {
      value::array items;
      items.reserve(of.items.size());
      for (const auto& item : of.items) items.push_back(json_of(item));
      return items;
    }
    case kind::table:
      break;
  }
  value::object members;
  members.reserve(of.members.size());
  for (const auto& [key, at, one] : of.members) members.emplace_back(key, json_of(one));
  return members;
}

}  // namespace hondana::located
