/// A server's side of TLS with a certificate made for it.
#include "unit/transport/http_client/tls_identity.hpp"

#include <stdexcept>

namespace hondana_test {

tls_identity::tls_identity() : file_(folder_.write("certificate.pem", made_.certificate_text())) {
  context_ = SSL_CTX_new(TLS_server_method());
  const bool is_ready =
      SSL_CTX_use_certificate(context_, made_.certificate()) == 1 && SSL_CTX_use_PrivateKey(context_, made_.key()) == 1;
  if (!is_ready) throw std::runtime_error("the certificate cannot be used");
}

tls_identity::~tls_identity() { SSL_CTX_free(context_); }

SSL* tls_identity::accept(int socket) const {
  SSL* tls = SSL_new(context_);
  SSL_set_fd(tls, socket);
  if (SSL_accept(tls) == 1) return tls;
  SSL_free(tls);
  return nullptr;
}

}  // namespace hondana_test
