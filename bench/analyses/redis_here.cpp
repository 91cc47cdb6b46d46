/// Starting, killing and asking it.
#include "redis_here.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "sources/analyses/cache/redis/redis_connection.hpp"

namespace analyses_bench {

using namespace hondana::analyses;

redis_here::redis_here(std::string folder, bool is_synced) : folder_(std::move(folder)), is_synced_(is_synced) { start(); }

redis_here::~redis_here() { kill(); }

void redis_here::start() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) bench::fail("pipe");
  const auto socket = folder_ + "/socket";
  const char* const synced = is_synced_ ? "always" : "no";
  // Killed at each of hundreds of rewrites that it began by itself, Redis 7.0 refuses to start.
  const char* const rewritten = is_synced_ ? "0" : "100";
  pid_ = ::fork();
  if (pid_ < 0) bench::fail("fork");
  if (pid_ == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execlp("redis-server", "redis-server", "--dir", folder_.c_str(), "--unixsocket", socket.c_str(), "--port", "0",
             "--appendonly", "yes", "--appendfsync", synced, "--auto-aof-rewrite-percentage", rewritten, "--save", "",
             "--daemonize", "no", nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string said;
  for (std::array<char, 4096> buffer{}; said.find("ready to accept connections at") == std::string::npos;) {
    const auto count = ::read(ends[0], buffer.data(), buffer.size());
    if (count <= 0) {
      ::close(ends[0]);
      throw std::runtime_error("redis-server cannot be started; it is a package of Debian: " + said);
    }
    said.append(buffer.data(), static_cast<std::size_t>(count));
  }
  ::close(ends[0]);  // it goes on without anybody who reads its log
}

void redis_here::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

redis_options redis_here::options() const {
  redis_options out;
  out.url = "unix://" + folder_ + "/socket";
  return out;
}

double redis_here::told(const char* section, std::string_view name) const {
  const auto how = options();
  const auto where = parse_redis_url(how.url);
  auto on = redis_connection::open(*where, how, nullptr);
  if (!on) throw std::runtime_error(on.error().public_text);
  const auto said = on->execute({"INFO", section});
  if (!said) throw std::runtime_error(said.error().public_text);
  const auto at = said->text.find(name);
  if (at == std::string::npos) throw std::runtime_error("Redis tells nothing of " + std::string(name));
  return std::strtod(said->text.c_str() + at + name.size(), nullptr);
}

double redis_here::used_memory() const { return told("memory", "used_memory:"); }

void redis_here::rewrite() const {
  const auto how = options();
  const auto where = parse_redis_url(how.url);
  auto on = redis_connection::open(*where, how, nullptr);
  if (!on) throw std::runtime_error(on.error().public_text);
  if (const auto begun = on->execute({"BGREWRITEAOF"}); !begun) throw std::runtime_error(begun.error().public_text);
  while (told("persistence", "aof_rewrite_in_progress:") + told("persistence", "aof_rewrite_scheduled:") > 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace analyses_bench
