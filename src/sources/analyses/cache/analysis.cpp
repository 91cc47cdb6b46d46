/// One analysis: the question, the answers of several language models, and their consensus.
#include "sources/analyses/cache/analysis.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

namespace hondana::analyses {
namespace {

constexpr std::array<std::string_view, task_type_count> task_names{"basic", "premium", "critical"};
constexpr std::array<std::string_view, 3> status_names{"computing", "complete", "below"};

std::string format_number(double number) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::general, 4).ptr;
  return std::string(digits.data(), end);
}

}  // namespace

std::string_view name_of(task_type task) noexcept { return task_names[static_cast<std::size_t>(task)]; }

std::optional<task_type> parse_task_type(std::string_view name) noexcept {
  const auto position = std::find(task_names.begin(), task_names.end(), name);
  if (position == task_names.end()) return std::nullopt;
  return static_cast<task_type>(position - task_names.begin());
}

std::string_view name_of(analysis_status status) noexcept { return status_names[static_cast<std::size_t>(status)]; }

std::optional<analysis_status> parse_status(std::string_view name) noexcept {
  const auto position = std::find(status_names.begin(), status_names.end(), name);
  if (position == status_names.end()) return std::nullopt;
  return static_cast<analysis_status>(position - status_names.begin());
}

thresholds stricter_of(const thresholds& a, const thresholds& b) noexcept {
  return {std::max(a.confidence, b.confidence), std::max(a.consensus, b.consensus), std::max(a.providers, b.providers)};
}

double agreement_of(const analysis& analysis) noexcept {
  if (analysis.votes.empty()) return 0;
  double sum = 0;
  for (const auto& vote : analysis.votes) sum += vote.agreement;
  return std::min(1.0, sum / static_cast<double>(analysis.votes.size()));
}

std::uint32_t provider_count(const analysis& analysis) {
  std::set<std::string_view> providers;
  for (const auto& vote : analysis.votes) providers.insert(vote.provider);
  return static_cast<std::uint32_t>(providers.size());
}

totals totals_of(const analysis& analysis) {
  // The decoder's limits for single values; sums up to these stay exact.
  constexpr double max_cost = 1e15;
  constexpr std::uint64_t max_tokens = std::uint64_t{1} << 53;
  constexpr milliseconds max_duration{std::int64_t{1} << 53};
  struct provider_spending {
    double cost = 0;
    std::uint64_t tokens = 0;
    const vote* last_vote = nullptr;
  };
  std::map<std::string_view, provider_spending> spending_by_provider;
  const auto add = [&](const vote& vote) {
    auto& spending = spending_by_provider[vote.provider];
    spending.cost += vote.cost;
    spending.tokens = std::min(max_tokens, spending.tokens + vote.tokens);
    spending.last_vote = &vote;
  };
  totals out;
  for (const auto& round : analysis.rounds) {
    for (const auto& vote : round.votes) add(vote);
    out.duration = std::min(max_duration, out.duration + round.duration);
  }
  for (const auto& vote : analysis.votes) {
    auto& spending = spending_by_provider[vote.provider];
    if (spending.last_vote == nullptr || spending.last_vote->content != vote.content) {
      add(vote);
      continue;
    }
    // Both votes are the same answer, and only one of them may carry the cost.
    spending.cost = std::max(spending.cost, vote.cost);
    spending.tokens = std::max(spending.tokens, vote.tokens);
  }
  for (const auto& [provider, spending] : spending_by_provider) {
    out.cost = std::min(max_cost, out.cost + spending.cost);
    out.tokens = std::min(max_tokens, out.tokens + spending.tokens);
  }
  if (analysis.total.cost > 0) out.cost = analysis.total.cost;
  if (analysis.total.tokens > 0) out.tokens = analysis.total.tokens;
  if (analysis.total.duration > milliseconds(0)) out.duration = analysis.total.duration;
  return out;
}

verdict judge(const analysis& analysis, const thresholds& required) {
  // Means of decimal fractions differ slightly from their exact value.
  constexpr double tolerance = 1e-9;
  if (!analysis.consensus) return {analysis_status::below_thresholds, "it has no consensus"};
  if (analysis.consensus->confidence + tolerance < required.confidence)
    return {analysis_status::below_thresholds, "its confidence is " + format_number(analysis.consensus->confidence) + ", but " +
                                                   format_number(required.confidence) + " is the minimum for a " +
                                                   std::string(name_of(analysis.task)) + " task"};
  if (const auto agreement = agreement_of(analysis); agreement + tolerance < required.consensus)
    return {analysis_status::below_thresholds, "its agreement is " + format_number(agreement) + ", but " +
                                                   format_number(required.consensus) + " is the minimum for a " +
                                                   std::string(name_of(analysis.task)) + " task"};
  if (const auto count = provider_count(analysis); count < required.providers)
    return {analysis_status::below_thresholds, "providers that have voted: " + std::to_string(count) +
                                                   ", but the minimum for a " + std::string(name_of(analysis.task)) +
                                                   " task is " + std::to_string(required.providers)};
  return {analysis_status::complete, {}};
}

}  // namespace hondana::analyses
