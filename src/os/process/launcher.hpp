/// The launcher: a helper process that starts programs for this process, which may be sandboxed. Also builds environments.
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

/// The environment of this process as "NAME=VALUE" texts, with `additions`, which take precedence.
[[nodiscard]] std::vector<std::string> merge_environment(const std::vector<std::pair<std::string, std::string>>& additions);
/// An environment with only these variables, as "NAME=VALUE" texts.
[[nodiscard]] std::vector<std::string> make_environment(const std::vector<std::pair<std::string, std::string>>& variables);
/// Pointers to `texts` for exec, with a null at the end. Valid as long as `texts` does not change.
[[nodiscard]] std::vector<char*> pointers_to(std::vector<std::string>& texts);

/// A command that the launcher may start. It allows a `child_target` with the same command and working directory, whose
/// environment is `environment` followed by any of `variables`.
struct allowed_command {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
  std::optional<std::string> working_directory;
  /// Names of variables whose values are only known when the command is started.
  std::vector<std::string> variables;
  /// Its standard input must be a regular file that is open for reading only. Its environment contains only the variables
  /// above. If not set, its standard input must be a pipe, and it inherits the environment of the launcher.
  bool reads_file = false;
};

/// Starts programs on behalf of this process, which may be sandboxed. Threads: any.
/// The launcher gets its commands before the sandbox, and starts nothing else.
///
/// Started programs are children of this process, which waits for them as usual. Signals to them go through the launcher,
/// because a sandboxed process may not send them. When this process ends, the launcher kills the programs that it has started,
/// and ends. When the launcher ends, the kernel kills these programs. The launcher cannot be restarted, because new processes
/// would be sandboxed.
class launcher {
 public:
  /// Forks the launcher. Must be called before this process starts threads and before it is sandboxed.
  /// Errors: source_unavailable.
  [[nodiscard]] static result<std::shared_ptr<launcher>> create(std::vector<allowed_command> commands);
  /// Sets the launcher that starts all programs of this process; null: this process starts them itself.
  static void install(std::shared_ptr<launcher> instance);
  /// The launcher that `install` has set; may be null.
  [[nodiscard]] static std::shared_ptr<launcher> installed();
  /// Ends the launcher and waits for its end.
  ~launcher();
  launcher(const launcher&) = delete;
  launcher& operator=(const launcher&) = delete;

  /// Whether `target` is one of the allowed commands.
  [[nodiscard]] bool allows(const child_target& target) const;

  /// The result of trying to start a program.
  struct attempt {
    pid_t pid = -1;  ///< The caller must reap this process, also after an error; -1: no process was created.
    int error = 0;   ///< Why the program is not running (an errno); 0: it is running.
    /// While the caller keeps this open, the kernel kills the program when the launcher ends.
    disk::handle lifeline{};
  };
  /// Starts `target` as `program::start` describes, with `descriptors` as standard input, output and error.
  /// Errors: access_denied if `target` is not allowed; source_unavailable if the launcher has ended.
  [[nodiscard]] result<attempt> start(const child_target& target, const std::array<int, 3>& descriptors);
  /// Sends a signal to the process group of a program that `start` has started. `group`: its process id.
  /// Returns 0 or an errno: EPIPE if the launcher has ended, ESRCH if the program has been reaped.
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

// The messages between this process and the launcher, on a sequenced-packet socket.

/// A value of `launch_request::number` that requests a signal instead of a start.
inline constexpr std::uint32_t signal_request = 0xffff'ffff;
/// Maximum size in bytes of all variables in one request.
inline constexpr std::size_t max_variables_bytes = 16u << 10;

/// Requests a start or a signal. For a start, variables ("NAME=VALUE", each with a NUL) follow, and the message carries the
/// descriptors of the program's three standard streams.
struct launch_request {
  std::uint32_t number = 0;  ///< The command to start, as an index in the launcher's commands; or `signal_request`.
  std::int32_t group = 0;    ///< For a signal: the process group.
  std::int32_t signal = 0;   ///< For a signal: its number.
};
/// The answer to a request. For a start, the message can carry the descriptor `launcher::attempt::lifeline`.
struct launch_response {
  std::int32_t pid = -1;   ///< For a start: as `launcher::attempt::pid`.
  std::int32_t error = 0;  ///< An errno; 0: success.
};

/// Sends a request. `variables`: as in `launch_request`. `descriptors`: all 0 for a signal. Returns 0 or an errno: EMSGSIZE if
/// the variables are too long.
[[nodiscard]] int send_request(int socket, const launch_request& request, std::string_view variables,
                               const std::array<int, 3>& descriptors) noexcept;
/// Receives a response. Returns 0, an errno, or -1 if the launcher has ended or the response is malformed.
/// `lifeline`: receives the descriptor that the message carries, if any; null: the descriptor is closed.
[[nodiscard]] int receive_response(int socket, launch_response& out, disk::handle* lifeline = nullptr) noexcept;

/// The main function of the launcher process. Ends the process when the other end of `socket` closes.
[[noreturn]] void serve_launches(int socket, const std::vector<allowed_command>& commands) noexcept;

}  // namespace hondana::process
