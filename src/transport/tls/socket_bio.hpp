/// An OpenSSL BIO for a socket.
#pragma once

#include <openssl/bio.h>

#include <cerrno>

namespace hondana::tls {

/// Makes a BIO for a non-blocking socket, which it does not own. Unlike OpenSSL's socket BIO it never raises SIGPIPE. Null if
/// memory is short.
[[nodiscard]] BIO* make_socket_bio(int socket);

/// Whether the operation that has just failed on such a socket must be retried later. Reads errno.
[[nodiscard]] inline bool would_block() noexcept { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace hondana::tls
