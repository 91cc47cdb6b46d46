/// Makes certificates with OpenSSL.
#include "unit/transport/tls/certificates.hpp"

#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace hondana_test {
namespace {

void add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  if (extension == nullptr) throw std::runtime_error("no such extension: " + value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

void add_part(X509_NAME* to, const std::string& kind, const std::string& text) {
  X509_NAME_add_entry_by_txt(to, kind.c_str(), MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(text.c_str()), -1, -1, 0);
}

std::string text_of(BIO* from) {
  char* text = nullptr;
  const auto size = BIO_get_mem_data(from, &text);
  return {text, static_cast<std::size_t>(size)};
}

}  // namespace

pem_folder::pem_folder() {
  char folder[] = "/tmp/hondana-tls-XXXXXX";
  if (::mkdtemp(folder) == nullptr) throw std::runtime_error("no folder for certificates");
  folder_ = folder;
}

pem_folder::~pem_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string pem_folder::write(const std::string& name, const std::string& text) const {
  auto to = path(name);
  std::ofstream(to, std::ios::binary | std::ios::trunc) << text;
  if (::chmod(to.c_str(), 0600) != 0) throw std::runtime_error("no file for a certificate");
  return to;
}

issued::issued(const wanted_certificate& wanted, const issued* by)
    : key_(wanted.rsa_bits != 0 ? EVP_RSA_gen(static_cast<unsigned>(wanted.rsa_bits)) : EVP_EC_gen("P-256")),
      certificate_(X509_new()) {
  X509* const made = certificate_.get();
  X509_set_version(made, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made), wanted.serial);
  X509_gmtime_adj(X509_getm_notBefore(made), wanted.from);
  X509_gmtime_adj(X509_getm_notAfter(made), wanted.until);
  X509_set_pubkey(made, key());
  X509_NAME* const name = X509_get_subject_name(made);
  std::istringstream parts(wanted.name);
  std::string part;
  std::getline(parts, part, '/');
  const auto common = part;
  while (std::getline(parts, part, '/')) add_part(name, part.substr(0, part.find('=')), part.substr(part.find('=') + 1));
  add_part(name, "CN", common);
  X509* const issuer = by == nullptr ? made : by->certificate();
  X509_set_issuer_name(made, X509_get_subject_name(issuer));
  if (wanted.is_authority || by == nullptr) add_extension(made, issuer, NID_basic_constraints, "critical,CA:TRUE");
  if (!wanted.names.empty()) add_extension(made, issuer, NID_subject_alt_name, wanted.names);
  if (X509_sign(made, by == nullptr ? key() : by->key(), EVP_sha256()) == 0)
    throw std::runtime_error("the certificate cannot be signed");
}

std::string issued::certificate_text() const {
  const hondana::crypto::bio_pointer out(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(out.get(), certificate());
  return text_of(out.get());
}

std::string issued::key_text(const std::string& passphrase) const {
  const hondana::crypto::bio_pointer out(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(out.get(), key(), passphrase.empty() ? nullptr : EVP_aes_128_cbc(),
                           reinterpret_cast<const unsigned char*>(passphrase.data()), static_cast<int>(passphrase.size()),
                           nullptr, nullptr);
  return text_of(out.get());
}

}  // namespace hondana_test
