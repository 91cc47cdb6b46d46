/// Looks up the entries of changed resources for those who tell peers of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <hondana/resource.hpp>

#include "catalog/catalog.hpp"

namespace hondana::catalog {

/// One lookup a URI at a time, whoever and however many ask for it, and a bounded number at once in all. Whoever asks while one
/// is under way gets the outcome of another, which begins after that, since the first may have seen the state before the
/// change.
///
/// Memory: what is asked for and not answered; askers are bounded by what the feed lets them watch. Threads: any.
class lookups : public std::enable_shared_from_this<lookups> {
 public:
  /// Takes the entry; null when there is none, or none could be had in time. Must only take a note.
  using taker = std::function<void(std::shared_ptr<const resource> entry)>;

  explicit lookups(std::size_t at_once = 16) noexcept : at_once_(at_once) {}

  /// Where entries come from from now on.
  void use(std::shared_ptr<const catalog> from);
  /// Has `done` called once, on any thread, maybe before this returns. `uri` is canonical.
  void ask(const std::string& uri, taker done);

  /// URIs waiting or under way, for tests and figures.
  [[nodiscard]] std::size_t under_way() const;

 private:
  struct job {
    std::vector<taker> asked;    // before it began
    std::vector<taker> waiting;  // since
  };

  /// Begins what may begin.
  void go_on();
  void finish(const std::string& uri);

  const std::size_t at_once_;
  mutable std::mutex mutex_;
  std::shared_ptr<const catalog> from_;
  std::unordered_map<std::string, job> jobs_;
  std::deque<std::string> next_;  // of `jobs_`, those not begun
  std::size_t begun_ = 0;
  bool is_going_on_ = false;  // so that sources that answer at once do not nest
};

}  // namespace hondana::catalog
