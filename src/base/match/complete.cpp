/// Completing from a plain set of values.
#include <hondana/completion.hpp>

#include <cstddef>
#include <unordered_set>

#include "base/match/ranking.hpp"

namespace hondana::inline v0 {
namespace {

constexpr std::size_t values_sent = 100;

struct numbered {
  match::fit how;
  const std::string* value;
  std::size_t place;

  bool operator<(const numbered& other) const noexcept {
    if (how != other.how) return how < other.how;
    return place < other.place;
  }
};

}  // namespace

complete_result complete_from(std::string_view typed, const std::vector<std::string>& values) {
  match::matcher fits(typed);
  match::best<numbered> found(values_sent);
  std::unordered_set<std::string_view> seen;
  for (std::size_t place = 0; place < values.size(); ++place) {
    const auto how = fits(values[place]);
    if (how && seen.insert(values[place]).second) found.add({*how, &values[place], place});
  }
  complete_result answer;
  answer.total = found.count();
  for (const auto& one : found.take()) answer.values.push_back(*one.value);
  answer.has_more = answer.values.size() < *answer.total;
  return answer;
}

}  // namespace hondana::inline v0
