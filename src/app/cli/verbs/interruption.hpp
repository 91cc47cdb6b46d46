/// SIGINT and its like, for commands that ask a server.
#pragma once

#include <stop_token>

#include "app/cli/signals.hpp"
#include "os/disk/handle.hpp"

namespace hondana::cli {

/// From now on SIGINT, SIGTERM and SIGHUP request a stop instead of ending the process; a second one ends it at once. Made in
/// the main thread before any other; one at a time.
class interruption {
 public:
  interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

  [[nodiscard]] std::stop_token stop() const noexcept { return source_.get_token(); }
  [[nodiscard]] bool has_come() const noexcept { return source_.stop_requested(); }
  /// Readable once it has come.
  [[nodiscard]] int descriptor() const noexcept { return event_.get(); }

 private:
  void come();

  std::stop_source source_;
  disk::handle event_;
  signals watch_;  // last: its thread uses the others, so it ends first
};

}  // namespace hondana::cli
