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

constexpr std::size_t max_words = 16;
constexpr std::size_t max_passage_bytes = 400;

/// The offsets of all lines, followed by the end of the text.
std::vector<std::size_t> line_starts(std::string_view text) {
  std::vector<std::size_t> starts{0};
  for (auto position = text.find('\n'); position != std::string_view::npos; position = text.find('\n', position + 1))
    starts.push_back(position + 1);
  if (starts.back() != text.size()) starts.push_back(text.size());
  return starts;
}

/// Shortens a line to the maximum, around the byte at `center`.
std::string shorten(std::string_view line, std::size_t center) {
  if (line.size() <= max_passage_bytes) return std::string(line);
  constexpr std::size_t leading_bytes = 100;
  auto begin = center > leading_bytes ? center - leading_bytes : 0;
  while (begin < center && (static_cast<unsigned char>(line[begin]) & 0xC0) == 0x80) ++begin;
  auto shorter = line.substr(begin, max_passage_bytes);
  const bool has_more = begin + shorter.size() < line.size();
  shorter.remove_suffix(json::incomplete_tail(shorter));
  return (begin == 0 ? "" : "…") + std::string(shorter) + (has_more ? "…" : "");
}

}  // namespace

std::vector<std::string> words_of(std::string_view query) {
  std::vector<std::string> words;
  for (std::size_t position = 0; position < query.size() && words.size() < max_words;) {
    if (ascii::is_space(query[position])) {
      ++position;
      continue;
    }
    auto end = position;
    while (end < query.size() && !ascii::is_space(query[end])) ++end;
    auto word = ascii::to_lower(query.substr(position, end - position));
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(std::move(word));
    position = end;
  }
  return words;
}

presence presence_of(std::string_view text, std::string_view word) noexcept {
  auto best = presence::absent;
  for (auto position = text.find(word); position != std::string_view::npos; position = text.find(word, position + 1)) {
    const bool is_beyond_ascii = static_cast<unsigned char>(word.front()) >= 0x80;
    if (position == 0 || is_beyond_ascii || !ascii::is_lower_or_digit(text[position - 1])) return presence::at_word_start;
    best = presence::inside;
  }
  return best;
}

passage best_passage(std::string_view text, const std::vector<std::string>& words) {
  passage best;
  best.has_word.assign(words.size(), false);
  const auto starts = line_starts(text);
  std::size_t best_count = 0;
  std::size_t best_line = 0;
  std::size_t first_in_line = 0;
  for (std::size_t line = 0; line + 1 < starts.size(); ++line) {
    const auto lowered = ascii::to_lower(text.substr(starts[line], starts[line + 1] - starts[line]));
    std::size_t count = 0;
    std::size_t first_word = lowered.size();
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto position = lowered.find(words[i]);
      if (position == std::string::npos) continue;
      first_word = std::min(first_word, position);
      best.has_word[i] = true;
      ++count;
    }
    if (count > best_count) {
      best_count = count;
      best_line = line;
      first_in_line = first_word;
    }
  }
  best.words_in_line = best_count;
  if (best_count == 0) return best;
  const auto first = best_line == 0 ? 0 : best_line - 1;
  const auto last = std::min(best_line + 1, starts.size() - 2);
  best.first_line = first + 1;
  best.last_line = last + 1;
  const auto lines = text.substr(starts[first], starts[last + 1] - starts[first]);
  // A long line before the best one would fill the passage, so only the best one is used.
  best.text = lines.size() <= max_passage_bytes
                  ? std::string(lines)
                  : shorten(text.substr(starts[best_line], starts[best_line + 1] - starts[best_line]), first_in_line);
  if (lines.size() > max_passage_bytes) best.first_line = best.last_line = best_line + 1;
  while (!best.text.empty() && best.text.back() == '\n') best.text.pop_back();
  return best;
}

namespace {

constexpr std::size_t max_entries = 50'000;
constexpr std::size_t max_candidates = 5'000;
constexpr std::size_t max_contents = 5'000;
constexpr std::uint64_t max_scanned_bytes = 32u << 20;
constexpr std::uint64_t max_content_bytes = 256u << 10;
constexpr std::chrono::milliseconds max_scan_time{1'000};
constexpr std::chrono::milliseconds max_read_time{1'500};

// Weight of a word by place. In contents it is higher if the same line has other words too.
constexpr double name_weight = 1.0;
constexpr double title_weight = 0.9;
constexpr double description_weight = 0.6;
constexpr double content_weight = 0.5;
constexpr double uri_weight = 0.4;
constexpr double inner_match_factor = 0.7;  // factor for the weights above
constexpr double priority_weight = 0.1;

/// An entry; for each word, its weight and where it was found.
struct candidate {
  resource entry;
  std::vector<double> weights;
  std::vector<std::string_view> locations;  // "name" and so on; empty if not found in the entry
  double score = 0;

  bool operator<(const candidate& other) const noexcept {
    if (score != other.score) return score > other.score;
    const auto own_priority = entry.annotations.priority.value_or(0.5);
    const auto other_priority = other.entry.annotations.priority.value_or(0.5);
    return own_priority != other_priority ? own_priority > other_priority : entry.uri < other.entry.uri;
  }
};

void add_weight(candidate& item, std::size_t word, double weight, std::string_view location) {
  if (weight <= item.weights[word]) return;
  item.weights[word] = weight;
  item.locations[word] = location;
}

void score(candidate& item) {
  double sum = 0;
  for (const double weight : item.weights) sum += weight;
  if (sum == 0) return;
  const auto priority = item.entry.annotations.priority.value_or(0.5);
  item.score = (1 - priority_weight) * sum / static_cast<double>(item.weights.size()) + priority_weight * priority;
}

candidate candidate_of(resource entry, const std::vector<std::string>& words) {
  candidate item;
  item.weights.assign(words.size(), 0);
  item.locations.assign(words.size(), {});
  const auto decoded = percent_decode(entry.uri);
  const std::array<std::pair<std::string, std::pair<double, std::string_view>>, 4> fields{
      {{ascii::to_lower(entry.name), {name_weight, "name"}},
       {ascii::to_lower(entry.title), {title_weight, "title"}},
       {ascii::to_lower(entry.description), {description_weight, "description"}},
       {ascii::to_lower(decoded ? *decoded : entry.uri), {uri_weight, "URI"}}}};
  for (std::size_t word = 0; word < words.size(); ++word) {
    for (const auto& [text, weighting] : fields) {
      const auto found_as = presence_of(text, words[word]);
      if (found_as == presence::absent) continue;
      add_weight(item, word, found_as == presence::inside ? weighting.first * inner_match_factor : weighting.first,
                 weighting.second);
    }
  }
  item.entry = std::move(entry);
  score(item);
  return item;
}

/// Whether to read the contents: the entry describes a small text.
bool is_small_text(const resource& entry) {
  if (!entry.size || *entry.size == 0 || *entry.size > max_content_bytes) return false;
  const std::string_view type = entry.mime_type;
  if (type.starts_with("text/") || type.ends_with("+json") || type.ends_with("+xml")) return true;
  constexpr std::array texts{"application/json", "application/xml",        "application/yaml", "application/toml",
                             "application/sql",  "application/javascript", "application/x-sh"};
  return std::any_of(texts.begin(), texts.end(), [type](const char* media_type) { return type == media_type; });
}

/// The text of the first content; nullopt if it cannot be read, or is not text.
std::optional<std::string> read_text(const request_context& context, const tool_services& services, const resource& entry) {
  auto answer = await<catalog::read_answer>(context, [&](catalog::completion<catalog::read_answer> callback) {
    services.catalog->read(context, entry.uri, entry.uri, {{}, false, true}, std::move(callback));
  });
  if (!answer || answer->reading.contents.empty() || !answer->reading.contents.front().is_text) return std::nullopt;
  auto extracted = extract(context, services, answer->reading.contents.front(), answer->executor, {}, {}, max_content_bytes);
  if (!extracted) return std::nullopt;
  return std::move(extracted->bytes);
}

std::string quoted(const std::vector<std::string>& words, const std::vector<std::size_t>& indices) {
  std::string text;
  for (const auto index : indices) text += (text.empty() ? "\"" : ", \"") + words[index] + '"';
  return text;
}

/// `name has "gate"; the content has "admit"; nothing has "x"`.
std::string describe_match(const candidate& item, const std::vector<std::string>& words, const passage& excerpt) {
  std::string text;
  const auto add = [&](const std::string& subject, const std::vector<std::size_t>& indices) {
    if (!indices.empty()) text += (text.empty() ? "" : "; ") + subject + ' ' + quoted(words, indices);
  };
  for (const std::string_view location : {"name", "title", "description", "URI"}) {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (item.locations[i] == location) indices.push_back(i);
    }
    add(std::string(location) + " has", indices);
  }
  std::vector<std::size_t> in_content;
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_inside = i < excerpt.has_word.size() && excerpt.has_word[i];
    if (is_inside) in_content.push_back(i);
    if (!is_inside && item.locations[i].empty()) missing.push_back(i);
  }
  add("the content has", in_content);
  add("nothing has", missing);
  return text;
}

search_hit make_hit(candidate item, const std::vector<std::string>& words, passage excerpt) {
  search_hit hit;
  hit.reason = describe_match(item, words, excerpt);
  hit.score = std::min(1.0, item.score);
  if (excerpt.first_line != 0) {
    hit.range = "lines=" + std::to_string(excerpt.first_line) + '-' + std::to_string(excerpt.last_line);
    hit.passage = std::move(excerpt.text);
  } else {
    hit.passage = item.entry.description.empty() ? item.entry.title : item.entry.description;
  }
  hit.entry = std::move(item.entry);
  return hit;
}

/// The best candidates by their entries. Sets `is_complete` to false if some entries were not examined.
result<std::vector<candidate>> collect_candidates(const request_context& context, const tool_services& services,
                                                  const search_query& query, const std::vector<std::string>& words,
                                                  bool& is_complete) {
  const auto filter = std::make_shared<const catalog::list_filter>(query.filter);
  const auto deadline = executor::clock::now() + max_scan_time;
  match::top_k<candidate> best(max_candidates);
  std::optional<std::string> cursor;
  std::size_t examined = 0;
  for (;;) {
    auto page = await<model::resource_page>(context, [&](catalog::completion<model::resource_page> callback) {
      services.catalog->list(context, cursor, filter, std::move(callback));
    });
    if (!page) return tl::unexpected(std::move(page.error()));
    for (auto& entry : page->resources) {
      ++examined;
      if (!services.gate->admit(context.caller, model::read_resource{entry.uri, entry.uri})) continue;
      auto item = candidate_of(std::move(entry), words);
      // Entries that neither match nor have a small text are not candidates.
      if (item.score > 0 || is_small_text(item.entry)) best.add(std::move(item));
    }
    if (!page->next_cursor) break;
    cursor = std::move(page->next_cursor);
    if (examined >= max_entries || executor::clock::now() >= deadline) {
      is_complete = false;
      break;
    }
  }
  if (best.count() > max_candidates) is_complete = false;
  return best.extract_sorted();
}

}  // namespace

result<search_answer> scanning_engine::search(const request_context& original, const tool_services& services,
                                              const search_query& query) const {
  auto context = original;
  context.report_progress = {};  // the progress of a read is not that of the search
  const auto words = words_of(query.text);
  if (words.empty()) return fail(errc::invalid_argument, "q: expected at least one word to search for.");
  search_answer answer;
  auto candidates = collect_candidates(context, services, query, words, answer.is_complete);
  if (!candidates) return tl::unexpected(std::move(candidates.error()));

  const auto deadline = executor::clock::now() + max_read_time;
  std::vector<std::pair<candidate, passage>> ranked;
  std::size_t contents = 0;
  std::uint64_t bytes = 0;
  for (auto& item : *candidates) {
    passage excerpt;
    if (is_small_text(item.entry)) {
      if (context.stop.stop_requested()) return fail(errc::cancelled, "The search was cancelled.");
      const bool is_exhausted = contents == max_contents || bytes >= max_scanned_bytes || executor::clock::now() >= deadline;
      answer.is_complete = answer.is_complete && !is_exhausted;
      const auto text = is_exhausted ? std::nullopt : read_text(context, services, item.entry);
      if (text) {
        ++contents;
        bytes += text->size();
        excerpt = best_passage(*text, words);
        const auto share = static_cast<double>(excerpt.words_in_line) / static_cast<double>(words.size());
        for (std::size_t i = 0; i < words.size(); ++i) {
          if (excerpt.has_word[i]) add_weight(item, i, content_weight * (1 + share) / 2, item.locations[i]);
        }
        score(item);
      }
    }
    if (item.score > 0) ranked.emplace_back(std::move(item), std::move(excerpt));
  }
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (ranked.size() > query.limit) ranked.resize(query.limit);
  for (auto& [ranked_item, excerpt] : ranked)
    answer.hits.push_back(make_hit(std::move(ranked_item), words, std::move(excerpt)));
  return answer;
}

}  // namespace hondana::tools
