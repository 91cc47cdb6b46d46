/// Bearer tokens in all authenticators: syntax, scopes and challenges.
#include "auth/authentication/bearer_tokens.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/random_token.hpp"

namespace hondana::authentication {

challenge nothing_sent(std::string description, std::vector<std::string> scopes) {
  challenge out;
  out.description = std::move(description);
  out.scopes = std::move(scopes);
  return out;
}

challenge bad_token(std::string why, std::vector<std::string> scopes) {
  challenge out;
  out.error = "invalid_token";
  out.description = std::move(why);
  out.scopes = std::move(scopes);
  return out;
}

challenge cannot_tell(std::string why, std::chrono::seconds retry) {
  challenge out;
  out.status = 503;
  out.description = std::move(why);
  out.retry = retry;
  return out;
}

bool is_token_text(std::string_view text) noexcept { return text.size() <= longest_token_text && bytes::is_token68(text); }

namespace {

constexpr std::size_t most_scopes = 200;

void add(std::vector<std::string>& into, std::string_view one) {
  if (into.size() < most_scopes && std::find(into.begin(), into.end(), one) == into.end()) into.emplace_back(one);
}

}  // namespace

std::vector<std::string> scopes_in(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (const auto word = text.substr(0, end); is_scope(word)) add(out, word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

void merge_scopes(std::vector<std::string>& into, const std::vector<std::string>& more) {
  for (const auto& one : more) add(into, one);
}

}  // namespace hondana::authentication
