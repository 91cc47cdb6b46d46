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

/// How long analyses of a task type are fresh, and which thresholds make them final.
struct analysis_task_options {
  std::chrono::milliseconds fresh_ttl{std::chrono::hours(1)};
  std::chrono::milliseconds stale_ttl{std::chrono::minutes(30)};  ///< How much longer they may be returned, marked as stale.
  double min_confidence = 0.7;                                    ///< Lowest confidence of the consensus, 0 to 1.
  double min_consensus = 0.6;                                     ///< Lowest mean agreement of the votes, 0 to 1.
  std::uint32_t min_providers = 2;                                ///< Lowest number of different providers that voted.
};

/// Where analyses are stored, and their rules.
struct analysis_cache_options {
  std::string path{};  ///< Absolute path of a file, which several processes can share. Empty: in memory.
  /// A Redis server instead of a file: `redis://user@host:port/0`, `rediss://…` for TLS, `unix://user@/path`; without a
  /// password.
  std::string redis_url{};
  std::string redis_password{};          ///< Empty: none.
  std::string redis_ca_file{};           ///< PEM file of certificates to trust instead of the system's.
  std::string redis_certificate_file{};  ///< PEM file of a client certificate. Empty: none.
  std::string redis_key_file{};          ///< PEM file of its key.
  std::string redis_prefix = "hondana";
  analysis_task_options basic{};
  analysis_task_options premium{std::chrono::hours(24), std::chrono::hours(6), 0.8, 0.7, 3};
  analysis_task_options critical{std::chrono::hours(24 * 7), std::chrono::milliseconds(0), 0.9, 0.8, 4};
  std::chrono::milliseconds failure_ttl{30'000};  ///< How long a failure is remembered. 0: not at all.
  std::chrono::milliseconds lease_ttl{120'000};   ///< Lease of a claim that requests none.
  std::uint64_t max_bytes = 1ull << 30;           ///< Size of all complete analyses. The oldest are evicted first.
  std::uint64_t max_entries = 10'000'000;         ///< Number of complete analyses, likewise.
  bool redact = true;                             ///< The source masks secrets in its contents.
  std::function<void(std::string_view)> log{};    ///< One line per noteworthy event; may be empty. Threads: any.
};

/// The question that an analysis answers. Equal questions are computed once; character width and white space of the prompt do
/// not count.
struct analysis_question {
  std::string prompt{};
  value options = value::object{};
  std::vector<std::string> models{};  ///< A set: order does not matter.
  struct resource_version {
    std::string uri{};      ///< URI of a resource.
    std::string version{};  ///< The version that was read. Empty: unknown.
  };
  std::vector<resource_version> context{};
};

/// The stored state of a question.
struct analysis_answer {
  enum class cache_status : std::uint8_t { fresh, stale, failed, computing, missing };
  cache_status status = cache_status::missing;
  std::string id{};      ///< Id of the analysis that was found or is being computed. Empty: none.
  value analysis{};      ///< The analysis object (docs/analyses.md). Null: none.
  std::string reason{};  ///< Reason of a failure.
  /// How long a failure is remembered, or the end of another caller's lease.
  std::chrono::sys_time<std::chrono::milliseconds> expires_at{};
};

/// A request to compute the answer of a question.
struct analysis_claim_request {
  analysis_question question{};
  std::string task = "basic";  ///< "basic", "premium" or "critical".
  std::string session{};
  std::vector<std::string> tags{};
  std::string program{};  ///< Name of the program that computes, for people.
  /// 0: `analysis_cache_options::lease_ttl`.
  std::chrono::milliseconds lease_ttl{0};
  std::chrono::milliseconds wait_timeout{0};  ///< How long to wait for another caller that computes it.
  bool is_forced = false;                     ///< Claims the question even if there is a fresh answer.
  std::stop_token stop{};
};

/// The outcome of a claim.
struct analysis_claim {
  /// Set: compute the answer, and `put` it with this ticket. Otherwise `answer` has the reason.
  std::optional<std::string> ticket{};
  std::chrono::sys_time<std::chrono::milliseconds> lease_expires_at{};  ///< The end of the lease.
  analysis_answer answer{};
};

/// The outcome of a `put`.
struct stored_analysis {
  std::string id{};
  std::string uri{};
  bool is_final = false;           ///< Equal questions get this analysis.
  std::string not_final_reason{};  ///< Why it is not final, for people.
};

/// Which analyses to delete. Exactly one member must be set.
struct analysis_selection {
  std::string id{};
  std::string session{};
  std::string tag{};
  std::string context{};  ///< Canonical URI of a resource in their contexts.
  bool everything = false;
};

/// The cache. Threads: any. Calls block on files and networks. Errors of all calls: source_unavailable with what to do, if the
/// store cannot be reached; invalid_argument, naming the wrong member.
class analysis_cache {
 public:
  /// Opens or creates the store.
  [[nodiscard]] static result<std::shared_ptr<analysis_cache>> open(const analysis_cache_options& cache_options);
  ~analysis_cache();
  analysis_cache(const analysis_cache&) = delete;
  analysis_cache& operator=(const analysis_cache&) = delete;

  /// Returns a ticket to compute the answer, or the state that makes this unnecessary. Among all callers that claim the same
  /// question, in all processes, one gets a ticket. Errors: also cancelled, and overloaded if too many callers wait.
  [[nodiscard]] result<analysis_claim> claim(const analysis_claim_request& request);
  /// Stores the whole analysis, which ends the claim. Without a ticket, the question is claimed for this call. Errors: also
  /// access_denied if the ticket is no longer valid, because another caller has the claim or the context changed. Without a
  /// ticket: overloaded, with `failure::retry_after`, while another caller has the claim. After an error, nothing was written.
  [[nodiscard]] result<stored_analysis> put(const std::string& ticket, const value& analysis);
  [[nodiscard]] result<stored_analysis> put(const value& analysis);
  /// Stores the state after a round, and extends the lease. Errors: as `put`.
  [[nodiscard]] result<void> put_partial(const std::string& ticket, const value& analysis);
  /// Ends the claim. The failure and `reason` are remembered for `analysis_cache_options::failure_ttl`; until then no caller
  /// gets a ticket. Errors: as `put`.
  [[nodiscard]] result<void> fail(const std::string& ticket, std::string_view reason);
  /// Ends the claim. The next caller gets a ticket at once. Errors: as `put`.
  [[nodiscard]] result<void> release_claim(const std::string& ticket);
  /// Looks up a question without a claim. A state of `missing` is not an error.
  [[nodiscard]] result<analysis_answer> get(const analysis_question& question, std::string_view task = "basic");
  /// Returns an analysis by id, also one that is below its thresholds or being computed; see its member `status`. Errors:
  /// resource_not_found.
  [[nodiscard]] result<value> get(const std::string& id);
  /// Deletes analyses and returns their number.
  [[nodiscard]] result<std::uint64_t> invalidate(const analysis_selection& selection);

  /// The source for `server::add`: resources under `wallbounce://`, and the tools analysis_claim, analysis_put, analysis_get
  /// and analysis_invalidate. In a server, it looks up and watches the versions of resources in contexts. Returns the same
  /// object each time.
  [[nodiscard]] std::shared_ptr<provider> source() const;

  struct state;
  explicit analysis_cache(std::unique_ptr<state> state) noexcept;

 private:
  std::unique_ptr<state> state_;
};

}  // namespace hondana::inline v0
