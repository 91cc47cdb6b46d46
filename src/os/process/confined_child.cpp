/// Short-lived child processes that can only convert their input to output: limits, start and end.
#include "os/process/confined_child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include <hondana/clock.hpp>

#include "os/disk/file_descriptor.hpp"
#include "os/sandbox/sandbox.hpp"

namespace hondana::process {
namespace {

using clock = monotonic_clock;
constexpr std::size_t most_problems = 4096;
constexpr std::size_t piece_size = 64u << 10;
/// Polling interval if the kernel has no pidfds.
constexpr std::chrono::milliseconds without_descriptor{10};

/// A descriptor that becomes readable when `stop` is requested.
class bell {
 public:
  explicit bell(const std::stop_token& stop)
      : rings_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), when_(stop, [this] { ring(); }) {}
  [[nodiscard]] int get() const noexcept { return rings_.get(); }

 private:
  void ring() const noexcept {
    // This fails only if the counter is full; the descriptor is then readable already.
    static_cast<void>(::eventfd_write(rings_.get(), 1));
  }
  disk::handle rings_;
  std::stop_callback<std::function<void()>> when_;
};

class hearing {
 public:
  hearing(child& of, const limits& most, const std::function<result<void>(std::string_view)>& hears)
      : child_(of), most_(most), hears_(hears), piece_(piece_size, '\0') {}

  [[nodiscard]] bool hears_output() const noexcept { return child_.output.is_open(); }
  [[nodiscard]] bool hears_problems() const noexcept { return child_.problems.is_open(); }

  /// Reads one piece of the output, or all that is available.
  result<void> take_output(bool all) {
    while (child_.output.is_open()) {
      const auto count = ::read(child_.output.get(), piece_.data(), piece_.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return {};
      if (count <= 0) {
        child_.output = disk::handle();
        return {};
      }
      output_ += static_cast<std::uint64_t>(count);
      if (output_ > most_.output)
        return fail(errc::response_too_large,
                    "a document contains more text than the limit of " + std::to_string(most_.output) + " bytes");
      HONDANA_TRY(hears_(std::string_view(piece_.data(), static_cast<std::size_t>(count))));
      if (!all) return {};
    }
    return {};
  }

  void take_problems() {
    for (bool more = child_.problems.is_open(); more;) {
      const auto count = ::read(child_.problems.get(), piece_.data(), piece_.size());
      if (count < 0 && errno == EINTR) continue;
      more = count > 0;
      if (count == 0 || (count < 0 && errno != EAGAIN)) child_.problems = disk::handle();
      if (count <= 0) continue;
      const auto room = most_problems - std::min(most_problems, problems_.size());
      problems_.append(piece_, 0, std::min(room, static_cast<std::size_t>(count)));
    }
  }

  [[nodiscard]] std::string problems() {
    std::string line;
    bool ends_line = false;
    for (const char one : problems_) {
      if (one == '\n' || one == '\r') {
        ends_line = !line.empty();
        continue;
      }
      if (std::exchange(ends_line, false)) line += "; ";
      line += static_cast<unsigned char>(one) < 0x20 || one == 0x7f ? '?' : one;
    }
    return line;
  }

 private:
  child& child_;
  const limits& most_;
  const std::function<result<void>(std::string_view)>& hears_;
  std::string piece_;
  std::string problems_;
  std::uint64_t output_ = 0;
};

int time_to_poll(clock::time_point now, clock::time_point end, bool has_descriptor) {
  auto left = std::chrono::ceil<std::chrono::milliseconds>(end - now);
  left = std::clamp(left, std::chrono::milliseconds(0), std::chrono::milliseconds(60'000));
  if (!has_descriptor) left = std::min(left, without_descriptor);
  return static_cast<int>(left.count());
}

}  // namespace

result<ended> run_confined(const std::vector<std::string>& command, int input, const limits& most,
                           const std::function<result<void>(std::string_view)>& hears, const std::stop_token& stop,
                           clock::time_point until) {
  if (stop.stop_requested()) return fail(errc::cancelled, "the request for the document was cancelled");
  const bell rings(stop);
  HONDANA_TRY(auto started, child::start(command, input, most));
  const auto end = std::min(until, clock::now() + most.time);
  hearing all(started, most, hears);
  ended how;
  for (;;) {
    // Checked before reading its output, so that none of the output is missed.
    const bool is_over = started.has_ended(how);
    HONDANA_TRY(all.take_output(is_over));
    all.take_problems();
    if (is_over) break;
    if (stop.stop_requested()) return fail(errc::cancelled, "the request for the document was cancelled");
    const auto now = clock::now();
    if (now >= end)
      return fail(errc::timed_out, "rendering a document timed out (limit: " + std::to_string(most.time.count()) +
                                       " ms, or the deadline of the request)");
    std::array<pollfd, 4> watched{{{all.hears_output() ? started.output.get() : -1, POLLIN, 0},
                                   {all.hears_problems() ? started.problems.get() : -1, POLLIN, 0},
                                   {started.ending(), POLLIN, 0},
                                   {rings.get(), POLLIN, 0}}};
    ::poll(watched.data(), watched.size(),
           monotonic_clock::poll_timeout(time_to_poll(now, end, started.ending() >= 0 && rings.get() >= 0)));
  }
  how.problems = all.problems();
  return how;
}

std::string text_of(const limits& of) {
  return std::to_string(of.time.count()) + ' ' + std::to_string(of.memory) + ' ' + std::to_string(of.output) + ' ' +
         std::to_string(of.unpacked);
}

std::optional<limits> limits_in(std::string_view text) {
  std::array<std::uint64_t, 4> all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), all[i]);
    if (read.ec != std::errc()) return {};
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    if (i + 1 == all.size()) break;
    if (!text.starts_with(' ')) return {};
    text.remove_prefix(1);
  }
  constexpr std::uint64_t longest = 86'400'000;  // a day
  if (!text.empty() || all[0] > longest) return {};
  return limits{.time = std::chrono::milliseconds(all[0]), .memory = all[1], .output = all[2], .unpacked = all[3]};
}

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

/// All data for exec, built before the fork. The child must not allocate, because other threads may hold the allocator's lock.
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

/// Marks descriptors that other libraries opened without O_CLOEXEC, on kernels without close_range.
void close_at_exec_one_by_one() {
  rlimit most{};
  if (::getrlimit(RLIMIT_NOFILE, &most) != 0) return;
  constexpr rlim_t enough = 1u << 20;
  const int end = static_cast<int>(most.rlim_cur < enough ? most.rlim_cur : enough);
  for (int one = 3; one < end; ++one) ::fcntl(one, F_SETFD, FD_CLOEXEC);
}

/// Runs in the child after the fork, where only async-signal-safe functions are allowed. Returns only on failure, with the
/// errno.
int become(const image& what, const std::array<int, 3>& streams, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // If the parent has already ended, the death signal would never arrive.
  if (::getppid() != parent) return ESRCH;
  if (::chdir("/") != 0) return errno;
  // The streams may have the numbers 0 to 2 if the host has closed its own. Duplicates above them cannot clash.
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
  for (int one = 1; one < NSIG; ++one) ::signal(one, SIG_DFL);  // signals that cannot be set have no handler
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(what.arguments.front(), what.arguments.data(), what.environment.data());
  return errno;
}

/// The errno that the child reports before exec; -1 if exec succeeded.
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
  // If the launcher has ended, the signal cannot be sent, but the kernel has already killed the child.
  reap(pid_);
}

void child::kill_group() const noexcept {
  if (by_) {
    static_cast<void>(by_->signal(pid_, SIGKILL));
  } else {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);  // in case it has not created its group yet
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
  // Signal handlers of the host must not run in the child.
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
  // Its process id cannot be reused before it is reaped.
  if (!is_gone) kill_group();
  int status = 0;
  // If the host ignores SIGCHLD, the child is already reaped and its status is unknown.
  if (::waitpid(pid_, &status, WNOHANG) == pid_) look_at(status, into);
  pid_ = -1;
  return true;
}

namespace {

// Sanitizers reserve more address space than any limit allows.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool limits_memory = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
constexpr bool limits_memory = false;
#else
constexpr bool limits_memory = true;
#endif
#else
constexpr bool limits_memory = true;
#endif

/// Sets a limit; a lower hard limit stays. Returns false when the kernel rejects it.
bool limit(int resource, rlim_t soft, rlim_t hard) {
  rlimit now{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &now) != 0) return false;
  const rlimit next{std::min(soft, now.rlim_max), std::min(hard, now.rlim_max)};
  return ::setrlimit(static_cast<__rlimit_resource_t>(resource), &next) == 0;
}

}  // namespace

result<std::string> shut_in(sandbox::permissions to, const limits& most) {
  // Also ends programs that no process waits for, and programs that were not started by this library.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_DUMPABLE, 0);
  const auto seconds = static_cast<rlim_t>((most.time.count() + 999) / 1000);
  constexpr rlim_t descriptors = 64;
  bool is_limited = limit(RLIMIT_CPU, seconds, seconds + 1) && limit(RLIMIT_FSIZE, 0, 0) && limit(RLIMIT_CORE, 0, 0) &&
                    limit(RLIMIT_NOFILE, descriptors, descriptors) && limit(RLIMIT_NPROC, 0, 0);
  to.only_computes = true;
  HONDANA_TRY(auto confined, sandbox::confine(to));
  auto lacks = std::move(confined.lacks);
  // Last, because the setup above may need more memory than the limit allows.
  if (limits_memory) is_limited = limit(RLIMIT_AS, most.memory, most.memory) && is_limited;
  if (!is_limited) lacks += lacks.empty() ? "resource limits cannot be set" : "; resource limits cannot be set";
  return lacks;
}

}  // namespace hondana::process
