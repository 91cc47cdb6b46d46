/// Pieces of a marked-up text, such as headings and paragraphs, and building outlines from them.
#include "text/markup/pieces.hpp"

#include <algorithm>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "text/front_matter/yaml.hpp"
#include "text/markup/characters.hpp"

namespace hondana::markup {
namespace {

constexpr std::size_t most_sections = 10'000;
constexpr std::size_t most_links = 10'000;

}  // namespace

std::string id_of(std::string_view heading) {
  std::string id;
  id.reserve(heading.size());
  for (std::size_t at = 0; at < heading.size();) {
    const auto one = character_at(heading, at);
    at += one.bytes;
    if (one.point == ' ')
      id += '-';
    else if (one.point == '-' || is_word(one.point))
      append_character(id, in_lower_case(one.point));
  }
  if (id.empty()) id = "section";
  return id;
}

std::string outline_builder::unique(std::string id) {
  auto& taken = seen_[id];
  if (taken++ == 0) return id;
  // Each attempt increases the counter of this id, so the total number of attempts is at most the number of sections.
  for (auto count = taken - 1;; ++count) {
    auto next = id + '-' + std::to_string(count);
    if (seen_.emplace(next, 1).second) {
      seen_[id] = count + 1;
      return next;
    }
  }
}

bool outline_builder::take(piece one) {
  if (one.what == part::front_matter) {
    made_.front_matter_end = one.end;
    made_.title = std::move(one.heading);
    has_front_title_ = !made_.title.empty();
  }
  if (one.what != part::heading) return true;
  if (made_.sections.size() >= most_sections) {
    made_.is_cut = true;
    return true;
  }
  if (made_.title.empty() && !has_front_title_) made_.title = one.heading;
  auto& made = made_.sections.emplace_back();
  made.level = std::clamp(one.level, 1, 6);
  made.id = unique(one.id.empty() ? id_of(one.heading) : std::move(one.id));
  made.heading = std::move(one.heading);
  made.first_line = one.first_line;
  made.begin = one.begin;
  return true;
}

void outline_builder::refer(link one) {
  if (one.target.empty() || one.target.size() > longest_target) return;
  if (made_.links.size() >= most_links) {
    made_.is_cut = true;
    return;
  }
  if (one.text.size() > longest_heading) one.text.resize(boundary_before(one.text, longest_heading));
  made_.links.push_back(std::move(one));
}

outline outline_builder::finish(std::size_t bytes, std::size_t lines) {
  std::vector<section*> open;
  const auto close = [&open](int level, std::size_t end, std::size_t last_line) {
    while (!open.empty() && open.back()->level >= level) {
      open.back()->end = end;
      open.back()->last_line = std::max(last_line, open.back()->first_line);
      open.pop_back();
    }
  };
  for (auto& one : made_.sections) {
    close(one.level, one.begin, one.first_line - 1);
    open.push_back(&one);
  }
  close(0, bytes, lines);
  return std::move(made_);
}

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
