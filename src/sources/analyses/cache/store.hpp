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

/// Maximum of `milliseconds_saved` and `milliseconds_spent`.
inline constexpr std::uint64_t max_milliseconds = 9'000'000'000'000'000'000u;

/// Counters of one task type, since the store was created.
struct task_statistics {
  std::uint64_t hits = 0;              ///< Lookups and claims that returned a fresh answer.
  std::uint64_t stale_hits = 0;        ///< Those that returned a stale answer.
  std::uint64_t misses = 0;            ///< Those that returned no answer and no failure.
  std::uint64_t failures = 0;          ///< Those that returned a remembered failure.
  std::uint64_t computed = 0;          ///< Whole analyses that were stored.
  std::uint64_t below_thresholds = 0;  ///< Those of `computed` that were below their thresholds.
  double cost_saved = 0;               ///< Sum of the costs of returned answers.
  double cost_spent = 0;               ///< Sum of the costs of computed analyses.
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
  std::string id{};  ///< As `analysis::id`.
  question_key key{};
  analysis_status status = analysis_status::computing;
  task_type task = task_type::basic;
  std::string title{};    ///< The beginning of the prompt: one line of at most `max_title_bytes` bytes.
  std::string session{};  ///< Empty: no session.
  instant created_at{};   ///< Time of the claim.
  instant changed_at{};   ///< Time of the last `analysis_store::put`, or of the claim.
  instant expires_at{};   ///< Stale from then on. While computed: the end of the lease.
  instant removed_at{};   ///< Not returned by reads from then on. While computed: the end of the lease.
  double confidence = 0;  ///< Of the consensus. 0: there is none yet.
  double agreement = 0;   ///< Mean agreement of the votes.
  double cost = 0;
  milliseconds duration{0};     ///< Time of the computation.
  std::uint32_t rounds = 0;     ///< Number of rounds.
  std::uint32_t providers = 0;  ///< Number of different providers that voted.
  std::uint64_t bytes = 0;      ///< Of the body.
  std::uint64_t version = 0;    ///< Differs for each stored state of the analysis.

  bool operator==(const analysis_summary&) const = default;
};
inline constexpr std::size_t max_title_bytes = 120;
inline constexpr std::size_t max_claims = 4096;  ///< Per store, including claims whose lease has just ended.
/// Limit of the bodies of all analyses being computed in a store. Beyond it, only whole analyses and small bodies are accepted.
inline constexpr std::size_t max_computing_bytes = 256u << 20;
inline constexpr std::size_t small_body_bytes = 64u << 10;   ///< Maximum of a small body.
inline constexpr std::size_t max_question_bytes = 2u << 20;  ///< Of a claimed question as JSON, with its session and tags.
inline constexpr std::size_t max_provider_names = 10'000;    ///< Names that a store remembers for `list_names`.

/// An analysis with its contents.
struct cache_entry {
  analysis_summary summary{};
  std::string body{};     ///< As returned by `encode_body`.
  bool is_stale = false;  ///< Final and expired, when the entry was read.

  /// Returns the body with the members that the store adds: id, status, created and expires.
  [[nodiscard]] std::string to_json() const;
};
/// Decodes the analysis of an entry. Errors: internal: the stored analysis is invalid.
[[nodiscard]] result<analysis> decode_analysis(const cache_entry& entry);

/// The right to write an analysis. Only the last ticket for a key is valid: during its lease, and after it until another caller
/// claims or the store deletes the claim.
struct claim_ticket {
  std::string id{};         ///< Of the analysis that is computed.
  std::uint64_t token = 0;  ///< A fencing token: it increases with each claim in a store.
  /// 16 hexadecimal digits that make the ticket unguessable: ids are listed, and tokens are consecutive. No read returns them.
  std::string secret{};

  bool operator==(const claim_ticket&) const = default;
};
/// "ID.TOKEN.SECRET", the form of tickets in tools.
[[nodiscard]] std::string format_ticket(const claim_ticket& ticket);
/// Parses the form of `format_ticket`. Errors: invalid_argument.
[[nodiscard]] result<claim_ticket> parse_ticket(std::string_view text);

/// The state of a question in the store.
struct cached_answer {
  enum class cache_status : std::uint8_t {
    fresh,      ///< `entry` is final and has not expired.
    stale,      ///< `entry` is final and has expired, but may still be returned. `claim` may be set.
    failed,     ///< No answer, and a failure is remembered.
    computing,  ///< No answer, and `claim` is set.
    missing,    ///< No answer, no claim and no failure.
  };
  cache_status status = cache_status::missing;
  std::optional<cache_entry> entry{};  ///< The answer.
  std::string failure_reason{};        ///< Why the last computation failed, while this is remembered.
  instant failure_expires_at{};  ///< How long the failure is remembered. Set if one is, with `fresh`, `stale` and `failed`.
  struct claim_holder {
    std::string id{};        ///< Of the analysis that is computed.
    std::string claimant{};  ///< Name of the caller, for display.
    instant lease_expires_at{};
  };
  /// A claim whose lease has not ended. With `fresh`, only set by a claim with `is_forced` or `ignores_fresh_answer`.
  std::optional<claim_holder> claim{};
};

/// A request for a claim.
struct claim_parameters {
  model_question question{};
  question_key key{};  ///< `make_key(question)`.
  task_type task = task_type::basic;
  std::string session{};
  std::vector<std::string> tags{};
  std::string claimant{};             ///< Name of the caller, for display. Cut to 128 bytes.
  milliseconds lease_ttl{};           ///< Above 0, at most one day.
  bool is_forced = false;             ///< Claim despite a fresh answer or a remembered failure. Deletes the failure.
  bool ignores_fresh_answer = false;  ///< Claim despite a fresh answer, because this caller cannot use it.
};
/// Either a ticket, or the reason why there is none: a fresh answer, a remembered failure, or another caller's claim whose
/// lease has not ended.
struct claim_result {
  std::optional<claim_ticket> ticket{};
  instant lease_expires_at{};  ///< Of the ticket.
  /// The state of the question before the claim. With a ticket, its status is `stale` or `missing`, unless the claim had
  /// `is_forced` or `ignores_fresh_answer`.
  cached_answer answer{};
};

/// An analysis to store under a claim.
struct put_parameters {
  std::string body{};  ///< As returned by `encode_body`.
  /// Without `id`, `version` and times, which the store sets. If `status` is `computing`, the analysis is a part: the state
  /// after a round.
  analysis_summary summary{};
  std::vector<std::string> tags{};
  std::vector<resource_version> context{};    ///< Not stored: the claim has stored it.
  std::vector<std::string> provider_names{};  ///< Of the votes.
  milliseconds lease_ttl{};                   ///< For a part: the lease then lasts at least this long from now.
  milliseconds fresh_ttl{};                   ///< For a whole analysis: how long it is fresh.
  milliseconds stale_ttl{};                   ///< For a whole analysis: how much longer it may be returned as stale.
};
/// Encodes an analysis for a store. The caller must then set `lease_ttl`, or `fresh_ttl` and `stale_ttl`. Errors:
/// response_too_large.
[[nodiscard]] result<put_parameters> prepare_put(const analysis& analysis, analysis_status status);

/// Selects analyses. All members that are set must match; none set: all analyses.
struct list_filter {
  std::string session{};
  std::string tag{};
  std::optional<task_type> task{};
  std::string prompt_digest{};  ///< `question_key::prompt_digest`.
  std::string key{};            ///< `question_key::digest`.
};
/// A page of a list.
struct summary_page {
  std::vector<analysis_summary> summaries{};  ///< In the order of ids: newest first. Any page may be short or empty.
  bool is_last = true;
  std::string next{};  ///< The next page's `after_id`, unless this is the last page.
};

/// Selects analyses to delete. Exactly one member must be set; `versions` belongs to `uri`.
struct erase_filter {
  std::string id{};
  std::string tag{};
  std::string session{};
  std::string key{};  ///< `question_key::digest`. Also deletes the remembered failure.
  /// Selects analyses based on a version of this resource that is not among `versions`.
  std::string uri{};
  std::vector<std::string> versions{};  ///< An empty string stands for an unknown version.
  bool everything = false;              ///< All analyses. Also deletes all remembered failures.
};

/// A change of one analysis.
struct store_change {
  enum class event_kind : std::uint8_t {
    claimed,  ///< Its computation began.
    part,     ///< A part was stored.
    put,      ///< The whole analysis was stored.
    failed,   ///< It was deleted: the computation failed or was given up, or another caller claimed after its lease.
    removed,  ///< It was deleted by `erase` or `sweep`, or replaced by a new analysis of the question.
  };
  std::uint64_t number = 0;  ///< Increases with each change in the store, from 2.
  event_kind event = event_kind::claimed;
  std::string id{};
  std::string key{};  ///< `question_key::digest`.
};
/// The result of `changes_since`.
struct change_batch {
  std::vector<store_change> changes{};
  std::uint64_t last_number = 0;  ///< Pass this as `after_number` to the next call.
  bool is_complete = true;        ///< False: earlier changes are no longer stored, so anything may have changed.
};

/// Limits that `analysis_store::sweep` enforces.
struct store_limits {
  std::uint64_t max_bytes = 1ull << 30;                 ///< Size of the bodies of whole analyses.
  std::uint64_t max_entries = 10'000'000;               ///< Number of whole analyses.
  milliseconds max_age = std::chrono::hours(24 * 365);  ///< Since the claim.
};

/// Facts about a store, for display.
struct store_info {
  std::uint64_t entries = 0;  ///< Number of analyses, including those being computed.
  std::uint64_t bytes = 0;    ///< Of their bodies.
  std::uint64_t claims = 0;   ///< Number of claims, including those whose lease has ended.
  std::string location{};     ///< A path, "memory", or "Redis at host:6379, PREFIX".
  /// Creation times of the oldest and the newest analysis. nullopt: there is none.
  std::optional<instant> oldest{}, newest{};
};

/// A store of analyses. Several processes may use one store at the same time.
/// A write that returns without an error is durable, as far as the configuration of the file or of Redis allows. Each write
/// except `sweep` is atomic. Times are from the store's clock: that of the Redis server, or the system's in SQLite, which then
/// never goes back.
///
/// Threads: any, several at once. Calls block for a few seconds at most, depending on the store's timeouts. Errors of all
/// calls: timed_out, overloaded, protocol_error, internal; source_unavailable, whose text gives the remedy (full, locked, slow,
/// gone). Nothing was written then, except that Redis may have executed a call that timed out or lost its connection.
class analysis_store {
 public:
  analysis_store() = default;
  analysis_store(const analysis_store&) = delete;
  analysis_store& operator=(const analysis_store&) = delete;
  virtual ~analysis_store() = default;

  /// The time on the store's clock.
  [[nodiscard]] virtual result<instant> now() const = 0;

  // Reading. An analysis is over from `analysis_summary::removed_at` on.

  /// Returns the state of a question. Does not change statistics.
  [[nodiscard]] virtual result<cached_answer> look_up(const question_key& key) const = 0;
  /// Returns an analysis in any state, including being computed, stale, or below its thresholds. nullopt: it does not exist, or
  /// is over.
  [[nodiscard]] virtual result<std::optional<cache_entry>> get(std::string_view id) const = 0;
  /// Like `get`, without the contents.
  [[nodiscard]] virtual result<std::optional<analysis_summary>> get_summary(std::string_view id) const = 0;
  /// Lists at most `max_count` (1000) analyses after the id `after_id`; empty: from the newest. Skips analyses that are over.
  /// Errors: also invalid_argument if `after_id` is not an id.
  [[nodiscard]] virtual result<summary_page> list(const list_filter& filter, std::string_view after_id,
                                                  std::size_t max_count) const = 0;
  enum class name_kind : std::uint8_t { id, session, provider, tag };
  /// Lists at most `max_count` (1000) names that begin with `prefix`, in byte order. Providers include those of deleted
  /// analyses. Only `id` skips analyses that are over.
  [[nodiscard]] virtual result<std::vector<std::string>> list_names(name_kind kind, std::string_view prefix,
                                                                    std::size_t max_count) const = 0;
  /// A position in the list of analyses based on a resource: the last analysis of a page. Both empty: the beginning.
  struct resource_position {
    std::string version{};
    std::string id{};
  };
  struct resource_page {
    /// Ordered by version, and the newest of each version first. Any page may be short or empty.
    std::vector<analysis_summary> summaries{};
    bool is_last = true;
    /// The last analysis of this page, and so the next page's `after_position`. Both members are empty if the page has none.
    resource_position next{};
  };
  /// Lists at most `max_count` (1000) analyses based on any version of a resource, including those that are over.
  [[nodiscard]] virtual result<resource_page> list_by_resource(std::string_view uri, const resource_position& after_position,
                                                               std::size_t max_count) const = 0;
  /// Lists resources that analyses are based on, with each version, in the order of URIs after `after_uri`. Returns at most 64
  /// versions of a resource, and all of these for the last one, so slightly more than `max_count` (1000) elements are possible.
  [[nodiscard]] virtual result<std::vector<resource_version>> list_resource_versions(std::string_view after_uri,
                                                                                     std::size_t max_count) const = 0;

  // Computing. Calls with an invalid ticket fail with access_denied, and write nothing. A ticket becomes invalid when:
  // * `fail`, or `put` of a whole analysis, has used it;
  // * its lease has ended, and another caller has claimed;
  // * its analysis was deleted: by `erase`, or by `sweep` 10 minutes after the lease.

  /// Claims a question, or returns the reason why this is impossible. Further errors: overloaded: `max_claims` or
  /// `max_computing_bytes` is reached; invalid_argument: beyond `max_question_bytes`, or as `validate`.
  [[nodiscard]] virtual result<claim_result> claim(const claim_parameters& parameters) = 0;
  /// Extends the lease to at least `lease_ttl` (at most one day) from now, and returns its end. Never shortens it.
  [[nodiscard]] virtual result<instant> renew(const claim_ticket& ticket, milliseconds lease_ttl) = 0;
  /// Stores a part, which extends the lease, or a whole analysis, which ends the claim. A whole analysis replaces earlier ones
  /// of its question; one below its thresholds does not replace a final one. Returns the stored state. Further errors:
  /// invalid_argument: the question is not the claimed one, or as `validate`; overloaded: a part, and `max_computing_bytes` is
  /// reached; response_too_large.
  [[nodiscard]] virtual result<analysis_summary> put(const claim_ticket& ticket, const put_parameters& parameters) = 0;
  /// Ends the claim, and deletes its analysis. Remembers the failure for `failure_ttl` (0: not at all).
  [[nodiscard]] virtual result<void> fail(const claim_ticket& ticket, std::string_view reason, milliseconds failure_ttl) = 0;

  // Maintenance.

  struct erase_result {
    std::uint64_t count = 0;  ///< Number of deleted analyses.
    bool is_last = true;      ///< False: there may be more, so call again.
  };
  /// Deletes at most 10 000 analyses, and ends the claims of those being computed. Errors: also invalid_argument.
  [[nodiscard]] virtual result<erase_result> erase(const erase_filter& filter) = 0;
  /// Deletes at most about 10 000 analyses: those that are over, and the oldest whole ones beyond the limits. Those being
  /// computed are deleted 10 minutes after the end of their lease.
  [[nodiscard]] virtual result<erase_result> sweep(const store_limits& limits) = 0;
  /// Adds to the counters of the store.
  [[nodiscard]] virtual result<void> add_statistics(const statistics& additions) = 0;
  [[nodiscard]] virtual result<statistics> read_statistics() const = 0;
  [[nodiscard]] virtual result<store_info> read_info() const = 0;

  // Change events.

  /// Returns at most 1000 changes after the number `after_number`, by all processes. Waits for the first one at most `timeout`,
  /// or until `stop`. `after_number` 0: returns at once the last number, without changes.
  [[nodiscard]] virtual result<change_batch> changes_since(std::uint64_t after_number, milliseconds timeout,
                                                           const std::stop_token& stop) const = 0;
};

inline constexpr std::size_t max_claimant_bytes = 128;
inline constexpr std::size_t max_reason_bytes = 4096;  ///< Of the reason of a failure.

// Checks for stores. Errors: invalid_argument.
/// Checks sizes, and that texts are UTF-8 and, except for the prompt, one line: Redis stores lists of texts as lines.
[[nodiscard]] result<void> validate(const claim_parameters& parameters);
/// Like the function above, for an analysis to store. Errors: also response_too_large.
[[nodiscard]] result<void> validate(const put_parameters& parameters);
/// Checks that exactly one member other than `versions` is set.
[[nodiscard]] result<void> validate(const erase_filter& filter);
/// Checks that a lease is above 0 and at most one day.
[[nodiscard]] result<void> validate_lease(milliseconds lease_ttl);

// Errors of stores.
[[nodiscard]] tl::unexpected<failure> no_such_claim();             ///< access_denied: the ticket is invalid.
[[nodiscard]] tl::unexpected<failure> already_put();               ///< access_denied: the whole analysis is stored already.
[[nodiscard]] tl::unexpected<failure> question_mismatch();         ///< invalid_argument: not the claimed question.
[[nodiscard]] tl::unexpected<failure> too_many_claims();           ///< overloaded: `max_claims` is reached.
[[nodiscard]] tl::unexpected<failure> too_many_computing_bytes();  ///< overloaded: `max_computing_bytes` is reached.

/// Returns the beginning of a failure's reason as valid UTF-8 of at most `max_reason_bytes`.
[[nodiscard]] std::string truncate_reason(std::string_view reason);
/// Encodes the initial analysis of a claim, which has only the question, task, session and tags. Errors: response_too_large.
[[nodiscard]] result<put_parameters> prepare_claim(const claim_parameters& parameters);

}  // namespace hondana::analyses
