/// The contract of stores of analyses, with the statistics and input checks that all stores share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/analyses/cache/analysis.hpp"
#include "sources/analyses/cache/analysis_key.hpp"

namespace hondana::analyses {

/// Larger sums of milliseconds are limited to this.
inline constexpr std::uint64_t most_milliseconds = 9'000'000'000'000'000'000u;

/// Counters of one task type, since the store was created. Saved values are the cost and time of served analyses.
struct task_statistics {
  std::uint64_t hits = 0;        ///< Served fresh.
  std::uint64_t stale_hits = 0;  ///< Served and marked as stale.
  std::uint64_t misses = 0;      ///< No answer could be served.
  std::uint64_t failures = 0;    ///< Answered with a remembered failure.
  std::uint64_t computed = 0;    ///< Whole analyses that were stored.
  std::uint64_t below = 0;       ///< Of these, those below their thresholds.
  double cost_saved = 0;
  double cost_spent = 0;  ///< Cost of computed analyses.
  std::uint64_t milliseconds_saved = 0;
  std::uint64_t milliseconds_spent = 0;

  task_statistics& operator+=(const task_statistics& more) noexcept;
  bool operator==(const task_statistics&) const = default;
};

struct statistics {
  std::array<task_statistics, count_of_tasks> by_task{};

  [[nodiscard]] task_statistics& of(task_type which) noexcept { return by_task[static_cast<std::size_t>(which)]; }
  [[nodiscard]] const task_statistics& of(task_type which) const noexcept { return by_task[static_cast<std::size_t>(which)]; }
  [[nodiscard]] task_statistics all() const noexcept;
  statistics& operator+=(const statistics& more) noexcept;
  bool operator==(const statistics&) const = default;
};

/// An analysis without its contents.
struct summary {
  std::string id{};
  key of{};
  status how = status::computing;
  task_type task = task_type::basic;
  std::string title{};    ///< The beginning of the prompt: one line of at most `longest_title` bytes.
  std::string session{};  ///< Empty: no session.
  instant created{};      ///< Time of the claim.
  instant changed{};      ///< Time of the last stored round, or of the whole.
  instant expires{};      ///< Stale from then on. While computed: the end of the lease.
  instant gone{};         ///< Not served from then on. While computed: the end of the lease.
  double confidence = 0;  ///< Of the consensus; 0: there is none yet.
  double agreement = 0;
  double cost = 0;
  milliseconds took{0};
  std::uint32_t rounds = 0;
  std::uint32_t providers = 0;
  std::uint64_t bytes = 0;    ///< Of the body.
  std::uint64_t version = 0;  ///< Changes with each put. Two states of one analysis never share a version.

  bool operator==(const summary&) const = default;
};
inline constexpr std::size_t longest_title = 120;
inline constexpr std::size_t most_claims = 4096;  ///< Per store, including claims whose lease has just ended.
/// Limit of all analyses being computed in a store, in bytes. Beyond it, only whole analyses and small bodies are accepted.
inline constexpr std::size_t most_computing = 256u << 20;
inline constexpr std::size_t small_body = 64u << 10;
inline constexpr std::size_t most_question = 2u << 20;      ///< Bytes of JSON of a claimed question, with its session and tags.
inline constexpr std::size_t most_provider_names = 10'000;  ///< Names that are remembered for completion.

/// An analysis with its contents.
struct entry {
  summary about{};
  std::string body{};     ///< As returned by `encode_body`.
  bool is_stale = false;  ///< By the store's clock when it was read.

  /// As returned by `encode`, including the members that the store adds.
  [[nodiscard]] std::string to_json() const;
};
/// Decodes an entry. Errors: internal: the stored analysis is invalid.
[[nodiscard]] result<analysis> analysis_of(const entry& what);

/// The right to write an analysis. `token` is a fencing token: it increases with each claim of a store. Only the last one for a
/// key is valid: during its lease, and after it until another caller claims or the store deletes the claim. `secret` makes a
/// ticket unguessable, since ids are listed and tokens are consecutive numbers.
struct ticket {
  std::string id{};  ///< Of the analysis that is computed.
  std::uint64_t token = 0;
  std::string secret{};  ///< 16 hexadecimal digits, stored with the claim and never returned by reads.

  bool operator==(const ticket&) const = default;
};
/// "ID.TOKEN.SECRET", the form in which tools return it, and back. Errors: invalid_argument.
[[nodiscard]] std::string spelled(const ticket& what);
[[nodiscard]] result<ticket> ticket_spelled(std::string_view text);

/// The state of a key.
struct answer {
  enum class kind : std::uint8_t {
    fresh,  ///< `found` is final and has not expired. `until` is set if a recent computation failed.
    /// `found` is final and has expired, but may still be served, marked as stale. `claim` may be set. Without a claim, `until`
    /// is set if a recent computation failed.
    stale,
    failed,     ///< A recent computation failed: `why`, remembered until `until`.
    computing,  ///< No answer, and a caller computes one: `claim`.
    missing,    ///< No answer, and no caller computes one.
  };
  kind what = kind::missing;
  std::optional<entry> found{};
  std::string why{};
  instant until{};
  /// The live claim on the key, if there is one.
  struct holder {
    std::string id{};  ///< Of the analysis that is computed.
    std::string who{};
    instant until{};  ///< The end of its lease.
  };
  std::optional<holder> claim{};
};

/// A request for a claim.
struct wish {
  question asked{};
  key of{};  ///< As `key_of(asked)`.
  task_type task = task_type::basic;
  std::string session{};
  std::vector<std::string> tags{};
  std::string who{};       ///< The claimant, for display. At most 128 bytes.
  milliseconds lease{};    ///< Above 0.
  bool is_forced = false;  ///< Claim despite a fresh answer or a remembered failure. Deletes the failure.
  bool is_anew = false;    ///< Claim despite a fresh answer, because it cannot be used.
};
/// Either a ticket, or the reason why there is none. Reasons: a fresh answer, a remembered failure (possibly with a stale
/// answer), or the live claim of another caller.
struct claimed {
  std::optional<ticket> by{};
  instant until{};  ///< The end of the lease.
  /// The state of the key before. With a ticket, it is `stale` or `missing`, unless the claim was forced or `is_anew`.
  answer there{};
};

/// An analysis to store under a claim.
struct putting {
  std::string body{};  ///< As returned by `encode_body`.
  summary about{};     ///< From the body: status, task, title, session, confidence, agreement, cost, took, rounds, providers.
  std::vector<std::string> tags{};
  std::vector<basis> context{};
  std::vector<std::string> names{};  ///< Of its providers.
  milliseconds lease{};              ///< For a part (`about.how` is `computing`): the lease ends no sooner than this from now.
  milliseconds fresh{};              ///< For a whole analysis: how long it is fresh.
  milliseconds stale{};              ///< How much longer it may be served as stale.
};
/// Encodes an analysis for a store. The caller sets `fresh`, `stale` and `lease`. Errors: response_too_large.
[[nodiscard]] result<putting> prepare(const analysis& what, status how);

/// Selects analyses. All members that are set must match; none set: all analyses.
struct selection {
  std::string session{};
  std::string tag{};
  std::optional<task_type> task{};
  std::string prompt{};  ///< Digest of a prompt, 32 bytes.
  std::string of{};      ///< Key, 32 bytes.
};
/// A page of a list.
struct page {
  std::vector<summary> all{};  ///< In the order of ids: newest first.
  bool is_last = true;
  std::string next{};  ///< The id to continue after. `all` may be short or empty before the last page.
};

/// Selects analyses to delete. Exactly one member is set.
struct forgetting {
  std::string id{};
  std::string tag{};
  std::string session{};
  std::string of{};  ///< Key, 32 bytes.
  /// Analyses based on a version of this resource that is not among `versions`. An empty string stands for an unknown version.
  std::string uri{};
  std::vector<std::string> versions{};
  bool everything = false;
};

/// An event of an analysis.
struct change {
  enum class kind : std::uint8_t {
    claimed,  ///< Its computation began.
    part,     ///< A round was stored.
    put,      ///< It is whole.
    failed,   ///< It was deleted: the computation failed or was given up, or another caller took over the claim.
    gone,     ///< It was invalidated or evicted.
  };
  std::uint64_t number = 0;  ///< Increasing, from 2.
  kind what = kind::claimed;
  std::string id{};
  std::string of{};  ///< Its key, 32 bytes.
};
/// The result of `changes_since`.
struct changes {
  std::vector<change> all{};
  std::uint64_t last = 0;   ///< Pass this as `after` to the next call.
  bool is_complete = true;  ///< False: earlier changes are no longer stored, so anything may have changed.
};

/// Limits of a store, which `sweep` enforces.
struct limits {
  std::uint64_t bytes = 1ull << 30;                 ///< Bodies of whole analyses. The oldest are deleted first.
  std::uint64_t entries = 10'000'000;               ///< Number of whole analyses.
  milliseconds age = std::chrono::hours(24 * 365);  ///< Since the claim.
};

/// Facts about a store, for display.
struct store_facts {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;   ///< Of bodies.
  std::uint64_t claims = 0;  ///< Live or expired.
  std::string where{};       ///< For display; contains no secrets.
  /// Creation of the oldest and the newest stored analysis.
  std::optional<instant> oldest{}, newest{};
};

/// A persistent store of analyses. Several processes may use one store at the same time.
/// A call that returns without an error is durable even if the process, or the server of the store, is killed at any moment.
/// Each operation is atomic. Times are from the store's clock: the server's (Redis), or this machine's, which never goes back
/// (SQLite).
///
/// Threads: any, several at once. Calls block for a few seconds at most. Errors of all calls: timed_out; source_unavailable,
/// whose text gives the remedy (full, locked, slow, gone). Nothing is written then, unless the connection was lost during the
/// call.
class store {
 public:
  store() = default;
  store(const store&) = delete;
  store& operator=(const store&) = delete;
  virtual ~store() = default;

  [[nodiscard]] virtual result<instant> now() const = 0;

  // Reading.

  /// The state of a key. Counts nothing.
  [[nodiscard]] virtual result<answer> look(const key& of) const = 0;
  /// An analysis in any state, including those being computed, stale, or below their thresholds. Empty: unknown, or its time is
  /// over.
  [[nodiscard]] virtual result<std::optional<entry>> get(std::string_view id) const = 0;
  [[nodiscard]] virtual result<std::optional<summary>> about(std::string_view id) const = 0;
  /// At most `most` (1000) analyses after the id `after`, or from the newest if it is empty. Skips analyses whose time is over.
  [[nodiscard]] virtual result<page> list(const selection& which, std::string_view after, std::size_t most) const = 0;
  /// Ids, sessions, providers or tags with this prefix, in order. Providers include those of deleted analyses.
  enum class naming : std::uint8_t { id, session, provider, tag };
  [[nodiscard]] virtual result<std::vector<std::string>> names(naming which, std::string_view prefix,
                                                               std::size_t most) const = 0;
  /// A position in the list of analyses based on a resource. Both empty: the beginning.
  struct place_in_based {
    std::string version{};
    std::string id{};
  };
  struct based_page {
    std::vector<summary> all{};  ///< By version, and the newest of each version first.
    bool is_last = true;
    place_in_based next{};  ///< `all` may be short or empty before the last page.
  };
  /// Analyses based on any version of a resource, at most `most` (1000), including those whose time is over. Cost: linear in
  /// their number.
  [[nodiscard]] virtual result<based_page> based_on(std::string_view uri, const place_in_based& after,
                                                    std::size_t most) const = 0;
  /// Resources that analyses are based on, with the versions: those whose URI follows `after`, in order.
  [[nodiscard]] virtual result<std::vector<basis>> bases(std::string_view after, std::size_t most) const = 0;

  // Computing. Calls with a ticket fail with access_denied, and write nothing, if the ticket is invalid. It must be the last
  // for its key, have the right secret, and be unused: put, fail and give-up use it up. They also fail if its lease has ended
  // and another caller has claimed, or if its context was invalidated. A ticket whose lease has ended stays valid until another
  // caller claims.

  /// Further errors: overloaded: `most_claims` or `most_computing` is reached; invalid_argument: beyond `most_question`.
  [[nodiscard]] virtual result<claimed> claim(const wish& what) = 0;
  /// Extends the lease to at least `lease` from now; never shortens it. Returns its end.
  [[nodiscard]] virtual result<instant> renew(const ticket& by, milliseconds lease) = 0;
  /// Stores a part, which extends the lease, or a whole analysis, which ends the claim. A whole analysis replaces and deletes
  /// the earlier one of its key; one below its thresholds replaces only one that was below, too. The context must be the
  /// claimed one. Returns the stored state. Further errors: overloaded: a part, and `most_computing` is reached.
  [[nodiscard]] virtual result<summary> put(const ticket& by, const putting& what) = 0;
  /// Ends the claim, and deletes the stored parts. Remembers the failure for `remembered` (0: not at all).
  [[nodiscard]] virtual result<void> fail(const ticket& by, std::string_view why, milliseconds remembered) = 0;

  // Maintenance.

  /// Deletes analyses, and ends the claims of those being computed. At most 10 000 per call. `is_last` false: call again.
  struct forgotten {
    std::uint64_t count = 0;
    bool is_last = true;
  };
  [[nodiscard]] virtual result<forgotten> forget(const forgetting& which) = 0;
  /// Deletes analyses whose time is over, and the oldest beyond the limits. At most 10 000 per call, as `forget`.
  [[nodiscard]] virtual result<forgotten> sweep(const limits& within) = 0;
  [[nodiscard]] virtual result<void> count(const statistics& more) = 0;
  [[nodiscard]] virtual result<statistics> counted() const = 0;
  [[nodiscard]] virtual result<store_facts> facts() const = 0;

  // Change events.

  /// Changes after number `after`, by all processes, at most 1000. 0: no changes, but the number to continue from. Waits for
  /// the first change for at most `wait`, or until `stop`.
  [[nodiscard]] virtual result<changes> changes_since(std::uint64_t after, milliseconds wait,
                                                      const std::stop_token& stop) const = 0;
};

inline constexpr std::size_t longest_who = 128;
inline constexpr std::size_t longest_reason = 4096;

/// Rejects input that could not be read back or would be split on the way to a store. Errors: invalid_argument.
[[nodiscard]] result<void> check(const wish& what);
[[nodiscard]] result<void> check(const putting& what);
[[nodiscard]] result<void> check(const forgetting& what);
[[nodiscard]] result<void> check_lease(milliseconds lease);

[[nodiscard]] tl::unexpected<failure> no_such_claim();
[[nodiscard]] tl::unexpected<failure> already_put();
[[nodiscard]] tl::unexpected<failure> another_question();
[[nodiscard]] tl::unexpected<failure> too_many_claims();
/// `most_computing` is reached.
[[nodiscard]] tl::unexpected<failure> too_much_computed();

/// The part of a failure's reason that is stored: whole characters of valid UTF-8.
[[nodiscard]] std::string kept_reason(std::string_view why);
/// The content of an analysis that was only claimed: the question.
[[nodiscard]] result<putting> prepared_for(const wish& what);

}  // namespace hondana::analyses
