/// A process that starts programs for this one, which may be confined; its socket, and environments.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/client_target.hpp>
#include <hondana/error.hpp>

#include "os/disk/file_descriptor.hpp"

namespace hondana::process {

/// The variables of this process with `more`, which win.
[[nodiscard]] std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& more);
/// These alone.
[[nodiscard]] std::vector<std::string> environment_of(const std::vector<std::pair<std::string, std::string>>& all);
/// With a null at the end; valid as long as `texts` stay as they are.
[[nodiscard]] std::vector<char*> pointers_to(std::vector<std::string>& texts);

/// One command that may be started, as a `child_target` says it.
struct known_command {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string folder;
  /// Names of variables that are set beside `environment` and whose values are known only when it is started.
  std::vector<std::string> variables;
  /// A renderer: its standard input is a file, open for reading only, and it gets no variables but those above.
  bool reads_file = false;
};

/// Knows its commands from before the confinement, is asked for them by number, and starts nothing else. The programs become
/// children of this process, which waits for them as for any other; signals go through the launcher, since a confined process
/// may not send them. When this process has gone, the launcher kills what it has started, and ends. When the launcher has gone,
/// the kernel kills that, and there is no other: this process could only fork one that is confined. Threads: any.
class launcher {
 public:
  /// Forks. Call before this process has other threads, and before it is confined. Errors: source_unavailable.
  [[nodiscard]] static result<std::shared_ptr<launcher>> begin(std::vector<known_command> commands);
  /// From now on it starts all programs of this process; null: nobody does it for it.
  static void use(std::shared_ptr<launcher> one);
  [[nodiscard]] static std::shared_ptr<launcher> in_use();
  ~launcher();
  launcher(const launcher&) = delete;
  launcher& operator=(const launcher&) = delete;

  [[nodiscard]] bool knows(const child_target& what) const;

  struct attempt {
    pid_t pid = -1;  ///< To be waited for, also after an error; -1: there is none.
    int error = 0;   ///< Why it does not run the command.
    /// Kept as long as the program is to be killed when the launcher goes; closed where the kernel does not do that.
    disk::handle tie{};
  };
  /// Starts `what` as `program::start` says, with these descriptors as its standard ones. Errors: access_denied for a command
  /// that it does not know; source_unavailable when the launcher has gone.
  [[nodiscard]] result<attempt> start(const child_target& what, const std::array<int, 3>& descriptors);
  /// Sends a signal to the process group of a program that it has started and that has not been waited for. 0, or the error:
  /// EPIPE when the launcher has gone, ESRCH when it has started no such program.
  [[nodiscard]] int signal(pid_t group, int number) noexcept;
  /// A descriptor that polls as hung up once the launcher has gone.
  [[nodiscard]] int ending() const noexcept { return to_.get(); }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  launcher(std::vector<known_command> commands, disk::handle to, pid_t pid)
      : commands_(std::move(commands)), to_(std::move(to)), pid_(pid) {}
  [[nodiscard]] std::size_t number_of(const child_target& what) const;

  const std::vector<known_command> commands_;
  std::mutex mutex_;  // one question and its answer at a time
  disk::handle to_;
  const pid_t pid_;
};

/// Stands for a signal where the number of a command would be.
inline constexpr std::uint32_t signal_request = 0xffff'ffff;
/// Of all variables that one request names.
inline constexpr std::size_t most_variables = 16u << 10;

/// A request, which is followed by variables ("NAME=VALUE", each with a NUL) and carries the program's three descriptors.
struct launch_request {
  std::uint32_t number = 0;
  std::int32_t group = 0;
  std::int32_t signal = 0;
};
struct launch_answer {
  std::int32_t pid = -1;
  std::int32_t error = 0;
};

/// Without descriptors where all three are 0. The error, or 0.
[[nodiscard]] int send_request(int to, const launch_request& asked, std::string_view variables,
                               const std::array<int, 3>& descriptors) noexcept;
/// The error, 0, or -1 when the other end has gone. `tie`: where the descriptor goes that the answer to a start carries.
[[nodiscard]] int receive_answer(int from, launch_answer& into, disk::handle* tie = nullptr) noexcept;

/// What the launcher's process does from the fork to its end.
[[noreturn]] void serve_launches(int socket, const std::vector<known_command>& commands) noexcept;

}  // namespace hondana::process
