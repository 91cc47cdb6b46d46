/// Programs that tests have started by a launcher.
#pragma once

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/process/launcher.hpp"

namespace hondana_test {

/// For poll.
inline constexpr int event_milliseconds = static_cast<int>(std::chrono::milliseconds(event_deadline).count());

/// A launcher for these commands, in use as long as this lives.
class in_use_for {
 public:
  explicit in_use_for(std::vector<hondana::process::allowed_command> commands) {
    auto made = hondana::process::launcher::create(std::move(commands));
    EXPECT_TRUE(made) << made.error().public_text;
    if (made) one = *made;
    hondana::process::launcher::install(one);
  }
  ~in_use_for() { hondana::process::launcher::install(nullptr); }
  in_use_for(const in_use_for&) = delete;
  in_use_for& operator=(const in_use_for&) = delete;

  std::shared_ptr<hondana::process::launcher> one;
};

inline hondana::process::allowed_command shell(std::string script, std::vector<std::string> variables = {}) {
  return {{"/bin/sh", "-c", std::move(script)}, {{"ALWAYS", "yes"}}, "/", std::move(variables)};
}

inline hondana::child_target target_of(const hondana::process::allowed_command& like) {
  return {.command = like.command, .environment = like.environment, .working_directory = like.working_directory};
}

/// Everything until the end; "" and a failure when that does not come.
inline std::string all_of(const hondana::disk::handle& from) {
  std::string all;
  for (;;) {
    pollfd one{from.get(), POLLIN, 0};
    if (::poll(&one, 1, event_milliseconds) != 1) {
      ADD_FAILURE() << "no end of the output";
      return {};
    }
    std::array<char, 4096> piece;
    const auto count = ::read(from.get(), piece.data(), piece.size());
    if (count <= 0) return all;
    all.append(piece.data(), static_cast<std::size_t>(count));
  }
}

inline std::string line_of(const hondana::disk::handle& from) {
  std::string line;
  pollfd one{from.get(), POLLIN, 0};
  for (char next = 0; ::poll(&one, 1, event_milliseconds) == 1 && ::read(from.get(), &next, 1) == 1 && next != '\n';)
    line += next;
  return line;
}

inline bool is_there(pid_t pid) { return ::kill(pid, 0) == 0; }

/// Waits until a process that is not ours has gone.
inline bool goes(const hondana::disk::handle& process) {
  pollfd one{process.get(), POLLIN, 0};
  return ::poll(&one, 1, event_milliseconds) == 1;
}

}  // namespace hondana_test
