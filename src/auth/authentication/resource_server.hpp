/// Authenticates callers by access tokens: verifies their signatures with published keys, or asks the authorization server.
#pragma once

#include <memory>
#include <optional>

#include <hondana/authenticators.hpp>

#include "auth/authentication/authorization_server.hpp"
#include "auth/authentication/clocks.hpp"
#include "auth/authentication/token_cache.hpp"
#include "auth/jose/jwt.hpp"

namespace hondana::authentication {

/// The authenticator of `make_oauth_authenticator`. It implements the MCP role "resource server": the server that accepts
/// tokens. Threads: any.
class resource_server final : public authenticator {
 public:
  static constexpr std::chrono::seconds max_ttl{60};            ///< Longest caching of a token after a signature check.
  static constexpr std::chrono::seconds introspection_ttl{30};  ///< Longest caching of a token that introspection accepted.
  static constexpr std::chrono::seconds rejection_ttl{5};       ///< Caching of a token that introspection rejected.
  static constexpr std::size_t max_rejections = 2'000;          ///< Number of cached rejections.

  /// `options` must be valid, see `make_oauth_authenticator`. `call` sends the HTTP requests to the authorization server.
  resource_server(oauth_authenticator_options options, const transport::http_client::small_request_function& call,
                  clocks time = {});

  std::optional<auth_result> try_authenticate(const auth_request& request) override;
  auth_result authenticate(const auth_request& request, std::chrono::steady_clock::time_point deadline) override;
  [[nodiscard]] std::shared_ptr<const protected_resource> metadata() const override { return metadata_; }

 private:
  // In these functions `digest` is the SHA-256 hash of `token`.

  /// Checks claims and signature of a token with `keys`, without a fetch, and caches an accepted one. Empty: the key that
  /// signed the token may be missing in `keys`.
  [[nodiscard]] std::optional<auth_result> verify_token(const std::string& token, const bytes::sha256_bytes& digest,
                                                        const published_keys& keys);
  /// Returns the cached result for a token; empty: none.
  [[nodiscard]] std::optional<auth_result> find_cached(const bytes::sha256_bytes& digest);
  /// Returns the cached result, or calls `introspect` and caches a 401 rejection. If another thread is checking the token,
  /// waits for its result instead; 503 if there is none. Blocks.
  [[nodiscard]] auth_result introspect_once(const std::string& token, const bytes::sha256_bytes& digest,
                                            std::chrono::steady_clock::time_point deadline);
  /// Asks the authorization server about a token, and caches an accepted one. Blocks.
  [[nodiscard]] auth_result introspect(const std::string& token, const bytes::sha256_bytes& digest,
                                       std::chrono::steady_clock::time_point deadline);
  /// Calls `verify_token` with the published keys. Fetches them first if none are cached, and again if the token's key is
  /// missing. Blocks.
  [[nodiscard]] auth_result verify_with_keys(const std::string& token, const bytes::sha256_bytes& digest,
                                             std::chrono::steady_clock::time_point deadline);
  /// Derives the caller from the claims of a token or an introspection answer. Errors: access_denied.
  [[nodiscard]] result<caller_info> make_caller(const value& claims) const;
  [[nodiscard]] jose::expectations make_expectations() const;
  /// Rejects a request without a token, or with one that the authorization server cannot have issued. Empty: neither.
  [[nodiscard]] std::optional<auth_rejection> check_request(const auth_request& request) const;
  /// Whether the token is checked by its signature; false: by introspection.
  [[nodiscard]] bool uses_keys(std::string_view token) const;
  /// Caches an accepted token until `expiry`, at most for `ttl_limit`. The result is valid for the clock skew longer, with the
  /// same limit. `keys`: the generation that verified the token; 0: introspection.
  [[nodiscard]] authenticated_caller cache_caller(const bytes::sha256_bytes& digest, caller_info verified,
                                                  token_cache::key_generation keys, wall_time expiry,
                                                  std::chrono::seconds ttl_limit);
  /// Makes a rejection with `invalid_token` (401).
  [[nodiscard]] tl::unexpected<auth_rejection> reject(std::string reason) const;
  /// Makes the rejection (503, with a time to retry) of a token whose key is not cached.
  [[nodiscard]] tl::unexpected<auth_rejection> key_unavailable() const;

  const oauth_authenticator_options options_;
  const clocks time_;
  const std::shared_ptr<const protected_resource> metadata_;
  jwks_cache keys_;
  introspection_client introspection_;
  token_cache accepted_;
  rejection_cache rejected_{max_rejections};  // only of introspection
  single_flight pending_checks_;              // of introspection
};

}  // namespace hondana::authentication
