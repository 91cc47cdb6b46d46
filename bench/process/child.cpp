/// Starting, watching and ending processes.
#include "child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace bench {
namespace {

struct pipe_ends {
  int read = -1;
  int write = -1;
};

pipe_ends make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe");
  return {ends[0], ends[1]};
}

std::vector<char*> pointers_to(std::vector<std::string>& command) {
  std::vector<char*> out;
  for (auto& one : command) out.push_back(one.data());
  out.push_back(nullptr);
  return out;
}

/// Waits for bytes; `kept`: what came before, for the error when none come.
std::size_t receive_some(int from, std::array<char, 65536>& into, clock::time_point until, const std::string& kept) {
  pollfd ready{from, POLLIN, 0};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
  if (left <= 0 || ::poll(&ready, 1, static_cast<int>(left)) <= 0)
    throw std::runtime_error("a child says nothing; so far: " + kept);
  const auto count = ::read(from, into.data(), into.size());
  if (count <= 0) throw std::runtime_error("a child has ended; it said: " + kept);
  return static_cast<std::size_t>(count);
}

}  // namespace

void fail(const std::string& what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

void stay_on(int core) {
  if (core < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(core), &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) fail("sched_setaffinity");
}

cores cores_here() { return std::thread::hardware_concurrency() > 1 ? cores{0, 1} : cores{}; }

void make_room_for(std::size_t count) {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) fail("getrlimit");
  now.rlim_cur = now.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &now) != 0) fail("setrlimit");
  constexpr rlim_t spare = 200;
  if (now.rlim_cur < count + spare) throw std::runtime_error("the descriptor limit is too low for so many streams");
}

child::child(std::vector<std::string> command, int core, const std::string& log) {
  const auto in = make_pipe();
  const auto out = make_pipe();
  const auto errors =
      log.empty() ? make_pipe() : pipe_ends{-1, ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
  if (errors.write < 0) fail(log);
  auto pointers = pointers_to(command);
  pid_ = ::fork();
  if (pid_ < 0) fail("fork");
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(in.read, STDIN_FILENO);
    ::dup2(out.write, STDOUT_FILENO);
    ::dup2(errors.write, STDERR_FILENO);
    stay_on(core);
    ::execvp(pointers[0], pointers.data());
    ::_exit(127);
  }
  for (const int one : {in.read, out.write, errors.write}) ::close(one);
  to_ = in.write;
  from_ = out.read;
  errors_ = errors.read;
}

child::child(const std::function<void(int, int)>& work, int core) {
  const auto in = make_pipe();
  const auto out = make_pipe();
  std::fflush(nullptr);
  pid_ = ::fork();
  if (pid_ < 0) fail("fork");
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(in.write);
    ::close(out.read);
    try {
      stay_on(core);
      work(in.read, out.write);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "a process of a benchmark: %s\n", error.what());
      ::_exit(1);
    }
    ::_exit(0);
  }
  ::close(in.read);
  ::close(out.write);
  to_ = in.write;
  from_ = out.read;
}

child::~child() {
  for (const int one : {to_, from_, errors_}) {
    if (one >= 0) ::close(one);
  }
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void child::send(std::string_view text) const {
  while (!text.empty()) {
    const auto count = ::write(to_, text.data(), text.size());
    if (count <= 0) fail("a child is gone");
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::size_t child::receive(char* into, std::size_t size) const {
  const auto count = ::read(from_, into, size);
  if (count <= 0) throw std::runtime_error("a child has ended");
  return static_cast<std::size_t>(count);
}

child::part child::pass_over(std::uint64_t most) const {
  std::vector<char> buffer(1 << 20);
  part out;
  while (out.bytes < most && !out.has_ended) {
    const auto count = receive(buffer.data(), std::min<std::uint64_t>(buffer.size(), most - out.bytes));
    out.bytes += count;
    // A server says nothing unasked here, so that no line begins behind the end of another.
    out.has_ended = buffer[count - 1] == '\n';
  }
  return out;
}

std::string child::take_line(int from, std::string& kept, std::chrono::seconds patience) {
  const auto until = clock::now() + patience;
  std::array<char, 65536> buffer{};
  for (std::size_t searched = 0;;) {
    // Lines may be long, so that only what is new is searched.
    if (const auto end = kept.find('\n', searched); end != std::string::npos) {
      auto line = kept.substr(0, end);
      kept.erase(0, end + 1);
      return line;
    }
    searched = kept.size();
    kept.append(buffer.data(), receive_some(from, buffer, until, kept));
  }
}

std::string child::line(std::chrono::seconds patience) { return take_line(from_, kept_, patience); }
std::string child::error_line(std::chrono::seconds patience) { return take_line(errors_, kept_errors_, patience); }

long child::kib_in(const char* file, std::string_view name) const {
  const auto path = "/proc/" + std::to_string(pid_) + '/' + file;
  std::ifstream from(path);
  for (std::string line; std::getline(from, line);) {
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ':')
      return std::strtol(line.c_str() + name.size() + 1, nullptr, 10);
  }
  throw std::runtime_error(path + " says nothing of " + std::string(name));
}

long child::private_kib() const { return kib_in("smaps_rollup", "Private_Dirty"); }
long child::status_kib(std::string_view name) const { return kib_in("status", name); }

void child::forget_peak() const {
  std::ofstream to("/proc/" + std::to_string(pid_) + "/clear_refs");
  to << "5\n";  // proc(5): resets the peak resident set size to what is resident now
  if (!to.flush()) throw std::runtime_error("the peak of memory cannot be reset");
}

std::size_t child::open_sockets() const {
  std::size_t count = 0;
  for (const auto& one : std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/fd")) {
    std::error_code closed_meanwhile;
    const auto target = std::filesystem::read_symlink(one, closed_meanwhile);
    if (!closed_meanwhile && target.string().starts_with("socket:")) ++count;
  }
  return count;
}

void child::await_sockets(std::size_t count, std::chrono::seconds patience) const {
  const auto until = clock::now() + patience;
  for (auto now = open_sockets(); now > count; now = open_sockets()) {
    if (clock::now() >= until) throw std::runtime_error("a child keeps " + std::to_string(now) + " sockets open");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

double child::processor_seconds() const {
  clockid_t id{};
  timespec used{};
  if (::clock_getcpuclockid(pid_, &id) != 0 || ::clock_gettime(id, &used) != 0) throw std::runtime_error("a child has ended");
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

bool child::has_ended() const {
  siginfo_t what{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &what, WEXITED | WNOHANG | WNOWAIT) == 0 && what.si_pid == pid_;
}

run_cost cost_of(std::vector<std::string> command) {
  auto pointers = pointers_to(command);
  const auto begin = clock::now();
  const pid_t pid = ::fork();
  if (pid < 0) fail("fork");
  if (pid == 0) {
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    ::execvp(pointers[0], pointers.data());
    ::_exit(127);
  }
  int status = 0;
  rusage used{};
  if (::wait4(pid, &status, 0, &used) != pid) fail("wait4");
  if (status != 0) throw std::runtime_error(command.front() + " failed");
  return {std::chrono::duration<double, std::milli>(clock::now() - begin).count(), used.ru_maxrss};
}

}  // namespace bench
