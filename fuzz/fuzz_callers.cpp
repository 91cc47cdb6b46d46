/// Files of tokens, and what authorization servers say: what is read is sound, is written as it was read, and a revoked token
/// is gone.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "auth/authentication/authorization_server.hpp"
#include "auth/authentication/bearer_tokens.hpp"
#include "auth/authentication/token_file.hpp"

namespace {

using namespace hondana;

void require(bool holds) {
  if (!holds) std::abort();
}

void read_lines(std::string_view text) {
  const auto list = authentication::parse_tokens(text);
  require(list.bad_lines.size() <= authentication::token_list::max_bad_lines);
  for (const auto& one : list.tokens) {
    require(authentication::is_token_name(one.name) && authentication::is_token_name(one.id));
    for (const auto& scope : one.scopes) require(authentication::is_scope(scope));
    const auto line = authentication::line_of(one);
    const auto again = authentication::parse_token_line(line);
    require(again && again->hash == one.hash && again->scopes == one.scopes && again->expires_at == one.expires_at);
  }
  if (list.tokens.empty()) return;
  const auto& gone = list.tokens.front().id;
  const auto rest = authentication::without_token(text, gone);
  require(rest.has_value());
  for (const auto& one : authentication::parse_tokens(*rest).tokens) require(one.id != gone);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_lines(text);
  const auto said = authentication::read_introspection(text);
  if (said) require(said->find("active")->as_boolean().has_value());
  if (!said) require(said.error().code == errc::protocol_error);
  const auto place = authentication::parse_jwks_uri(text, "https://a.example");
  if (place) require(!place->empty());
  if (!place) require(place.error().code == errc::protocol_error || place.error().code == errc::access_denied);
  for (const auto& one : authentication::parse_scopes(text)) require(authentication::is_scope(one));
  return 0;
}
