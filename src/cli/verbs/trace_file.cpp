/// Appending to the trace.
#include "cli/verbs/trace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hondana::cli {

result<std::shared_ptr<trace_file>> trace_file::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return fail(errc::invalid_argument, "The trace cannot be written to " + path + ": " + std::strerror(errno) + ".");
  }
  std::shared_ptr<trace_file> file(new trace_file(descriptor));
  struct stat known{};
  // One that was there already may be readable by others.
  if (::fstat(descriptor, &known) == 0 && S_ISREG(known.st_mode) && ::fchmod(descriptor, 0600) != 0) {
    return fail(errc::invalid_argument,
                "The trace file " + path + " cannot be kept from others: " + std::strerror(errno) + ".");
  }
  return file;
}

trace_file::~trace_file() { ::close(descriptor_); }

void trace_file::write(message_direction way, std::string_view message) {
  std::string line = way == message_direction::to_server ? "-> " : "<- ";
  line += message;
  // Outside of strings, where JSON has none, a line end is as good as a space.
  std::replace_if(line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  while (line.ends_with(' ')) line.pop_back();
  line += '\n';
  for (std::string_view rest = line; !rest.empty();) {
    // In one call, so that lines of several threads do not mix.
    const auto count = ::write(descriptor_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // a full disk ends the trace, not the command
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace hondana::cli
