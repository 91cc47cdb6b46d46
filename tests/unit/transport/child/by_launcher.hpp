/// Whether the programs of these tests are started by a launcher.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "os/process/launcher.hpp"

namespace hondana_test {

/// The whole of the tests is run once more that way.
inline bool is_by_launcher() { return std::getenv("HONDANA_TEST_LAUNCHER") != nullptr; }

/// Has `target` started by a launcher of its own, where that is what is tried.
inline void prepare_for(const hondana::child_target& target) {
  using hondana::process::launcher;
  if (!is_by_launcher()) return;
  auto made = launcher::create({{target.command, target.environment, target.working_directory, {}}});
  if (!made) throw std::runtime_error(made.error().public_text);
  launcher::install(std::move(*made));
}

/// Whether this process has no child any more, the launcher aside.
inline bool has_reaped_all() {
  hondana::process::launcher::install(nullptr);
  return ::waitpid(-1, nullptr, WNOHANG) == -1;
}

}  // namespace hondana_test
