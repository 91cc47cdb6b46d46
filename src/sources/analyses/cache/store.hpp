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

/// Sums of milliseconds stay here when they would be above.
inline constexpr std::uint64_t most_milliseconds = 9'000'000'000'000'000'000u;

/// Of one task type, since the store was made. Costs are what the analyses that were served had cost.
struct task_statistics {
  std::uint64_t hits = 0;        ///< Served fresh.
  std::uint64_t stale_hits = 0;  ///< Served and marked as stale.
  std::uint64_t misses = 0;      ///< Nothing that could be served.
  std::uint64_t failures = 0;    ///< Answered with a failure that is still remembered.
  std::uint64_t computed = 0;    ///< Analyses that were put whole.
  std::uint64_t below = 0;       ///< Of these, below their thresholds.
  double cost_saved = 0;
  double cost_spent = 0;  ///< Of those computed.
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

/// What is known of an analysis without its contents.
struct summary {
  std::string id{};
  key of{};
  status how = status::computing;
  task_type task = task_type::basic;
  std::string title{};    ///< The beginning of the prompt: one line of `longest_title` bytes at most.
  std::string session{};  ///< Empty: of none.
  instant created{};      ///< When it was claimed.
  instant changed{};      ///< When the last round, or the whole, was put.
  instant expires{};      ///< From then on it is stale;
  instant gone{};         ///< and from then on nobody is given it any more. Of what is computed, both are those of the claim.
  double confidence = 0;  ///< Of the consensus; 0: there is none yet.
  double agreement = 0;
  double cost = 0;
  milliseconds took{0};
  std::uint32_t rounds = 0;
  std::uint32_t providers = 0;
  std::uint64_t bytes = 0;    ///< Of the body.
  std::uint64_t version = 0;  ///< Changes with each put; never the same for two states of one analysis.

  bool operator==(const summary&) const = default;
};
inline constexpr std::size_t longest_title = 120;
inline constexpr std::size_t most_claims = 4096;  ///< Of a store, with those whose lease has just ended.
/// Bytes of all that is being computed in a store: beyond, only what is whole or has no more than a small body is taken.
inline constexpr std::size_t most_computing = 256u << 20;
inline constexpr std::size_t small_body = 64u << 10;
inline constexpr std::size_t most_question = 2u << 20;      ///< Bytes of JSON of what is claimed, with its session and tags.
inline constexpr std::size_t most_provider_names = 10'000;  ///< That are remembered; further ones are not completed.

/// One with its contents.
struct entry {
  summary about{};
  std::string body{};     ///< As `encode_body` made it.
  bool is_stale = false;  ///< By the store's clock at the time it was read.

  /// As `encode` gives it, with what the store knows.
  [[nodiscard]] std::string to_json() const;
};
/// The whole as a struct. Errors: internal: what is kept is none.
[[nodiscard]] result<analysis> analysis_of(const entry& what);

/// Who may write: the fencing token rises with each claim of a store, and only the one that was given out last for a key, and
/// whose lease has not ended, may write under it. Its secret makes a ticket one that cannot be guessed: ids stand in lists, and
/// whoever has a token knows those before and behind it.
struct ticket {
  std::string id{};  ///< Of the analysis that is computed.
  std::uint64_t token = 0;
  std::string secret{};  ///< 16 hexadecimal digits that stand beside the claim, and in nothing that is read.

  bool operator==(const ticket&) const = default;
};
/// "ID.TOKEN.SECRET", as a tool hands it out, and back. Errors: invalid_argument.
[[nodiscard]] std::string spelled(const ticket& what);
[[nodiscard]] result<ticket> ticket_spelled(std::string_view text);

/// What there is for a key.
struct answer {
  enum class kind : std::uint8_t {
    fresh,      ///< `found` is final and has not expired.
    stale,      ///< `found` is final and has expired, but may still be served, marked as stale. `claim` may be set, too.
                ///< Without one, and where it is fresh, `until` is set when computing it anew has failed a short while ago.
    failed,     ///< Computing it has failed a short while ago: `why`, until `until`.
    computing,  ///< Nothing to serve, and somebody computes it: `claim`.
    missing,    ///< Nothing to serve, and nobody computes it.
  };
  kind what = kind::missing;
  std::optional<entry> found{};
  std::string why{};
  instant until{};
  /// The claim on the key, where there is a live one.
  struct holder {
    std::string id{};  ///< Of the analysis that is computed.
    std::string who{};
    instant until{};  ///< The end of its lease.
  };
  std::optional<holder> claim{};
};

/// A claim that is wanted.
struct wish {
  question asked{};
  key of{};  ///< As `key_of(asked)`.
  task_type task = task_type::basic;
  std::string session{};
  std::vector<std::string> tags{};
  std::string who{};       ///< For people: who computes. At most 128 bytes.
  milliseconds lease{};    ///< Above 0.
  bool is_forced = false;  ///< Also where there is a fresh one, or a failure is remembered, which the claim ends.
  bool is_anew = false;    ///< Also where there is a fresh one, which does not do.
};
/// Either a ticket, or why there is none: a fresh answer, a remembered failure (beside what is stale, too), or a live claim of
/// somebody else.
struct claimed {
  std::optional<ticket> by{};
  instant until{};  ///< Of the lease.
  answer there{};   ///< What there was for the key. With a ticket `stale` or `missing`, where it was neither forced nor anew.
};

/// What is put under a claim.
struct putting {
  std::string body{};  ///< As `encode_body` made it.
  summary about{};     ///< What it says: status, task, title, session, confidence, agreement, cost, took, rounds, providers.
  std::vector<std::string> tags{};
  std::vector<basis> context{};
  std::vector<std::string> names{};  ///< Of its providers.
  milliseconds lease{};              ///< Of a part (`about.how` is `computing`): the lease ends no sooner than in so long.
  milliseconds fresh{};              ///< Of the whole: how long it is fresh,
  milliseconds stale{};              ///< and how much longer it may be served as stale.
};
/// Errors: response_too_large. `fresh`, `stale` and `lease` are the caller's to set.
[[nodiscard]] result<putting> prepare(const analysis& what, status how);

/// Which analyses are meant. All that is set must hold; nothing set: all.
struct selection {
  std::string session{};
  std::string tag{};
  std::optional<task_type> task{};
  std::string prompt{};  ///< Digest of a prompt, 32 bytes.
  std::string of{};      ///< Key, 32 bytes.
};
struct page {
  std::vector<summary> all{};  ///< In the order of their ids, which is newest first.
  bool is_last = true;
  std::string next{};  ///< Behind which id to ask next; `all` may be short, or empty, before the last page.
};

/// What is to be forgotten. Exactly one of these is set.
struct forgetting {
  std::string id{};
  std::string tag{};
  std::string session{};
  std::string of{};  ///< Key, 32 bytes.
  /// Those based on a version of this resource that is not among `versions`; the empty one stands for the
  /// unknown.
  std::string uri{};
  std::vector<std::string> versions{};
  bool everything = false;
};

/// What has happened to an analysis.
struct change {
  enum class kind : std::uint8_t {
    claimed,  ///< It began.
    part,     ///< A round has arrived.
    put,      ///< It is whole.
    failed,   ///< Computing it has failed, was given up, or its claim was taken over: it is gone.
    gone,     ///< It was invalidated or evicted.
  };
  std::uint64_t number = 0;  ///< Rising, from 2.
  kind what = kind::claimed;
  std::string id{};
  std::string of{};  ///< Its key, 32 bytes.
};
struct changes {
  std::vector<change> all{};
  std::uint64_t last = 0;   ///< Ask from here next.
  bool is_complete = true;  ///< False: some before are forgotten already, so that anything may have changed.
};

struct limits {
  std::uint64_t bytes = 1ull << 30;                 ///< Of the bodies of whole ones, of which the oldest go first.
  std::uint64_t entries = 10'000'000;               ///< Whole ones as well.
  milliseconds age = std::chrono::hours(24 * 365);  ///< Since it was claimed.
};

struct store_facts {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;   ///< Of bodies.
  std::uint64_t claims = 0;  ///< Live or not.
  std::string where{};       ///< For people; nothing secret.
  /// Of the stored, oldest and newest.
  std::optional<instant> oldest{}, newest{};
};

/// Keeps analyses. Whatever returns without an error is there after the process, or the store's, was killed at any moment, and
/// all of an operation is there or nothing. Times are the store's own clock: that of this machine, which is never seen to go
/// back (SQLite), or that of the server (Redis). Several processes may use one store at the same time.
///
/// Threads: any, several at once. Errors of all: source_unavailable, whose text says what to do (full, locked, slow, gone;
/// nothing is written then, but where the connection was lost meanwhile it may have been); timed_out. A call blocks for a few
/// seconds at most.
class store {
 public:
  store() = default;
  store(const store&) = delete;
  store& operator=(const store&) = delete;
  virtual ~store() = default;

  [[nodiscard]] virtual result<instant> now() const = 0;

  // Reading.

  /// What there is for a key. Nothing is counted.
  [[nodiscard]] virtual result<answer> look(const key& of) const = 0;
  /// Also of those that are computed, below their thresholds or stale; nothing: there is none, or it is over.
  [[nodiscard]] virtual result<std::optional<entry>> get(std::string_view id) const = 0;
  [[nodiscard]] virtual result<std::optional<summary>> about(std::string_view id) const = 0;
  /// At most `most` (1000) behind the id `after`, or from the newest on where it is empty; those that are over are left out.
  [[nodiscard]] virtual result<page> list(const selection& which, std::string_view after, std::size_t most) const = 0;
  /// Ids, sessions, providers or tags that begin so, in order; providers also of analyses that are gone.
  enum class naming : std::uint8_t { id, session, provider, tag };
  [[nodiscard]] virtual result<std::vector<std::string>> names(naming which, std::string_view prefix,
                                                               std::size_t most) const = 0;
  /// Where a list of those based on a resource goes on: behind a version of it, and an id. Both empty: at the beginning.
  struct place_in_based {
    std::string version{};
    std::string id{};
  };
  struct based_page {
    std::vector<summary> all{};  ///< By version, and the newest of each first.
    bool is_last = true;
    place_in_based next{};  ///< `all` may be short, or empty, before the last page.
  };
  /// Analyses based on any version of a resource, at most `most` (1000), also those that are over. It costs as much as there
  /// are.
  [[nodiscard]] virtual result<based_page> based_on(std::string_view uri, const place_in_based& after,
                                                    std::size_t most) const = 0;
  /// Resources that analyses are based on, with the versions: those whose URI follows `after`, in order.
  [[nodiscard]] virtual result<std::vector<basis>> bases(std::string_view after, std::size_t most) const = 0;

  // Computing. Errors of those with a ticket: access_denied where it is not the last for its key, its secret is another,
  // its lease has ended and somebody else has claimed, it was put, failed or given up already, or what it is based on was
  // invalidated: nothing is written. A lease that has ended and that nobody else has taken is as good as a live one.

  /// Errors besides: overloaded: `most_claims` are computed at the same time, or `most_computing`; invalid_argument: beyond
  /// `most_question`.
  [[nodiscard]] virtual result<claimed> claim(const wish& what) = 0;
  /// The lease ends no sooner than in so long, and no sooner than before. Its end.
  [[nodiscard]] virtual result<instant> renew(const ticket& by, milliseconds lease) = 0;
  /// A part, which renews the lease, or the whole, which ends the claim and takes the place of what was put for the key before,
  /// which is gone then; what is below its thresholds takes that of what was below only. What it is based on must be what was
  /// claimed. Returns what is stored. Errors besides: overloaded: a part, and `most_computing` are there.
  [[nodiscard]] virtual result<summary> put(const ticket& by, const putting& what) = 0;
  /// Ends the claim; the failure is remembered for so long (0: not at all). What had arrived is gone.
  [[nodiscard]] virtual result<void> fail(const ticket& by, std::string_view why, milliseconds remembered) = 0;

  // Keeping.

  /// Forgets analyses, and takes the claims of those that are computed. At most 10 000 at a time: `is_last` false: ask again.
  struct forgotten {
    std::uint64_t count = 0;
    bool is_last = true;
  };
  [[nodiscard]] virtual result<forgotten> forget(const forgetting& which) = 0;
  /// Forgets what is over, and the oldest beyond the limits. At most 10 000 at a time, as `forget`.
  [[nodiscard]] virtual result<forgotten> sweep(const limits& within) = 0;
  [[nodiscard]] virtual result<void> count(const statistics& more) = 0;
  [[nodiscard]] virtual result<statistics> counted() const = 0;
  [[nodiscard]] virtual result<store_facts> facts() const = 0;

  // Listening.

  /// What has happened behind `after`, by whichever process; 0: nothing, but where to ask from. At most 1000. Waits for the
  /// first for as long as `wait`, or until `stop`.
  [[nodiscard]] virtual result<changes> changes_since(std::uint64_t after, milliseconds wait,
                                                      const std::stop_token& stop) const = 0;
};

inline constexpr std::size_t longest_who = 128;
inline constexpr std::size_t longest_reason = 4096;

/// That nothing is written of what could not be read again, or would fall apart on the way to a store. Errors:
/// invalid_argument.
[[nodiscard]] result<void> check(const wish& what);
[[nodiscard]] result<void> check(const putting& what);
[[nodiscard]] result<void> check(const forgetting& what);
[[nodiscard]] result<void> check_lease(milliseconds lease);

[[nodiscard]] tl::unexpected<failure> no_such_claim();
[[nodiscard]] tl::unexpected<failure> already_put();
[[nodiscard]] tl::unexpected<failure> another_question();
[[nodiscard]] tl::unexpected<failure> too_many_claims();
/// `most_computing` are reached.
[[nodiscard]] tl::unexpected<failure> too_much_computed();

/// Of a failure: what is kept, in whole characters of well-formed UTF-8.
[[nodiscard]] std::string kept_reason(std::string_view why);
/// What stands in the place of an analysis that was only claimed: the question.
[[nodiscard]] result<putting> prepared_for(const wish& what);

}  // namespace hondana::analyses
