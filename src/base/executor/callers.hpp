/// Jobs that wait, by whose they are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/executor/pool.hpp"

namespace hondana::executor {

/// Whether a job is known to keep a processor busy for long.
enum class job_cost : std::uint8_t { small, large };

struct waiting_job {
  task job;
  clock::time_point deadline;
  clock::time_point since{};  ///< It waits.
  job_kind kind = 0;
  job_cost cost = job_cost::small;
};

/// Callers have turns, one job each; jobs of one caller and cost keep their order. Threads: one at a time.
class callers {
 public:
  /// One caller's jobs. Stays where it is while it has some that wait or run.
  struct line {
    std::string_view who{};                        // its key
    std::array<std::list<waiting_job>, 2> jobs{};  // by cost
    std::size_t running = 0;
  };

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t waiting(std::string_view who) const;
  /// Callers known of, for tests and figures.
  [[nodiscard]] std::size_t known() const noexcept { return lines_.size(); }
  void put(std::string_view who, waiting_job what);
  /// Whether there is a job of that cost that may run while a named caller may have `running_each` at once.
  [[nodiscard]] bool has_next(job_cost cost, std::size_t running_each);
  /// Takes it, and counts it as running until `done`. Call only when there is one.
  [[nodiscard]] std::pair<waiting_job, line*> take(job_cost cost, std::size_t running_each);
  void done(line* whose);
  /// Gives out all that wait.
  [[nodiscard]] std::list<waiting_job> clear();

 private:
  using lines = std::map<std::string, line, std::less<>>;
  [[nodiscard]] std::list<line*>::iterator next_turn(job_cost cost, std::size_t running_each);

  lines lines_;
  std::array<std::list<line*>, 2> turns_;  // of those with jobs of a cost that wait
  std::size_t size_ = 0;
};

}  // namespace hondana::executor
