/// A child of the process room's tests: does what its first argument says.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "os/process/confined_child.hpp"

extern char** environ;

namespace {

void say(std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(STDOUT_FILENO, text.data(), text.size());
    if (count <= 0) ::_exit(9);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

[[noreturn]] void wait_for_ever() {
  for (;;) ::pause();
}

void copy() {
  std::string piece(4096, '\0');
  off_t at = 0;
  for (ssize_t count = 0; (count = ::pread(STDIN_FILENO, piece.data(), piece.size(), at)) > 0; at += count)
    say({piece.data(), static_cast<std::size_t>(count)});
}

void tell() {
  for (char** one = environ; *one != nullptr; ++one) say(std::string(*one) + '\n');
  say("folder " + std::filesystem::current_path().string() + '\n');
  say(std::string("group ") + (::getpgrp() == ::getpid() ? "own" : "another") + '\n');
  int open = 0;
  for (int one = 0; one < 1024; ++one) open += ::fcntl(one, F_GETFD) >= 0 ? 1 : 0;
  say("descriptors " + std::to_string(open) + '\n');
}

/// A child of its own that would hold the output open for ever.
void fork_and_leave() {
  const auto pid = ::fork();
  if (pid == 0) wait_for_ever();
  say(std::to_string(pid));
}

std::string outcome(const char* what, bool has_done) { return std::string(what) + (has_done ? " done\n" : " refused\n"); }

bool has_opened(const char* path, int flags) {
  const int one = ::open(path, flags, 0600);
  if (one >= 0) ::close(one);
  return one >= 0;
}

bool has_connected() {
  const int one = ::socket(AF_INET, SOCK_STREAM, 0);
  return one >= 0;
}

bool has_forked() {
  const auto pid = ::fork();
  if (pid == 0) ::_exit(0);
  if (pid > 0) ::waitpid(pid, nullptr, 0);
  return pid > 0;
}

void try_to_break_out() {
  char words[] = "/bin/true";
  char* arguments[] = {words, nullptr};
  say(outcome("read", has_opened("/etc/passwd", O_RDONLY)));
  say(outcome("write", has_opened("/tmp/hondana-strange-child", O_WRONLY | O_CREAT)));
  say(outcome("list", has_opened("/", O_RDONLY | O_DIRECTORY)));
  say(outcome("reopen", has_opened("/proc/self/fd/0", O_RDWR)));
  say(outcome("socket", has_connected()));
  say(outcome("fork", has_forked()));
  say(outcome("signal", ::kill(::getppid(), 0) == 0));
  say(outcome("remove", ::unlink("/tmp/hondana-strange-child") == 0 || errno == ENOENT));
  say(outcome("execute", ::execve(words, arguments, environ) == 0));
}

void take_memory() {
  constexpr std::size_t step = 16u << 20;
  for (std::size_t have = 0;; have += step) {
    if (have > (8ull << 30)) ::_exit(0);
    if (::mmap(nullptr, step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) ::_exit(4);
  }
}

[[noreturn]] void count_for_ever() {
  for (volatile unsigned long count = 0;;) count = count + 1;
}

/// What of the limits it was told it keeps.
void keep(const hondana::sandbox::permissions& to = {}) {
  const char* told = std::getenv(hondana::process::limits_variable);
  const auto most = hondana::process::parse_limits(told == nullptr ? "" : told);
  if (!most) ::_exit(8);
  const auto lacks = hondana::process::confine_permanently(to, *most);
  if (!lacks) ::_exit(7);
  if (!lacks->empty()) say("lacks " + *lacks + '\n');
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view what = count > 1 ? arguments[1] : "";
  if (what == "copies") copy();
  if (what == "tells") tell();
  if (what == "forks") fork_and_leave();
  if (what == "is-still") wait_for_ever();
  if (what == "writes-for-ever") {
    for (const std::string piece(4096, 'x');;) say(piece);
  }
  if (what == "closes-and-stays") {
    ::close(STDOUT_FILENO);
    ::close(STDERR_FILENO);
    wait_for_ever();
  }
  if (what == "complains") {
    const auto words = "first\r\n\nsecond\n" + std::string(10'000, '\a');
    if (::write(STDERR_FILENO, words.data(), words.size()) < 0) return 9;
    return 3;
  }
  if (what == "dies") ::raise(SIGKILL);
  if (what == "breaks-out") {
    keep();
    try_to_break_out();
  }
  if (what == "takes-memory") {
    keep();
    take_memory();
  }
  if (what == "counts") {
    keep();
    count_for_ever();
  }
  // No leaks are looked for where nothing may be done any more.
  ::_exit(0);
}
