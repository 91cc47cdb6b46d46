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

/// A time on the store's clock.
using instant = std::chrono::sys_time<std::chrono::milliseconds>;
using std::chrono::milliseconds;

/// How much depends on the answer.
enum class task_type : std::uint8_t { basic, premium, critical };
inline constexpr std::size_t task_type_count = 3;
/// "basic", "premium", "critical".
[[nodiscard]] std::string_view name_of(task_type task) noexcept;
[[nodiscard]] std::optional<task_type> parse_task_type(std::string_view name) noexcept;

/// The requirements for an analysis to be final.
struct thresholds {
  double confidence = 0;        ///< Of the consensus, 0 to 1.
  double consensus = 0;         ///< Mean agreement of the votes, 0 to 1.
  std::uint32_t providers = 1;  ///< Number of different providers that voted.

  bool operator==(const thresholds&) const = default;
};
/// The stricter of both values for each threshold.
[[nodiscard]] thresholds stricter_of(const thresholds& a, const thresholds& b) noexcept;

/// A resource that an analysis is based on.
struct resource_version {
  std::string uri{};  ///< Canonical, so that a change of the resource finds it.
  /// As the resource's provider reports it. Empty: unknown; then the version that a server finds first counts.
  std::string version{};

  auto operator<=>(const resource_version&) const = default;
};

/// A question. All of its members are part of the key (analysis_key.hpp).
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

/// The answer of one provider.
struct vote {
  std::string provider{};  ///< Each provider has one vote in `analysis::votes`.
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
  std::uint32_t number = 1;  ///< Increasing, from 1.
  std::vector<vote> votes{};
  std::optional<consensus_answer> consensus{};  ///< Empty if none was reached.
  std::optional<instant> started_at{};
  milliseconds duration{0};

  bool operator==(const voting_round&) const = default;
};

/// An event of the computation, in order.
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

/// Totals of an analysis. 0: not given; `totals_of` then computes the value.
struct totals {
  double cost = 0;
  std::uint64_t tokens = 0;
  milliseconds duration{0};

  bool operator==(const totals&) const = default;
};

/// The state of an analysis in the store.
enum class analysis_status : std::uint8_t {
  computing,         ///< A caller holds the claim; rounds may have been stored.
  complete,          ///< Final: the analysis reaches its thresholds.
  below_thresholds,  ///< Whole, but below its thresholds. Never served as an answer.
};
[[nodiscard]] std::string_view name_of(analysis_status status) noexcept;
[[nodiscard]] std::optional<analysis_status> parse_status(std::string_view name) noexcept;

/// An analysis with all its parts.
struct analysis {
  // Set by the store; values from a writer are overwritten.
  /// 32 lower-case hexadecimal digits. The first 12 are 2^48 - 1 minus the time of the claim in milliseconds since 1970, so
  /// that ids sort newest first. Empty: not stored.
  std::string id{};
  std::optional<analysis_status> status{};
  std::optional<instant> created_at{};
  std::optional<instant> expires_at{};  ///< Stale from then on.

  model_question question{};
  task_type task = task_type::basic;
  thresholds required{};                        ///< In addition to those of the policy: the stricter value counts.
  std::optional<consensus_answer> consensus{};  ///< Empty while it is being computed.
  std::vector<vote> votes{};                    ///< The last vote of each provider.
  std::vector<voting_round> rounds{};
  std::vector<flow_step> flow{};
  std::vector<provider_error> errors{};
  totals total{};
  std::string session{};            ///< Empty: no session.
  std::vector<std::string> tags{};  ///< Sorted, without duplicates.

  bool operator==(const analysis&) const = default;
};

/// Mean agreement of the votes; 0 without votes.
[[nodiscard]] double agreement_of(const analysis& analysis) noexcept;
/// Number of different providers among the votes.
[[nodiscard]] std::uint32_t provider_count(const analysis& analysis);
/// The totals as given. A missing total is the sum: of costs and tokens over all votes including those of rounds, of time over
/// the rounds. A vote that is also in its provider's last round counts once.
[[nodiscard]] totals totals_of(const analysis& analysis);
/// `complete` or `below_thresholds`. Without a consensus, an analysis is below its thresholds. `reason` names the threshold
/// that it misses, for display.
struct verdict {
  analysis_status status = analysis_status::below_thresholds;
  std::string reason{};
};
[[nodiscard]] verdict judge(const analysis& analysis, const thresholds& required);

}  // namespace hondana::analyses
