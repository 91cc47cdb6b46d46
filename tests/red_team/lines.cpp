/// Blocking peers with deadlines.
#include "red_team/lines.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "transcripts/envelope_headers.hpp"

namespace red_team {
namespace {

using program_test::patience;
using program_test::process;
using program_test::within;

constexpr std::string_view legacy_revision = "2025-11-25";
constexpr std::string_view modern_revision = "2026-07-28";
constexpr std::string_view opening =
    R"({"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},)"
    R"("clientInfo":{"name":"red","version":"1"}}})";
constexpr std::string_view opened = R"({"jsonrpc":"2.0","method":"notifications/initialized"})";

std::string field(std::string_view head, std::string_view name) {
  const auto line = "\r\n" + std::string(name) + ": ";
  const auto at = head.find(line);
  if (at == std::string_view::npos) return {};
  const auto begin = at + line.size();
  return std::string(head.substr(begin, head.find("\r\n", begin) - begin));
}

/// Lines of JSON over a pipe.
class stdio_line final : public line {
 public:
  stdio_line(process& program, bool stateless) : program_(program), stateless_(stateless) {
    if (stateless) return;
    if (exchange(opening, 0, pace::whole).find("\"result\"") == std::string::npos)
      throw std::runtime_error("no session: " + program_.errors());
    put(std::string(opened) + '\n');
  }
  [[nodiscard]] bool is_modern() const override { return stateless_; }
  [[nodiscard]] std::string exchange(std::string_view message, int id, pace how) override {
    if (how == pace::whole) {
      put(std::string(message) + '\n');
    } else {
      for (const char c : message) put({&c, 1});
      put("\n");
    }
    if (id != 0) return until(id);
    const auto probe = next_id();
    put(request(probe, stateless_ ? "server/discover" : "ping", {}) + '\n');
    const auto came = until(probe);
    return came.substr(0, came.rfind('\n', came.size() - 2) + 1);
  }

 protected:
  [[nodiscard]] std::string answer_in(const std::string& came, int id) const override {
    const auto wanted = "\"id\":" + std::to_string(id) + ",";
    for (std::size_t at = 0; at < came.size();) {
      const auto end = std::min(came.find('\n', at), came.size());
      auto one = came.substr(at, end - at);
      if (one.find(wanted) != std::string::npos) return one;
      at = end + 1;
    }
    return {};
  }

 private:
  void put(std::string_view bytes) {
    if (!program_.write_and_read(bytes, within(patience))) throw std::runtime_error("takes no input: " + program_.errors());
  }
  /// All that is said up to the answer to a request, and that.
  std::string until(int id) {
    const auto wanted = "\"id\":" + std::to_string(id) + ",";
    std::string came;
    do {
      const auto one = program_.read_line(within(patience));
      if (!one) throw std::runtime_error("no answer; so far: " + came.substr(0, 500) + " and " + program_.errors());
      came += *one + '\n';
    } while (came.find(wanted, came.rfind('\n', came.size() - 2) + 1) == std::string::npos);
    return came;
  }

  process& program_;
  bool stateless_;
};

/// Messages by POST over one connection, and over a new one whenever that ends.
class http_line final : public line {
 public:
  http_line(std::string where, bool stateless) : where_(std::move(where)), stateless_(stateless) {
    connection_ = std::make_unique<connection>(where_);
    if (stateless) return;
    const auto open = post(opening, false);
    session_ = field(open.head, "Mcp-Session-Id");
    if (session_.empty()) throw std::runtime_error("no session: " + open.head + open.body);
    (void)post(opened, false);
  }
  [[nodiscard]] bool is_modern() const override { return stateless_; }
  [[nodiscard]] std::string exchange(std::string_view message, int, pace how) override {
    return said(post(message, how == pace::byte_by_byte));
  }

 protected:
  [[nodiscard]] std::string answer_in(const std::string& came, int) const override {
    const auto begin = came.find("\r\n\r\n{");
    return begin == std::string::npos ? std::string() : came.substr(begin + 4);
  }

 private:
  static std::string said(const reply& one) { return one.body.empty() ? std::string() : one.head + one.body; }

  reply post(std::string_view message, bool slowly) {
    boost::system::error_code is_none;
    const auto parsed = boost::json::parse({message.data(), message.size()}, is_none);
    transcripts::post_headers fields;
    const auto revision = stateless_ ? modern_revision : session_.empty() ? std::string_view() : legacy_revision;
    std::string text = "POST /mcp HTTP/1.1\r\nHost: localhost\r\n";
    for (const auto& [name, value] : is_none ? fields.of_raw(revision) : fields.of_message(parsed, revision)) {
      text += name + ": " + (name == "Accept" ? "application/json" : value) + "\r\n";
    }
    if (!session_.empty()) text += "Mcp-Session-Id: " + session_ + "\r\n";
    text += "Content-Length: " + std::to_string(message.size()) + "\r\n\r\n" + std::string(message);
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (!connection_) connection_ = std::make_unique<connection>(where_);
      bool sent = true;
      if (slowly) {
        for (const char c : text) sent = sent && connection_->send({&c, 1});
      } else {
        sent = connection_->send(text);
      }
      // What refuses a message early may close before it has taken all of it.
      auto answer = connection_->receive();
      if (!sent || answer.status == 0 || field(answer.head, "Connection") == "close") connection_.reset();
      if (answer.status != 0) return answer;
    }
    return {};
  }

  std::string where_;
  bool stateless_;
  std::unique_ptr<connection> connection_;
  std::string session_;
};

}  // namespace

connection::connection(const std::string& where) {
  const timeval give_up{patience.count(), 0};
  const auto use = [&](int family, const void* address, std::size_t size) {
    socket_ = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &give_up, sizeof give_up);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &give_up, sizeof give_up);
    if (::connect(socket_, static_cast<const sockaddr*>(address), static_cast<socklen_t>(size)) == 0) return;
    const std::error_code why(errno, std::generic_category());
    ::close(socket_);
    throw std::system_error(why, "cannot connect to " + where);
  };
  if (where.starts_with('/')) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    if (where.size() >= sizeof to.sun_path) throw std::runtime_error("the path is too long: " + where);
    std::memcpy(to.sun_path, where.data(), where.size());
    use(AF_UNIX, &to, sizeof to);
  } else {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::uint16_t port = 0;
    std::from_chars(where.data(), where.data() + where.size(), port);
    to.sin_port = htons(port);
    use(AF_INET, &to, sizeof to);
  }
}

connection::~connection() { ::close(socket_); }

bool connection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool connection::fill() {
  std::array<char, 1 << 16> buffer;
  const auto count = ::recv(socket_, buffer.data(), buffer.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) throw std::runtime_error("no answer in time; so far: " + input_);
  if (count <= 0) return false;
  input_.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

reply connection::receive(bool has_body) {
  reply out;
  while (input_.find("\r\n\r\n") == std::string::npos) {
    if (!fill()) return out;
  }
  const auto begin = input_.find("\r\n\r\n") + 4;
  out.head = input_.substr(0, begin);
  input_.erase(0, begin);
  if (out.head.size() > 12) std::from_chars(out.head.data() + 9, out.head.data() + 12, out.status);
  std::size_t size = 0;
  const auto length = field(out.head, "Content-Length");
  std::from_chars(length.data(), length.data() + length.size(), size);
  if (!has_body || out.status == 204 || out.status == 304) return out;
  if (field(out.head, "Transfer-Encoding") == "chunked") {
    while (input_.find("0\r\n\r\n") == std::string::npos && fill()) {
    }
    size = std::min(input_.size(), input_.find("0\r\n\r\n") + 5);
  } else {
    while (input_.size() < size && fill()) {
    }
    size = std::min(size, input_.size());
  }
  out.body = input_.substr(0, size);
  input_.erase(0, size);
  return out;
}

std::string line::request(int id, std::string_view method, std::string_view members) const {
  constexpr std::string_view meta =
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";
  std::string params(members);
  if (is_modern()) {
    params += meta;
  } else if (params.ends_with(',')) {
    params.pop_back();
  }
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + std::string(method) + R"(","params":{)" +
         params + "}}";
}

std::string line::ask(std::string_view method, std::string_view members) {
  const auto id = next_id();
  const auto came = exchange(request(id, method, members), id);
  auto answer = answer_in(came, id);
  if (answer.empty()) throw std::runtime_error("no answer to " + std::string(method) + " but: " + came.substr(0, 1000));
  return answer;
}

target::target(const shelf& what, std::string_view transport, bool stateless, std::string_view settings) {
  const auto file = what.configuration(settings);
  if (transport == "stdio") {
    program_ = std::make_unique<process>(std::vector<std::string>{"stdio", "--config", file});
    peer_ = std::make_unique<stdio_line>(*program_, stateless);
    return;
  }
  std::vector<std::string> arguments{"serve", "--config", file};
  if (transport == "unix") {
    where_ = what.path("s");
    arguments.insert(arguments.end(), {"--socket", where_});
  } else {
    arguments.insert(arguments.end(), {"--port", "0"});
  }
  program_ = std::make_unique<process>(std::move(arguments));
  if (!program_->error_line_with("Stop with Ctrl-C", within(patience))) throw std::runtime_error(program_->errors());
  if (where_.empty()) {
    constexpr std::string_view before = "http://127.0.0.1:";
    const auto at = program_->errors().find(before);
    if (at == std::string::npos) throw std::runtime_error(program_->errors());
    const auto begin = at + before.size();
    where_ = program_->errors().substr(begin, program_->errors().find('/', begin) - begin);
  }
  peer_ = another_peer(where_, stateless);
}

bool target::serves(const shelf& what) {
  const auto reads = [&](line& by) {
    return by.ask("resources/read", "\"uri\":\"" + what.root_uri("/inside.txt") + "\",").find(inside) != std::string::npos;
  };
  return reads(*peer_) && (where_.empty() || reads(*another_peer(where_, peer_->is_modern())));
}

std::unique_ptr<line> another_peer(const std::string& where, bool stateless) {
  return std::make_unique<http_line>(where, stateless);
}

}  // namespace red_team
