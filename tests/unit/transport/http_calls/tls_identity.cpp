/// Makes a certificate with OpenSSL.
#include "unit/transport/http_calls/tls_identity.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace hondana_test {
namespace {

void add_extension(X509* certificate, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

}  // namespace

tls_identity::tls_identity() {
  char folder[] = "/tmp/hondana-tls-XXXXXX";
  if (::mkdtemp(folder) == nullptr) throw std::runtime_error("no folder for a certificate");
  folder_ = folder;
  file_ = folder_ + "/certificate.pem";

  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME* name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("hondana test"), -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(certificate, NID_subject_alt_name, "IP:127.0.0.1,DNS:localhost");
  X509_sign(certificate, key, EVP_sha256());

  std::FILE* out = std::fopen(file_.c_str(), "w");
  if (out == nullptr) throw std::runtime_error("no file for a certificate");
  PEM_write_X509(out, certificate);
  std::fclose(out);

  context_ = SSL_CTX_new(TLS_server_method());
  const bool is_ready = SSL_CTX_use_certificate(context_, certificate) == 1 && SSL_CTX_use_PrivateKey(context_, key) == 1;
  X509_free(certificate);
  EVP_PKEY_free(key);
  if (!is_ready) throw std::runtime_error("the certificate cannot be used");
}

tls_identity::~tls_identity() {
  SSL_CTX_free(context_);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

SSL* tls_identity::accept(int socket) const {
  SSL* tls = SSL_new(context_);
  SSL_set_fd(tls, socket);
  if (SSL_accept(tls) == 1) return tls;
  SSL_free(tls);
  return nullptr;
}

}  // namespace hondana_test
