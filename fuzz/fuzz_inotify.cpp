/// Events of the kernel's queue, cut from any bytes: each name lies inside them and has no NUL.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "os/watch/inotify.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::size_t taken = 0;
  const bool is_whole = hondana::watch::for_each_event(bytes, [&](const hondana::watch::event& one) {
    taken += sizeof(inotify_event);
    if (one.name.find('\0') != std::string_view::npos) std::abort();
    if (!one.name.empty() && (one.name.data() < bytes.data() || one.name.data() + one.name.size() > bytes.data() + size)) {
      std::abort();
    }
  });
  if (taken > size || (is_whole && size != 0 && taken == 0)) std::abort();
  return 0;
}
