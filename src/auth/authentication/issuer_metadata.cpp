/// Places and documents of RFC 8414 and of OpenID Connect.
#include "auth/authentication/issuer_metadata.hpp"

#include <hondana/value.hpp>

#include "transport/http_client/checked_target.hpp"

namespace hondana::authentication {
namespace {

constexpr std::size_t longest_url = 2048;

}  // namespace

bool is_address(const std::string& url) {
  return url.size() <= longest_url && transport::http_client::origin_of(url) && !transport::http_client::has_credentials(url) &&
         url.find('#') == std::string::npos;
}

bool is_issuer(const std::string& url) { return is_address(url) && url.find('?') == std::string::npos; }

result<std::string> keys_place_in(std::string_view document, const std::string& issuer) {
  const auto parsed = value::parse(document, {.bytes = most_metadata_bytes, .values = 10'000});
  if (!parsed || parsed->as_object() == nullptr) return fail(errc::broken_protocol, "it is not a JSON object");
  const auto* of = parsed->find("issuer");
  if (of == nullptr || of->as_string() == nullptr) return fail(errc::broken_protocol, "it has no issuer");
  if (*of->as_string() != issuer) return fail(errc::access_denied, "its issuer is not " + issuer);
  auto keys = parsed->string_at("jwks_uri");
  if (!keys || keys->empty() || keys->size() > longest_url) return fail(errc::broken_protocol, "it has no usable jwks_uri");
  return keys;
}

}  // namespace hondana::authentication
