/// Jobs that wait, by whose they are.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "work/pool.hpp"

namespace hondana::work {

struct waiting_job {
  task job;
  clock::time_point deadline;
  clock::time_point since{};  ///< It waits.
};

/// Callers have turns, one job each; jobs of one caller keep their order. Threads: one at a time.
class callers {
 public:
  /// One caller's jobs. Stays where it is while it has some that wait or run.
  struct line {
    std::string_view who{};  // its key
    std::list<waiting_job> jobs{};
    std::size_t running = 0;
  };

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t waiting(std::string_view who) const;
  /// Callers known of, for tests and figures.
  [[nodiscard]] std::size_t known() const noexcept { return lines_.size(); }
  void put(std::string_view who, waiting_job what);
  /// Whether there is a job that may run while a named caller may have `running_each` at once.
  [[nodiscard]] bool has_next(std::size_t running_each);
  /// Takes it, and counts it as running until `done`. Call only when there is one.
  [[nodiscard]] std::pair<waiting_job, line*> take(std::size_t running_each);
  void done(line* whose);
  /// Gives out all that wait.
  [[nodiscard]] std::list<waiting_job> clear();

 private:
  using lines = std::map<std::string, line, std::less<>>;
  [[nodiscard]] std::list<line*>::iterator next_turn(std::size_t running_each);

  lines lines_;
  std::list<line*> turns_;  // of those with jobs that wait
  std::size_t size_ = 0;
};

}  // namespace hondana::work
