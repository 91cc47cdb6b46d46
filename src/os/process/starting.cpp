/// fork, or a word to the launcher; then signals and waiting.
#include "os/process/starting.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "os/process/told.hpp"

namespace hondana::process {
namespace {

constexpr const char* search_path = "/usr/local/bin:/usr/bin:/bin";

tl::unexpected<failure> not_to_be_started(const std::string& what, int error) {
  return fail(errc::source_unavailable, "a document cannot be rendered: its process cannot be started",
              what + ": " + std::strerror(error));
}

struct both_ends {
  disk::handle ours;
  disk::handle theirs;
};

result<both_ends> pipe_to_us() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return not_to_be_started("a pipe", errno);
  both_ends made{disk::handle(ends[0]), disk::handle(ends[1])};
  ::fcntl(made.ours.get(), F_SETFL, O_NONBLOCK);
  return made;
}

/// All that is made before the fork, so that nothing is allocated behind it: other threads may hold the allocator's lock.
struct image {
  std::vector<std::string> words;
  std::vector<std::string> variables;
  std::vector<char*> arguments;
  std::vector<char*> environment;
};

std::vector<char*> ended_by_null(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (auto& one : texts) all.push_back(one.data());
  all.push_back(nullptr);
  return all;
}

image image_of(const std::vector<std::string>& command, const limits& most) {
  image made{
      .words = command,
      .variables = {"LANG=C.UTF-8", std::string("PATH=") + search_path, std::string(limits_variable) + '=' + text_of(most)},
      .arguments = {},
      .environment = {}};
  made.arguments = ended_by_null(made.words);
  made.environment = ended_by_null(made.variables);
  return made;
}

/// Descriptors that other libraries opened without O_CLOEXEC, on kernels that cannot do it in one step.
void close_at_exec_one_by_one() {
  rlimit most{};
  if (::getrlimit(RLIMIT_NOFILE, &most) != 0) return;
  constexpr rlim_t enough = 1u << 20;
  const int end = static_cast<int>(most.rlim_cur < enough ? most.rlim_cur : enough);
  for (int one = 3; one < end; ++one) ::fcntl(one, F_SETFD, FD_CLOEXEC);
}

/// Behind the fork, where only what is safe in a signal handler may be called. Gives the error, if it comes back.
int become(const image& what, const std::array<int, 3>& streams, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // If it has gone before that, nobody would kill this.
  if (::getppid() != parent) return ESRCH;
  if (::chdir("/") != 0) return errno;
  // Numbers of streams may be among 0 to 2 where the host has closed its own: duplicates above them cannot clash.
  std::array<int, 3> above{};
  for (std::size_t i = 0; i < streams.size(); ++i) {
    above[i] = ::fcntl(streams[i], F_DUPFD_CLOEXEC, 3);
    if (above[i] < 0) return errno;
  }
  for (int i = 0; i < 3; ++i) {
    if (::dup2(above[static_cast<std::size_t>(i)], i) < 0) return errno;
  }
#ifdef CLOSE_RANGE_CLOEXEC
  if (::close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) != 0) close_at_exec_one_by_one();
#else
  close_at_exec_one_by_one();
#endif
  for (int one = 1; one < NSIG; ++one) ::signal(one, SIG_DFL);  // those that cannot be set have no handler
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(what.arguments.front(), what.arguments.data(), what.environment.data());
  return errno;
}

/// What the child says of itself before it is another program: an error, or nothing. -1: nothing.
int told_by(int from) {
  int error = 0;
  ssize_t count = -1;
  while ((count = ::read(from, &error, sizeof error)) < 0 && errno == EINTR) {
  }
  return count == static_cast<ssize_t>(sizeof error) ? error : -1;
}

void reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

known_command renderer_command(const std::vector<std::string>& command) {
  return {.command = command,
          .environment = {{"LANG", "C.UTF-8"}, {"PATH", search_path}},
          .folder = "/",
          .variables = {limits_variable},
          .reads_file = true};
}

child_target renderer_target(const std::vector<std::string>& command) {
  const auto known = renderer_command(command);
  return {.command = command, .environment = known.environment, .folder = known.folder};
}

child::child(child&& other) noexcept
    : output(std::move(other.output)),
      problems(std::move(other.problems)),
      pid_(std::exchange(other.pid_, -1)),
      process_(std::move(other.process_)),
      by_(std::move(other.by_)),
      tie_(std::move(other.tie_)) {}

child::~child() {
  if (pid_ <= 0) return;
  kill_group();
  // With the launcher gone nothing of ours reaches it, and the kernel has killed it.
  reap(pid_);
}

void child::kill_group() const noexcept {
  if (by_) {
    static_cast<void>(by_->signal(pid_, SIGKILL));
  } else {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);  // before it has made its group
  }
}

result<void> child::fork_into(const std::vector<std::string>& command, int input, const limits& most, int out,
                              int problems_out) {
  const auto what = image_of(command, most);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return not_to_be_started("a pipe", errno);
  const disk::handle telling(ends[0]);
  disk::handle told(ends[1]);
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  // No handler of the host's runs in the copy.
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto parent = ::getpid();
  const auto pid = ::fork();
  if (pid == 0) {
    const int error = become(what, {input, out, problems_out}, parent);
    [[maybe_unused]] const auto written = ::write(told.get(), &error, sizeof error);
    ::_exit(127);
  }
  const int problem = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return not_to_be_started("fork", problem);
  told = disk::handle();
  if (const int error = told_by(telling.get()); error >= 0) {
    reap(pid);
    return not_to_be_started(command.front(), error);
  }
  pid_ = pid;
  return {};
}

result<void> child::launch(const std::vector<std::string>& command, int input, const limits& most, int out, int problems_out) {
  auto what = renderer_target(command);
  what.environment.emplace_back(limits_variable, text_of(most));
  HONDANA_TRY(auto tried, by_->start(what, {input, out, problems_out}));
  tie_ = std::move(tried.tie);
  if (tried.error != 0) {
    if (tried.pid > 0) reap(tried.pid);
    return not_to_be_started(command.front(), tried.error);
  }
  pid_ = tried.pid;
  return {};
}

result<child> child::start(const std::vector<std::string>& command, int input, const limits& most) {
  if (command.empty() || !command.front().starts_with('/'))
    return fail(errc::invalid_argument, "a confined child requires an absolute path");
  HONDANA_TRY(auto out, pipe_to_us());
  HONDANA_TRY(auto errors, pipe_to_us());
  child made;
  made.by_ = launcher::in_use();
  HONDANA_TRY(made.by_ ? made.launch(command, input, most, out.theirs.get(), errors.theirs.get())
                       : made.fork_into(command, input, most, out.theirs.get(), errors.theirs.get()));
  made.process_ = disk::handle(static_cast<int>(::syscall(SYS_pidfd_open, made.pid_, 0)));
  made.output = std::move(out.ours);
  made.problems = std::move(errors.ours);
  return made;
}

void child::look_at(int status, ended& into) {
  into.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  into.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

bool child::has_ended(ended& into) {
  siginfo_t found{};
  const bool is_gone = ::waitid(P_PID, static_cast<id_t>(pid_), &found, WEXITED | WNOHANG | WNOWAIT) != 0;
  if (!is_gone && found.si_pid != pid_) return false;
  // Its number is its own as long as it is not reaped.
  if (!is_gone) kill_group();
  int status = 0;
  // Where the host ignores SIGCHLD there is nothing to reap, and nobody knows how it ended.
  if (::waitpid(pid_, &status, WNOHANG) == pid_) look_at(status, into);
  pid_ = -1;
  return true;
}

}  // namespace hondana::process
