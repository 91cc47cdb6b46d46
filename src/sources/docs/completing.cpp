/// Completing paths, sections and formats, without what the caller may not see.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <set>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/completion.hpp>
#include <hondana/uri.hpp>

#include "base/json/utf8.hpp"
#include "base/match/ranking.hpp"
#include "protocol/model/still_wanted.hpp"
#include "sources/docs/docs_provider.hpp"
#include "sources/docs/naming.hpp"
#include "text/language/language.hpp"

namespace hondana::docs {
namespace {

constexpr std::size_t most_values = 100;
constexpr std::size_t most_pages = 100;
constexpr std::size_t longest_typed = 1000;
constexpr std::chrono::seconds longest_typing_wait{2};
constexpr std::size_t looks_between_checks = 256;

/// As a value of `{+path}`: what has a meaning in URIs, or is no UTF-8, is escaped, so that it expands to the listed URI.
std::string written_in_template(std::string_view path) {
  if (!json::is_utf8(path)) return percent_encode(path, true);
  std::string value;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_special =
        byte < 0x20 || byte == 0x7F || std::string_view("%?#[]!$&'()*+,;=:@").find(c) != std::string_view::npos;
    value += is_special ? percent_encode(std::string_view(&c, 1)) : std::string(1, c);
  }
  return value;
}

std::string decoded_or_same(const std::string& text) { return percent_decode(text).value_or(text); }

struct candidate {
  match::rank how{};
  std::string value{};

  bool operator<(const candidate& other) const noexcept {
    return how < other.how || (!(other.how < how) && value < other.value);
  }
};

/// Compares in one form what was typed and what there is: width, NFC and NFD and case make no difference.
class folded_matcher {
 public:
  explicit folded_matcher(std::string_view typed) : fits_(language::folded(typed.substr(0, longest_typed))) {}

  [[nodiscard]] std::optional<match::fit> operator()(std::string_view value) { return fits_(language::folded(value)); }

 private:
  match::matcher fits_;
};

complete_result answer_of(match::best<candidate> best) {
  complete_result answer;
  answer.total = best.count();
  for (auto& one : best.take()) answer.values.push_back(std::move(one.value));
  answer.has_more = *answer.total > answer.values.size();
  return answer;
}

}  // namespace

result<complete_result> docs_provider::complete_paths(const scene& in, const complete_request& request) const {
  const auto now = std::chrono::system_clock::now();
  folded_matcher fits(decoded_or_same(request.value));
  match::best<candidate> best(most_values);
  const bool wants_pages = request.uriTemplate.ends_with("{?pages}");
  std::size_t looks = 0;
  for (const auto& [path, one] : in.documents()) {
    if (++looks % looks_between_checks == 0) {
      HONDANA_TRY(still_wanted(request));
    }
    if (wants_pages && (!one.type.rendered || (one.known && one.known->pages == 0))) continue;
    if (!is_seen(request.who, one.entry)) continue;
    auto how = fits(readable(path));
    if (!how && is_readable(request.who, one.entry)) {
      // People know titles better than names; those come behind whatever fits by its name.
      how = fits(one.entry.title);
      if (how) how->how = match::tier::letters;
      if (how) how->cost += 1000;
    }
    if (!how) continue;
    best.add(
        {{*how, one.worth.priority, match::recency_of(one.entry.annotations.lastModified, now)}, written_in_template(path)});
  }
  return answer_of(std::move(best));
}

result<complete_result> docs_provider::complete_sections(const scene& in, const complete_request& request) {
  address what;
  what.path = decoded_or_same(request.chosen("path"));
  const auto found = find(in, what, request.who);
  if (!found || !is_readable(request.who, (*found)->entry)) return complete_result();
  // People do not wait longer for what they type; it is rendered behind it, and there the next time.
  auto patient = static_cast<const call&>(request);
  if ((*found)->type.rendered) patient.deadline = std::min(patient.deadline, monotonic_clock::now() + longest_typing_wait);
  const auto text = library_->text_of(**found, patient);
  if (!text) return complete_result();  // there is nothing to offer of what cannot be read
  if (request.argument == "pages") {
    std::vector<std::string> pages;
    for (std::size_t i = 1; i <= std::min((*text)->about->pages, most_pages); ++i) pages.push_back(std::to_string(i));
    return complete_from(request.value, pages);
  }
  folded_matcher fits(request.value);
  match::best<candidate> best(most_values);
  std::set<std::string_view> known;
  double order = 1;
  for (const auto& one : (*text)->outline.sections) {
    order *= 0.999999;  // of equal ones the earlier first
    if (one.heading.empty() || !known.insert(one.heading).second) continue;
    const auto how = fits(one.heading);
    if (!how) continue;
    auto rank = *how;
    if (request.value.empty()) rank.length = 0;
    best.add({{rank, order, match::recency::older}, one.heading});
  }
  return answer_of(std::move(best));
}

result<complete_result> docs_provider::complete(const complete_request& request) {
  if (request.argument == "format") {
    const bool is_of_set = request.uriTemplate == claim_of(library_->set()) + "/{?format}";
    const std::vector<std::string> of_documents{"outline", "json", "original"};
    return complete_from(request.value, is_of_set ? std::vector<std::string>{"json", "outline"} : of_documents);
  }
  if (request.argument != "path" && request.argument != "section" && request.argument != "pages") return complete_result();
  HONDANA_TRY(const auto now, current(request));
  return request.argument == "path" ? complete_paths(*now, request) : complete_sections(*now, request);
}

}  // namespace hondana::docs
