/// What a client's certificate says.
#pragma once

#include <openssl/x509.h>

#include <chrono>

#include <hondana/authenticator.hpp>

namespace hondana::tls {

/// Alternative names are DNS names, e-mail and IP addresses, and URIs; those with control characters are left out.
[[nodiscard]] peer_certificate describe(X509* certificate);

/// Its last second; the epoch where that cannot be read.
[[nodiscard]] std::chrono::sys_seconds end_of(const X509* certificate);

}  // namespace hondana::tls
