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
  /// Opens the cache; may block. Called at the first `get_cache`, and after a failure again, one second later at the earliest.
  std::function<result<std::shared_ptr<analyses::cache>>()> open_cache{};
  hondana::system_requirements requirements{};  ///< The folders and sockets of the store, for the sandbox.
  bool redact = true;                           ///< Masks secrets in resources and tool results.
  bool watch = true;                            ///< False: `context_watcher` runs no thread and watches no resources.
  /// Interval of the scans that check the versions of all resources in contexts.
  std::chrono::milliseconds check_interval{60'000};
  std::size_t max_watched = 8'000;              ///< Limit of watched resources. Only scans check further ones.
  std::size_t max_checked = 10'000;             ///< A scan pauses after this many resources. The next scan continues there.
  std::function<void(std::string_view)> log{};  ///< May be empty. Threads: any.
};

/// The state that the provider, its tools and its `context_watcher` share. Threads: any.
class provider_state {
 public:
  explicit provider_state(provider_options settings) : options(std::move(settings)) {}

  /// Returns the cache, and opens it if necessary, which may block. Errors: why it cannot be opened. For one second after a
  /// failure, each call returns the same error.
  [[nodiscard]] result<std::shared_ptr<analyses::cache>> get_cache();
  /// Returns why the cache cannot be opened, or `cache::problem`. Empty: no problem, or nothing has tried to open the cache
  /// yet. Does not block.
  [[nodiscard]] std::optional<failure> problem() const;
  /// Like `problem`, but only returns problems whose end a thread will notice. Empty: call `get_cache`.
  [[nodiscard]] std::optional<failure> monitored_problem() const;
  /// Sets whether a thread tries to open the cache until it succeeds.
  void set_monitored(bool is_monitored) { is_monitored_ = is_monitored; }
  /// Reports to the cache that a list was returned without analyses for this reason. Does nothing if the cache is not open.
  void report_omission(const failure& reason) const;

  /// Returns access to the server's other sources. Null: this source is not in a server.
  [[nodiscard]] std::shared_ptr<provider_host> host() const;
  /// Like `host`, but fails if a server has removed this source. Null: this source was never in a server, so contexts cannot be
  /// checked. Errors: source_unavailable.
  [[nodiscard]] result<std::shared_ptr<provider_host>> require_host() const;
  void set_host(std::shared_ptr<provider_host> host);

  /// Succeeds if the caller may read the resource with this entry. Errors: resource_not_found, insufficient_scope.
  [[nodiscard]] result<void> may_read(const caller_info& caller, const resource& entry) const;
  /// Whether the caller may see the entry in lists.
  [[nodiscard]] static bool may_see(const caller_info& caller, const resource& entry);

  /// Masks secrets in the title and the session, if `redact` is set. If the title was cut, also removes its last word, which
  /// may be the beginning of a secret.
  [[nodiscard]] analyses::analysis_summary mask_secrets(analyses::analysis_summary summary) const;
  /// Returns the JSON of the analysis, with secrets masked if `redact` is set.
  [[nodiscard]] std::string mask_secrets(const analyses::cache_entry& entry) const;

  /// Logs the line after the prefix "analyses: ".
  void log_line(std::string_view line) const {
    if (options.log) options.log("analyses: " + std::string(line));
  }

  const provider_options options;

 private:
  std::mutex open_mutex_;  // held while the cache is opened; lock before `mutex_`
  mutable std::mutex mutex_;
  std::shared_ptr<analyses::cache> cache_;
  std::optional<failure> problem_;  // why the cache cannot be opened
  std::string last_logged_;         // the problem that was logged last; empty: none since the cache was opened
  std::atomic<bool> is_monitored_ = false;
  std::chrono::steady_clock::time_point retry_at_{};  // `get_cache` tries to open the cache again from then on
  std::shared_ptr<provider_host> host_;
  bool had_host_ = false;
};

/// Returns the system's time, which can differ from the store's clock. For ages, and for staleness in lists.
[[nodiscard]] analyses::instant approximate_now();

}  // namespace hondana::analyses_source
