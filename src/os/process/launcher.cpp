/// A helper process that starts programs for this process, which can be sandboxed; its socket protocol, and environments.
#include "os/process/launcher.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

extern char** environ;

namespace hondana::process {

std::vector<std::string> merge_environment(const std::vector<std::pair<std::string, std::string>>& additions) {
  std::vector<std::string> out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto name = text.substr(0, text.find('='));
    if (std::none_of(additions.begin(), additions.end(), [name](const auto& addition) { return addition.first == name; }))
      out.emplace_back(text);
  }
  for (const auto& [name, text] : additions) out.push_back(name + '=' + text);
  return out;
}

std::vector<std::string> make_environment(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> out;
  out.reserve(variables.size());
  for (const auto& [name, text] : variables) out.push_back(name + '=' + text);
  return out;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

namespace {

struct installed_launcher {
  std::mutex mutex;
  std::shared_ptr<launcher> instance;
};

installed_launcher& installed_slot() {
  static installed_launcher slot;
  return slot;
}

tl::unexpected<failure> launcher_lost(int error) {
  return fail(errc::source_unavailable,
              "the process that starts programs for this server has ended, and the sandbox does not allow another one; restart "
              "this process",
              error == 0 ? "it closed its socket" : std::strerror(error));
}

/// The values of `command.variables` in `target`, as text for a request; nothing when `target` is another command.
std::optional<std::string> extract_variables(const allowed_command& command, const child_target& target) {
  if (command.command != target.command || command.working_directory != target.working_directory) return {};
  if (target.environment.size() < command.environment.size()) return {};
  const auto first_added = target.environment.begin() + static_cast<std::ptrdiff_t>(command.environment.size());
  if (!std::equal(command.environment.begin(), command.environment.end(), target.environment.begin(), first_added)) return {};
  std::string text;
  for (auto variable = first_added; variable != target.environment.end(); ++variable) {
    if (std::find(command.variables.begin(), command.variables.end(), variable->first) == command.variables.end()) return {};
    (text += variable->first + '=' + variable->second) += '\0';
  }
  return text;
}

}  // namespace

result<std::shared_ptr<launcher>> launcher::create(std::vector<allowed_command> commands) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail(errc::source_unavailable,
                std::string("cannot create a socket to the process that starts programs: ") + std::strerror(errno));
  disk::handle parent_end(ends[0]);
  const disk::handle child_end(ends[1]);
  const auto pid = ::fork();
  if (pid < 0)
    return fail(errc::source_unavailable,
                std::string("cannot start the process that starts programs: ") + std::strerror(errno));
  if (pid == 0) serve_launches(child_end.get(), commands);
  return std::shared_ptr<launcher>(new launcher(std::move(commands), std::move(parent_end), pid));
}

void launcher::install(std::shared_ptr<launcher> instance) {
  auto& slot = installed_slot();
  const std::lock_guard lock(slot.mutex);
  slot.instance.swap(instance);
}

std::shared_ptr<launcher> launcher::installed() {
  auto& slot = installed_slot();
  const std::lock_guard lock(slot.mutex);
  return slot.instance;
}

launcher::~launcher() {
  socket_ = disk::handle();  // closing the socket ends the launcher
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

std::size_t launcher::find_command(const child_target& target) const {
  const auto match = std::find_if(commands_.begin(), commands_.end(),
                                  [&target](const auto& command) { return extract_variables(command, target).has_value(); });
  return static_cast<std::size_t>(match - commands_.begin());
}

bool launcher::allows(const child_target& target) const { return find_command(target) != commands_.size(); }

result<launcher::attempt> launcher::start(const child_target& target, const std::array<int, 3>& descriptors) {
  const auto number = find_command(target);
  if (number == commands_.size()) {
    return fail(errc::access_denied, "the sandbox allows only programs that were configured when the server was started, and " +
                                         target.command.front() + " was not among them; restart the server");
  }
  const auto text = *extract_variables(commands_[number], target);
  launch_request request{.number = static_cast<std::uint32_t>(number)};
  const std::lock_guard lock(mutex_);
  if (const int error = send_request(socket_.get(), request, text, descriptors); error == EMSGSIZE || error == ENOBUFS) {
    return attempt{.error = E2BIG};
  } else if (error != 0) {
    return launcher_lost(error);
  }
  launch_response response;
  attempt outcome;
  if (const int error = receive_response(socket_.get(), response, &outcome.lifeline); error != 0)
    return launcher_lost(error < 0 ? 0 : error);
  outcome.pid = response.pid;
  outcome.error = response.error;
  return outcome;
}

int launcher::signal(pid_t group, int number) noexcept {
  const launch_request request{.number = signal_request, .group = group, .signal = number};
  const std::lock_guard lock(mutex_);
  launch_response response;
  // If the launcher has ended, its programs cannot be signalled, because the sandbox blocks signals to outside processes.
  if (const int error = send_request(socket_.get(), request, {}, {}); error != 0) return error;
  if (const int error = receive_response(socket_.get(), response); error != 0) return error < 0 ? EPIPE : error;
  return response.error;
}

namespace {

constexpr int socket_descriptor = 3;
using control_buffer = std::array<char, CMSG_SPACE(3 * sizeof(int))>;
constexpr std::size_t control_size = CMSG_LEN(3 * sizeof(int));  // CMSG_SPACE with its padding would allow a fourth descriptor

struct received_request {
  launch_request request;
  std::vector<std::pair<std::string, std::string>> variables;
  std::array<disk::handle, 3> descriptors;
};

/// Attaches descriptors to a message.
template <std::size_t count>
void attach_descriptors(msghdr& message, control_buffer& buffer, const std::array<int, count>& descriptors) {
  message.msg_control = buffer.data();
  message.msg_controllen = CMSG_SPACE(sizeof descriptors);
  auto* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptors);
  std::memcpy(CMSG_DATA(header), descriptors.data(), sizeof descriptors);
}

/// Extracts the descriptors of a message. Missing ones stay closed.
template <std::size_t count>
void extract_descriptors(const msghdr& message, std::array<disk::handle, count>& out) {
  const auto* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) return;
  std::array<int, count> raw;
  raw.fill(-1);
  std::memcpy(raw.data(), CMSG_DATA(header), std::min(header->cmsg_len - CMSG_LEN(0), sizeof raw));
  for (std::size_t i = 0; i < count; ++i) out[i] = disk::handle(raw[i]);
}

/// Returns nothing when the peer has ended or sends an invalid request.
std::optional<received_request> next_request(int socket) {
  received_request received;
  std::string text(max_variables_bytes, '\0');
  alignas(cmsghdr) control_buffer control{};
  std::array<iovec, 2> parts{{{&received.request, sizeof received.request}, {text.data(), text.size()}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  message.msg_control = control.data();
  message.msg_controllen = control_size;
  ssize_t count = -1;
  while ((count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  extract_descriptors(message, received.descriptors);
  if (count < static_cast<ssize_t>(sizeof received.request) || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return {};
  std::string_view remaining(text.data(), static_cast<std::size_t>(count) - sizeof received.request);
  while (!remaining.empty()) {
    const auto variable = remaining.substr(0, remaining.find('\0'));
    const auto equals = variable.find('=');
    if (variable.size() == remaining.size() || equals == std::string_view::npos) return {};
    received.variables.emplace_back(variable.substr(0, equals), variable.substr(equals + 1));
    remaining.remove_prefix(variable.size() + 1);
  }
  return received;
}

/// Makes the kernel kill this process group when the launcher ends and its end of `lifeline` closes.
/// The kernel then signals the owner of this end, as long as it is open anywhere. On other kernels, the programs only see the
/// end of their input.
void bind_to_lifeline(int lifeline) {
  if (::fcntl(lifeline, F_SETOWN, -::getpid()) == 0 && ::fcntl(lifeline, F_SETSIG, SIGKILL) == 0)
    static_cast<void>(::fcntl(lifeline, F_SETFL, O_ASYNC));
  // Also kill it when the requesting process ends. The parent of this sibling is the thread that forked the launcher: the main
  // thread, which ends last.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/// Runs between the fork and exec, with the same setup as posix_spawn in `program::start`. Returns only on failure, with the
/// errno.
int exec_program(const allowed_command& command, char* const* arguments, char* const* variables,
                 const std::array<disk::handle, 3>& streams, int lifeline) {
  if (::setpgid(0, 0) != 0) return errno;
  bind_to_lifeline(lifeline);
  if (command.working_directory && ::chdir(command.working_directory->c_str()) != 0) return errno;
  for (int i = 0; i < 3; ++i) {
    if (::dup2(streams[static_cast<std::size_t>(i)].get(), i) < 0) return errno;
  }
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);  // signals that cannot be set have no handler
  sigset_t no_signals;
  ::sigemptyset(&no_signals);
  ::sigprocmask(SIG_SETMASK, &no_signals, nullptr);
  ::execvpe(command.command.front().c_str(), arguments, variables);
  return errno;
}

/// Returns 0, or why the request is rejected (an errno).
/// The requesting process is sandboxed and may be compromised, so its own checks do not count here.
int rejection_error(const allowed_command& command, const received_request& request) {
  for (std::size_t i = 0; i < request.descriptors.size(); ++i) {
    const auto& descriptor = request.descriptors[i];
    struct stat attributes{};
    if (!descriptor.is_open() || ::fstat(descriptor.get(), &attributes) != 0) return EBADF;
    // The program could reopen an O_PATH descriptor through its own standard input.
    if (const int flags = ::fcntl(descriptor.get(), F_GETFL); flags < 0 || (flags & O_PATH) != 0) return EBADF;
    if (command.reads_file && i == STDIN_FILENO) {
      // A file that this process may only read must not become writable.
      const bool is_read_only = (::fcntl(descriptor.get(), F_GETFL) & O_ACCMODE) == O_RDONLY;
      if (!S_ISREG(attributes.st_mode) || !is_read_only) return EINVAL;
    } else if ((command.reads_file || i != STDERR_FILENO) && !S_ISFIFO(attributes.st_mode)) {
      return EINVAL;
    }
  }
  const auto is_known = [&command](const auto& variable) {
    return std::find(command.variables.begin(), command.variables.end(), variable.first) != command.variables.end();
  };
  return std::all_of(request.variables.begin(), request.variables.end(), is_known) ? 0 : EINVAL;
}

struct launched_program {
  launch_response response;
  disk::handle pidfd;
  disk::handle launcher_lifeline;  // never written to; only its closing matters
  disk::handle program_lifeline;
};

launched_program start_error(int error) {
  launched_program failed;
  failed.response.error = error;
  return failed;
}

launched_program start(const allowed_command& allowed, const received_request& request) {
  if (const int error = rejection_error(allowed, request); error != 0) return start_error(error);
  auto command = allowed.command;
  auto additions = allowed.environment;
  additions.insert(additions.end(), request.variables.begin(), request.variables.end());
  auto environment = allowed.reads_file ? make_environment(additions) : merge_environment(additions);
  const auto arguments = pointers_to(command);
  const auto variables = pointers_to(environment);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return start_error(errno);
  const disk::handle read_end(ends[0]);
  disk::handle write_end(ends[1]);
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return start_error(errno);
  launched_program launched;
  launched.program_lifeline = disk::handle(ends[0]);
  launched.launcher_lifeline = disk::handle(ends[1]);
  // With CLONE_PARENT the program becomes a child of the requesting process, which may reap it at any time.
  // CLONE_PIDFD is therefore needed: a handle made from the number could refer to another process.
  int pidfd = -1;
  const auto pid = static_cast<pid_t>(::syscall(SYS_clone, CLONE_PARENT | CLONE_PIDFD | SIGCHLD, 0, &pidfd, 0, 0));
  if (pid < 0) return start_error(errno);
  if (pid == 0) {
    const int error =
        exec_program(allowed, arguments.data(), variables.data(), request.descriptors, launched.program_lifeline.get());
    // If this write fails, the pipe just closes, and the program seems to have ended immediately.
    [[maybe_unused]] const auto ignored = ::write(write_end.get(), &error, sizeof error);
    ::_exit(127);
  }
  launched.response.pid = pid;
  launched.pidfd = disk::handle(pidfd);
  write_end = disk::handle();
  int error = 0;
  ssize_t count = -1;
  while ((count = ::read(read_end.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (count == static_cast<ssize_t>(sizeof error)) launched.response.error = error;
  return launched;
}

/// The started programs, identified by pidfds, which never refer to another process.
class program_table {
 public:
  void add(pid_t pid, disk::handle pidfd, disk::handle lifeline) {
    std::erase_if(entries_, [](const program_entry& entry) { return !exists(entry); });
    entries_.push_back({pid, std::move(pidfd), std::move(lifeline)});
  }
  int signal(pid_t group, int number) const {
    const auto match =
        std::find_if(entries_.begin(), entries_.end(), [group](const program_entry& entry) { return entry.pid == group; });
    if (match == entries_.end() || !exists(*match)) return ESRCH;
    return ::kill(-group, number) == 0 ? 0 : errno;
  }
  void kill_all() const {
    for (const auto& entry : entries_) {
      if (exists(entry)) ::kill(-entry.pid, SIGKILL);
    }
  }

 private:
  struct program_entry {
    pid_t pid;
    disk::handle pidfd;
    disk::handle lifeline;
  };
  /// Also true for a program that has ended but is not reaped, whose process id cannot be reused.
  static bool exists(const program_entry& entry) {
    return ::syscall(SYS_pidfd_send_signal, entry.pidfd.get(), 0, nullptr, 0) == 0 || errno == EPERM;
  }
  std::vector<program_entry> entries_;
};

/// Returns false when the requesting process has ended.
bool send_response(launch_response response, const disk::handle& lifeline) {
  alignas(cmsghdr) control_buffer control{};
  iovec part{&response, sizeof response};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (lifeline.is_open()) attach_descriptors(message, control, std::array{lifeline.get()});
  return ::sendmsg(socket_descriptor, &message, MSG_NOSIGNAL) >= 0;
}

/// Detaches the launcher from the streams, descriptors and signals of the process that it was forked from.
void detach_from_parent(int socket) {
  sigset_t all_signals;
  ::sigfillset(&all_signals);
  ::sigprocmask(SIG_BLOCK, &all_signals, nullptr);
  ::setpgid(0, 0);  // a terminal interrupt must not reach the launcher
  ::prctl(PR_SET_NAME, "hondana-starts");
  ::dup2(socket, socket_descriptor);
  ::fcntl(socket_descriptor, F_SETFD, FD_CLOEXEC);
  ::close_range(socket_descriptor + 1, ~0u, 0);
  const int null_device = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(null_device, STDIN_FILENO);
  ::dup2(null_device, STDOUT_FILENO);
  ::close(null_device);
}

}  // namespace

int send_request(int socket, const launch_request& request, std::string_view variables,
                 const std::array<int, 3>& descriptors) noexcept {
  if (variables.size() > max_variables_bytes) return EMSGSIZE;
  alignas(cmsghdr) control_buffer control{};
  auto copy = request;
  std::array<iovec, 2> parts{{{&copy, sizeof copy}, {const_cast<char*>(variables.data()), variables.size()}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  if (descriptors != std::array<int, 3>{}) attach_descriptors(message, control, descriptors);
  while (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

int receive_response(int socket, launch_response& out, disk::handle* lifeline) noexcept {
  alignas(cmsghdr) control_buffer control{};
  iovec part{&out, sizeof out};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_LEN(sizeof(int));
  for (;;) {
    const auto count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    std::array<disk::handle, 1> received;
    extract_descriptors(message, received);
    if (lifeline != nullptr) *lifeline = std::move(received.front());
    return count == static_cast<ssize_t>(sizeof out) ? 0 : -1;
  }
}

void serve_launches(int socket, const std::vector<allowed_command>& commands) noexcept {
  detach_from_parent(socket);
  program_table programs;
  while (auto received = next_request(socket_descriptor)) {
    launch_response response;
    disk::handle lifeline;
    if (received->request.number == signal_request) {
      response.error = programs.signal(received->request.group, received->request.signal);
    } else if (received->request.number < commands.size()) {
      auto launched = start(commands[received->request.number], *received);
      response = launched.response;
      if (response.pid > 0) programs.add(response.pid, std::move(launched.pidfd), std::move(launched.launcher_lifeline));
      lifeline = std::move(launched.program_lifeline);
    } else {
      response.error = EINVAL;
    }
    if (!send_response(response, lifeline)) break;
  }
  programs.kill_all();
  ::_exit(0);
}

}  // namespace hondana::process
