/// A connected socket that is tried when it is ready, in the clear or by TLS.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <hondana/authenticator.hpp>

#include "base/counters/traffic.hpp"
#include "os/disk/handle.hpp"
#include "transport/tls/session.hpp"

namespace hondana::transport::http_server {

/// Nothing here waits. Threads: its loop's.
class byte_stream {
 public:
  using progress = tls::progress;
  using attempt = tls::attempt;

  /// `secured`: TLS over `with`; null: none.
  byte_stream(disk::handle with, std::unique_ptr<tls::session> secured) : socket_(std::move(with)), tls_(std::move(secured)) {}

  /// `into` has room for a record of TLS.
  [[nodiscard]] attempt read(std::span<char> into) {
    const auto out = tls_ ? tls_->read(into) : read_plainly(into);
    counters::traffic::here().received(counters::way::http, out.bytes);
    return out;
  }
  /// Some of what is in `parts`, from the front, of which not all are empty and which are at most eight. What was tried and not
  /// taken must be tried again.
  [[nodiscard]] attempt write(std::span<const std::string_view> parts) {
    const auto out = tls_ ? write_secured(parts) : write_plainly(parts);
    counters::traffic::here().sent(counters::way::http, out.bytes);
    return out;
  }
  /// Nothing more is written: `wants_output` when this has to be tried again. What is read from here on is thrown away.
  [[nodiscard]] progress finish();
  /// `is_cut_off`: so that the peer does not take what it has for all.
  void close(bool is_cut_off);

  /// Whether the handshake of TLS is under way.
  [[nodiscard]] bool is_shaking_hands() const noexcept { return tls_ && !tls_->has_shaken_hands(); }
  /// That handshake failed since the peer speaks plain HTTP.
  [[nodiscard]] bool was_addressed_in_http() const noexcept { return tls_ && tls_->was_addressed_in_http(); }
  /// Goes on in the clear, to tell such a peer.
  void leave_tls() { tls_.reset(); }

  [[nodiscard]] bool is_secure() const noexcept { return tls_ != nullptr; }
  /// As `tls::session::certificate`, and nothing without TLS.
  [[nodiscard]] std::optional<peer_certificate> certificate() const { return tls_ ? tls_->certificate() : std::nullopt; }
  /// Null without TLS.
  [[nodiscard]] tls::session* secured() noexcept { return tls_.get(); }
  /// For waiting and for options.
  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }

 private:
  [[nodiscard]] attempt read_plainly(std::span<char> into);
  [[nodiscard]] attempt write_plainly(std::span<const std::string_view> parts);
  [[nodiscard]] attempt write_secured(std::span<const std::string_view> parts);

  disk::handle socket_;
  std::unique_ptr<tls::session> tls_;
};

}  // namespace hondana::transport::http_server
