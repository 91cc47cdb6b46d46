/// Starting servers and waiting until they listen.
#include "contestant.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

#include "../process/scratch.hpp"

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

}  // namespace

contestant::contestant(std::vector<std::string> command, int core, std::uint16_t port, const std::string& log)
    : process_(command, core, log), port_(port) {
  await(command.front(), log);
}

contestant::contestant(const std::function<void()>& serve, int core, std::uint16_t port)
    : process_([&serve](int, int) { serve(); }, core), port_(port) {
  await("a bare loop", {});
}

void contestant::await(const std::string& who, const std::string& log) const {
  const auto until = bench::clock::now() + std::chrono::seconds(20);
  while (!is_listened_on(port_)) {
    if (process_.has_ended() || bench::clock::now() > until) {
      throw std::runtime_error(who + " does not listen: " + (log.empty() ? "" : bench::text_in(log)));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
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
