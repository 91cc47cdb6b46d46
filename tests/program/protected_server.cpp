/// What the protected server answers.
#include "program/protected_server.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "program/process.hpp"

namespace program_test {
namespace {

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += ' ';
    } else if (text[i] == '%' && i + 2 < text.size()) {
      out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::map<std::string, std::string> form(std::string_view text) {
  std::map<std::string, std::string> out;
  while (!text.empty()) {
    const auto one = text.substr(0, text.find('&'));
    const auto equals = one.find('=');
    if (equals != std::string_view::npos) out[unescaped(one.substr(0, equals))] = unescaped(one.substr(equals + 1));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
  }
  return out;
}

std::string reply(std::string_view status, std::string_view body, std::string_view fields = {}) {
  return "HTTP/1.1 " + std::string(status) + "\r\nContent-Type: application/json\r\nConnection: close\r\n" +
         std::string(fields) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

constexpr std::string_view self =
    R"({"resultType":"complete","ttlMs":0,"cacheScope":"private","supportedVersions":["2026-07-28"],"capabilities":{"resources":{}},)"
    R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"protected","version":"1"}}})";
constexpr std::string_view list =
    R"({"resultType":"complete","ttlMs":0,"cacheScope":"private","resources":[{"uri":"x:a","name":"a"}]})";
constexpr std::string_view content =
    R"({"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[{"uri":"x:a","text":"the text"}]})";

}  // namespace

protected_server::protected_server() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(socket_, 64) != 0 ||
      ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("cannot listen");
  origin_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  serving_ = std::thread([this] { serve(); });
}

protected_server::~protected_server() {
  ::shutdown(socket_, SHUT_RDWR);
  serving_.join();
  ::close(socket_);
}

void protected_server::end_access() {
  const std::lock_guard lock(mutex_);
  access_.clear();
}

void protected_server::end_refresh() {
  const std::lock_guard lock(mutex_);
  refresh_.clear();
}

std::vector<std::string> protected_server::asked(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = asked_.find(path);
  return found == asked_.end() ? std::vector<std::string>() : found->second;
}

void protected_server::serve() {
  for (int peer = ::accept(socket_, nullptr, nullptr); peer >= 0; peer = ::accept(socket_, nullptr, nullptr)) {
    const timeval most{patience.count(), 0};
    ::setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    std::string bytes;
    std::array<char, 65536> more{};
    std::size_t whole = std::string::npos;
    while (bytes.size() < whole) {
      const auto got = ::recv(peer, more.data(), more.size(), 0);
      if (got <= 0) break;
      bytes.append(more.data(), static_cast<std::size_t>(got));
      const auto head = bytes.find("\r\n\r\n");
      if (head == std::string::npos) continue;
      const auto size = bytes.find("\nContent-Length: ");
      whole = head + 4 + (size < head ? std::stoul(bytes.substr(size + 17)) : 0);
    }
    if (bytes.size() >= whole) {
      request one;
      const auto head = bytes.substr(0, bytes.find("\r\n\r\n"));
      one.body = bytes.substr(head.size() + 4);
      one.method = head.substr(0, head.find(' '));
      const auto target = head.substr(one.method.size() + 1, head.find(' ', one.method.size() + 1) - one.method.size() - 1);
      one.path = target.substr(0, target.find('?'));
      one.query = form(one.method == "POST" ? one.body : target.substr(std::min(one.path.size() + 1, target.size())));
      if (const auto at = head.find("\nAuthorization: "); at != std::string::npos)
        one.authorization = head.substr(at + 16, head.find('\r', at) - at - 16);
      std::string text;
      {
        const std::lock_guard lock(mutex_);
        asked_[one.path].push_back(one.method + ' ' + target + ' ' + one.authorization + ' ' + one.body);
        text = answer(one);
      }
      ::send(peer, text.data(), text.size(), MSG_NOSIGNAL);
    }
    ::shutdown(peer, SHUT_WR);
    while (::recv(peer, more.data(), more.size(), 0) > 0) continue;
    ::close(peer);
  }
}

std::string protected_server::answer(const request& to) {
  if (to.path == "/mcp") return answer_message(to);
  if (to.path == "/token") return answer_token(to);
  if (to.path == "/.well-known/oauth-protected-resource/mcp")
    return reply("200 OK", R"({"resource":")" + origin_ + R"(/mcp","authorization_servers":[")" + origin_ +
                               R"("],"scopes_supported":["read"]})");
  if (to.path == "/.well-known/oauth-authorization-server") {
    const auto at = [this](std::string_view name, std::string_view path) {
      return ",\"" + std::string(name) + "\":\"" + origin_ + std::string(path) + '"';
    };
    return reply("200 OK", R"({"issuer":")" + origin_ + '"' + at("authorization_endpoint", "/authorize") +
                               at("token_endpoint", "/token") + at("registration_endpoint", "/register") +
                               at("revocation_endpoint", "/revoke") +
                               R"(,"response_types_supported":["code"],"code_challenge_methods_supported":["S256"],)"
                               R"("grant_types_supported":["authorization_code","refresh_token","client_credentials"],)"
                               R"("authorization_response_iss_parameter_supported":true,)"
                               R"("token_endpoint_auth_methods_supported":["none","client_secret_basic"]})");
  }
  if (to.path == "/register") return reply("201 Created", R"({"client_id":"registered","token_endpoint_auth_method":"none"})");
  if (to.path == "/authorize") {
    const auto code = "code-" + std::to_string(++count_);
    codes_[code] = to.query.contains("scope") ? to.query.at("scope") : "";
    return reply("302 Found", "",
                 "Location: " + to.query.at("redirect_uri") + "?code=" + code + "&state=" + to.query.at("state") +
                     "&iss=" + origin_ + "\r\n");
  }
  if (to.path == "/revoke") {
    refresh_.erase(to.query.at("token"));
    return reply("200 OK", "");
  }
  return reply("404 Not Found", "");
}

std::string protected_server::answer_token(const request& to) {
  const auto& kind = to.query.at("grant_type");
  std::string scope;
  if (kind == "client_credentials") {
    // "machine:s3cret"
    if (to.authorization != "Basic bWFjaGluZTpzM2NyZXQ=") return reply("401 Unauthorized", R"({"error":"invalid_client"})");
    scope = to.query.contains("scope") ? to.query.at("scope") : "";
  } else {
    auto& from = kind == "refresh_token" ? refresh_ : codes_;
    const auto found = from.find(to.query.at(kind == "refresh_token" ? kind : "code"));
    if (found == from.end()) return reply("400 Bad Request", R"({"error":"invalid_grant"})");
    scope = found->second;
    from.erase(found);
  }
  const auto number = std::to_string(++count_);
  access_["access-" + number] = scope;
  std::string out =
      R"({"token_type":"Bearer","expires_in":3600,"access_token":"access-)" + number + R"(","scope":")" + scope + '"';
  if (kind != "client_credentials") {
    refresh_["refresh-" + number] = scope;
    out += R"(,"refresh_token":"refresh-)" + number + '"';
  }
  return reply("200 OK", out + '}');
}

std::string protected_server::answer_message(const request& to) {
  const auto metadata = "resource_metadata=\"" + origin_ + "/.well-known/oauth-protected-resource/mcp\"";
  const auto token = to.authorization.starts_with("Bearer ") ? to.authorization.substr(7) : "";
  const auto found = access_.find(token);
  if (found == access_.end())
    return reply("401 Unauthorized", "", "WWW-Authenticate: Bearer " + metadata + ", scope=\"read\"\r\n");
  const bool is_reading = to.body.find("\"resources/read\"") != std::string::npos;
  if (is_reading && found->second.find("write") == std::string::npos)
    return reply("403 Forbidden", "",
                 "WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"read write\", " + metadata + "\r\n");
  const auto id = to.body.find("\"id\":") + 5;
  const auto result = is_reading ? content : to.body.find("\"resources/list\"") != std::string::npos ? list : self;
  return reply("200 OK", R"({"jsonrpc":"2.0","id":)" + to.body.substr(id, to.body.find_first_of(",}", id) - id) +
                             R"(,"result":)" + std::string(result) + '}');
}

}  // namespace program_test
