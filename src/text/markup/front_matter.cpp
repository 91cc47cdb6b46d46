/// Finds front matter and its title.
#include "text/markup/front_matter.hpp"
#include "base/ascii/characters.hpp"

#include "text/front_matter/yaml.hpp"
#include "text/markup/characters.hpp"
#include "text/markup/lines.hpp"

namespace hondana::markup {
namespace {

constexpr std::string_view order_mark = "\xEF\xBB\xBF";

std::string_view without_end(std::string_view text) noexcept {
  while (!text.empty() && ascii::is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::optional<piece> front_matter_of(std::string_view text) {
  line_reader lines(text, text.starts_with(order_mark) ? order_mark.size() : 0);
  line one;
  if (!lines.read(one) || without_end(text.substr(one.begin, one.end - one.begin)) != "---") return std::nullopt;
  const auto begin = one.next;
  while (lines.read(one) && one.begin - begin <= front_matter::longest_yaml) {
    const auto mark = without_end(text.substr(one.begin, one.end - one.begin));
    if (mark != "---" && mark != "...") continue;
    piece found;
    found.what = part::front_matter;
    found.end = one.next;
    found.last_line = one.number;
    const auto yaml = text.substr(begin, one.begin - begin);
    const auto parsed = front_matter::parse_yaml(yaml);
    if (parsed && parsed->as_object() == nullptr && !is_blank(yaml) && trimmed(yaml).front() != '#') return std::nullopt;
    const auto* title = parsed ? parsed->find("title") : nullptr;
    const auto* as_text = title == nullptr ? nullptr : title->as_string();
    if (as_text != nullptr) found.heading = front_of(trimmed(*as_text), longest_heading);
    return found;
  }
  return std::nullopt;
}

}  // namespace hondana::markup
