/// The ways into the program: standard input, HTTP and a Unix socket, stateless and in sessions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "program/process.hpp"
#include "red_team/shelf.hpp"

namespace red_team {

/// One answer of HTTP, whole.
struct reply {
  int status = 0;  ///< 0: the connection ended without an answer.
  std::string head;
  std::string body;  ///< As it came, chunks and all.
};

/// One blocking connection. Threads: one.
class connection {
 public:
  /// Where to: a port of 127.0.0.1, or the path of a Unix socket. Throws when nobody listens.
  explicit connection(const std::string& where);
  ~connection();
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  /// False when the other side takes no more.
  bool send(std::string_view bytes);
  /// The next answer; throws when neither it nor the end of the connection comes in time.
  [[nodiscard]] reply receive(bool has_body = true);

 private:
  bool fill();
  int socket_ = -1;
  std::string input_;
};

/// A peer of the program that keeps to the protocol where it is not told otherwise. Threads: one.
class line {
 public:
  line() = default;
  line(const line&) = delete;
  line& operator=(const line&) = delete;
  virtual ~line() = default;

  [[nodiscard]] virtual bool is_modern() const = 0;
  enum class pace { whole, byte_by_byte };
  /// Sends these bytes as one message and gives all that is said to it: messages, or an answer of HTTP; empty for nothing.
  /// `id`: of the request that the message is, where it is a sound one; others are answered before what is asked behind them.
  /// Throws when the program does not come back to this peer in time.
  [[nodiscard]] virtual std::string exchange(std::string_view message, int id = 0, pace how = pace::whole) = 0;
  /// A request with `members` (each with a comma behind it) among its params; the JSON text of its answer.
  [[nodiscard]] std::string ask(std::string_view method, std::string_view members = {});

 protected:
  [[nodiscard]] std::string request(int id, std::string_view method, std::string_view members) const;
  [[nodiscard]] int next_id() noexcept { return ++id_; }
  /// The message among what came that answers the request.
  [[nodiscard]] virtual std::string answer_in(const std::string& came, int id) const = 0;

 private:
  int id_ = 0;
};

/// One program over one transport, and a peer of it.
class target {
 public:
  /// Starts it on the shelf. `stateless`: in the newest revision, else in a session of the one before.
  target(const shelf& what, std::string_view transport, bool stateless, std::string_view settings = {});

  [[nodiscard]] line& peer() noexcept { return *peer_; }
  [[nodiscard]] program_test::process& program() noexcept { return *program_; }
  /// A port or a path; empty for standard input.
  [[nodiscard]] const std::string& where() const noexcept { return where_; }
  /// Reads a file that anybody may read: whether the program still serves, to this peer and, by HTTP, to a new one.
  [[nodiscard]] bool serves(const shelf& what);

 private:
  std::unique_ptr<program_test::process> program_;
  std::string where_;
  std::unique_ptr<line> peer_;
};

/// Another peer of a program that listens.
[[nodiscard]] std::unique_ptr<line> another_peer(const std::string& where, bool stateless);

/// A way in, for parameterised tests: the transport is "stdio", "http" or "unix".
struct way {
  std::string_view transport;
  bool stateless;
};
inline constexpr way ways[]{{"stdio", true}, {"stdio", false}, {"http", true},
                            {"http", false}, {"unix", true},   {"unix", false}};
inline std::string name_of(const way& one) {
  return std::string(one.transport) + (one.stateless ? "_stateless" : "_in_sessions");
}

}  // namespace red_team
