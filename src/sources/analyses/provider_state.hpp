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

struct provider_options {
  /// Opens the cache. Called when the first thing is asked of it, and after a failure again; never on a thread that must not
  /// block.
  std::function<result<std::shared_ptr<analyses::cache>>()> open{};
  hondana::needs needs{};
  bool redact = true;
  bool watch = true;
  std::chrono::milliseconds check_every{60'000};  ///< What analyses are based on, for changes that no source tells of.
  std::size_t most_watched = 8'000;               ///< Resources; what is beyond is only looked at.
  std::size_t most_checked = 10'000;              ///< At one look.
  std::function<void(std::string_view)> log{};    ///< May be empty.
};

/// Threads: any.
class ground {
 public:
  explicit ground(provider_options from) : how(std::move(from)) {}

  /// The cache, opened if need be. Errors: why it cannot be; asked again after a second.
  [[nodiscard]] result<std::shared_ptr<analyses::cache>> kept();
  /// Why it cannot be had, or why it hears nothing of its store; nothing: nobody has asked, or all is well. Does not block.
  [[nodiscard]] std::optional<failure> problem() const;
  /// The same where a thread sees when it is over, so that nobody else need ask until then.
  [[nodiscard]] std::optional<failure> watched_problem() const;
  /// Whether a thread asks for the cache again and again until there is one.
  void put_watched(bool is_watched) { is_watched_ = is_watched; }
  /// Somebody was given a list without analyses for this.
  void left_out(const failure& why) const;

  /// Null: the source is in no server.
  [[nodiscard]] std::shared_ptr<neighbourhood> where() const;
  /// The same, but where it has left its server nothing can be said of what analyses rest on. Null: it never was in one.
  /// Errors: source_unavailable.
  [[nodiscard]] result<std::shared_ptr<neighbourhood>> neighbours() const;
  void put_where(std::shared_ptr<neighbourhood> there);

  /// Whether the caller may read an entry of ours. Errors: resource_not_found, scope_missing.
  [[nodiscard]] result<void> may_read(const caller& who, const resource& entry) const;
  /// Whether it may know of it.
  [[nodiscard]] static bool may_see(const caller& who, const resource& entry);

  /// As a caller is shown it: without secrets in what is of the prompt and the session. Where a title was cut, what may be the
  /// front of one goes as well.
  [[nodiscard]] analyses::summary shown(analyses::summary of) const;
  /// Its JSON, without secrets, before anything is made of it.
  [[nodiscard]] std::string shown(const analyses::entry& of) const;

  void say(std::string_view line) const {
    if (how.log) how.log("analyses: " + std::string(line));
  }

  const provider_options how;

 private:
  std::mutex opening_;  // held while it is opened
  mutable std::mutex mutex_;
  std::shared_ptr<analyses::cache> kept_;
  std::optional<failure> problem_;
  std::string said_;  // of it, to the log
  std::atomic<bool> is_watched_ = false;
  std::chrono::steady_clock::time_point asked_again_{};
  std::shared_ptr<neighbourhood> where_;
  bool was_somewhere_ = false;
};

/// By the clock of this machine, for what need not be exact: ages, and what a list says of what is stale.
[[nodiscard]] analyses::instant about_now();

}  // namespace hondana::analyses_source
