/// Sets of scopes, and the contents of `Bearer` challenges.
#include "auth/oauth/scopes.hpp"

#include <algorithm>

#include "transport/http_client/response_head.hpp"

namespace hondana::oauth {
namespace {

constexpr std::size_t max_bytes = 8u << 10;
constexpr std::size_t max_scopes = 200;

}  // namespace

std::optional<scope_set> read_scopes(std::string_view text) {
  if (text.size() > max_bytes) return std::nullopt;
  scope_set out;
  while (!text.empty()) {
    const auto end = text.find(' ');
    const auto scope = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (scope.empty()) continue;
    if (!is_scope(scope) || out.size() == max_scopes) return std::nullopt;
    out.emplace(scope);
  }
  return out;
}

std::string scope_string(const scope_set& scopes) {
  std::string out;
  for (const auto& scope : scopes) {
    if (!out.empty()) out += ' ';
    out += scope;
  }
  return out;
}

bool covers(const scope_set& superset, const scope_set& subset) {
  return std::includes(superset.begin(), superset.end(), subset.begin(), subset.end());
}

bearer_challenge find_bearer_challenge(const std::vector<std::string>& fields) {
  bearer_challenge out;
  for (const auto& challenge : transport::http_client::parse_challenges(fields)) {
    if (challenge.scheme != "bearer") continue;
    out.metadata_url = challenge.parameter("resource_metadata");
    const auto scope = challenge.parameter("scope");
    if (!scope.empty()) out.scopes = read_scopes(scope);
    break;
  }
  return out;
}

}  // namespace hondana::oauth
