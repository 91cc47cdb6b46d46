/// Caches the summary of a log, and refreshes it on request or in the background.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include <hondana/provider.hpp>

#include "sources/logs/records/log.hpp"
#include "sources/logs/summary.hpp"

namespace hondana::logs {

struct summaries_options {
  records::instant look_back = 0;
  std::uint64_t scanned_bytes = 256u << 20;
  std::chrono::milliseconds time{2000};              ///< For one summary.
  std::chrono::milliseconds fresh_for{5000};         ///< So long one is given again, whatever has happened.
  std::chrono::milliseconds unchanged_for{60'000};   ///< And so long while the log is as it was.
  std::chrono::milliseconds between{30'000};         ///< Two that are made behind for lists.
  std::chrono::milliseconds between_changes{5'000};  ///< Two that are made behind while somebody listens to it.
  std::function<records::instant()> now{};           ///< Empty: the clock.
};

/// One thread, started when something is first to be done behind. Threads: any.
class summaries {
 public:
  /// What is told, by the thread or by who reads; must not block.
  struct listener {
    std::function<void()> summary_changed;
    std::function<void()> priority_changed;  ///< By `told_step` or more.
    std::function<void()> looked;            ///< See `look`.
  };
  static constexpr double told_step = 0.1;

  summaries(std::shared_ptr<records::log> of, summaries_options with, listener to);
  /// Ends the thread; leaves it behind when it is stuck for more than a second.
  ~summaries();
  summaries(const summaries&) = delete;
  summaries& operator=(const summaries&) = delete;

  /// As fresh as the options say; made by the caller's thread when there is none, one at a time. Errors: of `summarise`.
  [[nodiscard]] result<std::shared_ptr<const summary>> get(const call& by);
  /// Of the last summary that was made; has one made behind when there is none or it is old. Never blocks.
  [[nodiscard]] std::optional<double> priority();
  /// Somebody listens to the list, or to the summary; then it is made anew behind, when the log has changed.
  void attend(bool to_list, bool to_summary);
  /// The log has changed.
  void stir();
  /// Has what is wrong with the log found out behind, unless that was done just now. Never blocks.
  void look();

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::logs
