/// Certificates of both sides: whom we trust, what we show, and what went wrong with either.
#pragma once

#include <hondana/client_target.hpp>
#include <hondana/error.hpp>
#include <optional>
#include <string>

#include "transport/http_client/curl_library.hpp"

namespace hondana::transport::http_client {

/// Paths of PEM files that can be used.
struct identity {
  std::string authorities;  ///< Empty: the system's.
  std::string certificate;  ///< Empty: none is shown.
  std::string key;
};

/// Reads the files that a target names. Errors: invalid_argument, naming file and reason: what cannot be read, holds no PEM or
/// needs a passphrase, and a key that does not belong to the certificate.
[[nodiscard]] result<identity> check_identity(const http_target& target);

/// Tells libcurl, also that a server's certificate must name hosts in its subjectAltName; false when it refuses.
[[nodiscard]] bool use_identity(CURL* handle, const identity& what);

/// What a transfer that failed says of TLS; nothing when that is not it. `origin`: how the server is called. `why`: libcurl's
/// text.
[[nodiscard]] std::optional<failure> failed_handshake(CURLcode how, const std::string& why, const std::string& origin,
                                                      const identity& ours);

}  // namespace hondana::transport::http_client
