/// Authenticates callers by access tokens of an authorization server: by its keys, or by introspection.
#pragma once

#include <memory>
#include <optional>

#include <hondana/authenticators.hpp>

#include "auth/authentication/authorization_server.hpp"
#include "auth/authentication/clocks.hpp"
#include "auth/authentication/token_cache.hpp"
#include "auth/jose/jwt.hpp"

namespace hondana::authentication {

class resource_server final : public authenticator {
 public:
  static constexpr std::chrono::seconds longest_remembered{60};
  static constexpr std::chrono::seconds introspection_remembered{30};
  static constexpr std::chrono::seconds refusal_remembered{5};  ///< Of a token that was asked about.
  static constexpr std::size_t most_refusals = 2'000;

  resource_server(oauth_options options, const transport::http_client::small_caller& call, clocks time = {});

  std::optional<authenticated> known(const request_facts& of) override;
  authenticated find_out(const request_facts& of, std::chrono::steady_clock::time_point deadline) override;
  [[nodiscard]] std::shared_ptr<const protected_resource> metadata() const override { return metadata_; }

 private:
  /// What can be said by the keys at hand; nothing: the key is not among them.
  [[nodiscard]] std::optional<authenticated> judged(const std::string& token, const bytes::sha256_bytes& digest,
                                                    const published_keys& keys);
  /// What was heard of it a moment ago.
  [[nodiscard]] std::optional<authenticated> heard(const bytes::sha256_bytes& digest);
  /// Asks, but not twice at once about one token.
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
  /// Keeps what was found out until `expiry`, for `most` at most, and says until when it holds.
  [[nodiscard]] known_caller remember(const bytes::sha256_bytes& digest, caller who, token_cache::key_generation keys,
                                      wall_time expiry, std::chrono::seconds most);
  [[nodiscard]] tl::unexpected<challenge> refuse(std::string why) const;
  /// Of a key that is not here: refused, or told to come again where the keys are just being fetched.
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
