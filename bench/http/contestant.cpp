/// Starting servers and reading what they cost.
#include "contestant.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace http_bench {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return out;
}

bool is_listened_on(std::uint16_t port) {
  const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto to = loopback(port);
  const bool connected = ::connect(probe, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  ::close(probe);
  return connected;
}

std::string content(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

}  // namespace

contestant::contestant(std::vector<std::string> command, int core, std::uint16_t port, const std::string& log) : port_(port) {
  std::vector<char*> pointers;
  for (auto& one : command) pointers.push_back(one.data());
  pointers.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) {
    const int to = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(to, STDOUT_FILENO);
    ::dup2(to, STDERR_FILENO);
    stay_on(core);
    ::execvp(pointers[0], pointers.data());
    ::_exit(127);
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!is_listened_on(port)) {
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_ || std::chrono::steady_clock::now() > until) {
      throw std::runtime_error(command[0] + " does not listen: " + content(log));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

contestant::~contestant() {
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

double contestant::processor_seconds() const {
  const auto text = content("/proc/" + std::to_string(pid_) + "/stat");
  // The name stands in brackets and may hold anything; utime and stime are the 12th and 13th field behind it.
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  long user = 0;
  long system = 0;
  if (!(fields >> user >> system)) throw std::runtime_error("a server has ended");
  return static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

void stay_on(int core) {
  if (core < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(core), &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

std::uint16_t free_port() {
  const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto where = loopback(0);
  socklen_t size = sizeof where;
  const bool found = ::bind(probe, reinterpret_cast<const sockaddr*>(&where), size) == 0 &&
                     ::getsockname(probe, reinterpret_cast<sockaddr*>(&where), &size) == 0;
  ::close(probe);
  if (!found) throw std::runtime_error("no free port");
  return ntohs(where.sin_port);
}

}  // namespace http_bench
