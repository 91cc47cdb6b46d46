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
constexpr std::size_t max_error_bytes = 4096;
constexpr std::size_t piece_size = 64u << 10;
/// Polling interval if the kernel has no pidfds.
constexpr std::chrono::milliseconds poll_interval{10};

/// A descriptor that becomes readable when `stop` is requested.
class stop_event {
 public:
  explicit stop_event(const std::stop_token& stop)
      : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), callback_(stop, [this] { notify(); }) {}
  [[nodiscard]] int get() const noexcept { return event_.get(); }

 private:
  void notify() const noexcept {
    // This fails only if the counter is full; the descriptor is then readable already.
    static_cast<void>(::eventfd_write(event_.get(), 1));
  }
  disk::handle event_;
  std::stop_callback<std::function<void()>> callback_;
};

class output_reader {
 public:
  output_reader(child& source, const limits& limits, const std::function<result<void>(std::string_view)>& on_output)
      : child_(source), limits_(limits), on_output_(on_output), piece_(piece_size, '\0') {}

  [[nodiscard]] bool reads_output() const noexcept { return child_.output.is_open(); }
  [[nodiscard]] bool reads_errors() const noexcept { return child_.error_output.is_open(); }

  /// Reads one piece of the output, or all that is available.
  result<void> read_output(bool read_all) {
    while (child_.output.is_open()) {
      const auto count = ::read(child_.output.get(), piece_.data(), piece_.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return {};
      if (count <= 0) {
        child_.output = disk::handle();
        return {};
      }
      output_bytes_ += static_cast<std::uint64_t>(count);
      if (output_bytes_ > limits_.max_output_bytes)
        return fail(errc::response_too_large,
                    "a document contains more text than the limit of " + std::to_string(limits_.max_output_bytes) + " bytes");
      HONDANA_TRY(on_output_(std::string_view(piece_.data(), static_cast<std::size_t>(count))));
      if (!read_all) return {};
    }
    return {};
  }

  void read_errors() {
    for (bool has_more = child_.error_output.is_open(); has_more;) {
      const auto count = ::read(child_.error_output.get(), piece_.data(), piece_.size());
      if (count < 0 && errno == EINTR) continue;
      has_more = count > 0;
      if (count == 0 || (count < 0 && errno != EAGAIN)) child_.error_output = disk::handle();
      if (count <= 0) continue;
      const auto space_left = max_error_bytes - std::min(max_error_bytes, errors_.size());
      errors_.append(piece_, 0, std::min(space_left, static_cast<std::size_t>(count)));
    }
  }

  [[nodiscard]] std::string error_text() {
    std::string line;
    bool ends_line = false;
    for (const char c : errors_) {
      if (c == '\n' || c == '\r') {
        ends_line = !line.empty();
        continue;
      }
      if (std::exchange(ends_line, false)) line += "; ";
      line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    }
    return line;
  }

 private:
  child& child_;
  const limits& limits_;
  const std::function<result<void>(std::string_view)>& on_output_;
  std::string piece_;
  std::string errors_;
  std::uint64_t output_bytes_ = 0;
};

int time_to_poll(clock::time_point now, clock::time_point end, bool has_descriptor) {
  auto remaining = std::chrono::ceil<std::chrono::milliseconds>(end - now);
  remaining = std::clamp(remaining, std::chrono::milliseconds(0), std::chrono::milliseconds(60'000));
  if (!has_descriptor) remaining = std::min(remaining, poll_interval);
  return static_cast<int>(remaining.count());
}

}  // namespace

result<termination> run_confined(const std::vector<std::string>& command, int input, const limits& limits,
                                 const std::function<result<void>(std::string_view)>& on_output, const std::stop_token& stop,
                                 clock::time_point deadline) {
  if (stop.stop_requested()) return fail(errc::cancelled, "the request for the document was cancelled");
  const stop_event stopped(stop);
  HONDANA_TRY(auto started, child::start(command, input, limits));
  const auto end = std::min(deadline, clock::now() + limits.max_time);
  output_reader reader(started, limits, on_output);
  termination outcome;
  for (;;) {
    // Checked before reading its output, so that none of the output is missed.
    const bool has_exited = started.has_ended(outcome);
    HONDANA_TRY(reader.read_output(has_exited));
    reader.read_errors();
    if (has_exited) break;
    if (stop.stop_requested()) return fail(errc::cancelled, "the request for the document was cancelled");
    const auto now = clock::now();
    if (now >= end)
      return fail(errc::timed_out, "rendering a document timed out (limit: " + std::to_string(limits.max_time.count()) +
                                       " ms, or the deadline of the request)");
    std::array<pollfd, 4> watched{{{reader.reads_output() ? started.output.get() : -1, POLLIN, 0},
                                   {reader.reads_errors() ? started.error_output.get() : -1, POLLIN, 0},
                                   {started.pidfd(), POLLIN, 0},
                                   {stopped.get(), POLLIN, 0}}};
    ::poll(watched.data(), watched.size(),
           monotonic_clock::poll_timeout(time_to_poll(now, end, started.pidfd() >= 0 && stopped.get() >= 0)));
  }
  outcome.error_output = reader.error_text();
  return outcome;
}

std::string to_text(const limits& limits) {
  return std::to_string(limits.max_time.count()) + ' ' + std::to_string(limits.max_memory_bytes) + ' ' +
         std::to_string(limits.max_output_bytes) + ' ' + std::to_string(limits.max_unpacked_bytes);
}

std::optional<limits> parse_limits(std::string_view text) {
  std::array<std::uint64_t, 4> values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), values[i]);
    if (parsed.ec != std::errc()) return {};
    text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
    if (i + 1 == values.size()) break;
    if (!text.starts_with(' ')) return {};
    text.remove_prefix(1);
  }
  constexpr std::uint64_t max_milliseconds = 86'400'000;  // a day
  if (!text.empty() || values[0] > max_milliseconds) return {};
  return limits{.max_time = std::chrono::milliseconds(values[0]),
                .max_memory_bytes = values[1],
                .max_output_bytes = values[2],
                .max_unpacked_bytes = values[3]};
}

namespace {

constexpr const char* search_path = "/usr/local/bin:/usr/bin:/bin";

tl::unexpected<failure> start_failure(const std::string& operation, int error) {
  return fail(errc::source_unavailable, "a document cannot be rendered: its process cannot be started",
              operation + ": " + std::strerror(error));
}

struct output_pipe {
  disk::handle parent_end;
  disk::handle child_end;
};

result<output_pipe> make_output_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return start_failure("a pipe", errno);
  output_pipe created{disk::handle(ends[0]), disk::handle(ends[1])};
  ::fcntl(created.parent_end.get(), F_SETFL, O_NONBLOCK);
  return created;
}

/// All data for exec, built before the fork. The child must not allocate, because other threads may hold the allocator's lock.
struct exec_image {
  std::vector<std::string> command;
  std::vector<std::string> variables;
  std::vector<char*> arguments;
  std::vector<char*> environment;
};

std::vector<char*> null_terminated(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

exec_image make_image(const std::vector<std::string>& command, const limits& limits) {
  exec_image image{
      .command = command,
      .variables = {"LANG=C.UTF-8", std::string("PATH=") + search_path, std::string(limits_variable) + '=' + to_text(limits)},
      .arguments = {},
      .environment = {}};
  image.arguments = null_terminated(image.command);
  image.environment = null_terminated(image.variables);
  return image;
}

/// Marks descriptors that other libraries opened without O_CLOEXEC, on kernels without close_range.
void close_at_exec_one_by_one() {
  rlimit file_limit{};
  if (::getrlimit(RLIMIT_NOFILE, &file_limit) != 0) return;
  constexpr rlim_t max_checked = 1u << 20;
  const int end = static_cast<int>(file_limit.rlim_cur < max_checked ? file_limit.rlim_cur : max_checked);
  for (int descriptor = 3; descriptor < end; ++descriptor) ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

/// Runs in the child after the fork, where only async-signal-safe functions are allowed. Returns only on failure, with the
/// errno.
int exec_child(const exec_image& image, const std::array<int, 3>& streams, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // If the parent has already ended, the death signal would never arrive.
  if (::getppid() != parent) return ESRCH;
  if (::chdir("/") != 0) return errno;
  // The streams may have the numbers 0 to 2 if the host has closed its own. Duplicates above them cannot clash.
  std::array<int, 3> duplicates{};
  for (std::size_t i = 0; i < streams.size(); ++i) {
    duplicates[i] = ::fcntl(streams[i], F_DUPFD_CLOEXEC, 3);
    if (duplicates[i] < 0) return errno;
  }
  for (int i = 0; i < 3; ++i) {
    if (::dup2(duplicates[static_cast<std::size_t>(i)], i) < 0) return errno;
  }
#ifdef CLOSE_RANGE_CLOEXEC
  if (::close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) != 0) close_at_exec_one_by_one();
#else
  close_at_exec_one_by_one();
#endif
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);  // signals that cannot be set have no handler
  sigset_t no_signals;
  ::sigemptyset(&no_signals);
  ::sigprocmask(SIG_SETMASK, &no_signals, nullptr);
  ::execve(image.arguments.front(), image.arguments.data(), image.environment.data());
  return errno;
}

/// The errno that the child reports before exec; -1 if exec succeeded.
int read_exec_error(int descriptor) {
  int error = 0;
  ssize_t count = -1;
  while ((count = ::read(descriptor, &error, sizeof error)) < 0 && errno == EINTR) {
  }
  return count == static_cast<ssize_t>(sizeof error) ? error : -1;
}

void reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

allowed_command renderer_command(const std::vector<std::string>& command) {
  return {.command = command,
          .environment = {{"LANG", "C.UTF-8"}, {"PATH", search_path}},
          .working_directory = "/",
          .variables = {limits_variable},
          .reads_file = true};
}

child_target renderer_target(const std::vector<std::string>& command) {
  const auto allowed = renderer_command(command);
  return {.command = command, .environment = allowed.environment, .working_directory = allowed.working_directory};
}

child::child(child&& other) noexcept
    : output(std::move(other.output)),
      error_output(std::move(other.error_output)),
      pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      launcher_(std::move(other.launcher_)),
      lifeline_(std::move(other.lifeline_)),
      end_(std::move(other.end_)) {}

child::~child() {
  if (pid_ <= 0) return;
  kill_group();
  // If the launcher has ended, the signal cannot be sent, but the kernel has already killed the child.
  reap(pid_);
}

void child::kill_group() const noexcept {
  if (launcher_) {
    static_cast<void>(launcher_->signal(pid_, SIGKILL));
  } else {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);  // in case it has not created its group yet
  }
}

result<void> child::fork_into(const std::vector<std::string>& command, int input, const limits& limits, int out,
                              int error_out) {
  const auto image = make_image(command, limits);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return start_failure("a pipe", errno);
  const disk::handle status_reader(ends[0]);
  disk::handle status_writer(ends[1]);
  sigset_t all_signals;
  sigset_t previous_mask;
  ::sigfillset(&all_signals);
  // Signal handlers of the host must not run in the child.
  ::pthread_sigmask(SIG_SETMASK, &all_signals, &previous_mask);
  const auto parent = ::getpid();
  const auto pid = ::fork();
  if (pid == 0) {
    const int error = exec_child(image, {input, out, error_out}, parent);
    [[maybe_unused]] const auto ignored = ::write(status_writer.get(), &error, sizeof error);
    ::_exit(127);
  }
  const int problem = errno;
  ::pthread_sigmask(SIG_SETMASK, &previous_mask, nullptr);
  if (pid < 0) return start_failure("fork", problem);
  status_writer = disk::handle();
  if (const int error = read_exec_error(status_reader.get()); error >= 0) {
    reap(pid);
    return start_failure(command.front(), error);
  }
  pid_ = pid;
  return {};
}

result<void> child::launch(const std::vector<std::string>& command, int input, const limits& limits, int out, int error_out) {
  auto target = renderer_target(command);
  target.environment.emplace_back(limits_variable, to_text(limits));
  HONDANA_TRY(auto attempt, launcher_->start(target, {input, out, error_out}));
  lifeline_ = std::move(attempt.lifeline);
  if (attempt.error != 0) {
    if (attempt.pid > 0) reap(attempt.pid);
    return start_failure(command.front(), attempt.error);
  }
  pid_ = attempt.pid;
  return {};
}

result<child> child::start(const std::vector<std::string>& command, int input, const limits& limits) {
  if (command.empty() || !command.front().starts_with('/'))
    return fail(errc::invalid_argument, "a confined child requires an absolute path");
  HONDANA_TRY(auto out, make_output_pipe());
  HONDANA_TRY(auto errors, make_output_pipe());
  child started;
  started.launcher_ = launcher::installed();
  HONDANA_TRY(started.launcher_ ? started.launch(command, input, limits, out.child_end.get(), errors.child_end.get())
                                : started.fork_into(command, input, limits, out.child_end.get(), errors.child_end.get()));
  started.pidfd_ = disk::handle(static_cast<int>(::syscall(SYS_pidfd_open, started.pid_, 0)));
  started.output = std::move(out.parent_end);
  started.error_output = std::move(errors.parent_end);
  return started;
}

void child::decode_status(int status, termination& out) {
  out.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  out.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

bool child::has_ended(termination& out) {
  if (pid_ != -1 && !reap_ended()) return false;
  out.exit_code = end_.exit_code;
  out.signal = end_.signal;
  return true;
}

bool child::reap_ended() {
  siginfo_t info{};
  const bool is_reaped = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0;
  if (!is_reaped && info.si_pid != pid_) return false;
  // Its process id cannot be reused before it is reaped.
  if (!is_reaped) kill_group();
  int status = 0;
  // If the host ignores SIGCHLD, the child is already reaped and its status is unknown.
  if (::waitpid(pid_, &status, WNOHANG) == pid_) decode_status(status, end_);
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
bool set_limit(int resource, rlim_t soft, rlim_t hard) {
  rlimit current{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &current) != 0) return false;
  const rlimit updated{std::min(soft, current.rlim_max), std::min(hard, current.rlim_max)};
  return ::setrlimit(static_cast<__rlimit_resource_t>(resource), &updated) == 0;
}

}  // namespace

result<std::string> confine_permanently(sandbox::permissions permissions, const limits& limits) {
  // Also ends programs that no process waits for, and programs that were not started by this library.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_DUMPABLE, 0);
  const auto seconds = static_cast<rlim_t>((limits.max_time.count() + 999) / 1000);
  constexpr rlim_t descriptors = 64;
  bool is_limited = set_limit(RLIMIT_CPU, seconds, seconds + 1) && set_limit(RLIMIT_FSIZE, 0, 0) &&
                    set_limit(RLIMIT_CORE, 0, 0) && set_limit(RLIMIT_NOFILE, descriptors, descriptors) &&
                    set_limit(RLIMIT_NPROC, 0, 0);
  permissions.is_compute_only = true;
  HONDANA_TRY(auto confined, sandbox::confine(permissions));
  auto missing = std::move(confined.missing);
  // Last, because the setup above may need more memory than the limit allows.
  if (limits_memory) is_limited = set_limit(RLIMIT_AS, limits.max_memory_bytes, limits.max_memory_bytes) && is_limited;
  if (!is_limited) missing += missing.empty() ? "resource limits cannot be set" : "; resource limits cannot be set";
  return missing;
}

}  // namespace hondana::process
