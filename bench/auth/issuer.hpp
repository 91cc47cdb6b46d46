/// An authorization server for measuring: it publishes one key and signs tokens with it.
#pragma once

#include <cstdint>
#include <string>
#include <thread>

#include "auth/jose/keys.hpp"

namespace auth_bench {

/// Answers every GET with its metadata or its keys, on a thread of its own, until it is destroyed.
class issuer {
 public:
  /// With a new P-256 key. Throws when it cannot be.
  issuer();
  ~issuer();
  issuer(const issuer&) = delete;
  issuer& operator=(const issuer&) = delete;

  [[nodiscard]] const std::string& url() const noexcept { return url_; }
  /// A token for `audience`, good for an hour.
  [[nodiscard]] std::string token(const std::string& audience) const;

 private:
  void serve();
  [[nodiscard]] std::string answer_to(const std::string& request) const;

  hondana::jose::signing_key key_;
  int listening_ = -1;
  std::string url_;
  std::thread thread_;
};

}  // namespace auth_bench
