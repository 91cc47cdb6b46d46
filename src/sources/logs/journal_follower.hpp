/// Hears that a journal has new entries.
#pragma once

#include <functional>
#include <memory>

#include "sources/logs/journal.hpp"
#include "sources/logs/journal_library.hpp"

namespace hondana::logs {

/// One thread, which calls `changed` when entries that match have come, or files of the journal have come or gone. Where there
/// is no journal it looks again every two seconds.
class journal_follower {
 public:
  /// What comes after it was made is told.
  journal_follower(const journal_library& by, const journal_options& what, std::function<void()> changed);
  /// Afterwards nothing is called. Not from within `changed`.
  ~journal_follower();
  journal_follower(const journal_follower&) = delete;
  journal_follower& operator=(const journal_follower&) = delete;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::logs
