/// Tokens and key sets: what can be read is within its limits, and nothing that nobody signed is verified.
///
/// The first line is a token, the rest a key set.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "auth/jose/jwt.hpp"

namespace {

using namespace hondana;

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const auto end = all.find('\n');
  const auto token = jose::read_token(all.substr(0, end));
  const auto keys = jose::key_set::parse(end == std::string_view::npos ? std::string_view() : all.substr(end + 1));
  if (keys) require(keys->size() <= jose::key_set::max_keys);
  if (!token) {
    require(token.error().code == errc::invalid_argument && !token.error().public_text.empty());
    return 0;
  }
  require(token->claims.as_object() != nullptr && token->text.size() <= jose::max_token_bytes);
  const auto expiry = jose::check_claims(token->claims, {"joe", {"me"}, std::chrono::seconds(30), {}});
  if (!expiry) require(expiry.error().code == errc::access_denied || expiry.error().code == errc::invalid_argument);
  if (!keys) return 0;
  const auto candidates = keys->candidates(token->alg, token->key_id);
  for (const auto& one : candidates) require(one.alg() == token->alg);
  static_cast<void>(jose::verify(*token, candidates));
  return 0;
}
