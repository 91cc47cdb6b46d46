/// The cache from inside: its thread, who waits, and who listens.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sources/analyses/cache/cache.hpp"

namespace hondana::analyses {

struct cache::state {
  state(std::shared_ptr<store> from, cache_options how) : in(std::move(from)), options(std::move(how)) {}

  const std::shared_ptr<store> in;
  const cache_options options;
  std::atomic<std::uint64_t> generation{1};

  mutable std::mutex counting{};
  statistics uncounted{};       ///< What the store has not been told yet.
  std::uint64_t bytes_put = 0;  ///< Since the last sweep.
  void add(task_type task, const std::function<void(task_statistics&)>& what);

  /// Those who wait for the end of a computation, by its key.
  struct crowd {
    std::size_t members = 0;
    std::uint64_t news = 0;
  };
  std::mutex waiting{};
  std::condition_variable_any has_news{};
  std::map<std::string, crowd, std::less<>> crowds{};
  std::size_t all_waiting = 0;

  std::recursive_mutex calling{};
  std::vector<std::weak_ptr<listener>> listeners{};

  mutable std::mutex troubling{};
  std::optional<failure> trouble{};  ///< As `cache::trouble`.
  bool is_of_lists = false;          ///< Only who lists has met it: the thread hears of changes.
  std::chrono::steady_clock::time_point came_back{};

  std::mutex pausing{};
  std::condition_variable_any paused{};
  std::jthread follower{};

  void follow(const std::stop_token& stop, std::uint64_t last);
  void tell(const change* what);
  void hear(const changes& what);
  /// The thread's. Whether there was one before.
  bool put_trouble(std::optional<failure> what);
  void notice(const failure& what);
  void say_lost(const failure& why) const;
  /// Changes are heard: whether a trouble is over now.
  [[nodiscard]] bool has_come_back();
  [[nodiscard]] result<void> tidy();
  [[nodiscard]] result<void> write_counts();
  void log(std::string_view line) const {
    if (options.log) options.log(line);
  }
};

}  // namespace hondana::analyses
