/// A table that is cut to half when it is full.
#include "sources/logs/message_counter.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/json/utf8.hpp"
#include "sources/logs/message_template.hpp"

namespace hondana::logs {
namespace {

constexpr std::size_t longest_example = 240;

template <class T>
void take_least(std::optional<T>& into, const std::optional<T>& other) {
  if (other && (!into || *other < *into)) into = other;
}
template <class T>
void take_greatest(std::optional<T>& into, const std::optional<T>& other) {
  if (other && (!into || *other > *into)) into = other;
}

}  // namespace

std::string_view first_line(std::string_view text, std::size_t most) noexcept {
  auto line = text.substr(0, text.find('\n'));
  if (line.size() <= most) return line;
  line = line.substr(0, most);
  line.remove_suffix(json::incomplete_tail(line));
  return line;
}

void message_counter::add(const records::record& one) {
  auto pattern = template_of(one.text);
  if (pattern.empty()) return;
  const auto [place, is_new] = known_.try_emplace(std::move(pattern));
  auto& what = place->second;
  if (is_new) {
    what.pattern = place->first;
    what.example = first_line(one.text, longest_example);
  }
  ++what.count;
  take_least(what.first, one.time);
  take_greatest(what.last, one.time);
  what.is_mixed = what.is_mixed || (!is_new && what.gravest != one.level);
  take_greatest(what.gravest, one.level);
  if (is_new) make_room();
}

void message_counter::add(const message_counter& other) {
  for (const auto& [pattern, from] : other.known_) {
    const auto [place, is_new] = known_.try_emplace(pattern, from);
    if (is_new) continue;
    auto& what = place->second;
    what.count += from.count;
    if (from.first && (!what.first || *from.first < *what.first)) what.example = from.example;
    take_least(what.first, from.first);
    take_greatest(what.last, from.last);
    what.is_mixed = what.is_mixed || from.is_mixed || what.gravest != from.gravest;
    take_greatest(what.gravest, from.gravest);
  }
  error_ += other.error_;
  make_room();
}

void message_counter::make_room() {
  if (known_.size() > 2 * most_) keep_most_frequent(most_);
}

void message_counter::keep_most_frequent(std::size_t count) {
  if (known_.size() <= count) return;
  std::vector<std::uint64_t> counts;
  counts.reserve(known_.size());
  for (const auto& [pattern, what] : known_) counts.push_back(what.count);
  const auto nth = counts.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(counts.begin(), nth, counts.end(), std::greater<>());
  const auto limit = *nth;  // what is above it stays, and of those that have as many, what there is room for
  auto room = count - static_cast<std::size_t>(std::count_if(counts.begin(), nth, [&](auto n) { return n > limit; }));
  std::erase_if(known_, [&](const auto& one) {
    if (one.second.count > limit) return false;
    if (one.second.count == limit && room != 0) {
      --room;
      return false;
    }
    return true;
  });
  error_ += limit;
}

const repeated* message_counter::find(const std::string& pattern) const {
  const auto found = known_.find(pattern);
  return found == known_.end() ? nullptr : &found->second;
}

std::vector<repeated> message_counter::all() const {
  std::vector<repeated> out;
  out.reserve(known_.size());
  for (const auto& [pattern, what] : known_) out.push_back(what);
  std::sort(out.begin(), out.end(), [](const repeated& a, const repeated& b) {
    return a.count != b.count ? a.count > b.count : a.pattern < b.pattern;
  });
  return out;
}

}  // namespace hondana::logs
