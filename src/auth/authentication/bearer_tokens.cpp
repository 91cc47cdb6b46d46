/// Syntax, scopes and rejections of bearer tokens, for all authenticators.
#include "auth/authentication/bearer_tokens.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/random_token.hpp"

namespace hondana::authentication {

auth_rejection missing_credentials(std::string description, std::vector<std::string> scopes) {
  auth_rejection out;
  out.description = std::move(description);
  out.scopes = std::move(scopes);
  return out;
}

auth_rejection invalid_token(std::string description, std::vector<std::string> scopes) {
  auth_rejection out;
  out.error = "invalid_token";
  out.description = std::move(description);
  out.scopes = std::move(scopes);
  return out;
}

auth_rejection temporarily_unavailable(std::string description, std::chrono::seconds retry_after) {
  auth_rejection out;
  out.status = 503;
  out.description = std::move(description);
  out.retry_after = retry_after;
  return out;
}

bool is_token_text(std::string_view text) noexcept { return text.size() <= max_token_bytes && bytes::is_token68(text); }

namespace {

constexpr std::size_t max_scopes = 200;

void add_scope(std::vector<std::string>& scopes, std::string_view scope) {
  if (scopes.size() < max_scopes && std::find(scopes.begin(), scopes.end(), scope) == scopes.end()) scopes.emplace_back(scope);
}

}  // namespace

std::vector<std::string> parse_scopes(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (const auto word = text.substr(0, end); is_scope(word)) add_scope(out, word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

void merge_scopes(std::vector<std::string>& scopes, const std::vector<std::string>& additions) {
  for (const auto& scope : additions) add_scope(scopes, scope);
}

}  // namespace hondana::authentication
