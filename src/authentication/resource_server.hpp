/// Access tokens of an authorization server: checked by its keys, or by asking it.
#pragma once

#include <memory>
#include <optional>

#include <hondana/authenticators.hpp>

#include "authentication/clocks.hpp"
#include "authentication/introspection.hpp"
#include "authentication/key_ring.hpp"
#include "authentication/token_cache.hpp"
#include "jose/token.hpp"

namespace hondana::authentication {

class resource_server final : public authenticator {
 public:
  static constexpr std::chrono::seconds longest_remembered{60};
  static constexpr std::chrono::seconds introspection_remembered{30};

  resource_server(oauth_options options, const transport::http_calls::small_caller& call, clocks time = {});

  std::optional<authenticated> known(const request_facts& of) override;
  authenticated find_out(const request_facts& of, std::chrono::steady_clock::time_point deadline) override;
  [[nodiscard]] std::shared_ptr<const protected_resource> metadata() const override { return metadata_; }

 private:
  /// What can be said by the keys at hand; nothing: the key is not among them.
  [[nodiscard]] std::optional<authenticated> judged(const std::string& token, const bytes::sha256_bytes& digest,
                                                    const published_keys& keys);
  [[nodiscard]] authenticated introspected(const std::string& token, const bytes::sha256_bytes& digest,
                                           std::chrono::steady_clock::time_point deadline);
  [[nodiscard]] authenticated by_keys(const std::string& token, const bytes::sha256_bytes& digest,
                                      std::chrono::steady_clock::time_point deadline);
  [[nodiscard]] result<caller> caller_of(const value& claims) const;
  [[nodiscard]] jose::expectations expected() const;
  [[nodiscard]] std::optional<challenge> unfit(const request_facts& of) const;
  [[nodiscard]] bool is_for_keys(std::string_view token) const;
  void remember(const bytes::sha256_bytes& digest, const caller& who, token_cache::key_generation keys,
                std::optional<wall_time> expiry, std::chrono::seconds most);
  [[nodiscard]] tl::unexpected<challenge> refuse(std::string why) const;
  [[nodiscard]] tl::unexpected<challenge> refuse_unknown_key() const;

  const oauth_options options_;
  const clocks time_;
  const std::shared_ptr<const protected_resource> metadata_;
  key_ring keys_;
  introspection introspection_;
  token_cache good_;
};

}  // namespace hondana::authentication
