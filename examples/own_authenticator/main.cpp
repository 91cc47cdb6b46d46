/// A server on a free port that identifies its callers by its own tokens, and two clients: one with a valid token and one
/// without.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/authenticator.hpp>
#include <hondana/client.hpp>
#include <hondana/memory_provider.hpp>
#include <hondana/server.hpp>

namespace {

/// Takes the same time for all texts of one length, so that a caller cannot measure how much of a guess is right.
bool equal_in_constant_time(std::string_view left, std::string_view right) {
  unsigned char difference = left.size() == right.size() ? 0 : 1;
  for (std::size_t i = 0; i < left.size() && i < right.size(); ++i)
    difference |= static_cast<unsigned char>(left[i] ^ right[i]);
  return difference == 0;
}

class token_authenticator final : public hondana::authenticator {
 public:
  explicit token_authenticator(std::string token) : token_(std::move(token)) {}

  std::optional<hondana::auth_result> try_authenticate(const hondana::auth_request& request) override {
    if (!request.bearer_token)
      return tl::unexpected(hondana::auth_rejection{.description = "Send the token that you were given."});
    if (!equal_in_constant_time(*request.bearer_token, token_))
      return tl::unexpected(hondana::auth_rejection{.error = "invalid_token", .description = "That is not the token."});
    return hondana::caller_info{"alice", request.address, nullptr};
  }
  // `try_authenticate` always decides, so no other service is needed.
  hondana::auth_result authenticate(const hondana::auth_request& request, std::chrono::steady_clock::time_point) override {
    return *try_authenticate(request);
  }

 private:
  const std::string token_;
};

/// Whether a client with this token can read the resource.
bool can_read(const std::string& url, const std::string& token) {
  hondana::http_target target;
  target.url = url;
  if (!token.empty()) target.headers = {{"Authorization", "Bearer " + token}};
  auto client = hondana::client::connect(target);
  return client && client->read("memo:///hello").has_value();
}

}  // namespace

int main() {
  const auto memos = std::make_shared<hondana::memory_provider>("memos", "memo:///");
  auto server = hondana::server::create({.name = "memos", .version = "1.0.0"});
  if (!server || !memos->add({.uri = "memo:///hello", .name = "hello"}, "hello, alice") || !server->add(memos)) return 1;
  hondana::http_options options;
  options.port = 0;
  options.authenticator = std::make_shared<token_authenticator>("one-that-nobody-guesses");
  const auto service = hondana::http_service::start(*server, options);
  if (!service) {
    std::fprintf(stderr, "%s\n", service.error().public_text.c_str());
    return 1;
  }
  const auto url = "http://127.0.0.1:" + std::to_string(service->port()) + "/mcp";
  const bool is_guarded = !can_read(url, "") && !can_read(url, "a-guess") && can_read(url, "one-that-nobody-guesses");
  std::puts(is_guarded ? "whoever has the token may read" : "the wrong ones may read");
  return is_guarded ? 0 : 1;
}
