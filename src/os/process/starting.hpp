/// Starting a confined child, by this process itself or by its launcher.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "os/disk/handle.hpp"
#include "os/process/confined.hpp"
#include "os/process/launcher.hpp"

namespace hondana::process {

/// How a launcher is to know a command that `run_confined` will start.
[[nodiscard]] known_command renderer_command(const std::vector<std::string>& command);

/// How it is asked for, but for its limits.
[[nodiscard]] child_target renderer_target(const std::vector<std::string>& command);

/// A started child. Destruction kills it and its group, and reaps it. Threads: one at a time.
class child {
 public:
  /// Errors: as `run_confined`.
  [[nodiscard]] static result<child> start(const std::vector<std::string>& command, int input, const limits& most);
  child(child&& other) noexcept;
  child& operator=(child&&) = delete;
  ~child();

  /// Non-blocking ends of its streams.
  disk::handle output;
  disk::handle problems;
  /// Can be read once it has ended; -1 where the kernel has no such descriptors.
  [[nodiscard]] int ending() const noexcept { return process_.get(); }
  /// Kills what is left of its group, and reaps it, if it has ended: true, and `into` says how.
  bool has_ended(ended& into);

 private:
  child() noexcept = default;
  result<void> fork_into(const std::vector<std::string>& command, int input, const limits& most, int out, int problems_out);
  result<void> launch(const std::vector<std::string>& command, int input, const limits& most, int out, int problems_out);
  void kill_group() const noexcept;
  static void look_at(int status, ended& into);

  pid_t pid_ = -1;
  disk::handle process_;
  std::shared_ptr<launcher> by_;  // null: this process is its parent in all
  disk::handle tie_;              // see launcher::attempt
};

}  // namespace hondana::process
