/// Picks what matters here out of challenges.
#include "auth/oauth/challenge.hpp"

#include "transport/http_client/auth_challenge.hpp"

namespace hondana::oauth {

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
