/// A helper process that starts programs for this process, which can be sandboxed; its socket protocol, and environments.
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

/// The environment of this process with `additions`, which takes precedence.
[[nodiscard]] std::vector<std::string> merge_environment(const std::vector<std::pair<std::string, std::string>>& additions);
/// An environment with only these variables.
[[nodiscard]] std::vector<std::string> make_environment(const std::vector<std::pair<std::string, std::string>>& variables);
/// Pointers for exec, with a null at the end. Valid as long as `texts` does not change.
[[nodiscard]] std::vector<char*> pointers_to(std::vector<std::string>& texts);

/// A command that may be started, as specified by a `child_target`.
struct allowed_command {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string working_directory;
  /// Names of additional variables whose values are only known when the command is started.
  std::vector<std::string> variables;
  /// A renderer: its standard input is a file that is open for reading only, and its environment contains only the variables
  /// above.
  bool reads_file = false;
};

/// Starts programs on behalf of a process that is sandboxed. Threads: any.
/// The launcher knows its commands from before the sandbox, identifies them by number, and starts nothing else.
///
/// Started programs are children of this process, which waits for them as usual. Signals to them go through the launcher,
/// because a sandboxed process may not send them. When this process ends, the launcher kills the programs it has started, and
/// ends. When the launcher ends, the kernel kills these programs. It cannot be restarted, because new processes would be
/// sandboxed.
class launcher {
 public:
  /// Forks the launcher. Call this before this process starts threads and before it is sandboxed. Errors: source_unavailable.
  [[nodiscard]] static result<std::shared_ptr<launcher>> create(std::vector<allowed_command> commands);
  /// Sets the launcher that starts all programs of this process; null: no launcher.
  static void install(std::shared_ptr<launcher> instance);
  /// The launcher that `install` has set; may be null.
  [[nodiscard]] static std::shared_ptr<launcher> installed();
  ~launcher();
  launcher(const launcher&) = delete;
  launcher& operator=(const launcher&) = delete;

  /// Whether `target` is one of its commands.
  [[nodiscard]] bool allows(const child_target& target) const;

  struct attempt {
    pid_t pid = -1;  ///< Must be reaped, also after an error; -1: no process was created.
    int error = 0;   ///< Why the command is not running (an errno).
    /// While this is open, the program is killed when the launcher ends. Closed if the kernel does not support that.
    disk::handle lifeline{};
  };
  /// Starts `target` as `program::start` describes, with these descriptors as its standard streams.
  /// Errors: access_denied for an unknown command; source_unavailable when the launcher has ended.
  [[nodiscard]] result<attempt> start(const child_target& target, const std::array<int, 3>& descriptors);
  /// Sends a signal to the process group of a program that it has started and that has not been reaped.
  /// Returns 0 or an errno: EPIPE when the launcher has ended, ESRCH when there is no such program.
  [[nodiscard]] int signal(pid_t group, int number) noexcept;
  /// A descriptor that polls as hung up once the launcher has ended.
  [[nodiscard]] int hangup_descriptor() const noexcept { return socket_.get(); }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  launcher(std::vector<allowed_command> commands, disk::handle socket, pid_t pid)
      : commands_(std::move(commands)), socket_(std::move(socket)), pid_(pid) {}
  [[nodiscard]] std::size_t find_command(const child_target& target) const;

  const std::vector<allowed_command> commands_;
  std::mutex mutex_;  // one request and its response at a time
  disk::handle socket_;
  const pid_t pid_;
};

/// A value of `launch_request::number` that requests a signal instead of a start.
inline constexpr std::uint32_t signal_request = 0xffff'ffff;
/// Maximum size in bytes of all variables in one request.
inline constexpr std::size_t max_variables_bytes = 16u << 10;

/// A request. It is followed by variables ("NAME=VALUE", each with a NUL) and carries the three descriptors of the program.
struct launch_request {
  std::uint32_t number = 0;
  std::int32_t group = 0;
  std::int32_t signal = 0;
};
struct launch_response {
  std::int32_t pid = -1;
  std::int32_t error = 0;
};

/// Sends a request; without descriptors if all three are 0. Returns 0 or an errno.
[[nodiscard]] int send_request(int socket, const launch_request& request, std::string_view variables,
                               const std::array<int, 3>& descriptors) noexcept;
/// Receives a response. Returns 0, an errno, or -1 when the launcher has ended.
/// `lifeline`: receives the descriptor that the response to a start carries.
[[nodiscard]] int receive_response(int socket, launch_response& out, disk::handle* lifeline = nullptr) noexcept;

/// The main function of the launcher process.
[[noreturn]] void serve_launches(int socket, const std::vector<allowed_command>& commands) noexcept;

}  // namespace hondana::process
