/// How `fields` is read and applied.
#include "drive/stand_in/fields.hpp"

#include <boost/json.hpp>

namespace drive_test {
namespace {

namespace json = boost::json;

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '*' || c == '-';
}

class mask_reader {
 public:
  explicit mask_reader(std::string_view text) : left_(text) {}

  bool list(field_mask& into, int depth) {
    for (;;) {
      if (!one(into, depth)) return false;
      blanks();
      if (!takes(',')) return true;
    }
  }
  bool is_done() {
    blanks();
    return left_.empty();
  }

 private:
  void blanks() {
    while (!left_.empty() && left_.front() == ' ') left_.remove_prefix(1);
  }
  bool takes(char c) {
    if (left_.empty() || left_.front() != c) return false;
    left_.remove_prefix(1);
    return true;
  }
  bool one(field_mask& into, int depth) {
    if (depth > 20) return false;
    blanks();
    std::string name;
    for (; !left_.empty() && is_name(left_.front()); left_.remove_prefix(1)) name += left_.front();
    if (name.empty()) return false;
    auto& below = into.below[name];
    if (takes('/')) return one(below, depth + 1);
    if (takes('(')) return list(below, depth + 1) && takes(')');
    return true;
  }

  std::string_view left_;
};

}  // namespace

std::optional<field_mask> parse_fields(std::string_view text) {
  field_mask out;
  mask_reader reader(text);
  if (!reader.list(out, 0) || !reader.is_done()) return std::nullopt;
  return out;
}

json::value masked(const json::value& whole, const field_mask& by) {
  if (const auto* const array = whole.if_array()) {
    json::array out;
    for (const auto& one : *array) out.push_back(masked(one, by));
    return out;
  }
  if (by.takes_all()) return whole;
  const auto* const object = whole.if_object();
  if (object == nullptr) return whole;
  json::object out;
  for (const auto& [name, one] : *object) {
    if (const auto found = by.below.find(std::string_view(name)); found != by.below.end())
      out[name] = masked(one, found->second);
  }
  return out;
}

}  // namespace drive_test
