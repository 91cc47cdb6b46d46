/// What authorization servers publish, answer and send users back with: what can be read is within its limits, and no endpoint
/// that must not be used is taken.
///
/// The first byte says which it is, the rest is the text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "auth/oauth/authorization_urls.hpp"
#include "auth/oauth/client_identity.hpp"
#include "auth/oauth/code_request.hpp"
#include "auth/oauth/metadata.hpp"
#include "auth/oauth/scopes.hpp"
#include "auth/oauth/token_requests.hpp"
#include "base/uri/web_url.hpp"

namespace {

using namespace hondana;

constexpr auto now = oauth::seconds_since_epoch(std::chrono::seconds(1'000'000));

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; });
}

void require_usable(const std::string& url) {
  require(url.empty() || url.starts_with("https://") || (url.starts_with("http://") && oauth::is_on_this_machine(url)));
  require(url.find_first_of("$`;'\"<>|() \\") == std::string::npos);
}

void read_resource(const std::string& text) {
  const auto got = oauth::read_resource_metadata(text);
  if (!got) return require(got.error().code == errc::protocol_error && is_plain(got.error().public_text));
  require(!got->authorization_servers.empty() && got->authorization_servers.size() <= oauth::max_authorization_servers);
  for (const auto& one : got->authorization_servers) {
    require_usable(one);
    for (const auto& place : uri::issuer_metadata_urls(one)) require_usable(place);
  }
  static_cast<void>(oauth::is_resource_of(got->resource, "https://mcp.example/mcp"));
}

void read_server(const std::string& text) {
  const auto got = oauth::read_server_metadata(text, "https://as.example");
  if (!got) return require(got.error().code == errc::protocol_error);
  require(got->issuer == "https://as.example" && !got->token_endpoint.empty());
  for (const auto* url :
       {&got->authorization_endpoint, &got->token_endpoint, &got->registration_endpoint, &got->revocation_endpoint})
    require_usable(*url);
  const auto method = oauth::choose_method({"me", "secret", {}, {}, {}}, *got);
  require(method || is_plain(method.error().public_text));
}

void read_tokens(const std::string& text) {
  transport::http_client::small_response answer;
  answer.status = text.starts_with(' ') ? 400 : 200;
  answer.body = text;
  const auto got = oauth::read_tokens(answer, {"a"}, "https://as.example", now);
  if (!got) return require(is_plain(got.error().reason.public_text) && is_plain(got.error().error_code));
  require(!got->access_token.empty() && got->access_token.size() <= oauth::max_token_bytes && is_plain(got->access_token));
  require(!got->expires_at || (*got->expires_at > now && *got->expires_at <= now + oauth::max_lifetime));
  require(oauth::read_scopes(got->scope).has_value());
}

void read_registration(const std::string& text) {
  transport::http_client::small_response answer;
  answer.status = text.starts_with(' ') ? 400 : 201;
  answer.body = text;
  const auto got = oauth::read_registration(answer, "http://127.0.0.1/x", "https://as.example");
  require(got ? !got->client_id.empty() && is_plain(got->client_id) && is_plain(got->client_secret.value_or(""))
              : is_plain(got.error().public_text));
}

void read_redirect(const std::string& text) {
  oauth::code_request login;
  login.issuer = "https://as.example";
  login.redirect_uri = "http://127.0.0.1/x";
  login.state = "s";
  const auto got = oauth::extract_code("http://127.0.0.1/x" + text, login);
  if (!got) return require(is_plain(got.error().public_text));
  require(!got->empty() && text.find('s') != std::string::npos);
}

void read_challenge(const std::string& text) {
  const auto got = oauth::find_bearer_challenge({text});
  if (got.scopes) require(oauth::read_scopes(oauth::scope_string(*got.scopes)) == got.scopes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'r':
      read_resource(text);
      break;
    case 's':
      read_server(text);
      break;
    case 't':
      read_tokens(text);
      break;
    case 'c':
      read_registration(text);
      break;
    case 'u':
      read_redirect(text);
      break;
    default:
      read_challenge(text);
      break;
  }
  return 0;
}
