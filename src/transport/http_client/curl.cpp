/// Loads libcurl on first use; header lists, and errors that libcurl reports in a misleading way.
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
  const auto why_not = [name](std::string_view advice) {
    const char* const said = ::dlerror();
    return fail(
        errc::source_unavailable,
        "libcurl, which HTTP requests need, cannot be loaded; " + std::string(advice) + " " + name + " (Debian: libcurl4)",
        said != nullptr ? said : std::string());
  };
  void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return why_not("install");
  curl_library out{};
  bool is_whole = true;
  const auto find = [&](auto& into, const char* function) {
    into = reinterpret_cast<std::remove_reference_t<decltype(into)>>(::dlsym(handle, function));
    is_whole = is_whole && into != nullptr;
  };
  find(out.global_init, "curl_global_init");
  find(out.easy_init, "curl_easy_init");
  find(out.easy_cleanup, "curl_easy_cleanup");
  find(out.easy_pause, "curl_easy_pause");
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
  if (!is_whole) return why_not("it is too old; install a newer");
  return out;
}

result<const curl_library*> loaded_curl() {
  static std::atomic<const curl_library*> known{nullptr};
  if (const auto* const already = known.load(std::memory_order_acquire)) return already;
  // Retried after a failure, which may be a temporary lack of descriptors or memory.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  if (const auto* const already = known.load(std::memory_order_acquire)) return already;
  HONDANA_TRY(auto loaded, load_curl(library_name));
  static curl_library table;
  table = loaded;
  known.store(&table, std::memory_order_release);
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

bool has_too_long_line(CURL* handle, CURLcode how) noexcept {
  if (how == too_large) return true;
  // Without a received byte, memory is really short.
  curl_off_t first_byte = 0;
  return how == CURLE_OUT_OF_MEMORY && curl().easy_getinfo(handle, CURLINFO_STARTTRANSFER_TIME_T, &first_byte) == CURLE_OK &&
         first_byte > 0;
}

bool speaks_no_tls(CURLcode how, std::string_view why) noexcept {
  return how == CURLE_SSL_CONNECT_ERROR && (why.find("wrong version number") != std::string_view::npos ||
                                            why.find("packet length too long") != std::string_view::npos);
}

}  // namespace hondana::transport::http_client
