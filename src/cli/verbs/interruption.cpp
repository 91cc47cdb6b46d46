/// Passing signals on to a stop token and a descriptor.
#include "cli/verbs/interruption.hpp"

#include <sys/eventfd.h>
#include <unistd.h>
#include <cerrno>
#include <system_error>

namespace hondana::cli {

interruption::interruption()
    : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), watch_([this] { come(); }, [this] { come(); }) {
  if (event_ < 0) throw std::system_error(errno, std::system_category(), "eventfd");
}

interruption::~interruption() { ::close(event_); }

void interruption::come() {
  source_.request_stop();
  ::eventfd_write(event_, 1);
}

}  // namespace hondana::cli
