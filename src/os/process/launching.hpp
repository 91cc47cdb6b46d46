/// Both ends of the socket to a launcher, and the launcher's process itself.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "os/process/launcher.hpp"

namespace hondana::process {

/// Stands for a signal where the number of a command would be.
inline constexpr std::uint32_t signal_request = 0xffff'ffff;
/// Of all variables that one request names.
inline constexpr std::size_t most_variables = 16u << 10;

/// A request, which is followed by variables ("NAME=VALUE", each with a NUL) and carries the program's three descriptors.
struct launch_request {
  std::uint32_t number = 0;
  std::int32_t group = 0;
  std::int32_t signal = 0;
};
struct launch_answer {
  std::int32_t pid = -1;
  std::int32_t error = 0;
};

/// Without descriptors where all three are 0. The error, or 0.
[[nodiscard]] int send_request(int to, const launch_request& asked, std::string_view variables,
                               const std::array<int, 3>& descriptors) noexcept;
/// The error, 0, or -1 when the other end has gone. `tie`: where the descriptor goes that the answer to a start carries.
[[nodiscard]] int receive_answer(int from, launch_answer& into, disk::handle* tie = nullptr) noexcept;

/// What the launcher's process does from the fork to its end.
[[noreturn]] void serve_launches(int socket, const std::vector<known_command>& commands) noexcept;

}  // namespace hondana::process
