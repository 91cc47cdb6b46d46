/// One connection to a Redis server, with TLS and log-in.
#pragma once

#include <openssl/ssl.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "base/crypto/openssl.hpp"
#include "os/disk/file_descriptor.hpp"
#include "sources/analyses/cache/redis/redis_address.hpp"
#include "sources/analyses/cache/redis/resp.hpp"

namespace hondana::analyses {

using tls_context = std::unique_ptr<SSL_CTX, crypto::frees<SSL_CTX_free>>;
/// Creates a client context: TLS 1.2 or newer, with verification of the server's certificate. Errors: invalid_argument, naming
/// the file.
[[nodiscard]] result<tls_context> make_client_context(const redis_options& from);

/// Threads: one at a time. Every wait has a timeout.
class redis_connection {
 public:
  /// Connects, performs the TLS handshake, logs in, and selects the database. `tls`: null without TLS; must outlive the
  /// connection. Errors: source_unavailable.
  [[nodiscard]] static result<redis_connection> open(const redis_address& where, const redis_options& how, SSL_CTX* tls);

  /// Sends a command and waits for its reply, which may be an error reply. Errors: source_unavailable, timed_out,
  /// broken_protocol. After an error the connection is unusable, and the command may have been executed (`was_sent`).
  [[nodiscard]] result<reply> ask(std::span<const std::string_view> words, std::chrono::milliseconds longer = {});
  [[nodiscard]] result<reply> ask(std::initializer_list<std::string_view> words) {
    return ask(std::span(words.begin(), words.size()));
  }

  /// Whether the last command may have reached the server.
  [[nodiscard]] bool was_sent() const noexcept { return was_sent_; }
  /// Whether the connection has received nothing since the last reply, in particular no close by the server.
  [[nodiscard]] bool is_quiet() const noexcept;

 private:
  using deadline = std::chrono::steady_clock::time_point;
  [[nodiscard]] result<void> connect(const redis_address& where, deadline until);
  [[nodiscard]] result<void> shake_hands(const redis_address& where, SSL_CTX* tls, deadline until);
  [[nodiscard]] result<void> introduce(const redis_address& where, const redis_options& how);
  [[nodiscard]] result<void> send(std::string_view bytes, deadline until);
  [[nodiscard]] result<reply> receive(deadline until);
  /// False on timeout.
  [[nodiscard]] bool wait(short events, deadline until) const;
  [[nodiscard]] tl::unexpected<failure> lost(const std::string& inner) const;
  [[nodiscard]] tl::unexpected<failure> too_slow() const;

  std::string name_{};
  std::chrono::milliseconds patience_{0};
  disk::handle socket_{};
  std::unique_ptr<SSL, crypto::frees<SSL_free>> tls_{};
  reply_reader replies_{};
  bool was_sent_ = false;
};

/// Converts an error reply of the server. `name`: as `redis_address::name`.
[[nodiscard]] tl::unexpected<failure> refused_by(const std::string& name, const reply& what);

}  // namespace hondana::analyses
