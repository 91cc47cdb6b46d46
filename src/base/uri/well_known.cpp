/// Putting well-known places together.
#include "base/uri/well_known.hpp"

#include <algorithm>

namespace hondana::uri {

std::vector<std::string> issuer_metadata_places(std::string_view issuer) {
  const auto scheme = issuer.find("://");
  const auto authority = scheme == std::string_view::npos ? 0 : scheme + 3;
  const auto slash = std::min(issuer.find('/', authority), issuer.size());
  const std::string origin(issuer.substr(0, slash));
  std::string path(issuer.substr(slash));
  while (path.ends_with('/')) path.pop_back();
  std::vector<std::string> out{origin + "/.well-known/oauth-authorization-server" + path,
                               origin + "/.well-known/openid-configuration" + path};
  if (!path.empty()) out.push_back(origin + path + "/.well-known/openid-configuration");
  return out;
}

}  // namespace hondana::uri
