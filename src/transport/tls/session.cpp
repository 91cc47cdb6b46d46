/// Reading, writing and the farewell.
#include "transport/tls/session.hpp"

#include <openssl/err.h>
#include <openssl/sslerr.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <array>
#include <utility>

#include "transport/tls/descriptor_bio.hpp"
#include "transport/tls/peer.hpp"

namespace hondana::tls {

std::unique_ptr<session> session::make(const context& within, int socket) {
  const crypto::quiet errors;
  std::unique_ptr<session> made(new session(SSL_new(within.native())));
  auto* const bio = made->native_ ? make_descriptor_bio(socket) : nullptr;
  if (bio == nullptr) return nullptr;
  SSL_set_bio(made->native_.get(), bio, bio);
  SSL_set_accept_state(made->native_.get());
  return made;
}

/// Of the attempt that has just been made on an empty queue of errors.
progress session::why_not() {
  switch (SSL_get_error(native_.get(), 0)) {
    case SSL_ERROR_WANT_READ:
      return progress::wants_input;
    case SSL_ERROR_WANT_WRITE:
      return progress::wants_output;
    case SSL_ERROR_ZERO_RETURN:
      return progress::ended;
    default:
      break;
  }
  const auto why = ERR_peek_error();
  was_addressed_in_http_ = ERR_GET_LIB(why) == ERR_LIB_SSL && ERR_GET_REASON(why) == SSL_R_HTTP_REQUEST;
  has_failed_ = true;
  ERR_clear_error();
  return progress::failed;
}

attempt session::read(std::span<char> into) {
  std::size_t total = 0;
  while (into.size() - total >= most_in_record) {
    ERR_clear_error();
    std::size_t count = 0;
    if (SSL_read_ex(native_.get(), into.data() + total, into.size() - total, &count) != 1) {
      const auto how = why_not();
      // Whatever it is will be met again.
      return total != 0 ? attempt{progress::moved, total} : attempt{how, 0};
    }
    total += count;
    if (count < most_in_record) break;
  }
  return {progress::moved, total};
}

attempt session::write(std::string_view first, std::string_view then) {
  // A head and a short body go into one record.
  std::array<char, most_in_record> joined;
  auto what = first.empty() ? then : first;
  if (!first.empty() && first.size() < joined.size() && !then.empty()) {
    const auto more = then.substr(0, joined.size() - first.size());
    std::copy(more.begin(), more.end(), std::copy(first.begin(), first.end(), joined.begin()));
    what = {joined.data(), first.size() + more.size()};
  }
  ERR_clear_error();
  std::size_t count = 0;
  if (SSL_write_ex(native_.get(), what.data(), what.size(), &count) == 1) return {progress::moved, count};
  return {why_not(), 0};
}

progress session::say_farewell() {
  if (has_failed_ || has_said_farewell_ || !has_shaken_hands()) return progress::ended;
  ERR_clear_error();
  if (SSL_shutdown(native_.get()) < 0 && why_not() == progress::wants_output) return progress::wants_output;
  has_said_farewell_ = true;
  return progress::ended;
}

const std::optional<peer_certificate>& session::certificate() {
  if (!has_shaken_hands() || std::exchange(has_looked_, true)) return certificate_;
  auto* const shown = SSL_get0_peer_certificate(native_.get());
  if (shown == nullptr || SSL_get_verify_result(native_.get()) != X509_V_OK) return certificate_;
  certificate_ = describe(shown);
  auto* const chain = SSL_get0_verified_chain(native_.get());
  certificate_end_ = end_of(shown);
  for (int i = 0; i < sk_X509_num(chain); ++i) certificate_end_ = std::min(certificate_end_, end_of(sk_X509_value(chain, i)));
  return certificate_;
}

std::optional<std::chrono::sys_seconds> session::certificate_end() {
  return certificate() ? std::optional(certificate_end_) : std::nullopt;
}

bool session::is_vouched_for_by(const context& now) {
  if (!certificate()) return true;
  const crypto::quiet errors;
  const std::unique_ptr<X509_STORE_CTX, crypto::frees<X509_STORE_CTX_free>> judging(X509_STORE_CTX_new());
  auto* const shown = SSL_get0_peer_certificate(native_.get());
  if (!judging || X509_STORE_CTX_init(judging.get(), SSL_CTX_get_cert_store(now.native()), shown,
                                      SSL_get_peer_cert_chain(native_.get())) != 1)
    return false;
  // As in a handshake.
  X509_VERIFY_PARAM_set_auth_level(X509_STORE_CTX_get0_param(judging.get()), SSL_get_security_level(native_.get()));
  return X509_STORE_CTX_set_default(judging.get(), "ssl_client") == 1 && X509_verify_cert(judging.get()) == 1;
}

}  // namespace hondana::tls
