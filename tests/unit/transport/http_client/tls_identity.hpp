/// A certificate for this machine that nobody but the test trusts.
#pragma once

#include <string>

#include <openssl/ssl.h>

#include "unit/transport/tls/certificates.hpp"

namespace hondana_test {

/// Made anew, signed by itself, for 127.0.0.1 and localhost; its file lies in a folder of its own as long as it lives.
class tls_identity {
 public:
  tls_identity();
  ~tls_identity();
  tls_identity(const tls_identity&) = delete;
  tls_identity& operator=(const tls_identity&) = delete;

  /// The certificate in PEM.
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  /// The server's side of a connection, shaken hands on; null when the client does not like us.
  [[nodiscard]] SSL* accept(int socket) const;

 private:
  issued made_;
  pem_folder folder_;
  std::string file_;
  SSL_CTX* context_ = nullptr;
};

}  // namespace hondana_test
