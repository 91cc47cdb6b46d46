/// TLS of a server: the settings that connections share, and the session of one connection.
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
constexpr const char* cipher_suites =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
/// OpenSSL level 2: at least 112 bits of security for keys and hashes.
constexpr int security_level = 2;

/// Selects http/1.1. `offered`: names, each after a byte with its length, as validated by OpenSSL. Spec: RFC 7301.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* length, const unsigned char* offered, unsigned size,
                    void*) {
  constexpr std::string_view supported = "http/1.1";
  for (unsigned offset = 0; offset < size; offset += 1u + offered[offset]) {
    if (std::string_view(reinterpret_cast<const char*>(offered) + offset + 1, offered[offset]) != supported) continue;
    *chosen = offered + offset + 1;
    *length = offered[offset];
    return SSL_TLSEXT_ERR_OK;
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

std::string format_time(const ASN1_TIME* time) {
  std::tm fields{};
  std::array<char, 32> text{};
  if (ASN1_TIME_to_tm(time, &fields) != 1 || std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M UTC", &fields) == 0)
    return "an unreadable time";
  return text.data();
}

tl::unexpected<failure> out_of_memory() {
  return fail(errc::source_unavailable, "TLS cannot be set up", "OpenSSL: " + crypto::last_error_reason());
}

}  // namespace

result<std::shared_ptr<const context>> context::make(const tls_options& options) {
  const crypto::error_queue_guard errors;
  const std::shared_ptr<context> created(new context(SSL_CTX_new(TLS_server_method())));
  if (!created->native_) return out_of_memory();
  auto outcome = created->configure_protocol();
  if (outcome) outcome = created->load_certificate(options);
  if (outcome) outcome = created->configure_client_verification(options);
  if (!outcome) return tl::unexpected(std::move(outcome.error()));
  return std::shared_ptr<const context>(created);
}

result<void> context::configure_protocol() {
  auto* const handle = native_.get();
  SSL_CTX_set_security_level(handle, security_level);
  SSL_CTX_set_options(handle, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  // Records without data, such as key updates, end a read, so that a flood of them does not starve other connections.
  SSL_CTX_clear_mode(handle, SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_mode(handle, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(handle, 0);
  // Clients store the sessions, as tickets.
  SSL_CTX_set_session_cache_mode(handle, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_alpn_select_cb(handle, &choose_protocol, nullptr);
  const bool is_set = SSL_CTX_set_min_proto_version(handle, TLS1_2_VERSION) == 1 &&
                      SSL_CTX_set_max_proto_version(handle, 0) == 1 && SSL_CTX_set_cipher_list(handle, cipher_suites) == 1 &&
                      SSL_CTX_set_num_tickets(handle, 1) == 1;
  if (!is_set) return out_of_memory();
  return {};
}

result<void> context::load_certificate(const tls_options& options) {
  if (options.certificate_file.empty())
    return fail(errc::invalid_argument, "TLS has a key but no certificate. Give the certificate's file, too.");
  if (options.key_file.empty())
    return fail(errc::invalid_argument, "TLS has a certificate but no key. Give the key's file, too.");
  const auto file = pem_file::read(certificate_role, options.certificate_file);
  if (!file) return tl::unexpected(file.error());
  HONDANA_TRY(const auto chain, file->certificates());
  const auto key_file = pem_file::read(key_role, options.key_file);
  if (!key_file) return tl::unexpected(key_file.error());
  const auto key = key_file->key();
  if (!key) return tl::unexpected(key.error());

  auto* const leaf = chain.front().get();
  if (X509_check_private_key(leaf, key->get()) != 1)
    return key_file->reject("it does not belong to the certificate in " + options.certificate_file +
                            ", which must be the first in that file.");
  auto* const handle = native_.get();
  if (SSL_CTX_use_certificate(handle, leaf) != 1) return file->reject(crypto::last_error_reason() + '.');
  for (std::size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(handle, chain[i].get()) != 1)
      return file->reject("certificate " + std::to_string(i + 1) + " in it: " + crypto::last_error_reason() + '.');
  }
  if (SSL_CTX_use_PrivateKey(handle, key->get()) != 1) return key_file->reject(crypto::last_error_reason() + '.');

  if (key_file->is_world_readable())
    warnings_.push_back("every user of this machine can read the key " + options.key_file +
                        "; restrict it with chmod 600 or 640");
  if (!crypto::has_subject_alt_name(leaf))
    warnings_.push_back("the certificate " + options.certificate_file + " has no subjectAltName; clients will not trust it");
  if (X509_cmp_current_time(X509_get0_notAfter(leaf)) < 0)
    warnings_.push_back("the certificate " + options.certificate_file + " expired at " + format_time(X509_get0_notAfter(leaf)) +
                        "; clients will not trust it");
  if (X509_cmp_current_time(X509_get0_notBefore(leaf)) > 0)
    warnings_.push_back("the certificate " + options.certificate_file + " is valid only from " +
                        format_time(X509_get0_notBefore(leaf)) + " on; clients will not trust it before");
  return {};
}

result<void> context::configure_client_verification(const tls_options& options) {
  if (!options.client_ca_file) {
    if (!options.requires_client_certificate) return {};
    return fail(errc::invalid_argument,
                "Clients need certificates, but no authorities that sign them are given. Give a file of client authorities.");
  }
  const auto file = pem_file::read(client_authorities_role, *options.client_ca_file);
  if (!file) return tl::unexpected(file.error());
  const auto trusted = file->certificates();
  if (!trusted) return tl::unexpected(trusted.error());
  auto* const handle = native_.get();
  for (const auto& certificate : *trusted) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(handle), certificate.get()) != 1 ||
        SSL_CTX_add_client_CA(handle, certificate.get()) != 1)
      return file->reject(crypto::last_error_reason() + '.');
    authorities_ += describe(certificate.get()).sha256 + ' ';
  }
  SSL_CTX_set_verify(handle, SSL_VERIFY_PEER | (options.requires_client_certificate ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
                     nullptr);
  // A resumed session would use the old certificate without verifying it again.
  SSL_CTX_set_options(handle, SSL_OP_NO_TICKET);
  if (SSL_CTX_set_num_tickets(handle, 0) != 1) return out_of_memory();
  return {};
}

std::unique_ptr<session> session::make(const context& tls_context, int socket) {
  const crypto::error_queue_guard errors;
  std::unique_ptr<session> created(new session(SSL_new(tls_context.native())));
  auto* const bio = created->native_ ? make_socket_bio(socket) : nullptr;
  if (bio == nullptr) return nullptr;
  SSL_set_bio(created->native_.get(), bio, bio);
  SSL_set_accept_state(created->native_.get());
  return created;
}

/// The reason why the last operation did not succeed. Precondition: the error queue was empty before that operation.
io_status session::error_status() {
  switch (SSL_get_error(native_.get(), 0)) {
    case SSL_ERROR_WANT_READ:
      return io_status::wants_input;
    case SSL_ERROR_WANT_WRITE:
      return io_status::wants_output;
    case SSL_ERROR_ZERO_RETURN:
      return io_status::closed;
    default:
      break;
  }
  const auto code = ERR_peek_error();
  received_plain_http_ = ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) == SSL_R_HTTP_REQUEST;
  has_failed_ = true;
  ERR_clear_error();
  return io_status::failed;
}

io_result session::read(std::span<char> buffer) {
  std::size_t total = 0;
  while (buffer.size() - total >= max_record_bytes) {
    ERR_clear_error();
    std::size_t count = 0;
    if (SSL_read_ex(native_.get(), buffer.data() + total, buffer.size() - total, &count) != 1) {
      const auto status = error_status();
      // The next call returns the reason.
      return total != 0 ? io_result{io_status::transferred, total} : io_result{status, 0};
    }
    total += count;
    if (count < max_record_bytes) break;
  }
  return {io_status::transferred, total};
}

io_result session::write(std::string_view first, std::string_view second) {
  // A header and a short body fit into one record.
  std::array<char, max_record_bytes> joined;
  auto record = first.empty() ? second : first;
  if (!first.empty() && first.size() < joined.size() && !second.empty()) {
    const auto appended = second.substr(0, joined.size() - first.size());
    std::copy(appended.begin(), appended.end(), std::copy(first.begin(), first.end(), joined.begin()));
    record = {joined.data(), first.size() + appended.size()};
  }
  ERR_clear_error();
  std::size_t count = 0;
  if (SSL_write_ex(native_.get(), record.data(), record.size(), &count) == 1) return {io_status::transferred, count};
  return {error_status(), 0};
}

io_status session::send_close_notify() {
  if (has_failed_ || has_sent_close_notify_ || !is_handshake_done()) return io_status::closed;
  ERR_clear_error();
  if (SSL_shutdown(native_.get()) < 0 && error_status() == io_status::wants_output) return io_status::wants_output;
  has_sent_close_notify_ = true;
  return io_status::closed;
}

const std::optional<peer_certificate>& session::certificate() {
  if (!is_handshake_done() || std::exchange(has_read_certificate_, true)) return certificate_;
  auto* const peer = SSL_get0_peer_certificate(native_.get());
  if (peer == nullptr || SSL_get_verify_result(native_.get()) != X509_V_OK) return certificate_;
  certificate_ = describe(peer);
  auto* const chain = SSL_get0_verified_chain(native_.get());
  certificate_expiry_ = expiry_of(peer);
  for (int i = 0; i < sk_X509_num(chain); ++i)
    certificate_expiry_ = std::min(certificate_expiry_, expiry_of(sk_X509_value(chain, i)));
  return certificate_;
}

std::optional<std::chrono::sys_seconds> session::certificate_expiry() {
  return certificate() ? std::optional(certificate_expiry_) : std::nullopt;
}

bool session::is_trusted_by(const context& current) {
  if (!certificate()) return true;
  const crypto::error_queue_guard errors;
  const std::unique_ptr<X509_STORE_CTX, crypto::openssl_deleter<X509_STORE_CTX_free>> verification(X509_STORE_CTX_new());
  auto* const peer = SSL_get0_peer_certificate(native_.get());
  if (!verification || X509_STORE_CTX_init(verification.get(), SSL_CTX_get_cert_store(current.native()), peer,
                                           SSL_get_peer_cert_chain(native_.get())) != 1)
    return false;
  // The same level as in the handshake.
  X509_VERIFY_PARAM_set_auth_level(X509_STORE_CTX_get0_param(verification.get()), SSL_get_security_level(native_.get()));
  return X509_STORE_CTX_set_default(verification.get(), "ssl_client") == 1 && X509_verify_cert(verification.get()) == 1;
}

}  // namespace hondana::tls
