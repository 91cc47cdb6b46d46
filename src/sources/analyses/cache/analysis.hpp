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

/// By the clock of the store.
using instant = std::chrono::sys_time<std::chrono::milliseconds>;
using std::chrono::milliseconds;

/// How much depends on the answer.
enum class task_type : std::uint8_t { basic, premium, critical };
inline constexpr std::size_t count_of_tasks = 3;
/// "basic", "premium", "critical".
[[nodiscard]] std::string_view name_of(task_type which) noexcept;
[[nodiscard]] std::optional<task_type> task_named(std::string_view name) noexcept;

/// What an analysis has to reach to be final.
struct thresholds {
  double confidence = 0;        ///< Of the consensus, 0 to 1.
  double consensus = 0;         ///< Mean agreement of the votes, 0 to 1.
  std::uint32_t providers = 1;  ///< Different ones that have voted.

  bool operator==(const thresholds&) const = default;
};
/// Both hold.
[[nodiscard]] thresholds stricter(const thresholds& a, const thresholds& b) noexcept;

/// A resource that an analysis was based on.
struct basis {
  std::string uri{};  ///< Canonical, so that a change of the resource finds it.
  /// As the resource's provider tells it; empty: unknown, and that which is found first counts (the follower of a source).
  std::string version{};

  auto operator<=>(const basis&) const = default;
};

/// What was asked: all of it makes the key (analysis_key.hpp).
struct question {
  std::string prompt{};
  value options = value::object{};    ///< An object.
  std::vector<std::string> models{};  ///< The set that was asked; order and repetition do not matter to the key.
  std::vector<basis> context{};       ///< Each URI once; order does not matter to the key.

  bool operator==(const question&) const = default;
};

struct agreed {
  std::string content{};
  double confidence = 0;  ///< 0 to 1.
  std::string reasoning{};

  bool operator==(const agreed&) const = default;
};

struct vote {
  std::string provider{};  ///< One vote each in `analysis::votes`.
  std::string model{};
  std::string content{};
  double confidence = 0;  ///< 0 to 1.
  std::string reasoning{};
  double cost = 0;  ///< Not negative; in what currency is the callers' business, as long as it is one.
  std::uint64_t tokens = 0;
  double agreement = 0;  ///< With the consensus, 0 to 1.

  bool operator==(const vote&) const = default;
};

/// The prompt was bounced once more.
struct bounce {
  std::uint32_t number = 1;  ///< Rising, from 1.
  std::vector<vote> votes{};
  std::optional<agreed> consensus{};  ///< Nothing: none was reached.
  std::optional<instant> at{};
  milliseconds took{0};

  bool operator==(const bounce&) const = default;
};

/// Something that happened on the way, in order.
struct flow_step {
  std::uint32_t round = 0;  ///< 0: in none.
  std::string provider{};   ///< Empty: nobody's.
  std::string action{};     ///< What was done, a word or two: "asked", "answered", "failed", "agreed".
  std::optional<instant> at{};
  milliseconds took{0};
  std::string note{};

  bool operator==(const flow_step&) const = default;
};

struct provider_error {
  std::string provider{};
  std::uint32_t round = 0;  ///< 0: in none.
  std::string message{};
  std::optional<instant> at{};

  bool operator==(const provider_error&) const = default;
};

/// 0: not given; `totals_of` has what follows from the rest then.
struct totals {
  double cost = 0;
  std::uint64_t tokens = 0;
  milliseconds took{0};

  bool operator==(const totals&) const = default;
};

/// How far an analysis is, as the store says it.
enum class status : std::uint8_t {
  computing,  ///< Somebody holds the claim; rounds may have arrived.
  complete,   ///< Final: it reaches its thresholds.
  below,      ///< Whole, but below its thresholds: never served as final.
};
[[nodiscard]] std::string_view name_of(status which) noexcept;
[[nodiscard]] std::optional<status> status_named(std::string_view name) noexcept;

struct analysis {
  // What the store gives. Whatever a writer says of it is overwritten.
  /// 32 lower-case hexadecimal digits; the first 12 are 2^48 - 1 less the milliseconds since 1970 at which it was claimed, so
  /// that the order of ids is newest first. Empty: not stored.
  std::string id{};
  std::optional<status> how{};
  std::optional<instant> created{};
  std::optional<instant> expires{};  ///< From then on it is stale.

  question asked{};
  task_type task = task_type::basic;
  thresholds wanted{};                ///< Beside those of the policy: the stricter ones hold.
  std::optional<agreed> consensus{};  ///< Nothing as long as it is computed.
  std::vector<vote> votes{};          ///< The last of each provider.
  std::vector<bounce> rounds{};
  std::vector<flow_step> flow{};
  std::vector<provider_error> errors{};
  totals total{};
  std::string session{};            ///< Empty: of none.
  std::vector<std::string> tags{};  ///< Sorted, each once.

  bool operator==(const analysis&) const = default;
};

/// Mean agreement of its votes; 0 where there are none.
[[nodiscard]] double agreement_of(const analysis& what) noexcept;
/// Different ones among its votes.
[[nodiscard]] std::uint32_t providers_of(const analysis& what);
/// What it took: each of its totals as it is given, and where one is not, the sum of what votes, also those of rounds, cost and
/// of the time of the rounds. Of a provider the vote that stands in the last of its rounds as well is counted once.
[[nodiscard]] totals totals_of(const analysis& what);
/// `complete` or `below`; without a consensus it is below. `why` says which threshold it misses, for people.
struct judgement {
  status how = status::below;
  std::string why{};
};
[[nodiscard]] judgement judge(const analysis& what, const thresholds& by);

}  // namespace hondana::analyses
