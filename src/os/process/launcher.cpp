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

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> out;
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
    const std::string_view text(*one);
    const auto name = text.substr(0, text.find('='));
    if (std::none_of(more.begin(), more.end(), [name](const auto& set) { return set.first == name; })) out.emplace_back(text);
  }
  for (const auto& [name, text] : more) out.push_back(name + '=' + text);
  return out;
}

std::vector<std::string> environment_of(const std::vector<std::pair<std::string, std::string>>& all) {
  std::vector<std::string> out;
  out.reserve(all.size());
  for (const auto& [name, text] : all) out.push_back(name + '=' + text);
  return out;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (auto& one : texts) out.push_back(one.data());
  out.push_back(nullptr);
  return out;
}

namespace {

struct current {
  std::mutex mutex;
  std::shared_ptr<launcher> one;
};

current& now() {
  static current kept;
  return kept;
}

tl::unexpected<failure> gone(int error) {
  return fail(errc::source_unavailable,
              "the process that starts programs for this server has ended, and the sandbox does not allow another one; restart "
              "this process",
              error == 0 ? "it closed its socket" : std::strerror(error));
}

/// The values of `like.variables` in `what`, as text for a request; nothing when `what` is another command.
std::optional<std::string> variables_of(const known_command& like, const child_target& what) {
  if (like.command != what.command || like.folder != what.folder) return {};
  if (what.environment.size() < like.environment.size()) return {};
  const auto own = what.environment.begin() + static_cast<std::ptrdiff_t>(like.environment.size());
  if (!std::equal(like.environment.begin(), like.environment.end(), what.environment.begin(), own)) return {};
  std::string text;
  for (auto one = own; one != what.environment.end(); ++one) {
    if (std::find(like.variables.begin(), like.variables.end(), one->first) == like.variables.end()) return {};
    (text += one->first + '=' + one->second) += '\0';
  }
  return text;
}

}  // namespace

result<std::shared_ptr<launcher>> launcher::begin(std::vector<known_command> commands) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail(errc::source_unavailable,
                std::string("cannot create a socket to the process that starts programs: ") + std::strerror(errno));
  disk::handle ours(ends[0]);
  const disk::handle theirs(ends[1]);
  const auto pid = ::fork();
  if (pid < 0)
    return fail(errc::source_unavailable,
                std::string("cannot start the process that starts programs: ") + std::strerror(errno));
  if (pid == 0) serve_launches(theirs.get(), commands);
  return std::shared_ptr<launcher>(new launcher(std::move(commands), std::move(ours), pid));
}

void launcher::use(std::shared_ptr<launcher> one) {
  auto& kept = now();
  const std::lock_guard lock(kept.mutex);
  kept.one.swap(one);
}

std::shared_ptr<launcher> launcher::in_use() {
  auto& kept = now();
  const std::lock_guard lock(kept.mutex);
  return kept.one;
}

launcher::~launcher() {
  to_ = disk::handle();  // closing the socket ends the launcher
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

std::size_t launcher::number_of(const child_target& what) const {
  const auto found = std::find_if(commands_.begin(), commands_.end(),
                                  [&what](const auto& one) { return variables_of(one, what).has_value(); });
  return static_cast<std::size_t>(found - commands_.begin());
}

bool launcher::knows(const child_target& what) const { return number_of(what) != commands_.size(); }

result<launcher::attempt> launcher::start(const child_target& what, const std::array<int, 3>& descriptors) {
  const auto number = number_of(what);
  if (number == commands_.size()) {
    return fail(errc::access_denied, "the sandbox allows only programs that were configured when the server was started, and " +
                                         what.command.front() + " was not among them; restart the server");
  }
  const auto text = *variables_of(commands_[number], what);
  launch_request asked{.number = static_cast<std::uint32_t>(number)};
  const std::lock_guard lock(mutex_);
  if (const int error = send_request(to_.get(), asked, text, descriptors); error == EMSGSIZE || error == ENOBUFS) {
    return attempt{.error = E2BIG};
  } else if (error != 0) {
    return gone(error);
  }
  launch_answer got;
  attempt made;
  if (const int error = receive_answer(to_.get(), got, &made.tie); error != 0) return gone(error < 0 ? 0 : error);
  made.pid = got.pid;
  made.error = got.error;
  return made;
}

int launcher::signal(pid_t group, int number) noexcept {
  const launch_request asked{.number = signal_request, .group = group, .signal = number};
  const std::lock_guard lock(mutex_);
  launch_answer got;
  // If the launcher has ended, its programs cannot be signalled, because the sandbox blocks signals to outside processes.
  if (const int error = send_request(to_.get(), asked, {}, {}); error != 0) return error;
  if (const int error = receive_answer(to_.get(), got); error != 0) return error < 0 ? EPIPE : error;
  return got.error;
}

namespace {

constexpr int our_socket = 3;
using control_room = std::array<char, CMSG_SPACE(3 * sizeof(int))>;
constexpr std::size_t control_size = CMSG_LEN(3 * sizeof(int));  // CMSG_SPACE with its padding would allow a fourth descriptor

struct received {
  launch_request asked;
  std::vector<std::pair<std::string, std::string>> variables;
  std::array<disk::handle, 3> descriptors;
};

/// Attaches descriptors to a message.
template <std::size_t count>
void carry(msghdr& message, control_room& room, const std::array<int, count>& descriptors) {
  message.msg_control = room.data();
  message.msg_controllen = CMSG_SPACE(sizeof descriptors);
  auto* carried = CMSG_FIRSTHDR(&message);
  carried->cmsg_level = SOL_SOCKET;
  carried->cmsg_type = SCM_RIGHTS;
  carried->cmsg_len = CMSG_LEN(sizeof descriptors);
  std::memcpy(CMSG_DATA(carried), descriptors.data(), sizeof descriptors);
}

/// Extracts the descriptors of a message. Missing ones stay closed.
template <std::size_t count>
void take_carried(const msghdr& message, std::array<disk::handle, count>& into) {
  const auto* carried = CMSG_FIRSTHDR(&message);
  if (carried == nullptr || carried->cmsg_level != SOL_SOCKET || carried->cmsg_type != SCM_RIGHTS) return;
  std::array<int, count> raw;
  raw.fill(-1);
  std::memcpy(raw.data(), CMSG_DATA(carried), std::min(carried->cmsg_len - CMSG_LEN(0), sizeof raw));
  for (std::size_t i = 0; i < count; ++i) into[i] = disk::handle(raw[i]);
}

/// Returns nothing when the peer has ended or sends an invalid request.
std::optional<received> next_request(int socket) {
  received got;
  std::string text(most_variables, '\0');
  alignas(cmsghdr) control_room control{};
  std::array<iovec, 2> parts{{{&got.asked, sizeof got.asked}, {text.data(), text.size()}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  message.msg_control = control.data();
  message.msg_controllen = control_size;
  ssize_t count = -1;
  while ((count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  take_carried(message, got.descriptors);
  if (count < static_cast<ssize_t>(sizeof got.asked) || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return {};
  std::string_view rest(text.data(), static_cast<std::size_t>(count) - sizeof got.asked);
  while (!rest.empty()) {
    const auto one = rest.substr(0, rest.find('\0'));
    const auto equals = one.find('=');
    if (one.size() == rest.size() || equals == std::string_view::npos) return {};
    got.variables.emplace_back(one.substr(0, equals), one.substr(equals + 1));
    rest.remove_prefix(one.size() + 1);
  }
  return got;
}

/// Makes the kernel kill this process group when the launcher ends and its end of `tie` closes.
/// The kernel then signals the owner of this end, as long as it is open anywhere. On other kernels, the programs only see the
/// end of their input.
void tie_group(int tie) {
  if (::fcntl(tie, F_SETOWN, -::getpid()) == 0 && ::fcntl(tie, F_SETSIG, SIGKILL) == 0)
    static_cast<void>(::fcntl(tie, F_SETFL, O_ASYNC));
  // Also kill it when the requesting process ends. The parent of this sibling is the thread that forked the launcher: the main
  // thread, which ends last.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/// Runs between the fork and exec, with the same setup as posix_spawn in `program::start`. Returns only on failure, with the
/// errno.
int become(const known_command& what, char* const* arguments, char* const* variables, const std::array<disk::handle, 3>& as,
           int tie) {
  if (::setpgid(0, 0) != 0) return errno;
  tie_group(tie);
  if (!what.folder.empty() && ::chdir(what.folder.c_str()) != 0) return errno;
  for (int i = 0; i < 3; ++i) {
    if (::dup2(as[static_cast<std::size_t>(i)].get(), i) < 0) return errno;
  }
  for (int one = 1; one < NSIG; ++one) ::signal(one, SIG_DFL);  // signals that cannot be set have no handler
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execvpe(what.command.front().c_str(), arguments, variables);
  return errno;
}

/// Returns 0, or why the request is rejected (an errno).
/// The requesting process is sandboxed and may be compromised, so its own checks do not count here.
int refusal_of(const known_command& what, const received& asked) {
  for (std::size_t i = 0; i < asked.descriptors.size(); ++i) {
    const auto& one = asked.descriptors[i];
    struct stat facts{};
    if (!one.is_open() || ::fstat(one.get(), &facts) != 0) return EBADF;
    // The program could reopen an O_PATH descriptor through its own standard input.
    if (const int how = ::fcntl(one.get(), F_GETFL); how < 0 || (how & O_PATH) != 0) return EBADF;
    if (what.reads_file && i == STDIN_FILENO) {
      // A file that this process may only read must not become writable.
      const bool is_for_reading = (::fcntl(one.get(), F_GETFL) & O_ACCMODE) == O_RDONLY;
      if (!S_ISREG(facts.st_mode) || !is_for_reading) return EINVAL;
    } else if ((what.reads_file || i != STDERR_FILENO) && !S_ISFIFO(facts.st_mode)) {
      return EINVAL;
    }
  }
  const auto is_known = [&what](const auto& set) {
    return std::find(what.variables.begin(), what.variables.end(), set.first) != what.variables.end();
  };
  return std::all_of(asked.variables.begin(), asked.variables.end(), is_known) ? 0 : EINVAL;
}

struct started {
  launch_answer answer;
  disk::handle process;
  disk::handle our_tie;  // never written to; only its closing matters
  disk::handle their_tie;
};

started not_started(int error) {
  started none;
  none.answer.error = error;
  return none;
}

started start(const known_command& what, const received& from) {
  if (const int error = refusal_of(what, from); error != 0) return not_started(error);
  auto command = what.command;
  auto more = what.environment;
  more.insert(more.end(), from.variables.begin(), from.variables.end());
  auto environment = what.reads_file ? environment_of(more) : environment_with(more);
  const auto arguments = pointers_to(command);
  const auto variables = pointers_to(environment);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return not_started(errno);
  const disk::handle reading(ends[0]);
  disk::handle writing(ends[1]);
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return not_started(errno);
  started done;
  done.their_tie = disk::handle(ends[0]);
  done.our_tie = disk::handle(ends[1]);
  // With CLONE_PARENT the program becomes a child of the requesting process, which may reap it at any time.
  // CLONE_PIDFD is therefore needed: a handle made from the number could refer to another process.
  int process = -1;
  const auto pid = static_cast<pid_t>(::syscall(SYS_clone, CLONE_PARENT | CLONE_PIDFD | SIGCHLD, 0, &process, 0, 0));
  if (pid < 0) return not_started(errno);
  if (pid == 0) {
    const int error = become(what, arguments.data(), variables.data(), from.descriptors, done.their_tie.get());
    // If this write fails, the pipe just closes, and the program seems to have ended immediately.
    [[maybe_unused]] const auto told = ::write(writing.get(), &error, sizeof error);
    ::_exit(127);
  }
  done.answer.pid = pid;
  done.process = disk::handle(process);
  writing = disk::handle();
  int error = 0;
  ssize_t count = -1;
  while ((count = ::read(reading.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (count == static_cast<ssize_t>(sizeof error)) done.answer.error = error;
  return done;
}

/// The started programs, identified by pidfds, which never refer to another process.
class started_programs {
 public:
  void add(pid_t pid, disk::handle process, disk::handle tie) {
    std::erase_if(all_, [](const one& program) { return !is_there(program); });
    all_.push_back({pid, std::move(process), std::move(tie)});
  }
  int signal(pid_t group, int number) const {
    const auto found = std::find_if(all_.begin(), all_.end(), [group](const one& program) { return program.pid == group; });
    if (found == all_.end() || !is_there(*found)) return ESRCH;
    return ::kill(-group, number) == 0 ? 0 : errno;
  }
  void kill_all() const {
    for (const auto& program : all_) {
      if (is_there(program)) ::kill(-program.pid, SIGKILL);
    }
  }

 private:
  struct one {
    pid_t pid;
    disk::handle handle;
    disk::handle tie;
  };
  /// Also true for a program that has ended but is not reaped, whose process id cannot be reused.
  static bool is_there(const one& program) {
    return ::syscall(SYS_pidfd_send_signal, program.handle.get(), 0, nullptr, 0) == 0 || errno == EPERM;
  }
  std::vector<one> all_;
};

/// Returns false when the requesting process has ended.
bool send_answer(launch_answer answer, const disk::handle& tie) {
  alignas(cmsghdr) control_room control{};
  iovec part{&answer, sizeof answer};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (tie.is_open()) carry(message, control, std::array{tie.get()});
  return ::sendmsg(our_socket, &message, MSG_NOSIGNAL) >= 0;
}

/// Detaches the launcher from the streams, descriptors and signals of the process that it was forked from.
void settle(int socket) {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  ::setpgid(0, 0);  // a terminal interrupt must not reach the launcher
  ::prctl(PR_SET_NAME, "hondana-starts");
  ::dup2(socket, our_socket);
  ::fcntl(our_socket, F_SETFD, FD_CLOEXEC);
  ::close_range(our_socket + 1, ~0u, 0);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::close(nothing);
}

}  // namespace

int send_request(int to, const launch_request& asked, std::string_view variables,
                 const std::array<int, 3>& descriptors) noexcept {
  if (variables.size() > most_variables) return EMSGSIZE;
  alignas(cmsghdr) control_room control{};
  auto copy = asked;
  std::array<iovec, 2> parts{{{&copy, sizeof copy}, {const_cast<char*>(variables.data()), variables.size()}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  if (descriptors != std::array<int, 3>{}) carry(message, control, descriptors);
  while (::sendmsg(to, &message, MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

int receive_answer(int from, launch_answer& into, disk::handle* tie) noexcept {
  alignas(cmsghdr) control_room control{};
  iovec part{&into, sizeof into};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_LEN(sizeof(int));
  for (;;) {
    const auto count = ::recvmsg(from, &message, MSG_CMSG_CLOEXEC);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    std::array<disk::handle, 1> carried;
    take_carried(message, carried);
    if (tie != nullptr) *tie = std::move(carried.front());
    return count == static_cast<ssize_t>(sizeof into) ? 0 : -1;
  }
}

void serve_launches(int socket, const std::vector<known_command>& commands) noexcept {
  settle(socket);
  started_programs programs;
  while (auto got = next_request(our_socket)) {
    launch_answer answer;
    disk::handle tie;
    if (got->asked.number == signal_request) {
      answer.error = programs.signal(got->asked.group, got->asked.signal);
    } else if (got->asked.number < commands.size()) {
      auto made = start(commands[got->asked.number], *got);
      answer = made.answer;
      if (answer.pid > 0) programs.add(answer.pid, std::move(made.process), std::move(made.our_tie));
      tie = std::move(made.their_tie);
    } else {
      answer.error = EINVAL;
    }
    if (!send_answer(answer, tie)) break;
  }
  programs.kill_all();
  ::_exit(0);
}

}  // namespace hondana::process
