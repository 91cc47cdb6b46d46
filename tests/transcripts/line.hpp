/// A line to a server: memory, a child process or HTTP, whole or one byte at a time.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace transcripts {

using time_point = std::chrono::steady_clock::time_point;

/// What is sent at once.
struct sending {
  std::string bytes;
  std::vector<std::pair<std::string, std::string>> headers{};  ///< Obeyed by HTTP only, as are those below.
  std::string method = "POST";
  bool is_alone = false;     ///< Names no session.
  bool passes_time = false;  ///< The server's clock goes on until the answer comes.
};

/// One end of a conversation with a server whose clock stands still. Errors are sentences for the report.
class line {
 public:
  line() = default;
  line(const line&) = delete;
  line& operator=(const line&) = delete;
  virtual ~line() = default;

  [[nodiscard]] virtual tl::expected<void, std::string> send(const sending& what, time_point deadline) = 0;
  /// The next message; nothing when none came in time. `passes_time`: the server's clock goes on until it comes.
  [[nodiscard]] virtual std::optional<std::string> receive(time_point deadline, bool passes_time) = 0;
  /// The server's clock goes on by so much, a step at a time, each with a moment for messages to come.
  virtual void pass_time(std::chrono::milliseconds most) = 0;
  /// The status of the last POST; nothing where there is no HTTP.
  [[nodiscard]] virtual std::optional<int> status() const { return std::nullopt; }
  /// Sends the last bytes without ending their line, then ends the input. Only a stream can.
  [[nodiscard]] virtual tl::expected<void, std::string> send_end(std::string_view bytes, time_point deadline) = 0;
  /// Ends the input if it has not ended and waits for the server to leave. Returns what it still said.
  [[nodiscard]] virtual tl::expected<std::vector<std::string>, std::string> finish(time_point deadline) = 0;
};

/// How far the server's clock goes on at a time, and how long it is waited in between whether a message comes.
inline constexpr std::chrono::milliseconds time_step{100};
inline constexpr std::chrono::milliseconds step_pause{5};
/// Where the program that serves over stdio reads a byte for each step.
inline constexpr int clock_descriptor = 3;

/// Fixture servers by name (see `servers.hpp`). `program` is the one that serves them over stdio.
[[nodiscard]] tl::expected<std::unique_ptr<line>, std::string> open_memory_line(const std::string& server);
[[nodiscard]] tl::expected<std::unique_ptr<line>, std::string> open_stdio_line(const std::filesystem::path& program,
                                                                               const std::string& server, bool bytewise);
[[nodiscard]] tl::expected<std::unique_ptr<line>, std::string> open_http_line(const std::string& server, bool bytewise);

}  // namespace transcripts
