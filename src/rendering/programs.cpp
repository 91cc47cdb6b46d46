/// Looking for programs and for the loader.
#include "rendering/programs.hpp"

#include <link.h>
#include <unistd.h>

#include <array>
#include <cstddef>

namespace hondana::rendering {
namespace {

/// The loader of this program, which is that of all others of this machine; null where there is none.
const char* own_loader() {
  const char* found = nullptr;
  ::dl_iterate_phdr(
      [](dl_phdr_info* one, std::size_t, void* into) {
        for (int i = 0; i < one->dlpi_phnum; ++i) {
          if (one->dlpi_phdr[i].p_type != PT_INTERP) continue;
          const auto at = one->dlpi_addr + one->dlpi_phdr[i].p_vaddr;
          *static_cast<const char**>(into) = reinterpret_cast<const char*>(at);
        }
        return 1;  // the first is the program
      },
      &found);
  return found;
}

}  // namespace

std::string program_at(std::string_view name) {
  for (const auto* folder : {"/usr/local/bin/", "/usr/bin/", "/bin/"}) {
    auto path = folder + std::string(name);
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

sandbox::permissions permissions_for(const std::string& program) {
  using sandbox::access;
  constexpr std::array read{"/lib",
                            "/lib64",
                            "/usr/lib",
                            "/usr/lib64",
                            "/usr/local/lib",
                            "/etc/ld.so.cache",
                            "/usr/share/poppler",
                            "/etc/localtime",
                            "/usr/share/zoneinfo"};
  sandbox::permissions made;
  made.only_computes = true;
  made.paths.reserve(read.size() + 2);
  for (const auto* one : read) made.paths.push_back({one, access::read});
  made.paths.push_back({program, access::execute});
  if (const auto* loader = own_loader(); loader != nullptr) made.paths.push_back({loader, access::execute});
  return made;
}

}  // namespace hondana::rendering
