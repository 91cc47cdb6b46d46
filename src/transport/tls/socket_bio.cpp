/// Lets OpenSSL read and write a socket (BIO) without SIGPIPE.
#include "transport/tls/socket_bio.hpp"

#include <sys/socket.h>

#include <memory>

#include "base/crypto/openssl.hpp"

namespace hondana::tls {
namespace {

using method_pointer = std::unique_ptr<BIO_METHOD, crypto::openssl_deleter<BIO_meth_free>>;

int socket_of(BIO* bio) noexcept { return *static_cast<const int*>(BIO_get_data(bio)); }

int read_some(BIO* bio, char* buffer, std::size_t size, std::size_t* count) {
  BIO_clear_retry_flags(bio);
  const auto received = ::recv(socket_of(bio), buffer, size, 0);
  *count = received > 0 ? static_cast<std::size_t>(received) : 0;
  if (received < 0 && would_block()) BIO_set_retry_read(bio);
  return received > 0 ? 1 : 0;
}

int write_some(BIO* bio, const char* data, std::size_t size, std::size_t* count) {
  BIO_clear_retry_flags(bio);
  const auto sent = ::send(socket_of(bio), data, size, MSG_NOSIGNAL);
  *count = sent > 0 ? static_cast<std::size_t>(sent) : 0;
  if (sent < 0 && would_block()) BIO_set_retry_write(bio);
  return sent > 0 ? 1 : 0;
}

long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

int destroy(BIO* bio) {
  const std::unique_ptr<int> socket(static_cast<int*>(BIO_get_data(bio)));
  BIO_set_data(bio, nullptr);
  return 1;
}

method_pointer make_method() {
  method_pointer method(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "descriptor"));
  const bool is_set = method && BIO_meth_set_read_ex(method.get(), &read_some) == 1 &&
                      BIO_meth_set_write_ex(method.get(), &write_some) == 1 && BIO_meth_set_ctrl(method.get(), &control) == 1 &&
                      BIO_meth_set_destroy(method.get(), &destroy) == 1;
  return is_set ? std::move(method) : nullptr;
}

}  // namespace

BIO* make_socket_bio(int socket) {
  static const method_pointer method = make_method();
  BIO* const bio = method ? BIO_new(method.get()) : nullptr;
  if (bio == nullptr) return nullptr;
  BIO_set_data(bio, std::make_unique<int>(socket).release());
  BIO_set_init(bio, 1);
  return bio;
}

}  // namespace hondana::tls
