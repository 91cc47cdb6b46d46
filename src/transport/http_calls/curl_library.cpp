/// Finding libcurl.
#include "transport/http_calls/curl_library.hpp"

#include <dlfcn.h>

#include <optional>
#include <string>
#include <type_traits>

namespace hondana::transport::http_calls {
namespace {

// The name of its interface, which has been the same since 2006.
constexpr const char* library_name = "libcurl.so.4";

}  // namespace

std::optional<curl_library> load_curl(const char* name) {
  void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return std::nullopt;
  curl_library out{};
  bool is_whole = true;
  const auto find = [&](auto& into, const char* function) {
    into = reinterpret_cast<std::remove_reference_t<decltype(into)>>(::dlsym(handle, function));
    is_whole = is_whole && into != nullptr;
  };
  find(out.global_init, "curl_global_init");
  find(out.easy_init, "curl_easy_init");
  find(out.easy_cleanup, "curl_easy_cleanup");
  find(out.easy_reset, "curl_easy_reset");
  find(out.easy_setopt, "curl_easy_setopt");
  find(out.easy_getinfo, "curl_easy_getinfo");
  find(out.easy_strerror, "curl_easy_strerror");
  find(out.multi_init, "curl_multi_init");
  find(out.multi_cleanup, "curl_multi_cleanup");
  find(out.multi_setopt, "curl_multi_setopt");
  find(out.multi_add_handle, "curl_multi_add_handle");
  find(out.multi_remove_handle, "curl_multi_remove_handle");
  find(out.multi_perform, "curl_multi_perform");
  find(out.multi_poll, "curl_multi_poll");
  find(out.multi_wakeup, "curl_multi_wakeup");
  find(out.multi_info_read, "curl_multi_info_read");
  find(out.slist_append, "curl_slist_append");
  find(out.slist_free_all, "curl_slist_free_all");
  find(out.url, "curl_url");
  find(out.url_cleanup, "curl_url_cleanup");
  find(out.url_set, "curl_url_set");
  find(out.url_get, "curl_url_get");
  find(out.getdate, "curl_getdate");
  find(out.free, "curl_free");
  return is_whole ? std::optional(out) : std::nullopt;
}

const curl_library* loaded_curl() {
  static const auto known = load_curl(library_name);
  return known ? &*known : nullptr;
}

tl::unexpected<failure> no_curl() {
  return fail(errc::source_unavailable,
              "libcurl cannot be loaded, without which no other server can be asked over HTTP; "
              "install " +
                  std::string(library_name) + " (Debian: libcurl4)");
}

}  // namespace hondana::transport::http_calls
