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
inline constexpr std::size_t count_of_tasks = 3;
/// "basic", "premium", "critical".
[[nodiscard]] std::string_view name_of(task_type which) noexcept;
[[nodiscard]] std::optional<task_type> task_named(std::string_view name) noexcept;

/// The requirements for an analysis to be final.
struct thresholds {
  double confidence = 0;        ///< Of the consensus, 0 to 1.
  double consensus = 0;         ///< Mean agreement of the votes, 0 to 1.
  std::uint32_t providers = 1;  ///< Number of different providers that voted.

  bool operator==(const thresholds&) const = default;
};
/// The stricter of both values for each threshold.
[[nodiscard]] thresholds stricter(const thresholds& a, const thresholds& b) noexcept;

/// A resource that an analysis is based on.
struct basis {
  std::string uri{};  ///< Canonical, so that a change of the resource finds it.
  /// As the resource's provider reports it. Empty: unknown; then the version that a server finds first counts.
  std::string version{};

  auto operator<=>(const basis&) const = default;
};

/// A question. All of its members are part of the key (analysis_key.hpp).
struct question {
  std::string prompt{};
  value options = value::object{};    ///< A JSON object.
  std::vector<std::string> models{};  ///< The models, as a set: order and repetitions do not affect the key.
  std::vector<basis> context{};       ///< Each URI once. The order does not affect the key.

  bool operator==(const question&) const = default;
};

/// The consensus of an analysis or of a round.
struct agreed {
  std::string content{};
  double confidence = 0;  ///< 0 to 1.
  std::string reasoning{};

  bool operator==(const agreed&) const = default;
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
struct bounce {
  std::uint32_t number = 1;  ///< Increasing, from 1.
  std::vector<vote> votes{};
  std::optional<agreed> consensus{};  ///< Empty if none was reached.
  std::optional<instant> at{};
  milliseconds took{0};

  bool operator==(const bounce&) const = default;
};

/// An event of the computation, in order.
struct flow_step {
  std::uint32_t round = 0;  ///< 0: outside of any round.
  std::string provider{};   ///< Empty: no provider.
  std::string action{};     ///< One or two words: "asked", "answered", "failed", "agreed".
  std::optional<instant> at{};
  milliseconds took{0};
  std::string note{};

  bool operator==(const flow_step&) const = default;
};

/// An error of a provider.
struct provider_error {
  std::string provider{};
  std::uint32_t round = 0;  ///< 0: outside of any round.
  std::string message{};
  std::optional<instant> at{};

  bool operator==(const provider_error&) const = default;
};

/// Totals of an analysis. 0: not given; `totals_of` then computes the value.
struct totals {
  double cost = 0;
  std::uint64_t tokens = 0;
  milliseconds took{0};

  bool operator==(const totals&) const = default;
};

/// The state of an analysis in the store.
enum class status : std::uint8_t {
  computing,  ///< A caller holds the claim; rounds may have been stored.
  complete,   ///< Final: the analysis reaches its thresholds.
  below,      ///< Whole, but below its thresholds. Never served as an answer.
};
[[nodiscard]] std::string_view name_of(status which) noexcept;
[[nodiscard]] std::optional<status> status_named(std::string_view name) noexcept;

/// An analysis with all its parts.
struct analysis {
  // Set by the store; values from a writer are overwritten.
  /// 32 lower-case hexadecimal digits. The first 12 are 2^48 - 1 minus the time of the claim in milliseconds since 1970, so
  /// that ids sort newest first. Empty: not stored.
  std::string id{};
  std::optional<status> how{};
  std::optional<instant> created{};
  std::optional<instant> expires{};  ///< Stale from then on.

  question asked{};
  task_type task = task_type::basic;
  thresholds wanted{};                ///< In addition to those of the policy: the stricter value counts.
  std::optional<agreed> consensus{};  ///< Empty while it is being computed.
  std::vector<vote> votes{};          ///< The last vote of each provider.
  std::vector<bounce> rounds{};
  std::vector<flow_step> flow{};
  std::vector<provider_error> errors{};
  totals total{};
  std::string session{};            ///< Empty: no session.
  std::vector<std::string> tags{};  ///< Sorted, without duplicates.

  bool operator==(const analysis&) const = default;
};

/// Mean agreement of the votes; 0 without votes.
[[nodiscard]] double agreement_of(const analysis& what) noexcept;
/// Number of different providers among the votes.
[[nodiscard]] std::uint32_t providers_of(const analysis& what);
/// The totals as given. A missing total is the sum: of costs and tokens over all votes including those of rounds, of time over
/// the rounds. A vote that is also in its provider's last round counts once.
[[nodiscard]] totals totals_of(const analysis& what);
/// `complete` or `below`. Without a consensus, an analysis is below. `why` names the threshold that it misses, for display.
struct judgement {
  status how = status::below;
  std::string why{};
};
[[nodiscard]] judgement judge(const analysis& what, const thresholds& by);

}  // namespace hondana::analyses
