/// Opens something that is always there.
#include "providers/git/descriptors.hpp"

#include <fcntl.h>

#include <cerrno>

#include "disk/handle.hpp"

namespace hondana::git {

bool lacks_descriptors() noexcept {
  const disk::handle probe(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return !probe.is_open() && (errno == EMFILE || errno == ENFILE);
}

}  // namespace hondana::git
