/// Configuration as a tree of values with their ranges in the text, and its output as JSON.
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
  const auto match =
      std::find_if(members.begin(), members.end(), [key](const member& candidate) { return candidate.key == key; });
  return kind != node_kind::table || match == members.end() ? nullptr : &match->value;
}

namespace {

void write_node(json::writer& writer, const node& tree) {
  switch (tree.kind) {
    case node_kind::null:
      writer.null();
      break;
    case node_kind::boolean:
      writer.boolean(tree.boolean);
      break;
    case node_kind::integer:
    case node_kind::real:
      writer.raw(tree.text);
      break;
    case node_kind::text:
      writer.string(tree.text);
      break;
    case node_kind::list:
      writer.begin_array();
      for (const auto& item : tree.items) write_node(writer, item);
      writer.end_array();
      break;
    case node_kind::table:
      writer.begin_object();
      for (const auto& [key, range, child] : tree.members) write_node(writer.key(key), child);
      writer.end_object();
      break;
  }
}

value number_value(const node& leaf) {
  const auto* begin = leaf.text.data();
  const auto* end = begin + leaf.text.size();
  if (leaf.kind == node_kind::integer) {
    std::int64_t integer = 0;
    if (const auto parsed = std::from_chars(begin, end, integer); parsed.ec == std::errc{} && parsed.ptr == end) return integer;
  }
  double number = 0;
  const auto parsed = std::from_chars(begin, end, number);
  // A number too small for a double is zero; one that is too large is null.
  if (parsed.ec != std::errc{}) return nullptr;
  return number;
}

}  // namespace

void append_json(std::string& out, const node& tree) {
  json::writer writer(out);
  write_node(writer, tree);
}

std::string json_text(const node& tree) {
  std::string out;
  append_json(out, tree);
  return out;
}

value json_of(const node& tree) {
  switch (tree.kind) {
    case node_kind::null:
      return nullptr;
    case node_kind::boolean:
      return tree.boolean;
    case node_kind::integer:
    case node_kind::real:
      return number_value(tree);
    case node_kind::text:
      return tree.text;
    case node_kind::list: {
      value::array items;
      items.reserve(tree.items.size());
      for (const auto& item : tree.items) items.push_back(json_of(item));
      return items;
    }
    case node_kind::table:
      break;
  }
  value::object members;
  members.reserve(tree.members.size());
  for (const auto& [key, range, child] : tree.members) members.emplace_back(key, json_of(child));
  return members;
}

}  // namespace hondana::located
