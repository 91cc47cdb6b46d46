/// State shared by all parts of the analyses provider: the cache, opened on first use, and access checks.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/provider_host.hpp>

#include "sources/analyses/cache/cache.hpp"

namespace hondana::analyses_source {

/// Settings and dependencies of the provider.
struct provider_options {
  /// Opens the cache. Called on first use, and again after a failure; never on a thread that must not block.
  std::function<result<std::shared_ptr<analyses::cache>>()> open_cache{};
  hondana::system_requirements requirements{};
  bool redact = true;
  bool watch = true;
  /// Interval of checks of contexts, for changes that a source does not notify.
  std::chrono::milliseconds check_interval{60'000};
  /// Resources with a subscription; further ones are only checked at intervals.
  std::size_t max_watched = 8'000;
  std::size_t max_checked = 10'000;             ///< Per check.
  std::function<void(std::string_view)> log{};  ///< May be empty.
};

/// The shared state. Threads: any.
class provider_state {
 public:
  explicit provider_state(provider_options settings) : options(std::move(settings)) {}

  /// Returns the cache, and opens it if necessary. Errors: why it cannot be opened; retried after one second.
  [[nodiscard]] result<std::shared_ptr<analyses::cache>> get_cache();
  /// Why the cache is unavailable, or why it receives no changes of its store. Empty: all is well, or it was never used. Does
  /// not block.
  [[nodiscard]] std::optional<failure> problem() const;
  /// The same, if a thread checks when the problem ends, so that callers need not retry until then.
  [[nodiscard]] std::optional<failure> monitored_problem() const;
  /// Whether a thread tries to open the cache until it succeeds.
  void set_monitored(bool is_monitored) { is_monitored_ = is_monitored; }
  /// Records that a list was returned without analyses for this reason.
  void report_omission(const failure& reason) const;

  /// Null: the source is not in a server.
  [[nodiscard]] std::shared_ptr<provider_host> host() const;
  /// The same, with an error if the source has been removed from its server, since contexts cannot be checked then. Null: it
  /// never was in one. Errors: source_unavailable.
  [[nodiscard]] result<std::shared_ptr<provider_host>> require_host() const;
  void set_host(std::shared_ptr<provider_host> host);

  /// Whether the caller may read an entry of this source. Errors: resource_not_found, insufficient_scope.
  [[nodiscard]] result<void> may_read(const caller_info& caller, const resource& entry) const;
  /// Whether the caller may see an entry.
  [[nodiscard]] static bool may_see(const caller_info& caller, const resource& entry);

  /// Masks secrets in the title and the session. If the title was cut, also removes its last word, which may be the beginning
  /// of a secret.
  [[nodiscard]] analyses::analysis_summary mask_secrets(analyses::analysis_summary summary) const;
  /// The JSON of an analysis with secrets masked.
  [[nodiscard]] std::string mask_secrets(const analyses::cache_entry& entry) const;

  void log_line(std::string_view line) const {
    if (options.log) options.log("analyses: " + std::string(line));
  }

  const provider_options options;

 private:
  std::mutex open_mutex_;  // held while the cache is opened
  mutable std::mutex mutex_;
  std::shared_ptr<analyses::cache> cache_;
  std::optional<failure> problem_;
  std::string last_logged_;  // the last problem that was logged
  std::atomic<bool> is_monitored_ = false;
  std::chrono::steady_clock::time_point retry_at_{};
  std::shared_ptr<provider_host> host_;
  bool had_host_ = false;
};

/// This machine's time, for uses that need not be exact: ages, and staleness in lists.
[[nodiscard]] analyses::instant approximate_now();

}  // namespace hondana::analyses_source
