/// Real servers for tests: a program that is started, what it says until it is ready, and a port for it.
#pragma once

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"

namespace hondana::started {

/// What it writes to stderr, and to stdout where `hears_output`, comes out of `messages`, which the caller closes. 0: it cannot
/// be started, which is a failure of the test.
inline pid_t start_program(std::vector<std::string> words, int& messages, bool hears_output = false) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (auto& one : words) argv.push_back(one.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (hears_output) {
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  messages = ends[0];
  EXPECT_EQ(failed, 0) << words[0] << " cannot be started; it is a package of Debian";
  return failed == 0 ? child : 0;
}

/// Reads until `wanted` has been there, or the end, for `most` at most. All that was read.
inline std::string read_until(int from, std::string_view wanted, std::chrono::seconds most = hondana_test::event_deadline) {
  std::string all;
  const auto deadline = std::chrono::steady_clock::now() + most;
  for (std::array<char, 4096> buffer{};;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd one{from, POLLIN, 0};
    if (left <= 0 || ::poll(&one, 1, static_cast<int>(left)) <= 0) return all;
    const auto count = ::read(from, buffer.data(), buffer.size());
    if (count <= 0) return all;
    all.append(buffer.data(), static_cast<std::size_t>(count));
    if (!wanted.empty() && all.find(wanted) != std::string::npos) return all;
  }
}

/// A port of 127.0.0.1 that nobody has. It is none of those that the kernel gives to connections and to listeners that ask for
/// any, so that nobody is given it before it is used, nor while a server that had it is started again. 0: there is none.
inline std::uint16_t free_port() {
  std::ifstream range("/proc/sys/net/ipv4/ip_local_port_range");
  int first_given = 32'768;
  range >> first_given;
  constexpr int lowest = 10'100;  // some services have theirs below it
  static std::mt19937 draw{std::random_device{}()};
  for (int tries = 0; tries < 1'000; ++tries) {
    const int port = first_given > lowest + 1'000 ? std::uniform_int_distribution<int>(lowest, first_given - 1)(draw) : 0;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    socklen_t size = sizeof address;
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool is_free = ::bind(socket, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                         ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    ::close(socket);
    if (is_free) return ntohs(address.sin_port);
  }
  ADD_FAILURE() << "no port of 127.0.0.1 is free";
  return 0;
}

}  // namespace hondana::started
