/// Looking for programs and for the loader.
#include "text/rendering/programs.hpp"

#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <utility>

namespace hondana::rendering {
namespace {

/// The loader of this program, which is that of all others of this machine; "" where there is none.
std::string own_loader() {
  struct looking {
    unsigned long at;
    std::string name;
  };
  looking loader{::getauxval(AT_BASE), {}};
  ::dl_iterate_phdr(
      [](dl_phdr_info* one, std::size_t, void* into) {
        auto& wanted = *static_cast<looking*>(into);
        if (one->dlpi_addr != wanted.at || one->dlpi_name == nullptr) return 0;
        wanted.name = one->dlpi_name;
        return 1;
      },
      &loader);
  return loader.name;
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
  if (auto loader = own_loader(); loader.starts_with('/')) made.paths.push_back({std::move(loader), access::execute});
  return made;
}

}  // namespace hondana::rendering
