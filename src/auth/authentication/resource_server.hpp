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
  static constexpr std::chrono::seconds longest_remembered{60};
  static constexpr std::chrono::seconds introspection_remembered{30};
  static constexpr std::chrono::seconds refusal_remembered{5};  ///< For tokens that introspection rejected.
  static constexpr std::size_t most_refusals = 2'000;

  resource_server(oauth_options options, const transport::http_client::small_caller& call, clocks time = {});

  std::optional<authenticated> known(const request_facts& of) override;
  authenticated find_out(const request_facts& of, std::chrono::steady_clock::time_point deadline) override;
  [[nodiscard]] std::shared_ptr<const protected_resource> metadata() const override { return metadata_; }

 private:
  /// Checks a token with `keys`. Empty: the key that signed it is not among them.
  [[nodiscard]] std::optional<authenticated> judged(const std::string& token, const bytes::sha256_bytes& digest,
                                                    const published_keys& keys);
  /// Looks for a recent result for this token. Empty: none.
  [[nodiscard]] std::optional<authenticated> heard(const bytes::sha256_bytes& digest);
  /// Asks the authorization server, at most one request at a time for each token.
  [[nodiscard]] authenticated asked(const std::string& token, const bytes::sha256_bytes& digest,
                                    std::chrono::steady_clock::time_point deadline);
  [[nodiscard]] authenticated introspected(const std::string& token, const bytes::sha256_bytes& digest,
                                           std::chrono::steady_clock::time_point deadline);
  [[nodiscard]] authenticated by_keys(const std::string& token, const bytes::sha256_bytes& digest,
                                      std::chrono::steady_clock::time_point deadline);
  [[nodiscard]] result<caller> caller_of(const value& claims) const;
  [[nodiscard]] jose::expectations expected() const;
  [[nodiscard]] std::optional<challenge> unfit(const request_facts& of) const;
  [[nodiscard]] bool is_for_keys(std::string_view token) const;
  /// Caches the result until `expiry`, at most for `most`, and sets the caller's `until`.
  [[nodiscard]] known_caller remember(const bytes::sha256_bytes& digest, caller who, token_cache::key_generation keys,
                                      wall_time expiry, std::chrono::seconds most);
  [[nodiscard]] tl::unexpected<challenge> refuse(std::string why) const;
  /// The challenge (503) for a token whose key is not cached: try again later.
  [[nodiscard]] tl::unexpected<challenge> cannot_look() const;

  const oauth_options options_;
  const clocks time_;
  const std::shared_ptr<const protected_resource> metadata_;
  key_ring keys_;
  introspection introspection_;
  token_cache good_;
  refused_tokens refused_{most_refusals};
  one_a_token asking_;
};

}  // namespace hondana::authentication
