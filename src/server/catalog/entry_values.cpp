/// Listing, matching and ranking.
#include "server/catalog/entry_values.hpp"

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/match/ranking.hpp"
#include "server/catalog/merge.hpp"
#include "server/catalog/owed.hpp"

namespace hondana::catalog {
namespace {

constexpr std::size_t entries_scanned = 100'000;
constexpr std::size_t entries_at_once = 500;
constexpr std::size_t values_kept = 100;
constexpr std::chrono::milliseconds longest_scan{250};

/// A value, and the best of what the entries that have it are ranked by.
struct ranked_value {
  match::rank how;
  std::string text;

  bool operator<(const ranked_value& other) const noexcept {
    if (how < other.how) return true;
    return !(other.how < how) && text < other.text;
  }
};

class gatherer {
 public:
  gatherer(const uri_template& of, const complete_request& request) : of_(of), request_(request), fits_(request.value) {}

  void take(const resource& entry) {
    const auto values = of_.match(entry.uri);
    if (!values || !is_in_context(*values)) return;
    const auto found = values->find(request_.argument);
    if (found == values->end()) return;
    if (const auto* one = std::get_if<std::string>(&found->second)) add(*one, entry);
    if (const auto* list = std::get_if<std::vector<std::string>>(&found->second)) {
      for (const auto& one : *list) add(one, entry);
    }
  }

  complete_result finish(bool is_all) {
    match::best<ranked_value> best(values_kept);
    for (auto& [text, how] : ranks_) best.add({how, text});
    complete_result answer;
    if (is_all) answer.total = best.count();
    answer.has_more = !is_all || best.count() > values_kept;
    for (auto& one : best.take()) answer.values.push_back(std::move(one.text));
    return answer;
  }

 private:
  bool is_in_context(const uri_template_values& values) const {
    return std::all_of(request_.context.begin(), request_.context.end(), [&](const auto& chosen) {
      const auto found = values.find(chosen.first);
      if (chosen.first == request_.argument || found == values.end()) return true;
      const auto* text = std::get_if<std::string>(&found->second);
      return text == nullptr || *text == chosen.second;
    });
  }

  void add(const std::string& text, const resource& entry) {
    const auto how = fits_(text);
    if (!how) return;
    const match::rank rank{*how, entry.annotations.priority.value_or(0.5),
                           match::recency_of(entry.annotations.lastModified, now_)};
    const auto [place, is_new] = ranks_.emplace(text, rank);
    if (!is_new && rank < place->second) place->second = rank;
  }

  const uri_template& of_;
  const complete_request& request_;
  match::matcher fits_;
  const std::chrono::system_clock::time_point now_ = std::chrono::system_clock::now();
  std::map<std::string, match::rank> ranks_;
};

}  // namespace

result<complete_result> values_of_entries(provider& from, const uri_template& of, const complete_request& request,
                                          const std::function<bool(std::string_view uri)>& is_claimed,
                                          const gate::gate& rules) {
  const auto until = executor::clock::now() + longest_scan;
  const auto prefix = of.literal_prefix();
  const auto is_behind = [prefix](std::string_view uri) {
    return !uri.starts_with(prefix) && std::is_gt(compare_by_segment(uri, prefix));
  };
  gatherer values(of, request);
  // All that starts with the prefix comes behind it, and in one piece; what is the prefix itself has no value to give.
  list_request page_wanted{static_cast<const call&>(request), std::string(prefix), entries_at_once};
  for (std::size_t looks = 0;;) {
    auto page = from.list(page_wanted);
    if (!page) return tl::unexpected(std::move(page.error()));
    if (auto kept = check_page(*page, page_wanted, from.name(), is_claimed); !kept) {
      return tl::unexpected(std::move(kept.error()));
    }
    apply_view(*page, request.who.view.get(), rules);
    for (const auto& entry : page->entries) {
      if (is_behind(entry.uri)) return values.finish(true);
      values.take(entry);
    }
    looks += page->entries.size();
    if (!page->resume || is_behind(*page->resume)) return values.finish(true);
    if (request.stop.stop_requested()) return tl::unexpected(was_cancelled());
    if (looks >= entries_scanned || executor::clock::now() >= until) return values.finish(false);
    page_wanted.after = std::move(*page->resume);
  }
}

}  // namespace hondana::catalog
