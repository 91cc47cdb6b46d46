/// Loads optional shared libraries when they are first used.
#include "os/libraries/shared_library.hpp"

#include <dlfcn.h>
#include <gnu/libc-version.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace hondana::libraries {
namespace {

tl::unexpected<failure> load_failure(const optional_library& library, std::string_view advice) {
  std::string text = std::string(library.requirement) + ' ' + library.soname + ", which " + std::string(advice) +
                     " with: apt-get install " + library.packages;
  if (*library.alternative != '\0') text += std::string("; or ") + library.alternative;
  const char* const detail = ::dlerror();
  return fail(library.code, std::move(text), detail != nullptr ? detail : "");
}

result<void*> open_library(const optional_library& library) {
  void* const handle = ::dlopen(library.soname, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return load_failure(library, "cannot be loaded; install it");
  return handle;
}

}  // namespace

result<void> load_symbols(const optional_library& library, std::span<symbol> symbols) {
  HONDANA_TRY(void* const handle, open_library(library));
  for (auto& entry : symbols) {
    entry.address = ::dlsym(handle, entry.name);
    if (entry.address == nullptr) return load_failure(library, "lacks functions; install a newer version");
  }
  return {};
}

bool is_loaded(const char* soname) {
  void* const handle = ::dlopen(soname, RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  ::dlclose(handle);
  return true;
}

result<void> check_installed(const optional_library& library) {
  Dl_info info{};
  // The library is most likely in the same folder as the C library.
  const bool is_known =
      ::dladdr(reinterpret_cast<const void*>(&::gnu_get_libc_version), &info) != 0 && info.dli_fname != nullptr;
  const auto library_dir = is_known ? std::filesystem::path(info.dli_fname).parent_path().string() : std::string("/lib");
  for (const auto& folder : {library_dir, "/usr" + library_dir, std::string("/usr/local/lib"), std::string("/usr/lib64")}) {
    std::error_code error;
    if (std::filesystem::exists(std::filesystem::path(folder) / library.soname, error)) return {};
  }
  // Only the loader knows all of its folders. Asking it loads the library.
  HONDANA_TRY(open_library(library));
  return {};
}

}  // namespace hondana::libraries
