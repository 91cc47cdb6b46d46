/// An MCP server that misbehaves in the way a file says, over standard input and output or HTTP, and as it should while that
/// file says "good". `hostile_server stdio FILE` or `hostile_server http FILE`, which prints its port.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>

namespace {

using std::string_literals::operator""s;

std::string mode_file;  // constant once threads run

std::string mode() {
  std::ifstream file(mode_file);
  std::string out;
  std::getline(file, out);
  return out;
}

[[noreturn]] void stay() {
  for (;;) ::pause();
}

/// What follows `"name":` up to a comma or bracket; a string without its quotes.
std::string member(const std::string& message, const std::string& name) {
  const auto at = message.find('"' + name + "\":");
  if (at == std::string::npos) return {};
  const auto from = at + name.size() + 3;
  if (message[from] != '"') return message.substr(from, message.find_first_of(",}", from) - from);
  return message.substr(from + 1, message.find('"', from + 1) - from - 1);
}

/// Where answers go. Threads: one.
struct way {
  int to;
  bool is_http;

  /// Until the other side has gone, which ends whoever writes on.
  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const auto count = ::write(to, bytes.data(), bytes.size());
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  bool begin(std::string_view type) const {
    return !is_http || write("HTTP/1.1 200 OK\r\nContent-Type: " + std::string(type) + "\r\nConnection: close\r\n\r\n");
  }
  /// One whole message. Over HTTP all belong to one session.
  bool say(const std::string& message) const {
    if (!is_http) return write(message + '\n');
    return write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: one\r\nContent-Length: " +
                 std::to_string(message.size()) + "\r\n\r\n" + message);
  }
  bool answer(const std::string& id, const std::string& result) const {
    return say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + result + '}');
  }
  /// Holds the connection, or the process, without another word.
  void fall_silent() const {
    if (!is_http) stay();
    char byte = 0;
    while (::read(to, &byte, 1) > 0) {
    }
  }
  void vanish() const {
    if (!is_http) ::_exit(3);
    const linger now{1, 0};
    ::setsockopt(to, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }
  void write_on(const std::string& piece) const {
    while (write(piece)) {
    }
  }
};

std::string opening_of(const std::string& id) {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"contents":[{"uri":"x://bad","text":")";
}

/// Whether the mode says anything of such a request.
bool is_meant(const std::string& how, const std::string& method) {
  if (how == "good") return false;
  if (how == "silence" || how == "crash-loop") return true;
  if (how == "no-initialize") return method == "initialize" || method == "server/discover";
  return method == (how == "huge-lists" || how == "endless-pages" ? "resources/list" : "resources/read");
}

/// Adds a line to the file beside that of the mode, for the test to see that the mode has been met.
void note_met(const std::string& how) { std::ofstream(mode_file + ".met", std::ios::app) << how + '\n'; }

/// False when the mode says nothing of such a request.
bool misbehaves(const std::string& how, const std::string& method, const std::string& id, const way& back) {
  if (is_meant(how, method)) note_met(how);
  if (how == "silence") return back.fall_silent(), true;
  if (how == "crash-loop" || (how == "no-initialize" && is_meant(how, method))) return back.vanish(), true;
  if (how == "no-initialize") {
    // The next request begins with one.
    if (!back.is_http) back.vanish();
    return back.write("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), true;
  }
  if (method == "resources/list") {
    if (how == "huge-lists") {
      if (!back.begin("application/json")) return true;
      back.write(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"resources":[{"uri":"x://0","name":"0"})");
      std::string piece;
      for (int i = 0; i < 1'000; ++i) piece += R"(,{"uri":"x://)" + std::to_string(i) + R"(","name":"n"})";
      return back.write_on(piece), true;
    }
    if (how == "endless-pages") {
      static std::uint64_t page = 0;
      return back.answer(id, R"({"resources":[],"nextCursor":")" + std::to_string(++page) + R"("})"), true;
    }
  }
  if (!is_meant(how, method)) return false;
  if (how == "endless-text") {
    if (back.begin("application/json") && back.write(opening_of(id))) back.write_on(std::string(64u << 10, 'A'));
  } else if (how == "endless-spaces") {
    if (back.begin("application/json") && back.write(R"({"jsonrpc":"2.0","id":)" + id + ','))
      back.write_on(std::string(64u << 10, ' '));
  } else if (how == "endless-messages") {
    const auto note = R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"x","progress":1}})"s;
    std::string piece;
    for (int i = 0; i < 100; ++i) piece += back.is_http ? "data: " + note + "\n\n" : note + '\n';
    if (back.begin("text/event-stream")) back.write_on(piece);
  } else if (how == "endless-blanks") {
    std::string piece;
    for (int i = 0; i < 1'000; ++i) piece += back.is_http ? ": nothing\n" : "\n";
    if (back.begin("text/event-stream")) back.write_on(piece);
  } else if (how == "half-a-message") {
    if (back.begin("application/json") && back.write(opening_of(id) + "half")) back.fall_silent();
  } else if (how == "slow-bytes") {
    if (!back.begin("application/json") || !back.write(opening_of(id))) return true;
    while (back.write("A")) ::poll(nullptr, 0, 100);
  } else if (how == "wrong-ids") {
    back.answer("100000", R"({"contents":[{"uri":"x://bad","text":"of another"}]})");
    if (back.is_http) back.fall_silent();
  } else if (how == "garbage") {
    for (int i = 0; i < 100; ++i) back.say("<<<< no message at all \x01\xff >>>>");
  } else if (how == "early-exit") {
    back.vanish();
  } else if (how == "cut-off") {
    if (back.begin("application/json") && back.write(opening_of(id) + "half")) back.vanish();
  } else if (how == "stopped") {
    ::raise(SIGSTOP);
    return false;
  } else if (how == "closed-pipes") {
    ::shutdown(back.to, SHUT_RDWR);
    if (back.is_http) return true;
    ::close(STDIN_FILENO);
    ::close(STDOUT_FILENO);
    stay();
  } else if (how == "complaints") {
    std::fprintf(stderr, "a complaint\n");
    std::string piece;
    for (int i = 0; i < 1'000; ++i) piece += "a complaint that nobody asked for\n";
    if (back.is_http) return back.vanish(), true;
    for (;;) std::fwrite(piece.data(), 1, piece.size(), stderr);
  } else {
    return false;
  }
  return true;
}

/// False when it misbehaved.
bool serve(const std::string& message, const way& back) {
  const auto id = member(message, "id");
  const auto method = member(message, "method");
  if (id.empty()) {
    if (back.is_http) back.write("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
    return true;
  }
  const auto uri = member(message, "uri");
  // Only what is meant to be bad, but for the ways that leave nothing good.
  const auto how = mode();
  if (misbehaves(how, method == "resources/read" && uri != "x://bad" ? "a good read" : method, id, back)) return false;
  if (method == "initialize") {
    back.answer(
        id,
        R"({"protocolVersion":"2025-11-25","capabilities":{"resources":{}},"serverInfo":{"name":"hostile","version":"1"}})");
  } else if (method == "resources/list") {
    back.answer(id, R"({"resources":[{"uri":"x://small","name":"small"},{"uri":"x://bad","name":"bad"}]})");
  } else if (method == "resources/templates/list") {
    back.answer(id, R"({"resourceTemplates":[]})");
  } else if (method == "resources/read") {
    back.answer(id, R"({"contents":[{"uri":")" + uri + R"(","text":"small body"}]})");
  } else if (method == "ping") {
    back.answer(id, "{}");
  } else {
    back.say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":-32601,"message":"no such method"}})");
  }
  return true;
}

/// The requests of one connection, each with a length.
void serve_connection(int socket) {
  const way back{socket, true};
  std::string input;
  std::array<char, 1u << 16> buffer;
  for (;;) {
    const auto head = input.find("\r\n\r\n");
    const auto at = head == std::string::npos ? head : input.find("ontent-Length: ");
    const auto length = at == std::string::npos || at > head ? 0 : std::stoul(input.substr(at + 15));
    if (head == std::string::npos || input.size() < head + 4 + length) {
      const auto count = ::read(socket, buffer.data(), buffer.size());
      if (count <= 0) break;
      input.append(buffer.data(), static_cast<std::size_t>(count));
      continue;
    }
    if (!input.starts_with("POST ")) {
      back.write("HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n");
    } else {
      // What was said wrongly ends with its connection.
      if (!serve(input.substr(head + 4, length), back)) break;
    }
    input.erase(0, head + 4 + length);
  }
  ::close(socket);
}

int serve_http() {
  const int listening = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof here;
  if (::bind(listening, reinterpret_cast<sockaddr*>(&here), size) != 0 || ::listen(listening, 128) != 0) return 1;
  if (::getsockname(listening, reinterpret_cast<sockaddr*>(&here), &size) != 0) return 1;
  std::printf("%d\n", ntohs(here.sin_port));
  std::fflush(stdout);
  for (;;) {
    const int socket = ::accept(listening, nullptr, nullptr);
    if (socket >= 0) std::thread(serve_connection, socket).detach();
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  mode_file = arguments[2];
  ::signal(SIGPIPE, SIG_IGN);
  if (arguments[1] == "http"s) return serve_http();
  if (mode() == "crash-loop") return 3;
  const way back{STDOUT_FILENO, false};
  for (std::string line; std::getline(std::cin, line);) serve(line, back);
  return 0;
}
