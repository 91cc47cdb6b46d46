/// Starting, watching and ending processes.
#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace feed_bench {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

struct pipe_ends {
  int read = -1;
  int write = -1;
};

pipe_ends make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe");
  return {ends[0], ends[1]};
}

void write_file(const std::string& path, std::string_view content) {
  const int to = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (to < 0) fail(path);
  const auto count = ::write(to, content.data(), content.size());
  ::close(to);
  if (count != static_cast<ssize_t>(content.size())) fail(path);
}

}  // namespace

void stay_on(int core) {
  if (core < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(core), &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) fail("sched_setaffinity");
}

void make_room_for(std::size_t count) {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) fail("getrlimit");
  now.rlim_cur = now.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &now) != 0) fail("setrlimit");
  constexpr rlim_t spare = 200;
  if (now.rlim_cur < count + spare) throw std::runtime_error("the descriptor limit is too low for so many streams");
}

scratch::scratch() {
  const char* base = std::getenv("TMPDIR");
  root_ = std::string(base != nullptr ? base : "/tmp") + "/hondana-bench-XXXXXX";
  if (::mkdtemp(root_.data()) == nullptr) fail("mkdtemp");
  std::filesystem::create_directories(root_ + "/served");
}

scratch::~scratch() {
  std::error_code left_behind;
  std::filesystem::remove_all(root_, left_behind);
}

std::string scratch::path(std::string_view below) const { return root_ + '/' + std::string(below); }

void scratch::put(std::string_view below, std::string_view content) const { write_file(path(below), content); }

void scratch::replace(std::string_view below, std::string_view content) const {
  const auto beside = path("beside");
  write_file(beside, content);
  if (::rename(beside.c_str(), path(below).c_str()) != 0) fail("rename");
}

child::child(std::vector<std::string> command, int core) {
  const auto in = make_pipe();
  const auto out = make_pipe();
  const auto errors = make_pipe();
  std::vector<char*> pointers;
  for (auto& one : command) pointers.push_back(one.data());
  pointers.push_back(nullptr);
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
      std::fprintf(stderr, "feed_bench: %s\n", error.what());
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
  if (::write(to_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) fail("a child is gone");
}

std::string child::take_line(int from, std::string& kept, std::chrono::seconds patience) {
  const auto until = clock::now() + patience;
  std::array<char, 4096> buffer{};
  for (auto end = kept.find('\n');; end = kept.find('\n')) {
    if (end != std::string::npos) {
      auto line = kept.substr(0, end);
      kept.erase(0, end + 1);
      return line;
    }
    pollfd ready{from, POLLIN, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
    if (left <= 0 || ::poll(&ready, 1, static_cast<int>(left)) <= 0)
      throw std::runtime_error("a child says nothing; so far: " + kept);
    const auto count = ::read(from, buffer.data(), buffer.size());
    if (count <= 0) throw std::runtime_error("a child has ended; it said: " + kept);
    kept.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

std::string child::line(std::chrono::seconds patience) { return take_line(from_, kept_, patience); }
std::string child::error_line(std::chrono::seconds patience) { return take_line(errors_, kept_errors_, patience); }

long child::private_kib() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/smaps_rollup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Private_Dirty:")) return std::strtol(line.c_str() + sizeof("Private_Dirty:"), nullptr, 10);
  }
  throw std::runtime_error("no smaps_rollup of a child");
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

double child::processor_milliseconds() const {
  double total = 0;
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/task", gone)) {
    std::ifstream one(task.path() / "schedstat");
    double nanoseconds = 0;
    if (one >> nanoseconds) total += nanoseconds;
  }
  return total / 1e6;
}

}  // namespace feed_bench
