/// Finding them.
#include "sources/docs/parts.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/match/matcher.hpp"
#include "base/match/ranking.hpp"
#include "text/language/language.hpp"

namespace hondana::docs {
namespace {

constexpr std::size_t most_named = 5;

std::string_view bare(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == '#' || text.front() == ' ')) text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

struct near_heading {
  match::rank how{};
  std::size_t place = 0;

  bool operator<(const near_heading& other) const noexcept {
    return how < other.how || (!(other.how < how) && place < other.place);
  }
};

tl::unexpected<failure> no_such_section(const prose& of, std::string_view wanted) {
  const auto& sections = of.outline.sections;
  if (sections.empty()) return fail(errc::part_not_found, "The document has no headings. Read it as a whole.");
  match::matcher fits(wanted);
  match::best<near_heading> best(most_named);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (const auto how = fits(language::folded(sections[i].heading))) best.add({{*how, 0.5, match::recency::older}, i});
  }
  std::vector<std::size_t> named;
  for (const auto& one : best.take()) named.push_back(one.place);
  for (std::size_t i = 0; i < sections.size() && named.size() < most_named; ++i) {
    if (std::find(named.begin(), named.end(), i) == named.end()) named.push_back(i);
  }
  std::string text = "Section not found. Some of the headings: ";
  for (const auto place : named) ((text += place == named.front() ? "\"" : ", \"") += sections[place].heading) += '"';
  return fail(errc::part_not_found, text + "; ?format=outline lists all of them.");
}

}  // namespace

result<markup::section> section_called(const prose& of, std::string_view wanted) {
  const auto& sections = of.outline.sections;
  const auto exact = std::find_if(sections.begin(), sections.end(), [wanted](const auto& one) { return one.id == wanted; });
  if (exact != sections.end()) return *exact;
  const auto plain = language::folded(bare(wanted));
  const auto is_it = [&plain](const markup::section& one) {
    return language::folded(bare(one.heading)) == plain || language::folded(one.id) == plain;
  };
  const auto alike = std::find_if(sections.begin(), sections.end(), is_it);
  if (alike != sections.end()) return *alike;
  return no_such_section(of, plain);
}

result<std::string> pages_of(const prose& of, std::pair<std::size_t, std::size_t> wanted) {
  if (of.about->pages == 0) {
    return fail(errc::invalid_argument, "The document has no pages. Read a section: ?format=outline lists the headings.");
  }
  if (wanted.first > of.about->pages) {
    return fail(errc::part_not_found,
                "pages: the document has " + std::to_string(of.about->pages) + (of.about->pages == 1 ? " page." : " pages."));
  }
  std::string found;
  std::string_view rest = *of.text;
  for (std::size_t page = 1; !rest.empty() && page <= wanted.second; ++page) {
    const auto end = rest.find('\f');
    if (page >= wanted.first) found += rest.substr(0, end);
    if (page >= wanted.first && !found.empty() && !found.ends_with('\n')) found += '\n';
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  if (found.empty() && of.about->is_cut) {
    return fail(errc::response_too_large, "The pages are beyond the rendering limit of a document.");
  }
  return found;
}

}  // namespace hondana::docs
