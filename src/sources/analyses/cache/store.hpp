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
inline constexpr std::uint64_t max_milliseconds = 9'000'000'000'000'000'000u;

/// Counters of one task type, since the store was created. Saved values are the cost and time of served analyses.
struct task_statistics {
  std::uint64_t hits = 0;              ///< Served fresh.
  std::uint64_t stale_hits = 0;        ///< Served and marked as stale.
  std::uint64_t misses = 0;            ///< No answer could be served.
  std::uint64_t failures = 0;          ///< Answered with a remembered failure.
  std::uint64_t computed = 0;          ///< Whole analyses that were stored.
  std::uint64_t below_thresholds = 0;  ///< Of these, those below their thresholds.
  double cost_saved = 0;
  double cost_spent = 0;  ///< Cost of computed analyses.
  std::uint64_t milliseconds_saved = 0;
  std::uint64_t milliseconds_spent = 0;

  task_statistics& operator+=(const task_statistics& other) noexcept;
  bool operator==(const task_statistics&) const = default;
};

struct statistics {
  std::array<task_statistics, task_type_count> by_task{};

  [[nodiscard]] task_statistics& for_task(task_type task) noexcept { return by_task[static_cast<std::size_t>(task)]; }
  [[nodiscard]] const task_statistics& for_task(task_type task) const noexcept {
    return by_task[static_cast<std::size_t>(task)];
  }
  [[nodiscard]] task_statistics total() const noexcept;
  statistics& operator+=(const statistics& other) noexcept;
  bool operator==(const statistics&) const = default;
};

/// An analysis without its contents.
struct analysis_summary {
  std::string id{};
  question_key key{};
  analysis_status status = analysis_status::computing;
  task_type task = task_type::basic;
  std::string title{};    ///< The beginning of the prompt: one line of at most `max_title_bytes` bytes.
  std::string session{};  ///< Empty: no session.
  instant created_at{};   ///< Time of the claim.
  instant changed_at{};   ///< Time of the last stored round, or of the whole.
  instant expires_at{};   ///< Stale from then on. While computed: the end of the lease.
  instant removed_at{};   ///< Not served from then on. While computed: the end of the lease.
  double confidence = 0;  ///< Of the consensus; 0: there is none yet.
  double agreement = 0;
  double cost = 0;
  milliseconds duration{0};
  std::uint32_t rounds = 0;
  std::uint32_t providers = 0;
  std::uint64_t bytes = 0;    ///< Of the body.
  std::uint64_t version = 0;  ///< Changes with each put. Two states of one analysis never share a version.

  bool operator==(const analysis_summary&) const = default;
};
inline constexpr std::size_t max_title_bytes = 120;
inline constexpr std::size_t max_claims = 4096;  ///< Per store, including claims whose lease has just ended.
/// Limit of all analyses being computed in a store, in bytes. Beyond it, only whole analyses and small bodies are accepted.
inline constexpr std::size_t max_computing_bytes = 256u << 20;
inline constexpr std::size_t small_body_bytes = 64u << 10;
inline constexpr std::size_t max_question_bytes = 2u << 20;  ///< Of a claimed question as JSON, with its session and tags.
inline constexpr std::size_t max_provider_names = 10'000;    ///< Names that are remembered for completion.

/// An analysis with its contents.
struct cache_entry {
  analysis_summary summary{};
  std::string body{};     ///< As returned by `encode_body`.
  bool is_stale = false;  ///< By the store's clock when it was read.

  /// As returned by `encode`, including the members that the store adds.
  [[nodiscard]] std::string to_json() const;
};
/// Decodes an entry. Errors: internal: the stored analysis is invalid.
[[nodiscard]] result<analysis> decode_analysis(const cache_entry& entry);

/// The right to write an analysis. `token` is a fencing token: it increases with each claim of a store. Only the last one for a
/// key is valid: during its lease, and after it until another caller claims or the store deletes the claim. `secret` makes a
/// ticket unguessable, since ids are listed and tokens are consecutive numbers.
struct claim_ticket {
  std::string id{};  ///< Of the analysis that is computed.
  std::uint64_t token = 0;
  std::string secret{};  ///< 16 hexadecimal digits, stored with the claim and never returned by reads.

  bool operator==(const claim_ticket&) const = default;
};
/// "ID.TOKEN.SECRET", the form in which tools return it, and back. Errors: invalid_argument.
[[nodiscard]] std::string format_ticket(const claim_ticket& ticket);
[[nodiscard]] result<claim_ticket> parse_ticket(std::string_view text);

/// The state of a key.
struct cached_answer {
  enum class cache_status : std::uint8_t {
    fresh,  ///< `entry` is final and has not expired. `failure_expires_at` is set if a recent computation failed.
    /// `entry` is final and has expired, but may still be served, marked as stale. `claim` may be set. Without a claim,
    /// `failure_expires_at` is set if a recent computation failed.
    stale,
    failed,     ///< A recent computation failed: `failure_reason`, remembered until `failure_expires_at`.
    computing,  ///< No answer, and a caller computes one: `claim`.
    missing,    ///< No answer, and no caller computes one.
  };
  cache_status status = cache_status::missing;
  std::optional<cache_entry> entry{};
  std::string failure_reason{};
  instant failure_expires_at{};
  /// The live claim on the key, if there is one.
  struct claim_holder {
    std::string id{};  ///< Of the analysis that is computed.
    std::string claimant{};
    instant lease_expires_at{};
  };
  std::optional<claim_holder> claim{};
};

/// A request for a claim.
struct claim_parameters {
  model_question question{};
  question_key key{};  ///< As `make_key(question)`.
  task_type task = task_type::basic;
  std::string session{};
  std::vector<std::string> tags{};
  std::string claimant{};             ///< For display. At most 128 bytes.
  milliseconds lease_ttl{};           ///< Above 0.
  bool is_forced = false;             ///< Claim despite a fresh answer or a remembered failure. Deletes the failure.
  bool ignores_fresh_answer = false;  ///< Claim despite a fresh answer, because it cannot be used.
};
/// Either a ticket, or the reason why there is none. Reasons: a fresh answer, a remembered failure (possibly with a stale
/// answer), or the live claim of another caller.
struct claim_result {
  std::optional<claim_ticket> ticket{};
  instant lease_expires_at{};  ///< Of the ticket.
  /// The state of the key before. With a ticket, it is `stale` or `missing`, unless the claim was forced or had
  /// `ignores_fresh_answer`.
  cached_answer answer{};
};

/// An analysis to store under a claim.
struct put_parameters {
  std::string body{};  ///< As returned by `encode_body`.
  /// From the body: status, task, title, session, confidence, agreement, cost, duration, rounds, providers.
  analysis_summary summary{};
  std::vector<std::string> tags{};
  std::vector<resource_version> context{};
  std::vector<std::string> provider_names{};
  milliseconds lease_ttl{};  ///< For a part (`summary.status` is `computing`): the lease ends no sooner than this from now.
  milliseconds fresh_ttl{};  ///< For a whole analysis: how long it is fresh.
  milliseconds stale_ttl{};  ///< How much longer it may be served as stale.
};
/// Encodes an analysis for a store. The caller sets `fresh_ttl`, `stale_ttl` and `lease_ttl`. Errors: response_too_large.
[[nodiscard]] result<put_parameters> prepare_put(const analysis& analysis, analysis_status status);

/// Selects analyses. All members that are set must match; none set: all analyses.
struct list_filter {
  std::string session{};
  std::string tag{};
  std::optional<task_type> task{};
  std::string prompt_digest{};  ///< 32 bytes.
  std::string key{};            ///< 32 bytes.
};
/// A page of a list.
struct summary_page {
  std::vector<analysis_summary> summaries{};  ///< In the order of ids: newest first.
  bool is_last = true;
  std::string next{};  ///< The id to continue after. `summaries` may be short or empty before the last page.
};

/// Selects analyses to delete. Exactly one member is set.
struct erase_filter {
  std::string id{};
  std::string tag{};
  std::string session{};
  std::string key{};  ///< 32 bytes.
  /// Analyses based on a version of this resource that is not among `versions`. An empty string stands for an unknown version.
  std::string uri{};
  std::vector<std::string> versions{};
  bool everything = false;
};

/// An event of an analysis.
struct store_change {
  enum class event_kind : std::uint8_t {
    claimed,  ///< Its computation began.
    part,     ///< A round was stored.
    put,      ///< It is whole.
    failed,   ///< It was deleted: the computation failed or was given up, or another caller took over the claim.
    removed,  ///< It was invalidated or evicted.
  };
  std::uint64_t number = 0;  ///< Increasing, from 2.
  event_kind event = event_kind::claimed;
  std::string id{};
  std::string key{};  ///< 32 bytes.
};
/// The result of `changes_since`.
struct change_batch {
  std::vector<store_change> changes{};
  std::uint64_t last_number = 0;  ///< Pass this as `after_number` to the next call.
  bool is_complete = true;        ///< False: earlier changes are no longer stored, so anything may have changed.
};

/// Limits of a store, which `sweep` enforces.
struct store_limits {
  std::uint64_t max_bytes = 1ull << 30;                 ///< Bodies of whole analyses. The oldest are deleted first.
  std::uint64_t max_entries = 10'000'000;               ///< Number of whole analyses.
  milliseconds max_age = std::chrono::hours(24 * 365);  ///< Since the claim.
};

/// Facts about a store, for display.
struct store_info {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;   ///< Of bodies.
  std::uint64_t claims = 0;  ///< Live or expired.
  std::string location{};    ///< For display; contains no secrets.
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
class analysis_store {
 public:
  analysis_store() = default;
  analysis_store(const analysis_store&) = delete;
  analysis_store& operator=(const analysis_store&) = delete;
  virtual ~analysis_store() = default;

  [[nodiscard]] virtual result<instant> now() const = 0;

  // Reading.

  /// The state of a key. Counts nothing.
  [[nodiscard]] virtual result<cached_answer> look_up(const question_key& key) const = 0;
  /// An analysis in any state, including those being computed, stale, or below their thresholds. Empty: unknown, or its time is
  /// over.
  [[nodiscard]] virtual result<std::optional<cache_entry>> get(std::string_view id) const = 0;
  [[nodiscard]] virtual result<std::optional<analysis_summary>> get_summary(std::string_view id) const = 0;
  /// At most `max_count` (1000) analyses after the id `after_id`, or from the newest if it is empty. Skips analyses whose time
  /// is over.
  [[nodiscard]] virtual result<summary_page> list(const list_filter& filter, std::string_view after_id,
                                                  std::size_t max_count) const = 0;
  /// Ids, sessions, providers or tags with this prefix, in order. Providers include those of deleted analyses.
  enum class name_kind : std::uint8_t { id, session, provider, tag };
  [[nodiscard]] virtual result<std::vector<std::string>> list_names(name_kind kind, std::string_view prefix,
                                                                    std::size_t max_count) const = 0;
  /// A position in the list of analyses based on a resource. Both empty: the beginning.
  struct resource_position {
    std::string version{};
    std::string id{};
  };
  struct resource_page {
    std::vector<analysis_summary> summaries{};  ///< By version, and the newest of each version first.
    bool is_last = true;
    resource_position next{};  ///< `summaries` may be short or empty before the last page.
  };
  /// Analyses based on any version of a resource, at most `max_count` (1000), including those whose time is over. Cost: linear
  /// in their number.
  [[nodiscard]] virtual result<resource_page> list_by_resource(std::string_view uri, const resource_position& after_position,
                                                               std::size_t max_count) const = 0;
  /// Resources that analyses are based on, with the versions: those whose URI follows `after_uri`, in order.
  [[nodiscard]] virtual result<std::vector<resource_version>> list_resource_versions(std::string_view after_uri,
                                                                                     std::size_t max_count) const = 0;

  // Computing. Calls with a ticket fail with access_denied, and write nothing, if the ticket is invalid. It must be the last
  // for its key, have the right secret, and be unused: `fail` and the put of a whole analysis use it up. They also fail if its
  // lease has ended and another caller has claimed, or if its context was invalidated. A ticket whose lease has ended stays
  // valid until another caller claims.

  /// Further errors: overloaded: `max_claims` or `max_computing_bytes` is reached; invalid_argument: beyond
  /// `max_question_bytes`.
  [[nodiscard]] virtual result<claim_result> claim(const claim_parameters& parameters) = 0;
  /// Extends the lease to at least `lease_ttl` from now; never shortens it. Returns its end.
  [[nodiscard]] virtual result<instant> renew(const claim_ticket& ticket, milliseconds lease_ttl) = 0;
  /// Stores a part, which extends the lease, or a whole analysis, which ends the claim. A whole analysis replaces and deletes
  /// the earlier one of its key; one below its thresholds replaces only one that was below, too. The context must be the
  /// claimed one. Returns the stored state. Further errors: overloaded: a part, and `max_computing_bytes` is reached.
  [[nodiscard]] virtual result<analysis_summary> put(const claim_ticket& ticket, const put_parameters& parameters) = 0;
  /// Ends the claim, and deletes the stored parts. Remembers the failure for `failure_ttl` (0: not at all).
  [[nodiscard]] virtual result<void> fail(const claim_ticket& ticket, std::string_view reason, milliseconds failure_ttl) = 0;

  // Maintenance.

  /// Deletes analyses, and ends the claims of those being computed. At most 10 000 per call. `is_last` false: call again.
  struct erase_result {
    std::uint64_t count = 0;
    bool is_last = true;
  };
  [[nodiscard]] virtual result<erase_result> erase(const erase_filter& filter) = 0;
  /// Deletes analyses whose time is over, and the oldest beyond the limits. At most 10 000 per call, as `erase`.
  [[nodiscard]] virtual result<erase_result> sweep(const store_limits& limits) = 0;
  [[nodiscard]] virtual result<void> add_statistics(const statistics& additions) = 0;
  [[nodiscard]] virtual result<statistics> read_statistics() const = 0;
  [[nodiscard]] virtual result<store_info> read_info() const = 0;

  // Change events.

  /// Changes after the number `after_number`, by all processes, at most 1000. 0: no changes, but the number to continue from.
  /// Waits for the first change for at most `timeout`, or until `stop`.
  [[nodiscard]] virtual result<change_batch> changes_since(std::uint64_t after_number, milliseconds timeout,
                                                           const std::stop_token& stop) const = 0;
};

inline constexpr std::size_t max_claimant_bytes = 128;
inline constexpr std::size_t max_reason_bytes = 4096;

/// Rejects input that could not be read back or would be split on the way to a store. Errors: invalid_argument.
[[nodiscard]] result<void> validate(const claim_parameters& parameters);
[[nodiscard]] result<void> validate(const put_parameters& parameters);
[[nodiscard]] result<void> validate(const erase_filter& filter);
[[nodiscard]] result<void> validate_lease(milliseconds lease_ttl);

[[nodiscard]] tl::unexpected<failure> no_such_claim();
[[nodiscard]] tl::unexpected<failure> already_put();
[[nodiscard]] tl::unexpected<failure> question_mismatch();
[[nodiscard]] tl::unexpected<failure> too_many_claims();
/// `max_computing_bytes` is reached.
[[nodiscard]] tl::unexpected<failure> too_many_computing_bytes();

/// The part of a failure's reason that is stored: whole characters of valid UTF-8.
[[nodiscard]] std::string truncate_reason(std::string_view reason);
/// The content of an analysis that was only claimed: the question.
[[nodiscard]] result<put_parameters> prepare_claim(const claim_parameters& parameters);

}  // namespace hondana::analyses
