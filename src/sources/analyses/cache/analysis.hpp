/// One analysis: the question, the answers of several language models, and their consensus.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

namespace hondana::analyses {

/// A time, usually on the store's clock.
using instant = std::chrono::sys_time<std::chrono::milliseconds>;
using std::chrono::milliseconds;

/// How much depends on the answer. Selects a `task_policy`.
enum class task_type : std::uint8_t { basic, premium, critical };
inline constexpr std::size_t task_type_count = 3;
/// "basic", "premium", "critical".
[[nodiscard]] std::string_view name_of(task_type task) noexcept;
/// nullopt: not a name of a task type.
[[nodiscard]] std::optional<task_type> parse_task_type(std::string_view name) noexcept;

/// The requirements for an analysis to be final.
struct thresholds {
  double confidence = 0;        ///< Of the consensus, 0 to 1.
  double consensus = 0;         ///< Mean agreement of the votes, 0 to 1.
  std::uint32_t providers = 1;  ///< Number of different providers (of language models) that voted.

  bool operator==(const thresholds&) const = default;
};
/// Returns the higher value of each threshold.
[[nodiscard]] thresholds stricter_of(const thresholds& a, const thresholds& b) noexcept;

/// A resource that an analysis is based on.
struct resource_version {
  std::string uri{};  ///< Canonical.
  /// As the source of the resource reports it, or combined by `resolve_versions`. Empty: unknown; then the first version that a
  /// server finds counts.
  std::string version{};

  auto operator<=>(const resource_version&) const = default;
};

/// A question. All members are part of the key, which identifies equal questions (`make_key`).
struct model_question {
  std::string prompt{};
  value options = value::object{};          ///< A JSON object.
  std::vector<std::string> models{};        ///< The models, as a set: order and repetitions do not affect the key.
  std::vector<resource_version> context{};  ///< Each URI once. The order does not affect the key.

  bool operator==(const model_question&) const = default;
};

/// The consensus of an analysis or of a round.
struct consensus_answer {
  std::string content{};
  double confidence = 0;  ///< 0 to 1.
  std::string reasoning{};

  bool operator==(const consensus_answer&) const = default;
};

/// The answer of one provider of language models.
struct vote {
  std::string provider{};  ///< Name of the provider. It has at most one vote in `analysis::votes` and in each round.
  std::string model{};
  std::string content{};
  double confidence = 0;  ///< 0 to 1.
  std::string reasoning{};
  double cost = 0;  ///< Not negative. Any currency, but the same for all analyses.
  std::uint64_t tokens = 0;
  double agreement = 0;  ///< With the consensus, 0 to 1.

  bool operator==(const vote&) const = default;
};

/// One round, in which the prompt was sent to the providers.
struct voting_round {
  std::uint32_t number = 1;  ///< From 1; higher than that of the previous round.
  std::vector<vote> votes{};
  std::optional<consensus_answer> consensus{};  ///< Empty if none was reached.
  std::optional<instant> started_at{};
  milliseconds duration{0};

  bool operator==(const voting_round&) const = default;
};

/// One event of the computation.
struct flow_step {
  std::uint32_t round = 0;  ///< 0: outside of any round.
  std::string provider{};   ///< Empty: no provider.
  std::string action{};     ///< One or two words: "asked", "answered", "failed", "agreed".
  std::optional<instant> time{};
  milliseconds duration{0};
  std::string note{};

  bool operator==(const flow_step&) const = default;
};

/// An error of a provider.
struct provider_error {
  std::string provider{};
  std::uint32_t round = 0;  ///< 0: outside of any round.
  std::string message{};
  std::optional<instant> time{};

  bool operator==(const provider_error&) const = default;
};

/// Totals of an analysis, as the writer gave them. 0: not given; then `totals_of` computes the value.
struct totals {
  double cost = 0;
  std::uint64_t tokens = 0;
  milliseconds duration{0};

  bool operator==(const totals&) const = default;
};

/// The state of an analysis in the store.
enum class analysis_status : std::uint8_t {
  computing,         ///< Claimed, and not whole yet. Rounds may have been stored.
  complete,          ///< Final: whole, and reaches its thresholds.
  below_thresholds,  ///< Whole, but below its thresholds. Never returned as the answer to a question.
};
/// "computing", "complete", "below".
[[nodiscard]] std::string_view name_of(analysis_status status) noexcept;
[[nodiscard]] std::optional<analysis_status> parse_status(std::string_view name) noexcept;

/// An analysis with all its parts.
struct analysis {
  // Set by the store, which ignores the values that a writer gives.
  /// 32 lower-case hexadecimal digits. The first 12 are 2^48 - 1 minus the time of the claim in milliseconds since 1970, so
  /// that ids sort newest first. Empty: not stored.
  std::string id{};
  std::optional<analysis_status> status{};
  std::optional<instant> created_at{};
  std::optional<instant> expires_at{};  ///< Stale from then on. While computed: the end of the lease.

  model_question question{};
  task_type task = task_type::basic;
  thresholds required{};                        ///< In addition to those of the policy: the stricter value counts.
  std::optional<consensus_answer> consensus{};  ///< nullopt: none was reached yet.
  std::vector<vote> votes{};                    ///< The last vote of each provider.
  std::vector<voting_round> rounds{};
  std::vector<flow_step> flow{};  ///< In order of time.
  std::vector<provider_error> errors{};
  totals total{};
  std::string session{};            ///< Empty: no session.
  std::vector<std::string> tags{};  ///< Sorted, without duplicates.

  bool operator==(const analysis&) const = default;
};

/// Computes the mean agreement of `votes`; 0 without votes.
[[nodiscard]] double agreement_of(const analysis& analysis) noexcept;
/// Counts the different providers in `votes`.
[[nodiscard]] std::uint32_t provider_count(const analysis& analysis);
/// Returns `analysis.total` with sums in place of zeros. Cost and tokens are summed over all votes, including those of rounds;
/// time over the rounds. A vote that repeats its provider's vote of the last round counts once.
[[nodiscard]] totals totals_of(const analysis& analysis);
/// The result of `judge`.
struct verdict {
  analysis_status status = analysis_status::below_thresholds;  ///< `complete` or `below_thresholds`.
  std::string reason{};  ///< For display: the threshold that the analysis misses. Empty if it is complete.
};
/// Decides whether a whole analysis reaches the thresholds. Without a consensus, it does not.
[[nodiscard]] verdict judge(const analysis& analysis, const thresholds& required);

}  // namespace hondana::analyses
