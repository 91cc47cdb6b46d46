/// Lets OpenSSL read and write a socket (BIO) without SIGPIPE.
#pragma once

#include <openssl/bio.h>

#include <cerrno>

namespace hondana::tls {

/// Makes a BIO for a non-blocking socket, which it does not own. The caller owns the BIO. Unlike OpenSSL's socket BIO it never
/// raises SIGPIPE. Null without memory.
[[nodiscard]] BIO* make_socket_bio(int socket);

/// Whether a non-blocking operation that has just failed must be retried later. Reads errno.
[[nodiscard]] inline bool would_block() noexcept { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace hondana::tls
