/// An authorization server inside the test, and clocks that stand still.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <hondana/authenticators.hpp>
#include <hondana/value.hpp>

#include "auth/authentication/clocks.hpp"
#include "auth/jose/keys.hpp"
#include "transport/http_client/small_request.hpp"

namespace hondana_test {

inline constexpr auto issuer_url = "https://login.example.com";
inline constexpr auto resource_url = "https://shelf.example.com/mcp";

/// A private key in PEM.
std::string new_pem(hondana::jose::algorithm by = hondana::jose::algorithm::eddsa);

/// Time passes when the test says so. Threads: any.
class still_time {
 public:
  void pass(std::chrono::seconds by);
  [[nodiscard]] hondana::authentication::clocks clocks();
  [[nodiscard]] std::int64_t now();

 private:
  std::mutex mutex_;
  std::chrono::seconds passed_{0};
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Answers what its URLs say, and counts. Threads: any.
class issuer {
 public:
  using small_request = hondana::transport::http_client::small_request;
  using small_answer = hondana::transport::http_client::small_response;
  using handler = std::function<hondana::result<small_answer>(const small_request&)>;

  /// Metadata at the place of RFC 8414, and one key, "first".
  issuer();

  void serve(const std::string& url, handler by);
  void serve(const std::string& url, int status, const std::string& bytes);
  /// Makes a key and publishes it with those that are there already.
  void add_key(const std::string& id, hondana::jose::algorithm by = hondana::jose::algorithm::eddsa);
  /// Publishes it no more; it still signs.
  void withdraw_key(const std::string& id);
  [[nodiscard]] std::string sign(const std::string& id, const hondana::value::object& claims) const;
  [[nodiscard]] hondana::value jwk(const std::string& id) const;

  [[nodiscard]] hondana::transport::http_client::small_request_function caller();
  /// How often that URL was asked.
  [[nodiscard]] std::size_t asked(const std::string& url);
  [[nodiscard]] std::vector<small_request> requests();

 private:
  void publish();

  std::mutex mutex_;
  std::map<std::string, handler> places_;
  std::vector<small_request> requests_;
  std::map<std::string, hondana::jose::signing_key> keys_;
  std::vector<std::string> published_;
};

inline constexpr auto metadata_url = "https://login.example.com/.well-known/oauth-authorization-server";
inline constexpr auto keys_url = "https://login.example.com/keys";
inline constexpr auto introspection_url = "https://login.example.com/introspect";

hondana::auth_request with_token(std::string token);
std::chrono::steady_clock::time_point soon();

}  // namespace hondana_test
