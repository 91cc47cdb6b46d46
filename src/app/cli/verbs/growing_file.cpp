/// Writing beside a name, and renaming at the end.
#include "app/cli/verbs/growing_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace hondana::cli {

growing_file::growing_file(std::string path)
    : path_(std::move(path)), growing_(path_ + ".part-" + std::to_string(::getpid())) {}

growing_file::~growing_file() {
  if (file_.is_open() && is_beside_) ::unlink(growing_.c_str());
}

result<void> growing_file::open() {
  struct stat known{};
  is_beside_ = ::stat(path_.c_str(), &known) != 0 || S_ISREG(known.st_mode);
  file_ = disk::handle(is_beside_ ? ::open(growing_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
                                  : ::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file_.is_open()) return unable("written");
  return {};
}

result<void> growing_file::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return unable("written");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

result<void> growing_file::finish() {
  const bool is_written = ::close(file_.release()) == 0;
  if (is_written && (!is_beside_ || ::rename(growing_.c_str(), path_.c_str()) == 0)) return {};
  auto why = unable("completed");
  if (is_beside_) ::unlink(growing_.c_str());
  return why;
}

tl::unexpected<failure> growing_file::unable(const char* what) const {
  return fail(errc::invalid_argument, "The file " + path_ + " could not be " + what + ": " + std::strerror(errno) + ".");
}

}  // namespace hondana::cli
