/// Reads certificates and keys from PEM files, and describes the certificates of clients.
#pragma once

#include <openssl/x509.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/authenticator.hpp>
#include <hondana/error.hpp>

#include "base/crypto/openssl.hpp"

namespace hondana::tls {

/// Alternative names are DNS names, e-mail and IP addresses, and URIs; those with control characters are left out.
[[nodiscard]] peer_certificate describe(X509* certificate);

/// Its last second; the epoch where that cannot be read.
[[nodiscard]] std::chrono::sys_seconds end_of(const X509* certificate);

/// Its text, of which nothing is left in memory afterwards: it may hold a key.
class pem_file {
 public:
  /// `what` is the name of the file's role in errors, such as "the key"; it is also their `failure::about`.
  /// Errors: invalid_argument, naming file and reason; also if it is not a regular file, or larger than 1 MiB.
  [[nodiscard]] static result<pem_file> read(std::string_view what, const std::string& path);
  ~pem_file();
  pem_file(pem_file&&) noexcept = default;
  pem_file& operator=(pem_file&&) = delete;

  [[nodiscard]] bool is_readable_by_all() const noexcept { return is_readable_by_all_; }
  /// All certificates in it, in their order. Errors: invalid_argument when there is none, or one that cannot be read.
  [[nodiscard]] result<std::vector<crypto::certificate_pointer>> certificates() const;
  /// The key in it. Errors: invalid_argument when there is none, or one with a passphrase.
  [[nodiscard]] result<crypto::key_pointer> key() const;

  /// "Cannot use the key /etc/x.pem: " and `why`.
  [[nodiscard]] tl::unexpected<failure> refuse(const std::string& why) const;

 private:
  pem_file(std::string what, std::string path, std::string text, bool is_readable_by_all);
  [[nodiscard]] crypto::memory_file open() const;

  std::string what_;
  std::string path_;
  std::string text_;
  bool is_readable_by_all_;
};

}  // namespace hondana::tls
