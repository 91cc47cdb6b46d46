/// A server on a free port that knows its callers by tokens of its own, and a client of each kind: one that is let in and
/// one that is not.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/authenticator.hpp>
#include <hondana/client.hpp>
#include <hondana/memory.hpp>
#include <hondana/server.hpp>

namespace {

/// Takes as long for any text of that length: how far a guess was right cannot be measured.
bool is_same(std::string_view one, std::string_view other) {
  unsigned char difference = one.size() == other.size() ? 0 : 1;
  for (std::size_t i = 0; i < one.size() && i < other.size(); ++i) difference |= static_cast<unsigned char>(one[i] ^ other[i]);
  return difference == 0;
}

class door final : public hondana::authenticator {
 public:
  explicit door(std::string token) : token_(std::move(token)) {}

  std::optional<hondana::authenticated> known(const hondana::request_facts& of) override {
    if (!of.bearer) return tl::unexpected(hondana::challenge{.description = "Send the token that you were given."});
    if (!is_same(*of.bearer, token_))
      return tl::unexpected(hondana::challenge{.error = "invalid_token", .description = "That is not the token."});
    return hondana::caller{"alice", of.address, nullptr};
  }
  // Everything is known at once, so that nobody has to be asked.
  hondana::authenticated find_out(const hondana::request_facts& of, std::chrono::steady_clock::time_point) override {
    return *known(of);
  }

 private:
  const std::string token_;
};

/// Whether somebody with this token can read what is served.
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
  hondana::server server({.name = "memos", .version = "1.0.0"});
  if (!memos->add({.uri = "memo:///hello", .name = "hello"}, "hello, alice") || !server.add(memos)) return 1;
  hondana::http_options options;
  options.port = 0;
  options.authenticator = std::make_shared<door>("one-that-nobody-guesses");
  const auto service = hondana::http_service::start(server, options);
  if (!service) {
    std::fprintf(stderr, "%s\n", service.error().public_text.c_str());
    return 1;
  }
  const auto url = "http://127.0.0.1:" + std::to_string(service->port()) + "/mcp";
  const bool is_guarded = !can_read(url, "") && !can_read(url, "a-guess") && can_read(url, "one-that-nobody-guesses");
  std::puts(is_guarded ? "whoever has the token may read" : "the wrong ones may read");
  return is_guarded ? 0 : 1;
}
