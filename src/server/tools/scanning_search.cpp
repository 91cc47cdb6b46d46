/// Search without an index: scans lists, and the contents of small texts within a budget.
#include "server/tools/scanning_search.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "base/json/utf8.hpp"
#include "base/match/fuzzy_match.hpp"
#include "server/tools/content_part.hpp"

namespace hondana::tools {
namespace {

constexpr std::size_t most_words = 16;
constexpr std::size_t longest_passage = 400;

/// The offsets of all lines, followed by the end of the text.
std::vector<std::size_t> line_starts(std::string_view text) {
  std::vector<std::size_t> starts{0};
  for (auto at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) starts.push_back(at + 1);
  if (starts.back() != text.size()) starts.push_back(text.size());
  return starts;
}

/// Shortens a line to the maximum, around the byte at `around`.
std::string cut(std::string_view line, std::size_t around) {
  if (line.size() <= longest_passage) return std::string(line);
  constexpr std::size_t before = 100;
  auto begin = around > before ? around - before : 0;
  while (begin < around && (static_cast<unsigned char>(line[begin]) & 0xC0) == 0x80) ++begin;
  auto shorter = line.substr(begin, longest_passage);
  const bool has_more = begin + shorter.size() < line.size();
  shorter.remove_suffix(json::incomplete_tail(shorter));
  return (begin == 0 ? "" : "…") + std::string(shorter) + (has_more ? "…" : "");
}

}  // namespace

std::vector<std::string> words_of(std::string_view query) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < query.size() && words.size() < most_words;) {
    if (ascii::is_space(query[at])) {
      ++at;
      continue;
    }
    auto end = at;
    while (end < query.size() && !ascii::is_space(query[end])) ++end;
    auto word = ascii::in_lower_case(query.substr(at, end - at));
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(std::move(word));
    at = end;
  }
  return words;
}

presence presence_of(std::string_view text, std::string_view word) noexcept {
  auto found = presence::absent;
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool is_beyond_ascii = static_cast<unsigned char>(word.front()) >= 0x80;
    if (at == 0 || is_beyond_ascii || !ascii::is_lower_or_digit(text[at - 1])) return presence::at_word_start;
    found = presence::inside;
  }
  return found;
}

passage best_passage(std::string_view text, const std::vector<std::string>& words) {
  passage best;
  best.in_text.assign(words.size(), false);
  const auto starts = line_starts(text);
  std::size_t most = 0;
  std::size_t best_line = 0;
  std::size_t first_in_line = 0;
  for (std::size_t line = 0; line + 1 < starts.size(); ++line) {
    const auto here = ascii::in_lower_case(text.substr(starts[line], starts[line + 1] - starts[line]));
    std::size_t count = 0;
    std::size_t first_word = here.size();
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto at = here.find(words[i]);
      if (at == std::string::npos) continue;
      first_word = std::min(first_word, at);
      best.in_text[i] = true;
      ++count;
    }
    if (count > most) {
      most = count;
      best_line = line;
      first_in_line = first_word;
    }
  }
  best.in_one_line = most;
  if (most == 0) return best;
  const auto first = best_line == 0 ? 0 : best_line - 1;
  const auto last = std::min(best_line + 1, starts.size() - 2);
  best.first_line = first + 1;
  best.last_line = last + 1;
  const auto whole = text.substr(starts[first], starts[last + 1] - starts[first]);
  // A long line before the best one would fill the passage, so only the best one is used.
  best.text = whole.size() <= longest_passage
                  ? std::string(whole)
                  : cut(text.substr(starts[best_line], starts[best_line + 1] - starts[best_line]), first_in_line);
  if (whole.size() > longest_passage) best.first_line = best.last_line = best_line + 1;
  while (!best.text.empty() && best.text.back() == '\n') best.text.pop_back();
  return best;
}

namespace {

constexpr std::size_t most_entries = 50'000;
constexpr std::size_t most_candidates = 5'000;
constexpr std::size_t most_contents = 5'000;
constexpr std::uint64_t most_bytes = 32u << 20;
constexpr std::uint64_t largest_content = 256u << 10;
constexpr std::chrono::milliseconds longest_list{1'000};
constexpr std::chrono::milliseconds longest_reading{1'500};

// Weight of a word by place. In contents it is higher if the same line has other words too.
constexpr double in_name = 1.0;
constexpr double in_title = 0.9;
constexpr double in_description = 0.6;
constexpr double in_contents = 0.5;
constexpr double in_uri = 0.4;
constexpr double inside_a_word = 0.7;  // factor for the weights above
constexpr double weight_of_priority = 0.1;

/// An entry; for each word, its weight and where it was found.
struct candidate {
  resource entry;
  std::vector<double> weights;
  std::vector<std::string_view> places;  // "name" and so on; empty if not found in the entry
  double score = 0;

  bool operator<(const candidate& other) const noexcept {
    if (score != other.score) return score > other.score;
    const auto mine = entry.annotations.priority.value_or(0.5);
    const auto theirs = other.entry.annotations.priority.value_or(0.5);
    return mine != theirs ? mine > theirs : entry.uri < other.entry.uri;
  }
};

void weigh(candidate& one, std::size_t word, double weight, std::string_view place) {
  if (weight <= one.weights[word]) return;
  one.weights[word] = weight;
  one.places[word] = place;
}

void score(candidate& one) {
  double sum = 0;
  for (const double weight : one.weights) sum += weight;
  if (sum == 0) return;
  const auto priority = one.entry.annotations.priority.value_or(0.5);
  one.score = (1 - weight_of_priority) * sum / static_cast<double>(one.weights.size()) + weight_of_priority * priority;
}

candidate candidate_of(resource entry, const std::vector<std::string>& words) {
  candidate made;
  made.weights.assign(words.size(), 0);
  made.places.assign(words.size(), {});
  const auto decoded = percent_decode(entry.uri);
  const std::array<std::pair<std::string, std::pair<double, std::string_view>>, 4> fields{
      {{ascii::in_lower_case(entry.name), {in_name, "name"}},
       {ascii::in_lower_case(entry.title), {in_title, "title"}},
       {ascii::in_lower_case(entry.description), {in_description, "description"}},
       {ascii::in_lower_case(decoded ? *decoded : entry.uri), {in_uri, "URI"}}}};
  for (std::size_t word = 0; word < words.size(); ++word) {
    for (const auto& [text, place] : fields) {
      const auto how = presence_of(text, words[word]);
      if (how == presence::absent) continue;
      weigh(made, word, how == presence::inside ? place.first * inside_a_word : place.first, place.second);
    }
  }
  made.entry = std::move(entry);
  score(made);
  return made;
}

/// Whether to read the contents: the entry describes a small text.
bool is_small_text(const resource& entry) {
  if (!entry.size || *entry.size == 0 || *entry.size > largest_content) return false;
  const std::string_view type = entry.mimeType;
  if (type.starts_with("text/") || type.ends_with("+json") || type.ends_with("+xml")) return true;
  constexpr std::array texts{"application/json", "application/xml",        "application/yaml", "application/toml",
                             "application/sql",  "application/javascript", "application/x-sh"};
  return std::any_of(texts.begin(), texts.end(), [type](const char* one) { return type == one; });
}

/// The text of the first content; nullopt if it cannot be read, or is not text.
std::optional<std::string> text_of(const call& by, const surroundings& in, const resource& entry) {
  auto read = await<catalog::read_answer>(by, [&](catalog::completion<catalog::read_answer> done) {
    in.catalog->read(by, entry.uri, entry.uri, {{}, false, true}, std::move(done));
  });
  if (!read || read->reading.contents.empty() || !read->reading.contents.front().is_text) return std::nullopt;
  auto found = pull(by, in, read->reading.contents.front(), read->home, {}, {}, largest_content);
  if (!found) return std::nullopt;
  return std::move(found->bytes);
}

std::string quoted(const std::vector<std::string>& words, const std::vector<std::size_t>& which) {
  std::string text;
  for (const auto one : which) text += (text.empty() ? "\"" : ", \"") + words[one] + '"';
  return text;
}

/// `name has "gate"; the content has "admit"; nothing has "x"`.
std::string reason(const candidate& of, const std::vector<std::string>& words, const passage& seen) {
  std::string text;
  const auto add = [&](const std::string& subject, const std::vector<std::size_t>& which) {
    if (!which.empty()) text += (text.empty() ? "" : "; ") + subject + ' ' + quoted(words, which);
  };
  for (const std::string_view place : {"name", "title", "description", "URI"}) {
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (of.places[i] == place) which.push_back(i);
    }
    add(std::string(place) + " has", which);
  }
  std::vector<std::size_t> inside;
  std::vector<std::size_t> nowhere;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_inside = i < seen.in_text.size() && seen.in_text[i];
    if (is_inside) inside.push_back(i);
    if (!is_inside && of.places[i].empty()) nowhere.push_back(i);
  }
  add("the content has", inside);
  add("nothing has", nowhere);
  return text;
}

search_hit hit_of(candidate from, const std::vector<std::string>& words, passage seen) {
  search_hit hit;
  hit.why = reason(from, words, seen);
  hit.score = std::min(1.0, from.score);
  if (seen.first_line != 0) {
    hit.range = "lines=" + std::to_string(seen.first_line) + '-' + std::to_string(seen.last_line);
    hit.passage = std::move(seen.text);
  } else {
    hit.passage = from.entry.description.empty() ? from.entry.title : from.entry.description;
  }
  hit.entry = std::move(from.entry);
  return hit;
}

/// The best candidates by their entries. Sets `is_all` to false if some entries were not examined.
result<std::vector<candidate>> gather(const call& by, const surroundings& in, const search_query& what,
                                      const std::vector<std::string>& words, bool& is_all) {
  const auto filter = std::make_shared<const catalog::filter>(what.filter);
  const auto until = executor::clock::now() + longest_list;
  match::best<candidate> best(most_candidates);
  std::optional<std::string> cursor;
  std::size_t looked_at = 0;
  for (;;) {
    auto page = await<model::resource_page>(
        by, [&](catalog::completion<model::resource_page> done) { in.catalog->list(by, cursor, filter, std::move(done)); });
    if (!page) return tl::unexpected(std::move(page.error()));
    for (auto& entry : page->resources) {
      ++looked_at;
      if (!in.gate->admit(by.who, model::read_resource{entry.uri, entry.uri})) continue;
      auto one = candidate_of(std::move(entry), words);
      // Entries that neither match nor have a small text are not candidates.
      if (one.score > 0 || is_small_text(one.entry)) best.add(std::move(one));
    }
    if (!page->next_cursor) break;
    cursor = std::move(page->next_cursor);
    if (looked_at >= most_entries || executor::clock::now() >= until) {
      is_all = false;
      break;
    }
  }
  if (best.count() > most_candidates) is_all = false;
  return best.take();
}

}  // namespace

result<search_answer> scanning_engine::search(const call& asked, const surroundings& in, const search_query& what) const {
  auto by = asked;
  by.report = {};  // the progress of a read is not that of the search
  const auto words = words_of(what.q);
  if (words.empty()) return fail(errc::invalid_argument, "q: expected at least one word to search for.");
  search_answer answer;
  auto candidates = gather(by, in, what, words, answer.is_complete);
  if (!candidates) return tl::unexpected(std::move(candidates.error()));

  const auto until = executor::clock::now() + longest_reading;
  std::vector<std::pair<candidate, passage>> found;
  std::size_t contents = 0;
  std::uint64_t bytes = 0;
  for (auto& one : *candidates) {
    passage seen;
    if (is_small_text(one.entry)) {
      if (by.stop.stop_requested()) return fail(errc::cancelled, "The search was cancelled.");
      const bool is_spent = contents == most_contents || bytes >= most_bytes || executor::clock::now() >= until;
      answer.is_complete = answer.is_complete && !is_spent;
      const auto text = is_spent ? std::nullopt : text_of(by, in, one.entry);
      if (text) {
        ++contents;
        bytes += text->size();
        seen = best_passage(*text, words);
        const auto share = static_cast<double>(seen.in_one_line) / static_cast<double>(words.size());
        for (std::size_t i = 0; i < words.size(); ++i) {
          if (seen.in_text[i]) weigh(one, i, in_contents * (1 + share) / 2, one.places[i]);
        }
        score(one);
      }
    }
    if (one.score > 0) found.emplace_back(std::move(one), std::move(seen));
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (found.size() > what.limit) found.resize(what.limit);
  for (auto& [one, seen] : found) answer.hits.push_back(hit_of(std::move(one), words, std::move(seen)));
  return answer;
}

}  // namespace hondana::tools
