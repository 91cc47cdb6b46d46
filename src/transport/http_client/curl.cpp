/// Loads libcurl on first use, makes header lists, and recognizes errors that libcurl reports in a misleading way.
#include "transport/http_client/curl.hpp"

#include <dlfcn.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace hondana::transport::http_client {
namespace {

// The soname has not changed since 2006.
constexpr const char* library_name = "libcurl.so.4";

}  // namespace

result<curl_library> load_curl(const char* name) {
  const auto cannot_load = [name](std::string_view advice) {
    const char* const detail = ::dlerror();
    return fail(
        errc::source_unavailable,
        "libcurl, which HTTP requests need, cannot be loaded; " + std::string(advice) + " " + name + " (Debian: libcurl4)",
        detail != nullptr ? detail : std::string());
  };
  void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return cannot_load("install");
  curl_library out{};
  bool is_complete = true;
  const auto load_symbol = [&](auto& target, const char* function) {
    target = reinterpret_cast<std::remove_reference_t<decltype(target)>>(::dlsym(handle, function));
    is_complete = is_complete && target != nullptr;
  };
  load_symbol(out.global_init, "curl_global_init");
  load_symbol(out.easy_init, "curl_easy_init");
  load_symbol(out.easy_cleanup, "curl_easy_cleanup");
  load_symbol(out.easy_pause, "curl_easy_pause");
  load_symbol(out.easy_reset, "curl_easy_reset");
  load_symbol(out.easy_setopt, "curl_easy_setopt");
  load_symbol(out.easy_getinfo, "curl_easy_getinfo");
  load_symbol(out.easy_strerror, "curl_easy_strerror");
  load_symbol(out.multi_init, "curl_multi_init");
  load_symbol(out.multi_cleanup, "curl_multi_cleanup");
  load_symbol(out.multi_setopt, "curl_multi_setopt");
  load_symbol(out.multi_add_handle, "curl_multi_add_handle");
  load_symbol(out.multi_remove_handle, "curl_multi_remove_handle");
  load_symbol(out.multi_perform, "curl_multi_perform");
  load_symbol(out.multi_poll, "curl_multi_poll");
  load_symbol(out.multi_wakeup, "curl_multi_wakeup");
  load_symbol(out.multi_info_read, "curl_multi_info_read");
  load_symbol(out.slist_append, "curl_slist_append");
  load_symbol(out.slist_free_all, "curl_slist_free_all");
  load_symbol(out.url, "curl_url");
  load_symbol(out.url_cleanup, "curl_url_cleanup");
  load_symbol(out.url_set, "curl_url_set");
  load_symbol(out.url_get, "curl_url_get");
  load_symbol(out.getdate, "curl_getdate");
  load_symbol(out.free, "curl_free");
  if (!is_complete) return cannot_load("it is too old; install a newer");
  return out;
}

result<const curl_library*> loaded_curl() {
  static std::atomic<const curl_library*> published{nullptr};
  if (const auto* const existing = published.load(std::memory_order_acquire)) return existing;
  // Retried after a failure, which may be a temporary lack of descriptors or memory.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (const auto* const earlier = published.load(std::memory_order_acquire)) return earlier;
  HONDANA_TRY(auto library, load_curl(library_name));
  static curl_library table;
  table = library;
  published.store(&table, std::memory_order_release);
  return &table;
}

const curl_library& curl() {
  const auto table = loaded_curl();
  if (!table) throw std::logic_error("libcurl is used before it is loaded");
  return **table;
}

namespace {

constexpr int too_large = 100;  // CURLE_TOO_LARGE, since libcurl 8.6

}  // namespace

bool has_too_long_line(CURL* handle, CURLcode code) noexcept {
  if (code == too_large) return true;
  // Without a received byte, memory is really short.
  curl_off_t first_byte = 0;
  return code == CURLE_OUT_OF_MEMORY && curl().easy_getinfo(handle, CURLINFO_STARTTRANSFER_TIME_T, &first_byte) == CURLE_OK &&
         first_byte > 0;
}

bool is_not_tls(CURLcode code, std::string_view detail) noexcept {
  return code == CURLE_SSL_CONNECT_ERROR && (detail.find("wrong version number") != std::string_view::npos ||
                                             detail.find("packet length too long") != std::string_view::npos);
}

}  // namespace hondana::transport::http_client
