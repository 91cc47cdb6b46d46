/// Making contexts from files.
#include "transport/tls/context.hpp"

#include <array>
#include <ctime>
#include <string_view>

#include "base/crypto/host_names.hpp"
#include "transport/tls/peer.hpp"
#include "transport/tls/pem_file.hpp"

namespace hondana::tls {
namespace {

/// Of TLS 1.2; those of 1.3 are all of this kind.
constexpr const char* suites =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
/// RSA and hashes of 112 bits and more.
constexpr int security_level = 2;

/// `offered` is a list of names with a byte for the length of each, which OpenSSL has checked. Spec: RFC 7301.
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
  // Records that are no messages, such as new keys, end a read, so that a flood of them leaves others their turn.
  SSL_CTX_clear_mode(with, SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_mode(with, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(with, 0);
  // Sessions are the clients' to keep, as tickets.
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
  // A resumed session would carry a certificate on that is checked no more.
  SSL_CTX_set_options(with, SSL_OP_NO_TICKET);
  if (SSL_CTX_set_num_tickets(with, 0) != 1) return out_of_memory();
  return {};
}

}  // namespace hondana::tls
