/// A cache of Wall-Bounce analyses: answers that several language models agreed on. For an application and its server
/// (docs/analyses.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/value.hpp>

namespace hondana::inline v0 {

/// How long analyses of a task type are fresh, and the thresholds that they must reach to be final. Only final analyses are
/// returned as answers.
struct analysis_task_options {
  std::chrono::milliseconds fresh_ttl{std::chrono::hours(1)};     ///< How long they are fresh after they were stored.
  std::chrono::milliseconds stale_ttl{std::chrono::minutes(30)};  ///< How much longer they may be returned, marked as stale.
  double min_confidence = 0.7;                                    ///< Lowest confidence of the consensus, 0 to 1.
  double min_consensus = 0.6;                                     ///< Lowest mean agreement of the votes, 0 to 1.
  std::uint32_t min_providers = 2;                                ///< Lowest number of different providers that voted.
};

/// Where analyses are stored, and their rules.
struct analysis_cache_options {
  /// Absolute path of a file, which several processes can share. nullopt: `redis_url`, or in memory.
  std::optional<std::string> path{};
  /// A Redis server instead of a file: `redis://user@host:port/0`, `rediss://…` for TLS, `unix://user@/path`; without a
  /// password.
  std::optional<std::string> redis_url{};
  std::optional<std::string> redis_password{};
  std::optional<std::string> redis_ca_file{};           ///< PEM file of certificates to trust instead of the system's.
  std::optional<std::string> redis_certificate_file{};  ///< PEM file of a client certificate.
  std::optional<std::string> redis_key_file{};          ///< PEM file of the key of `redis_certificate_file`.
  std::string redis_prefix = "hondana";                 ///< Prefix of all keys in Redis.
  analysis_task_options basic{};
  analysis_task_options premium{std::chrono::hours(24), std::chrono::hours(6), 0.8, 0.7, 3};
  analysis_task_options critical{std::chrono::hours(24 * 7), std::chrono::milliseconds(0), 0.9, 0.8, 4};
  std::chrono::milliseconds failure_ttl{30'000};  ///< How long a failure is remembered.
  std::chrono::milliseconds lease_ttl{120'000};   ///< Lease of a claim that requests none.
  std::uint64_t max_bytes = 1ull << 30;           ///< Size of all complete analyses, at least 1 MiB. The oldest are evicted.
  std::uint64_t max_entries = 10'000'000;         ///< Number of complete analyses. The oldest are evicted.
  bool redact = true;                             ///< `source` masks secrets. `get` and `claim` return the original text.
  std::function<void(std::string_view)> log{};    ///< One line per noteworthy event; may be empty. Threads: any.
};

/// The question that an analysis answers. Questions with equal members are the same. Prompts are compared after NFKC
/// normalization, and each run of white space counts as one space.
struct analysis_question {
  std::string prompt{};
  value options = value::object{};    ///< An object: everything else that the answer depends on.
  std::vector<std::string> models{};  ///< A set: order and repetitions do not matter.
  struct resource_version {
    std::string uri{};
    std::optional<std::string> version{};  ///< The version that was read. nullopt: unknown.
  };
  std::vector<resource_version> context{};  ///< The resources that the answer is based on.
};

/// What the cache has for a question.
struct analysis_answer {
  enum class cache_status : std::uint8_t {
    fresh,
    stale,      ///< `analysis` is older than its `fresh_ttl`, but may be used.
    failed,     ///< No analysis; a computation has failed, and the failure is remembered.
    computing,  ///< No analysis; a caller has a claim.
    missing     ///< No analysis, claim or failure.
  };
  cache_status status = cache_status::missing;
  std::optional<std::string> id{};  ///< Id of the analysis that was found or is being computed.
  std::optional<value> analysis{};  ///< With `fresh` and `stale`: the analysis object (docs/analyses.md).
  std::string reason{};             ///< With `failed`: why the computation failed, for people.
  /// With `failed`: when the failure is forgotten. With `computing`: when the claim's lease ends.
  std::optional<std::chrono::sys_time<std::chrono::milliseconds>> expires_at{};
};

/// A request to compute the answer of a question.
struct analysis_claim_request {
  analysis_question question{};
  std::string task = "basic";  ///< "basic", "premium" or "critical".
  std::string session{};
  std::vector<std::string> tags{};
  std::string program{};  ///< Name of the program that computes, for people.
  /// The lease: how long the claim excludes other callers, at most an hour. nullopt: `analysis_cache_options::lease_ttl`.
  std::optional<std::chrono::milliseconds> lease_ttl{};
  /// How long to wait while another caller computes an answer that is missing.
  std::chrono::milliseconds wait_timeout{0};
  /// Get a ticket despite a fresh answer or a remembered failure; not while another caller has a claim.
  bool is_forced = false;
  std::stop_token stop{};  ///< Ends the wait.
};

/// The outcome of a claim.
struct analysis_claim {
  /// Set: compute the answer, and `put` it with this ticket. nullopt: `answer` says why that is not necessary.
  std::optional<std::string> ticket{};
  std::optional<std::chrono::sys_time<std::chrono::milliseconds>> lease_expires_at{};  ///< With a ticket: the end of its lease.
  analysis_answer answer{};  ///< With a ticket: `missing`, or a `stale` analysis to use meanwhile.
};

/// The outcome of a `put`.
struct stored_analysis {
  std::string id{};
  std::string uri{};
  bool is_final = false;           ///< It reached all thresholds, so it is returned as the answer of its question.
  std::string not_final_reason{};  ///< Which threshold it did not reach, for people.
};

/// Which analyses to delete. Exactly one member must be set.
struct analysis_selection {
  std::optional<std::string> id{};
  std::optional<std::string> session{};
  std::optional<std::string> tag{};
  std::optional<std::string> context{};  ///< Canonical URI of a resource that the analyses are based on.
  bool everything = false;
};

/// The cache. Threads: any. Calls block on files and networks. Errors of all calls: source_unavailable and timed_out if the
/// store cannot be used; invalid_argument, with the name of the invalid member.
class analysis_cache {
 public:
  /// Opens or creates the store.
  [[nodiscard]] static result<std::shared_ptr<analysis_cache>> open(const analysis_cache_options& cache_options);
  ~analysis_cache();
  analysis_cache(const analysis_cache&) = delete;
  analysis_cache& operator=(const analysis_cache&) = delete;

  /// Claims a question: returns a ticket to compute the answer, or the state that makes this unnecessary. At most one caller
  /// has the ticket for a question, in all processes that share the store. Errors: also cancelled, and overloaded if too many
  /// callers wait or compute.
  [[nodiscard]] result<analysis_claim> claim(const analysis_claim_request& request);
  /// Stores the whole analysis (docs/analyses.md), and ends the claim. Errors: also access_denied if the ticket is no longer
  /// valid, because another caller has the claim or a resource in the context changed.
  [[nodiscard]] result<stored_analysis> put(const std::string& ticket, const value& analysis);
  /// Claims the question of `analysis`, and stores the whole analysis. Replaces a fresh one. Errors: also overloaded, with
  /// `failure::retry_after`, while another caller has the claim.
  [[nodiscard]] result<stored_analysis> put(const value& analysis);
  /// Stores the state after a round. The lease then lasts `analysis_cache_options::lease_ttl` from now. Errors: as `put` with a
  /// ticket; also overloaded.
  [[nodiscard]] result<void> put_partial(const std::string& ticket, const value& analysis);
  /// Ends the claim, and remembers the failure and its `reason` for `analysis_cache_options::failure_ttl`. Until then, only
  /// forced claims get a ticket. Errors: as `put` with a ticket.
  [[nodiscard]] result<void> fail(const std::string& ticket, std::string_view reason);
  /// Ends the claim. The next caller gets a ticket at once. Errors: as `put` with a ticket.
  [[nodiscard]] result<void> release_claim(const std::string& ticket);
  /// Looks up a question without a claim. An analysis below the thresholds of `task` counts as missing.
  [[nodiscard]] result<analysis_answer> get(const analysis_question& question, std::string_view task = "basic");
  /// Returns the analysis object with this id, also if it is below its thresholds or being computed; see its member `status`.
  /// Errors: also resource_not_found.
  [[nodiscard]] result<value> get(const std::string& id);
  /// Deletes analyses, also those being computed, whose tickets become invalid. Returns how many were deleted.
  [[nodiscard]] result<std::uint64_t> invalidate(const analysis_selection& selection);

  /// The source for `server::add`: resources under `wallbounce://`, and the tools analysis_claim, analysis_put, analysis_get
  /// and analysis_invalidate. It looks up and watches the versions of resources in contexts, by the server that it is added to.
  /// Always the same object.
  [[nodiscard]] std::shared_ptr<provider> source() const;

  struct state;
  explicit analysis_cache(std::unique_ptr<state> state) noexcept;

 private:
  std::unique_ptr<state> state_;
};

}  // namespace hondana::inline v0
