/// A socket as OpenSSL reads and writes it.
#pragma once

#include <openssl/bio.h>

#include <cerrno>

namespace hondana::tls {

/// Over a non-blocking socket that belongs to somebody else. Unlike OpenSSL's own it raises no SIGPIPE when the peer has gone.
/// Null when there is no memory.
[[nodiscard]] BIO* make_descriptor_bio(int socket);

/// Whether what has just failed on such a socket is to be tried again.
[[nodiscard]] inline bool has_to_wait() noexcept { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace hondana::tls
