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
#include <hondana/neighbourhood.hpp>
#include <hondana/provider.hpp>

#include "sources/analyses/cache/cache.hpp"

namespace hondana::analyses_source {

/// Settings and dependencies of the provider.
struct provider_options {
  /// Opens the cache. Called on first use, and again after a failure; never on a thread that must not block.
  std::function<result<std::shared_ptr<analyses::cache>>()> open{};
  hondana::needs needs{};
  bool redact = true;
  bool watch = true;
  /// Interval of checks of contexts, for changes that a source does not notify.
  std::chrono::milliseconds check_every{60'000};
  /// Resources with a subscription; further ones are only checked at intervals.
  std::size_t most_watched = 8'000;
  std::size_t most_checked = 10'000;            ///< Per check.
  std::function<void(std::string_view)> log{};  ///< May be empty.
};

/// The shared state. Threads: any.
class ground {
 public:
  explicit ground(provider_options from) : how(std::move(from)) {}

  /// Returns the cache, and opens it if necessary. Errors: why it cannot be opened; retried after one second.
  [[nodiscard]] result<std::shared_ptr<analyses::cache>> kept();
  /// Why the cache is unavailable, or why it receives no changes of its store. Empty: all is well, or it was never used. Does
  /// not block.
  [[nodiscard]] std::optional<failure> problem() const;
  /// The same, if a thread checks when the problem ends, so that callers need not retry until then.
  [[nodiscard]] std::optional<failure> watched_problem() const;
  /// Whether a thread tries to open the cache until it succeeds.
  void put_watched(bool is_watched) { is_watched_ = is_watched; }
  /// Records that a list was returned without analyses for this reason.
  void left_out(const failure& why) const;

  /// Null: the source is not in a server.
  [[nodiscard]] std::shared_ptr<neighbourhood> where() const;
  /// The same, with an error if the source has been removed from its server, since contexts cannot be checked then. Null: it
  /// never was in one. Errors: source_unavailable.
  [[nodiscard]] result<std::shared_ptr<neighbourhood>> neighbours() const;
  void put_where(std::shared_ptr<neighbourhood> there);

  /// Whether the caller may read an entry of this source. Errors: resource_not_found, scope_missing.
  [[nodiscard]] result<void> may_read(const caller& who, const resource& entry) const;
  /// Whether the caller may see an entry.
  [[nodiscard]] static bool may_see(const caller& who, const resource& entry);

  /// Masks secrets in the title and the session. If the title was cut, also removes its last word, which may be the beginning
  /// of a secret.
  [[nodiscard]] analyses::summary shown(analyses::summary of) const;
  /// The JSON of an analysis with secrets masked.
  [[nodiscard]] std::string shown(const analyses::entry& of) const;

  void say(std::string_view line) const {
    if (how.log) how.log("analyses: " + std::string(line));
  }

  const provider_options how;

 private:
  std::mutex opening_;  // held while the cache is opened
  mutable std::mutex mutex_;
  std::shared_ptr<analyses::cache> kept_;
  std::optional<failure> problem_;
  std::string said_;  // the last problem that was logged
  std::atomic<bool> is_watched_ = false;
  std::chrono::steady_clock::time_point asked_again_{};
  std::shared_ptr<neighbourhood> where_;
  bool was_somewhere_ = false;
};

/// This machine's time, for uses that need not be exact: ages, and staleness in lists.
[[nodiscard]] analyses::instant about_now();

}  // namespace hondana::analyses_source
