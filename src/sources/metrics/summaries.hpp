/// Makes summaries in the background.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include <hondana/clock.hpp>
#include <hondana/provider.hpp>

#include "sources/metrics/backend.hpp"
#include "sources/metrics/summary.hpp"

namespace hondana::metrics {

/// One thread, from the first wish on. A round is made at most once every `every`, however many wish for one, and three seconds
/// after one that the source did not answer. Threads: any.
class summaries {
 public:
  struct listener {
    std::function<void()> made{};   ///< A new summary is there.
    std::function<void()> moved{};  ///< Its score is 0.1 or more away from the last one that was told so.
  };

  summaries(summary_options how, std::shared_ptr<backend> from, std::chrono::milliseconds every,
            std::function<series::instant()> now, listener told);
  ~summaries();
  summaries(const summaries&) = delete;
  summaries& operator=(const summaries&) = delete;

  /// One is wanted, if the last is old enough. Does not wait.
  void want();
  /// The last one if it is not older than `every`, and otherwise the next one, as far as the call's deadline goes; then the
  /// last one, if there is any. Errors: of the source, at once where its last round has failed shortly before; timed_out;
  /// cancelled.
  [[nodiscard]] result<std::shared_ptr<const summary>> get(const call& by);
  /// The last one; null: none was made yet.
  [[nodiscard]] std::shared_ptr<const summary> last() const;

 private:
  using clock = monotonic_clock;
  void run(const std::stop_token& stop);
  /// When another round may be made, after one that was. Holding the lock.
  [[nodiscard]] clock::time_point next() const;

  const std::shared_ptr<backend> from_;
  const std::chrono::milliseconds every_;
  const std::function<series::instant()> now_;
  const listener told_;
  surveyor surveyor_;

  mutable std::mutex mutex_;
  std::condition_variable_any news_;
  std::shared_ptr<const summary> last_;
  std::optional<failure> problem_;
  std::optional<clock::time_point> made_;
  std::optional<double> told_score_;
  std::uint64_t rounds_ = 0;
  bool is_wanted_ = false;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace hondana::metrics
