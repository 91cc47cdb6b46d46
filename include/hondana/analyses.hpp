/// A cache of analyses that several language models agreed on (Wall-Bounce), for an application and its server
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

/// How long analyses of a task type are kept, and what they have to reach to be final.
struct analysis_task_options {
  std::chrono::milliseconds fresh{std::chrono::hours(1)};
  std::chrono::milliseconds stale{std::chrono::minutes(30)};  ///< How much longer they may be served, marked as stale.
  double confidence = 0.7;                                    ///< Of the consensus, 0 to 1.
  double consensus = 0.6;                                     ///< Mean agreement of the votes, 0 to 1.
  std::uint32_t providers = 2;                                ///< Different ones that have voted.
};

/// Where analyses are kept, and by which rules.
struct analysis_cache_options {
  std::string path{};  ///< An absolute path of a file, which several processes may share. Empty: in memory.
  /// Instead of a file: `redis://user@host:port/0`, `rediss://…` for TLS, `unix://user@/path`; no password.
  std::string redis{};
  std::string redis_password{};     ///< Empty: none.
  std::string redis_authorities{};  ///< A PEM file to trust instead of the system's.
  std::string redis_certificate{};  ///< Of this client, a PEM file; empty: none.
  std::string redis_key{};          ///< Its key.
  std::string redis_prefix = "hondana";
  analysis_task_options basic{};
  analysis_task_options premium{std::chrono::hours(24), std::chrono::hours(6), 0.8, 0.7, 3};
  analysis_task_options critical{std::chrono::hours(24 * 7), std::chrono::milliseconds(0), 0.9, 0.8, 4};
  std::chrono::milliseconds failures{30'000};   ///< How long a failure is remembered; 0: not at all.
  std::chrono::milliseconds lease{120'000};     ///< Of a claim that asks for none.
  std::uint64_t most_bytes = 1ull << 30;        ///< Of whole analyses together; the oldest go first.
  std::uint64_t most_entries = 10'000'000;      ///< The same.
  bool redact = true;                           ///< The source masks secrets in what it serves.
  std::function<void(std::string_view)> log{};  ///< One line a noteworthy event; may be empty. Threads: any.
};

/// What an analysis answers. Equal ones, but for width and white space of the prompt, are computed once.
struct analysis_question {
  std::string prompt{};
  value options = value::object{};
  std::vector<std::string> models{};  ///< A set.
  struct basis {
    std::string uri{};      ///< Of a resource.
    std::string version{};  ///< As it was when it was read; empty: unknown.
  };
  std::vector<basis> context{};
};

/// What there is for a question.
struct analysis_answer {
  enum class kind : std::uint8_t { fresh, stale, failed, computing, missing };
  kind what = kind::missing;
  std::string id{};                                          ///< Of what was found, or is being computed; empty: none.
  value analysis{};                                          ///< docs/analyses.md has its members; null: none.
  std::string why{};                                         ///< Of a failure.
  std::chrono::sys_time<std::chrono::milliseconds> until{};  ///< Of a failure and of somebody's claim.
};

struct analysis_claim_request {
  analysis_question asked{};
  std::string task = "basic";  ///< Or "premium" or "critical".
  std::string session{};
  std::vector<std::string> tags{};
  std::string who{};  ///< Who computes, for people.
  std::chrono::milliseconds lease{0};
  std::chrono::milliseconds wait{0};  ///< For somebody else who computes it.
  bool is_forced = false;             ///< Also where there is a fresh one.
  std::stop_token stop{};
};

struct analysis_claim {
  std::optional<std::string> ticket{};  ///< Set: compute it, and put it with this. Else `there` says why not.
  std::chrono::sys_time<std::chrono::milliseconds> until{};  ///< The end of the lease.
  analysis_answer there{};
};

/// What was kept.
struct analysis_kept {
  std::string id{};
  std::string uri{};
  bool is_final = false;  ///< It is served to who asks the same.
  std::string why_not{};  ///< For people.
};

/// What is to be forgotten: exactly one of these.
struct analysis_selection {
  std::string id{};
  std::string session{};
  std::string tag{};
  std::string context{};  ///< A canonical URI.
  bool everything = false;
};

/// Threads: any; calls block as files and networks do. Errors of all: source_unavailable for a store that cannot be had, saying
/// what to do; invalid_argument, naming the member that is wrong.
class analysis_cache {
 public:
  /// Opens or makes it.
  [[nodiscard]] static result<std::shared_ptr<analysis_cache>> open(const analysis_cache_options& from);
  ~analysis_cache();
  analysis_cache(const analysis_cache&) = delete;
  analysis_cache& operator=(const analysis_cache&) = delete;

  /// A ticket to compute it, or what makes that unnecessary: of all who claim the same at a time, in all processes, one gets
  /// one. Errors: also cancelled; overloaded where too many wait.
  [[nodiscard]] result<analysis_claim> claim(const analysis_claim_request& what);
  /// The whole, which ends the claim; without a ticket it is claimed and put in one. Errors: also access_denied where somebody
  /// else has the claim by now, or what it is based on has changed: nothing is written then.
  [[nodiscard]] result<analysis_kept> put(const std::string& ticket, const value& analysis);
  [[nodiscard]] result<analysis_kept> put(const value& analysis);
  /// What there is after a round, which keeps the lease going.
  [[nodiscard]] result<void> put_part(const std::string& ticket, const value& so_far);
  /// Computing it has failed: for a while nobody tries again.
  [[nodiscard]] result<void> fail(const std::string& ticket, std::string_view why);
  /// The next may have the claim at once.
  [[nodiscard]] result<void> give_up(const std::string& ticket);
  [[nodiscard]] result<analysis_answer> get(const analysis_question& asked, std::string_view task = "basic");
  /// By its id: also one below its thresholds, or being computed, which its member `status` says. Errors: resource_not_found.
  [[nodiscard]] result<value> get(const std::string& id);
  /// How many there were.
  [[nodiscard]] result<std::uint64_t> invalidate(const analysis_selection& which);

  /// A source for `server::add`: resources under `wallbounce://` and the tools analysis_claim, analysis_put, analysis_get and
  /// analysis_invalidate. In a server the versions of what analyses are based on are asked for, and watched. Always the same.
  [[nodiscard]] std::shared_ptr<provider> source() const;

  struct state;
  explicit analysis_cache(std::unique_ptr<state> made) noexcept;

 private:
  std::unique_ptr<state> state_;
};

}  // namespace hondana::inline v0
