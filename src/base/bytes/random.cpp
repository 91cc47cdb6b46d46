/// Asking the kernel.
#include "base/bytes/random.hpp"

#include <sys/random.h>

#include <cerrno>
#include <cstring>

namespace hondana::bytes {

result<std::string> random_bytes(std::size_t count) {
  std::string out(count, '\0');
  // So few come whole or not at all. Source: getrandom(2).
  ssize_t got = 0;
  do {
    got = ::getrandom(out.data(), out.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(count)) return out;
  return fail(errc::internal, "the system provides no random bytes",
              got < 0 ? std::string("getrandom: ") + std::strerror(errno) : "getrandom: too many bytes were requested");
}

}  // namespace hondana::bytes
