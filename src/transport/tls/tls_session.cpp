/// TLS of a server: the context that connections share, and one connection.
#include "transport/tls/tls_session.hpp"

#include <openssl/err.h>
#include <openssl/sslerr.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <string_view>
#include <utility>

#include "base/crypto/openssl.hpp"
#include "transport/tls/certificate.hpp"
#include "transport/tls/socket_bio.hpp"

namespace hondana::tls {
namespace {

/// Cipher suites of TLS 1.2: ephemeral keys and authenticated encryption, as in all suites of 1.3.
constexpr const char* suites =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
/// OpenSSL level 2: at least 112 bits of security for keys and hashes.
constexpr int security_level = 2;

/// Selects http/1.1. `offered`: names, each after a byte with its length, as validated by OpenSSL. Spec: RFC 7301.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* length, const unsigned char* offered, unsigned size,
                    void*) {
  constexpr std::string_view ours = "http/1.1";
  for (unsigned at = 0; at < size; at += 1u + offered[at]) {
    if (std::string_view(reinterpret_cast<const char*>(offered) + at + 1, offered[at]) != ours) continue;
    *chosen = offered + at + 1;
    *length = offered[at];
    return SSL_TLSEXT_ERR_OK;
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

std::string date(const ASN1_TIME* time) {
  std::tm parts{};
  std::array<char, 32> text{};
  if (ASN1_TIME_to_tm(time, &parts) != 1 || std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M UTC", &parts) == 0)
    return "an unreadable time";
  return text.data();
}

tl::unexpected<failure> out_of_memory() {
  return fail(errc::source_unavailable, "TLS cannot be set up", "OpenSSL: " + crypto::last_reason());
}

}  // namespace

result<std::shared_ptr<const context>> context::make(const tls_options& options) {
  const crypto::quiet errors;
  const std::shared_ptr<context> made(new context(SSL_CTX_new(TLS_server_method())));
  if (!made->native_) return out_of_memory();
  auto done = made->set_rules();
  if (done) done = made->show(options);
  if (done) done = made->ask_clients(options);
  if (!done) return tl::unexpected(std::move(done.error()));
  return std::shared_ptr<const context>(made);
}

result<void> context::set_rules() {
  auto* const with = native_.get();
  SSL_CTX_set_security_level(with, security_level);
  SSL_CTX_set_options(with, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  // Records without data, such as key updates, end a read, so that a flood of them does not starve other connections.
  SSL_CTX_clear_mode(with, SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_mode(with, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(with, 0);
  // Clients store the sessions, as tickets.
  SSL_CTX_set_session_cache_mode(with, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_alpn_select_cb(with, &choose_protocol, nullptr);
  const bool is_set = SSL_CTX_set_min_proto_version(with, TLS1_2_VERSION) == 1 && SSL_CTX_set_max_proto_version(with, 0) == 1 &&
                      SSL_CTX_set_cipher_list(with, suites) == 1 && SSL_CTX_set_num_tickets(with, 1) == 1;
  if (!is_set) return out_of_memory();
  return {};
}

result<void> context::show(const tls_options& options) {
  if (options.certificate.empty())
    return fail(errc::invalid_argument, "TLS has a key but no certificate. Give the certificate's file, too.");
  if (options.key.empty()) return fail(errc::invalid_argument, "TLS has a certificate but no key. Give the key's file, too.");
  const auto file = pem_file::read(certificate_role, options.certificate);
  if (!file) return tl::unexpected(file.error());
  HONDANA_TRY(const auto chain, file->certificates());
  const auto key_file = pem_file::read(key_role, options.key);
  if (!key_file) return tl::unexpected(key_file.error());
  const auto key = key_file->key();
  if (!key) return tl::unexpected(key.error());

  auto* const own = chain.front().get();
  if (X509_check_private_key(own, key->get()) != 1)
    return key_file->refuse("it does not belong to the certificate in " + options.certificate +
                            ", which must be the first in that file.");
  auto* const with = native_.get();
  if (SSL_CTX_use_certificate(with, own) != 1) return file->refuse(crypto::last_reason() + '.');
  for (std::size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(with, chain[i].get()) != 1)
      return file->refuse("certificate " + std::to_string(i + 1) + " in it: " + crypto::last_reason() + '.');
  }
  if (SSL_CTX_use_PrivateKey(with, key->get()) != 1) return key_file->refuse(crypto::last_reason() + '.');

  if (key_file->is_readable_by_all())
    warnings_.push_back("every user of this machine can read the key " + options.key + "; restrict it with chmod 600 or 640");
  if (!crypto::names_hosts(own))
    warnings_.push_back("the certificate " + options.certificate + " has no subjectAltName; clients will not trust it");
  if (X509_cmp_current_time(X509_get0_notAfter(own)) < 0)
    warnings_.push_back("the certificate " + options.certificate + " expired at " + date(X509_get0_notAfter(own)) +
                        "; clients will not trust it");
  if (X509_cmp_current_time(X509_get0_notBefore(own)) > 0)
    warnings_.push_back("the certificate " + options.certificate + " is valid only from " + date(X509_get0_notBefore(own)) +
                        " on; clients will not trust it before");
  return {};
}

result<void> context::ask_clients(const tls_options& options) {
  if (options.client_authorities.empty()) {
    if (!options.needs_client_certificate) return {};
    return fail(errc::invalid_argument,
                "Clients need certificates, but no authorities that sign them are given. Give a file of client authorities.");
  }
  const auto file = pem_file::read(client_authorities_role, options.client_authorities);
  if (!file) return tl::unexpected(file.error());
  const auto trusted = file->certificates();
  if (!trusted) return tl::unexpected(trusted.error());
  auto* const with = native_.get();
  for (const auto& one : *trusted) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(with), one.get()) != 1 || SSL_CTX_add_client_CA(with, one.get()) != 1)
      return file->refuse(crypto::last_reason() + '.');
    authorities_ += describe(one.get()).sha256 + ' ';
  }
  SSL_CTX_set_verify(with, SSL_VERIFY_PEER | (options.needs_client_certificate ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), nullptr);
  // A resumed session would use the old certificate without verifying it again.
  SSL_CTX_set_options(with, SSL_OP_NO_TICKET);
  if (SSL_CTX_set_num_tickets(with, 0) != 1) return out_of_memory();
  return {};
}

std::unique_ptr<session> session::make(const context& within, int socket) {
  const crypto::quiet errors;
  std::unique_ptr<session> made(new session(SSL_new(within.native())));
  auto* const bio = made->native_ ? make_descriptor_bio(socket) : nullptr;
  if (bio == nullptr) return nullptr;
  SSL_set_bio(made->native_.get(), bio, bio);
  SSL_set_accept_state(made->native_.get());
  return made;
}

/// The reason why the last operation did not succeed. Precondition: the error queue was empty before that operation.
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
      // The next call returns the reason.
      return total != 0 ? attempt{progress::moved, total} : attempt{how, 0};
    }
    total += count;
    if (count < most_in_record) break;
  }
  return {progress::moved, total};
}

attempt session::write(std::string_view first, std::string_view then) {
  // A header and a short body fit into one record.
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
  // The same level as in the handshake.
  X509_VERIFY_PARAM_set_auth_level(X509_STORE_CTX_get0_param(judging.get()), SSL_get_security_level(native_.get()));
  return X509_STORE_CTX_set_default(judging.get(), "ssl_client") == 1 && X509_verify_cert(judging.get()) == 1;
}

}  // namespace hondana::tls
