/// Making nodes of what readers found.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "text/located/node.hpp"

namespace hondana::located {

[[nodiscard]] inline node text_node(std::string text, place at) {
  node made;
  made.is = kind::text;
  made.text = std::move(text);
  made.at = at;
  return made;
}

[[nodiscard]] inline node boolean_node(bool truth, place at) {
  node made;
  made.is = kind::boolean;
  made.truth = truth;
  made.at = at;
  return made;
}

[[nodiscard]] inline node null_node(place at) {
  node made;
  made.at = at;
  return made;
}

[[nodiscard]] inline node empty_node(kind is, place at) {
  node made;
  made.is = is;
  made.at = at;
  return made;
}

/// An integer or a real, `digits` being JSON.
[[nodiscard]] inline node number_node(kind is, std::string digits, place at) {
  node made = text_node(std::move(digits), at);
  made.is = is;
  return made;
}

}  // namespace hondana::located
