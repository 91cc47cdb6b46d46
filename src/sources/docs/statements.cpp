/// Taking what can be used.
#include "sources/docs/statements.hpp"

#include <algorithm>
#include <utility>

#include <hondana/value.hpp>

#include "sources/docs/prose_text.hpp"
#include "sources/docs/worth.hpp"
#include "text/front_matter/frontmatter.hpp"

namespace hondana::docs {
namespace {

constexpr std::size_t most_warnings = 10;
constexpr std::size_t longest_title = 300;
constexpr std::size_t longest_description = 500;

class reader {
 public:
  explicit reader(statements& into) : into_(into) {}

  void warn(std::string what) {
    if (into_.warnings.size() < most_warnings) into_.warnings.push_back("front matter: " + std::move(what));
  }
  void take_text(const value& from, const char* name, std::size_t longest, std::string& to) {
    const auto* said = from.find(name);
    if (said == nullptr || said->is_null()) return;
    if (const auto* text = said->as_string()) {
      to = one_line(*text, longest);
    } else if (said->as_number()) {
      to = said->to_text();
    } else {
      warn(std::string(name) + " is " + std::string(name_of(said->type())) + ", not a text");
    }
  }
  void take_priority(const value& from) {
    const auto* said = from.find("priority");
    if (said == nullptr || said->is_null()) return;
    auto number = said->as_number();
    if (const auto* word = said->as_string()) number = priority_named(*word);
    if (number && *number >= 0.0 && *number <= 1.0) {
      into_.priority = number;
    } else {
      warn("priority is not a number from 0 to 1, high, middle or low");
    }
  }
  void take_audience(const value& from) {
    const auto* said = from.find("audience");
    if (said == nullptr || said->is_null()) return;
    const value::array alone{*said};
    const auto* all = said->as_array();
    for (const auto& one : all == nullptr ? alone : *all) {
      const auto* word = one.as_string();
      const auto who = word == nullptr ? std::nullopt : role_named(*word);
      if (!who) {
        into_.audience.clear();
        return warn("audience is not user, assistant or a list of them");
      }
      if (std::find(into_.audience.begin(), into_.audience.end(), *who) == into_.audience.end()) into_.audience.push_back(*who);
    }
  }
  void take_language(const value& from) {
    const auto* said = from.find("lang");
    if (said == nullptr || said->is_null()) return;
    const auto* tag = said->as_string();
    if (tag != nullptr && is_language_tag(*tag)) {
      into_.lang = *tag;
    } else {
      warn("lang is not a language tag such as ja or en-GB");
    }
  }

 private:
  statements& into_;
};

bool begins_with_fence(std::string_view text) noexcept {
  if (!text.starts_with("---")) return false;
  text.remove_prefix(3);
  const auto end = text.find('\n');
  return end != std::string_view::npos && text.substr(0, end).find_first_not_of(" \t\r") == std::string_view::npos;
}

/// Whether the second fence is there: without it the first is a rule across the page.
bool has_second_fence(std::string_view text) noexcept {
  for (auto at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    const auto line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    if (line.starts_with("---") && line.find_first_not_of(" \t\r", 3) == std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

statements statements_of(std::string_view text) {
  statements made;
  const auto front = text.substr(0, front_matter::front_bytes);
  if (!begins_with_fence(front) || !has_second_fence(front)) return made;
  reader into(made);
  const auto said = front_matter::parse_frontmatter(front);
  if (!said) {
    into.warn(said.error().public_text);
    return made;
  }
  into.take_text(*said, "title", longest_title, made.title);
  into.take_text(*said, "description", longest_description, made.description);
  into.take_priority(*said);
  into.take_audience(*said);
  into.take_language(*said);
  return made;
}

}  // namespace hondana::docs
