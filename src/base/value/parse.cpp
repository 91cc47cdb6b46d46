/// JSON values out of texts and parsed messages.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <hondana/value.hpp>

#include "base/json/reader.hpp"
#include "base/value/take.hpp"

namespace hondana::inline v0 {
namespace {

/// Takes a parsed message over, counting what it makes. What goes wrong is told with its path, built on the way out.
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

}  // namespace hondana::inline v0
