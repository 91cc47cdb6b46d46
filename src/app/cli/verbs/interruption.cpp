/// Passing signals on to a stop token and a descriptor.
#include "app/cli/verbs/interruption.hpp"

#include <sys/eventfd.h>
#include <cerrno>
#include <system_error>

namespace hondana::cli {

interruption::interruption()
    : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), watch_([this] { come(); }, [this] { come(); }) {
  if (!event_.is_open()) throw std::system_error(errno, std::system_category(), "eventfd");
}

void interruption::come() {
  source_.request_stop();
  ::eventfd_write(event_.get(), 1);
}

}  // namespace hondana::cli
