/// Starting, feeding and watching a child process.
#include "program/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace program_test {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds glance{20};
// Processor time in a glance that is no work: the sanitizers' own threads wake now and then.
constexpr milliseconds rest{1};

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error(std::string("no pipe: ") + std::strerror(errno));
  return ends;
}

/// Our end of a terminal of 80 columns that changes nothing of what it shows, and its other end.
std::array<int, 2> make_terminal() {
  std::array<int, 2> ends{::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), -1};
  std::array<char, 64> name{};
  if (ends[0] < 0 || ::grantpt(ends[0]) != 0 || ::unlockpt(ends[0]) != 0 || ::ptsname_r(ends[0], name.data(), name.size()) != 0)
    throw std::runtime_error(std::string("no terminal: ") + std::strerror(errno));
  ends[1] = ::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  termios how{};
  const winsize size{24, 80, 0, 0};
  if (::tcgetattr(ends[1], &how) != 0) throw std::runtime_error(std::string("no terminal: ") + std::strerror(errno));
  ::cfmakeraw(&how);
  if (::tcsetattr(ends[1], TCSANOW, &how) != 0 || ::ioctl(ends[1], TIOCSWINSZ, &size) != 0)
    throw std::runtime_error(std::string("no terminal: ") + std::strerror(errno));
  return ends;
}

int left_until(time_point deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 600'000));
}

void forget(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

/// Appends what there is; false at the end.
bool append(std::string& to, int from) {
  std::array<char, 1 << 16> buffer;
  const auto count = ::read(from, buffer.data(), buffer.size());
  if (count > 0) to.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace

process::process(std::vector<std::string> arguments, output_to out, std::string program) {
  auto to = make_pipe();
  auto from = out == output_to::terminal ? make_terminal() : make_pipe();
  auto errors = make_pipe();
  int full = out == output_to::full_disk ? ::open("/dev/full", O_WRONLY | O_CLOEXEC) : -1;
  if (out == output_to::full_disk && full < 0) throw std::runtime_error("there is no /dev/full");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, full >= 0 ? full : from[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO);
  if (program.empty()) program = HONDANA_PROGRAM;
  std::vector<char*> pointers{program.data()};
  for (auto& one : arguments) pointers.push_back(one.data());
  pointers.push_back(nullptr);
  const int problem = ::posix_spawn(&child_, program.c_str(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  for (int* end : {&to[0], &from[1], &errors[1], &full}) forget(*end);
  in_ = to[1];
  out_ = from[0];
  err_ = errors[0];
  if (problem != 0) throw std::runtime_error("cannot start " + program + ": " + std::strerror(problem));
  handle_ = static_cast<int>(::syscall(SYS_pidfd_open, child_, 0));
  if (handle_ < 0) throw std::runtime_error(std::string("pidfd_open: ") + std::strerror(errno));
  ::fcntl(in_, F_SETFL, O_NONBLOCK);
  // Many requests fit in while the program takes none.
  ::fcntl(in_, F_SETPIPE_SZ, 1 << 20);
  ::signal(SIGPIPE, SIG_IGN);
}

process::~process() {
  if (!left_ && child_ > 0) {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  for (int* one : {&handle_, &in_, &out_, &err_}) forget(*one);
}

unsigned process::await(unsigned events, time_point deadline) {
  for (;;) {
    const bool wants_output = (events & (take_output | see_output)) != 0 && !output_ended_;
    std::array<pollfd, 4> all{{{err_, POLLIN, 0},
                               {wants_output ? out_ : -1, POLLIN, 0},
                               {(events & give_input) != 0 ? in_ : -1, POLLOUT, 0},
                               {(events & see_exit) != 0 ? handle_ : -1, POLLIN, 0}}};
    const int ready = ::poll(all.data(), all.size(), left_until(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return 0;
    unsigned happened = 0;
    if (all[0].revents != 0) {
      read_errors();
      happened |= took_errors;
    }
    if (all[1].revents != 0) {
      if ((events & take_output) != 0) read_output();
      happened |= events & (take_output | see_output);
    }
    if (all[2].revents != 0) happened |= give_input;
    if (all[3].revents != 0) happened |= see_exit;
    if (happened != 0) return happened;
  }
}

void process::read_errors() {
  if (!append(errors_, err_)) forget(err_);
}

void process::read_output() {
  if (read_ > (1u << 20) && 2 * read_ > output_.size()) output_.erase(0, std::exchange(read_, 0));
  if (!append(output_, out_)) output_ended_ = true;
}

bool process::put(std::string_view bytes, unsigned meanwhile, time_point deadline) {
  while (!bytes.empty()) {
    const auto happened = await(give_input | meanwhile, deadline);
    if (happened == 0) return false;
    if ((happened & give_input) == 0) continue;
    const auto count = ::write(in_, bytes.data(), bytes.size());
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
    if (count < 0 && errno != EAGAIN && errno != EINTR) return false;
  }
  return true;
}

bool process::write(std::string_view bytes, time_point deadline) { return put(bytes, 0, deadline); }
bool process::write_and_read(std::string_view bytes, time_point deadline) { return put(bytes, take_output, deadline); }
void process::end_input() { forget(in_); }
void process::end_output() {
  forget(out_);
  output_ended_ = true;
}

std::optional<std::string> process::read_line(time_point deadline) {
  auto from = read_;
  for (;;) {
    const auto end = output_.find('\n', from);
    if (end != std::string::npos) {
      auto line = output_.substr(read_, end - read_);
      read_ = end + 1;
      return line;
    }
    const auto seen = output_.size() - read_;
    if (output_ended_ || await(take_output, deadline) == 0) return std::nullopt;
    from = read_ + seen;
  }
}

bool process::has_output(time_point deadline) {
  while (read_ == output_.size() && !output_ended_) {
    const auto happened = await(see_output, deadline);
    if (happened == 0) return false;
    if ((happened & see_output) != 0) return true;
  }
  return read_ < output_.size();
}

std::optional<std::string> process::read_to_end(time_point deadline) {
  while (!output_ended_) {
    if (await(take_output, deadline) == 0) return std::nullopt;
  }
  return output_.substr(std::exchange(read_, output_.size()));
}

std::optional<std::string> process::error_line_with(std::string_view text, time_point deadline) {
  for (;;) {
    const auto at = errors_.find(text, found_);
    const auto end = at == std::string::npos ? at : errors_.find('\n', at);
    if (end != std::string::npos) {
      found_ = end + 1;
      const auto begin = errors_.rfind('\n', at) + 1;
      return errors_.substr(begin, end - begin);
    }
    if (err_ < 0 || await(0, deadline) == 0) return std::nullopt;
  }
}

void process::signal(int number) const { ::kill(child_, number); }

void process::limit(int resource, std::uint64_t most) const {
  const auto which = static_cast<__rlimit_resource>(resource);
  rlimit now{};
  if (::prlimit(child_, which, nullptr, &now) != 0) throw std::runtime_error(std::strerror(errno));
  now.rlim_cur = std::min<rlim_t>(most, now.rlim_max);
  if (::prlimit(child_, which, &now, nullptr) != 0) throw std::runtime_error(std::strerror(errno));
}

std::optional<departure> process::leaves(time_point deadline) {
  while (!left_) {
    const auto happened = await(see_exit, deadline);
    if (happened == 0) return std::nullopt;
    if ((happened & see_exit) == 0) continue;
    int status = 0;
    if (::waitpid(child_, &status, 0) != child_) throw std::runtime_error("waitpid failed");
    left_ = WIFEXITED(status) ? departure{WEXITSTATUS(status), 0} : departure{-1, WTERMSIG(status)};
    while (err_ >= 0 && await(0, within(milliseconds(0))) != 0) continue;
  }
  return left_;
}

bool process::rests(time_point deadline) {
  clockid_t clock{};
  if (::clock_getcpuclockid(child_, &clock) != 0) return false;
  const auto used = [&clock] {
    timespec now{};
    ::clock_gettime(clock, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  };
  // There is no event for a process that waits; its leaving is the one awaited between two looks.
  auto before = used();
  for (int quiet = 0; quiet < 10;) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    if ((await(see_exit, within(glance)) & see_exit) != 0) return true;
    const auto now = used();
    quiet = now - before < rest && !is_at_work() ? quiet + 1 : 0;
    before = now;
  }
  return true;
}

bool process::is_at_work() const {
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(child_) + "/task")) {
    std::ifstream file(task.path() / "stat");
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    // "17 (name) R …"
    const auto state = text.rfind(") ");
    if (state != std::string::npos && (text[state + 2] == 'R' || text[state + 2] == 'D')) return true;
  }
  return false;
}

std::size_t process::status(std::string_view name) const {
  std::ifstream file("/proc/" + std::to_string(child_) + "/status");
  for (std::string word; file >> word;) {
    std::size_t kibibytes = 0;
    if (word == name && file >> kibibytes) return kibibytes;
  }
  throw std::runtime_error(std::string(name) + " is not known");
}

std::size_t process::peak_memory() const { return status("VmHWM:"); }
std::size_t process::memory() const { return status("VmRSS:"); }

std::chrono::milliseconds process::processor_time() const {
  std::ifstream file("/proc/" + std::to_string(child_) + "/stat");
  std::string line;
  std::getline(file, line);
  // The second field, its name, may have spaces; utime and stime are the 14th and 15th.
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  std::int64_t own = 0;
  std::int64_t of_kernel = 0;
  if (!(fields >> own >> of_kernel)) throw std::runtime_error("its processor time is not known");
  return std::chrono::milliseconds((own + of_kernel) * 1'000 / ::sysconf(_SC_CLK_TCK));
}

std::size_t process::descriptors() const {
  const std::filesystem::directory_iterator all("/proc/" + std::to_string(child_) + "/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::size_t process::descriptor_limit() const {
  rlimit limit{};
  if (::prlimit(child_, RLIMIT_NOFILE, nullptr, &limit) != 0) throw std::runtime_error("the limit is not known");
  return limit.rlim_cur;
}

}  // namespace program_test
