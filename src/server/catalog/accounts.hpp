/// What calls of sources are counted by, and traced as.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "base/counters/families.hpp"
#include "base/executor/known_costs.hpp"
#include "base/tracing/tracer.hpp"

namespace hondana::catalog {

/// What a source is asked for.
enum class doing : std::uint8_t { list, templates, read, describe, children, skills, find_skill, complete };

/// The kind of job that a request to a source is, see `executor::known_costs`. `target`: the URI, or what else is asked for.
/// Its query is ignored: a caller who asks for other words or lines each time is known as costly, too.
[[nodiscard]] inline executor::job_kind kind_of(doing operation, std::string_view target) noexcept {
  return executor::kind_of(static_cast<std::uint64_t>(operation), target.substr(0, target.find('?')));
}

/// The figures of one source.
struct source_figures {
  explicit source_figures(const std::string& name);
  void count(doing what, std::optional<errc> how) const;

  std::shared_ptr<counters::times> times;    ///< By what was asked for.
  std::shared_ptr<counters::sums> outcomes;  ///< By the same and how it ended.
};

/// One call of a source. It is counted once, however it ends. Threads: one at a time.
class asked_call {
 public:
  asked_call(std::shared_ptr<const source_figures> by, doing what, std::shared_ptr<tracing::live_span> span) noexcept
      : by_(std::move(by)), what_(what), span_(std::move(span)) {}
  ~asked_call() {
    if (!is_over_) end(errc::cancelled);
  }
  asked_call(const asked_call&) = delete;
  asked_call& operator=(const asked_call&) = delete;

  /// It runs from now on.
  void begin() noexcept { since_ = monotonic_clock::now(); }
  /// Nothing: it went well.
  void end(std::optional<errc> how);

 private:
  const std::shared_ptr<const source_figures> by_;
  const doing what_;
  const std::shared_ptr<tracing::live_span> span_;
  std::optional<std::chrono::steady_clock::time_point> since_;
  bool is_over_ = false;
};

/// Of one source. Threads: any.
class accounts {
 public:
  /// `is_mount`: its calls are requests to another server.
  accounts(std::string name, bool is_mount);

  /// From now on; null: no traces.
  void trace_by(std::shared_ptr<tracer> with);
  /// A call that `by` is about to be made for; where that is traced, `by` is then a part of the call's own span.
  [[nodiscard]] std::shared_ptr<asked_call> open(doing what, call& by) const;

 private:
  const std::string name_;
  const bool is_mount_;
  const std::shared_ptr<const source_figures> figures_;
  mutable std::mutex mutex_;  // of `tracer_`, which only calls that are a part of a trace look at
  std::shared_ptr<tracer> tracer_;
};

}  // namespace hondana::catalog
