/// A running server that speaks TLS, with certificates of its own.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/shelf.hpp"
#include "unit/transport/tls/certificates.hpp"

namespace hondana_test {

class secure_library {
 public:
  /// `clients`: who signs the certificates of clients; null: none are asked for.
  explicit secure_library(hondana::transport::http_server::limits with = {}, const issued* clients = nullptr,
                          bool needs = false)
      : files_{folder_.path("certificate.pem"), folder_.path("key.pem"),
               clients == nullptr ? std::nullopt : std::optional(folder_.write("clients.pem", clients->certificate_text())),
               needs} {
    show(issued({.serial = 11}));
    shelf_ = std::make_unique<library>(with, hondana::server_options{}, "127.0.0.1:0", files_);
  }

  /// Puts another certificate where the server's is.
  void show(const issued& own) {
    folder_.write("certificate.pem", own.certificate_text());
    folder_.write("key.pem", own.key_text());
  }
  library& operator*() { return *shelf_; }
  library* operator->() { return shelf_.get(); }
  const pem_folder& folder() const { return folder_; }
  /// The server's certificate, for clients to trust.
  const std::string& certificate() const { return files_.certificate_file; }
  /// A connection that has shaken hands, or has `trouble`.
  client connect(const tls_manner& how = {}) {
    client made(shelf_->port());
    made.shake_hands(how);
    return made;
  }
  /// Files that a client shows.
  tls_manner showing(const issued& own) const {
    tls_manner out;
    out.certificate = folder_.write("client.pem", own.certificate_text());
    out.key = folder_.write("client-key.pem", own.key_text());
    return out;
  }

 private:
  pem_folder folder_;
  hondana::tls_options files_;
  std::unique_ptr<library> shelf_;
};

}  // namespace hondana_test
