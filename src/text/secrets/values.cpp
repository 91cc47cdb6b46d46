/// Going through a value from member to member.
#include "text/secrets/values.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "text/secrets/redactor.hpp"
#include "text/secrets/web_keys.hpp"

namespace hondana::secrets {
namespace {

std::string masked(std::string text, policy how) {
  redactor(how, {}).mask(text);
  return text;
}

/// As it would be in a file that says `name: text`; so headers and settings are known by what they are called.
std::string masked_in_member(std::string_view name, const std::string& text, policy how) {
  if (name.empty()) return masked(text, how);
  constexpr std::string_view between = ": ";
  std::string line(name);
  line += between;
  line += masked(text, how);
  return masked(std::move(line), how).substr(name.size() + between.size());
}

/// `name`: of the member that this is, or an element of; empty for none. `is_secret`: every text in it.
value masked_value(const value& what, std::string_view name, policy how, bool is_secret) {
  if (const auto* text = what.as_string())
    return is_secret ? std::string(text->size(), '*') : masked_in_member(name, *text, how);
  if (const auto* elements = what.as_array()) {
    value::array out;
    out.reserve(elements->size());
    for (const auto& one : *elements) out.push_back(masked_value(one, name, how, is_secret));
    return out;
  }
  if (const auto* members = what.as_object()) {
    value::object out;
    out.reserve(members->size());
    std::set<std::string> names;
    std::map<std::string, std::size_t> counts;
    const auto* const type = what.find("kty");
    const auto* const web_key = type == nullptr ? nullptr : type->as_string();
    for (const auto& [key, one] : *members) {
      // Names that differ in their secrets only stay two.
      const auto shown = masked(key, how);
      auto unlike = shown;
      if (!names.insert(unlike).second) {
        auto& count = counts.try_emplace(shown, 1).first->second;
        do {
          unlike = shown + '~' + std::to_string(++count);
        } while (!names.insert(unlike).second);
      }
      const bool is_private = how != policy::none && web_key != nullptr && is_private_member(*web_key, key);
      out.emplace_back(std::move(unlike), masked_value(one, key, how, is_secret || is_private));
    }
    return out;
  }
  return what;
}

}  // namespace

value redact_value(const value& what, policy how) { return masked_value(what, {}, how, false); }

}  // namespace hondana::secrets
