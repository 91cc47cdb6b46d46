/// Writing trees down.
#include "unit/text/located/told.hpp"

#include "text/located/node.hpp"

namespace hondana::test {
namespace {

void tell(const located::node& what, const std::string& path, std::string_view text, std::string& out) {
  for (std::size_t i = 0; i < what.items.size(); ++i) tell(what.items[i], path + '[' + std::to_string(i) + ']', text, out);
  for (const auto& [key, at, value] : what.members) {
    auto below = path.empty() ? key : path + '.' + key;
    if (at.line != value.range.line) below += '(' + std::to_string(at.line) + ')';
    tell(value, below, text, out);
  }
  if (!what.items.empty() || !what.members.empty()) return;
  out += std::to_string(what.range.line) + ' ' + path + " = " + located::json_text(what) + " <" +
         std::string(text.substr(what.range.begin, what.range.end - what.range.begin)) + ">\n";
}

}  // namespace

std::string told(const located::document& what, std::string_view text) {
  std::string out;
  tell(what.root, {}, text, out);
  for (const auto& remark : what.warnings) out += "! " + remark + '\n';
  return out;
}

std::string told(located::config_format how, std::string_view text, const located::parse_limits& most) {
  const auto read = located::read(how, text, most);
  return read ? told(*read, text) : "failed: " + read.error().public_text;
}

}  // namespace hondana::test
