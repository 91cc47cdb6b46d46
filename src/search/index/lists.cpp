/// Asking the store and the embedding service, and cutting what they give down to what the caller may have.
#include "search/index/lists.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <hondana/clock.hpp>

namespace hondana::search {
namespace {

using clock = monotonic_clock;

/// Passages with a word that are looked at, at most: finding and weighing one takes two to four microseconds.
constexpr std::size_t most_looked_at = 4'000;
/// Neighbours asked for: some are of what does not pass, or what the caller may not have. Then for more, up to the last.
constexpr std::size_t first_near = 400;
constexpr std::size_t most_near = 3'200;

bool is_better(const match& one, const match& other) noexcept {
  return one.score != other.score ? one.score > other.score : one.id < other.id;
}

}  // namespace

result<void> lists::ask(state_of_index& in, const question& what, std::span<const wanted_word> words) {
  in_ = &in;
  what_ = &what;
  if (words.empty()) return {};
  auto found = in.find(words, what.which, most_looked_at);
  if (!found) return tl::unexpected(unreadable(std::move(found.error())));
  by_words_ = std::move(found->all);
  has_more_ = !found->is_complete && found->remark.empty();
  trouble_ = std::move(found->remark);
  return {};
}

void lists::embed(const call& by, const std::string& q) {
  if (!on_.embedder) return;
  const auto now = clock::now();
  // Then there is still time for what the words have found.
  const auto until = by.deadline == clock::time_point::max() ? by.deadline : now + (by.deadline - now) / 2;
  auto vector = on_.embedder->of_query(q, until, by.stop);
  if (vector) {
    const auto near = on_.neighbours();
    if (!near || near->dimension() == vector->size()) {
      vector_ = std::move(*vector);
      return;
    }
  }
  if (vector || vector.error().code == errc::content_changed) {
    on_.are_vectors_doubted = true;
    remark_ = "searched by words only: the vectors are being created again";
  } else if (vector.error().code == errc::timed_out) {
    remark_ = "searched by words only: the embedding service did not answer in time";
  } else {
    remark_ = "searched by words only: the embedding service returns no vectors now";
  }
}

result<std::vector<near_passage>> lists::nearest(std::size_t count) const {
  std::vector<near_passage> out;
  if (auto asked = in_->nearest(vector_, count)) {
    if (!*asked) return tl::unexpected(unreadable(std::move(asked->error())));
    for (const auto& one : **asked) out.push_back({one.id, one.score});
  } else if (const auto near = on_.neighbours()) {
    for (const auto& one : near->nearest(vector_, count)) out.push_back({{one.number}, one.closeness});
  }
  return out;
}

result<void> lists::leave_out_stale(std::vector<near_passage>& near) const {
  if (near.empty() || !what_->which.made) return {};
  std::vector<passage_id> ids;
  ids.reserve(near.size());
  for (const auto& one : near) ids.push_back(one.id);
  const auto left = in_->made_so(ids, *what_->which.made);
  if (!left) return tl::unexpected(unreadable(left.error()));
  auto next = left->begin();
  std::erase_if(near, [&](const near_passage& one) {
    if (next == left->end() || *next != one.id) return true;
    ++next;
    return false;
  });
  return {};
}

result<std::vector<near_passage>> lists::nearest(sight& through) {
  if (vector_.empty()) return std::vector<near_passage>();
  for (auto count = first_near;; count = most_near) {
    auto all = nearest(count);
    if (!all) {
      // Words have been found nevertheless.
      on_.say("search by meaning failed: " + all.error().private_text);
      remark_ = "searched by words only: search by meaning is unavailable now";
      vector_.clear();
      return std::vector<near_passage>();
    }
    const bool is_last = all->size() < count || count == most_near;
    HONDANA_TRY(leave_out_stale(*all));
    HONDANA_TRY(through.keep(*all, ranks_that_count, false));
    if (is_last || all->size() == ranks_that_count) return all;
  }
}

result<std::vector<candidate>> lists::fused(sight& through, std::size_t most, bool& is_cut) {
  HONDANA_TRY(auto near, nearest(through));
  if (!near.empty()) most = std::max(most, ranks_that_count);
  auto words = by_words_;
  // Where all may be had the rest need not even be sorted.
  const auto counting = through.sees_all() ? std::min(words.size(), 2 * most) : words.size();
  if (counting < words.size()) {
    std::nth_element(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(counting), words.end(), is_better);
    words.resize(counting);
  }
  std::sort(words.begin(), words.end(), is_better);
  HONDANA_TRY(through.keep(words, most, true));
  is_cut = words.size() == most || near.size() == ranks_that_count;
  return search::fused(std::move(words), near);
}

}  // namespace hondana::search
