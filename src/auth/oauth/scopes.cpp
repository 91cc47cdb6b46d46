/// Sets of scopes, and the scopes and metadata URL of a challenge.
#include "auth/oauth/scopes.hpp"

#include <algorithm>

#include "transport/http_client/response_head.hpp"

namespace hondana::oauth {
namespace {

constexpr std::size_t most_bytes = 8u << 10;
constexpr std::size_t most_scopes = 200;

}  // namespace

std::optional<scope_set> read_scopes(std::string_view text) {
  if (text.size() > most_bytes) return std::nullopt;
  scope_set out;
  while (!text.empty()) {
    const auto end = text.find(' ');
    const auto one = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (one.empty()) continue;
    if (!is_scope(one) || out.size() == most_scopes) return std::nullopt;
    out.emplace(one);
  }
  return out;
}

std::string spelled(const scope_set& scopes) {
  std::string out;
  for (const auto& one : scopes) {
    if (!out.empty()) out += ' ';
    out += one;
  }
  return out;
}

bool covers(const scope_set& all, const scope_set& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

bearer_challenge bearer_in(const std::vector<std::string>& fields) {
  bearer_challenge out;
  for (const auto& one : transport::http_client::challenges_in(fields)) {
    if (one.scheme != "bearer") continue;
    out.metadata_url = one.parameter("resource_metadata");
    const auto scope = one.parameter("scope");
    if (!scope.empty()) out.scopes = read_scopes(scope);
    break;
  }
  return out;
}

}  // namespace hondana::oauth
