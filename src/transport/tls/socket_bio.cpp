/// An OpenSSL BIO for a socket.
#include "transport/tls/socket_bio.hpp"

#include <sys/socket.h>

#include <memory>

#include "base/crypto/openssl.hpp"

namespace hondana::tls {
namespace {

using method_pointer = std::unique_ptr<BIO_METHOD, crypto::frees<BIO_meth_free>>;

int socket_of(BIO* bio) noexcept { return *static_cast<const int*>(BIO_get_data(bio)); }

int read_some(BIO* bio, char* into, std::size_t size, std::size_t* count) {
  BIO_clear_retry_flags(bio);
  const auto got = ::recv(socket_of(bio), into, size, 0);
  *count = got > 0 ? static_cast<std::size_t>(got) : 0;
  if (got < 0 && has_to_wait()) BIO_set_retry_read(bio);
  return got > 0 ? 1 : 0;
}

int write_some(BIO* bio, const char* from, std::size_t size, std::size_t* count) {
  BIO_clear_retry_flags(bio);
  const auto sent = ::send(socket_of(bio), from, size, MSG_NOSIGNAL);
  *count = sent > 0 ? static_cast<std::size_t>(sent) : 0;
  if (sent < 0 && has_to_wait()) BIO_set_retry_write(bio);
  return sent > 0 ? 1 : 0;
}

long control(BIO*, int what, long, void*) { return what == BIO_CTRL_FLUSH ? 1 : 0; }

int forget(BIO* bio) {
  const std::unique_ptr<int> socket(static_cast<int*>(BIO_get_data(bio)));
  BIO_set_data(bio, nullptr);
  return 1;
}

method_pointer make_method() {
  method_pointer made(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "descriptor"));
  const bool is_set = made && BIO_meth_set_read_ex(made.get(), &read_some) == 1 &&
                      BIO_meth_set_write_ex(made.get(), &write_some) == 1 && BIO_meth_set_ctrl(made.get(), &control) == 1 &&
                      BIO_meth_set_destroy(made.get(), &forget) == 1;
  return is_set ? std::move(made) : nullptr;
}

}  // namespace

BIO* make_descriptor_bio(int socket) {
  static const method_pointer method = make_method();
  BIO* const made = method ? BIO_new(method.get()) : nullptr;
  if (made == nullptr) return nullptr;
  BIO_set_data(made, std::make_unique<int>(socket).release());
  BIO_set_init(made, 1);
  return made;
}

}  // namespace hondana::tls
