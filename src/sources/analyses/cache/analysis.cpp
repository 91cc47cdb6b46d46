/// One analysis: the question, the answers of several language models, and their consensus.
#include "sources/analyses/cache/analysis.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

namespace hondana::analyses {
namespace {

constexpr std::array<std::string_view, count_of_tasks> tasks{"basic", "premium", "critical"};
constexpr std::array<std::string_view, 3> statuses{"computing", "complete", "below"};

std::string shown(double number) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::general, 4).ptr;
  return std::string(digits.data(), end);
}

}  // namespace

std::string_view name_of(task_type which) noexcept { return tasks[static_cast<std::size_t>(which)]; }

std::optional<task_type> task_named(std::string_view name) noexcept {
  const auto found = std::find(tasks.begin(), tasks.end(), name);
  if (found == tasks.end()) return std::nullopt;
  return static_cast<task_type>(found - tasks.begin());
}

std::string_view name_of(status which) noexcept { return statuses[static_cast<std::size_t>(which)]; }

std::optional<status> status_named(std::string_view name) noexcept {
  const auto found = std::find(statuses.begin(), statuses.end(), name);
  if (found == statuses.end()) return std::nullopt;
  return static_cast<status>(found - statuses.begin());
}

thresholds stricter(const thresholds& a, const thresholds& b) noexcept {
  return {std::max(a.confidence, b.confidence), std::max(a.consensus, b.consensus), std::max(a.providers, b.providers)};
}

double agreement_of(const analysis& what) noexcept {
  if (what.votes.empty()) return 0;
  double sum = 0;
  for (const auto& one : what.votes) sum += one.agreement;
  return std::min(1.0, sum / static_cast<double>(what.votes.size()));
}

std::uint32_t providers_of(const analysis& what) {
  std::set<std::string_view> all;
  for (const auto& one : what.votes) all.insert(one.provider);
  return static_cast<std::uint32_t>(all.size());
}

totals totals_of(const analysis& what) {
  // The decoder's limits for single values; sums up to these stay exact.
  constexpr double most_cost = 1e15;
  constexpr std::uint64_t most_tokens = std::uint64_t{1} << 53;
  constexpr milliseconds longest{std::int64_t{1} << 53};
  struct spending {
    double cost = 0;
    std::uint64_t tokens = 0;
    const vote* last = nullptr;
  };
  std::map<std::string_view, spending> by_provider;
  const auto add = [&](const vote& one) {
    auto& to = by_provider[one.provider];
    to.cost += one.cost;
    to.tokens = std::min(most_tokens, to.tokens + one.tokens);
    to.last = &one;
  };
  totals out;
  for (const auto& round : what.rounds) {
    for (const auto& one : round.votes) add(one);
    out.took = std::min(longest, out.took + round.took);
  }
  for (const auto& one : what.votes) {
    auto& to = by_provider[one.provider];
    if (to.last == nullptr || to.last->content != one.content) {
      add(one);
      continue;
    }
    // Both votes are the same answer, and only one of them may carry the cost.
    to.cost = std::max(to.cost, one.cost);
    to.tokens = std::max(to.tokens, one.tokens);
  }
  for (const auto& [provider, one] : by_provider) {
    out.cost = std::min(most_cost, out.cost + one.cost);
    out.tokens = std::min(most_tokens, out.tokens + one.tokens);
  }
  if (what.total.cost > 0) out.cost = what.total.cost;
  if (what.total.tokens > 0) out.tokens = what.total.tokens;
  if (what.total.took > milliseconds(0)) out.took = what.total.took;
  return out;
}

judgement judge(const analysis& what, const thresholds& by) {
  // Means of decimal fractions differ slightly from their exact value.
  constexpr double slack = 1e-9;
  if (!what.consensus) return {status::below, "it has no consensus"};
  if (what.consensus->confidence + slack < by.confidence)
    return {status::below, "its confidence is " + shown(what.consensus->confidence) + ", but " + shown(by.confidence) +
                               " is the minimum for a " + std::string(name_of(what.task)) + " task"};
  if (const auto agreement = agreement_of(what); agreement + slack < by.consensus)
    return {status::below, "its agreement is " + shown(agreement) + ", but " + shown(by.consensus) + " is the minimum for a " +
                               std::string(name_of(what.task)) + " task"};
  if (const auto count = providers_of(what); count < by.providers)
    return {status::below, "providers that have voted: " + std::to_string(count) + ", but the minimum for a " +
                               std::string(name_of(what.task)) + " task is " + std::to_string(by.providers)};
  return {status::complete, {}};
}

}  // namespace hondana::analyses
