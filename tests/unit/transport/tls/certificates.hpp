/// Certificates that nobody but the test trusts.
#pragma once

#include <openssl/ssl.h>

#include <string>

#include "base/crypto/openssl.hpp"

namespace hondana_test {

/// A folder of its own below /tmp, which goes with it.
class pem_folder {
 public:
  pem_folder();
  ~pem_folder();
  pem_folder(const pem_folder&) = delete;
  pem_folder& operator=(const pem_folder&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + '/' + name; }
  /// Writes a file anew, readable by this user alone, and returns its path.
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::string folder_;
};

/// What a certificate is to say; times in seconds from now.
struct wanted_certificate {
  std::string name = "hondana test";                 ///< CN; with further parts behind it as in "alice/O=Example".
  std::string names = "IP:127.0.0.1,DNS:localhost";  ///< Alternative ones; empty: none.
  long serial = 1;
  long from = -3600;
  long until = 3600;
  bool is_authority = false;
  int rsa_bits = 0;  ///< 0: an elliptic key.
};

/// A certificate and its key.
class issued {
 public:
  /// Signed by `by`, or by itself.
  explicit issued(const wanted_certificate& wanted = {}, const issued* by = nullptr);

  [[nodiscard]] X509* certificate() const noexcept { return certificate_.get(); }
  [[nodiscard]] EVP_PKEY* key() const noexcept { return key_.get(); }
  /// In PEM.
  [[nodiscard]] std::string certificate_text() const;
  /// The same; with a passphrase when there is one.
  [[nodiscard]] std::string key_text(const std::string& passphrase = {}) const;

 private:
  hondana::crypto::key_pointer key_;
  hondana::crypto::certificate_pointer certificate_;
};

}  // namespace hondana_test
