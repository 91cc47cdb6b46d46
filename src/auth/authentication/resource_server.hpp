/// Authenticates callers by access tokens of an authorization server: by its published keys, or by introspection.
#pragma once

#include <memory>
#include <optional>

#include <hondana/authenticators.hpp>

#include "auth/authentication/authorization_server.hpp"
#include "auth/authentication/clocks.hpp"
#include "auth/authentication/token_cache.hpp"
#include "auth/jose/jwt.hpp"

namespace hondana::authentication {

/// See `make_oauth_authenticator`. Threads: any.
class resource_server final : public authenticator {
 public:
  static constexpr std::chrono::seconds max_ttl{60};
  static constexpr std::chrono::seconds introspection_ttl{30};
  static constexpr std::chrono::seconds rejection_ttl{5};  ///< For tokens that introspection rejected.
  static constexpr std::size_t max_rejections = 2'000;

  resource_server(oauth_authenticator_options options, const transport::http_client::small_request_function& call,
                  clocks time = {});

  std::optional<auth_result> try_authenticate(const auth_request& request) override;
  auth_result authenticate(const auth_request& request, std::chrono::steady_clock::time_point deadline) override;
  [[nodiscard]] std::shared_ptr<const protected_resource> metadata() const override { return metadata_; }

 private:
  /// Checks a token with `keys`. Empty: the key that signed it is not among them.
  [[nodiscard]] std::optional<auth_result> verify_token(const std::string& token, const bytes::sha256_bytes& digest,
                                                        const published_keys& keys);
  /// Looks for a recent result for this token. Empty: none.
  [[nodiscard]] std::optional<auth_result> find_cached(const bytes::sha256_bytes& digest);
  /// Asks the authorization server, at most one request at a time for each token.
  [[nodiscard]] auth_result introspect_once(const std::string& token, const bytes::sha256_bytes& digest,
                                            std::chrono::steady_clock::time_point deadline);
  [[nodiscard]] auth_result introspect(const std::string& token, const bytes::sha256_bytes& digest,
                                       std::chrono::steady_clock::time_point deadline);
  [[nodiscard]] auth_result verify_with_keys(const std::string& token, const bytes::sha256_bytes& digest,
                                             std::chrono::steady_clock::time_point deadline);
  [[nodiscard]] result<caller_info> make_caller(const value& claims) const;
  [[nodiscard]] jose::expectations make_expectations() const;
  [[nodiscard]] std::optional<auth_rejection> check_request(const auth_request& request) const;
  [[nodiscard]] bool uses_keys(std::string_view token) const;
  /// Caches the result until `expiry`, at most for `ttl_limit`, and sets the caller's `expires_at`.
  [[nodiscard]] authenticated_caller cache_caller(const bytes::sha256_bytes& digest, caller_info verified,
                                                  token_cache::key_generation keys, wall_time expiry,
                                                  std::chrono::seconds ttl_limit);
  [[nodiscard]] tl::unexpected<auth_rejection> reject(std::string reason) const;
  /// The challenge (503) for a token whose key is not cached: try again later.
  [[nodiscard]] tl::unexpected<auth_rejection> key_unavailable() const;

  const oauth_authenticator_options options_;
  const clocks time_;
  const std::shared_ptr<const protected_resource> metadata_;
  jwks_cache keys_;
  introspection_client introspection_;
  token_cache accepted_;
  rejection_cache rejected_{max_rejections};
  single_flight pending_checks_;
};

}  // namespace hondana::authentication
