/// Loads libcurl on first use, makes header lists, and recognizes errors that libcurl reports in a misleading way.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::transport::http_client {

/// The functions of libcurl that are used, with their names without `curl_`. libcurl is loaded dynamically because it depends
/// on about thirty libraries (Kerberos, LDAP, SSH and others). A server that makes no HTTP requests does not load them.
struct curl_library {
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_pause) easy_pause;
  decltype(&::curl_easy_reset) easy_reset;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_multi_init) multi_init;
  decltype(&::curl_multi_cleanup) multi_cleanup;
  decltype(&::curl_multi_setopt) multi_setopt;
  decltype(&::curl_multi_add_handle) multi_add_handle;
  decltype(&::curl_multi_remove_handle) multi_remove_handle;
  decltype(&::curl_multi_perform) multi_perform;
  decltype(&::curl_multi_poll) multi_poll;
  decltype(&::curl_multi_wakeup) multi_wakeup;
  decltype(&::curl_multi_info_read) multi_info_read;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_url) url;
  decltype(&::curl_url_cleanup) url_cleanup;
  decltype(&::curl_url_set) url_set;
  decltype(&::curl_url_get) url_get;
  decltype(&::curl_getdate) getdate;
  decltype(&::curl_free) free;
};

/// Loads the library file `name`, such as "libcurl.so.4". Never unloads it. Threads: any. Errors: source_unavailable if it is
/// missing, cannot be loaded now, or lacks a function. The loader's error text is private.
[[nodiscard]] result<curl_library> load_curl(const char* name);
/// Returns libcurl, and loads it if no earlier call has. Errors: those of `load_curl`; the next call tries again. Threads: any.
[[nodiscard]] result<const curl_library*> loaded_curl();
/// Returns libcurl. `loaded_curl` must have succeeded before. Threads: any.
[[nodiscard]] const curl_library& curl();

struct header_lines_deleter {
  void operator()(curl_slist* list) const noexcept { curl().slist_free_all(list); }
};
using header_lines = std::unique_ptr<curl_slist, header_lines_deleter>;

/// Makes libcurl's list of header lines. Null without memory.
[[nodiscard]] inline header_lines make_header_lines(const std::vector<std::string>& lines) {
  // Otherwise a long body waits one second for "100 Continue", which few servers send.
  header_lines out(curl().slist_append(nullptr, "Expect:"));
  for (const auto& line : lines) {
    curl_slist* const extended = out ? curl().slist_append(out.get(), line.c_str()) : nullptr;
    if (extended == nullptr) return {};
    static_cast<void>(out.release());
    out.reset(extended);
  }
  return out;
}

/// Whether a transfer failed because a header line exceeds libcurl's limit (100 KiB). Older versions report this as out of
/// memory. Call it only if the transfer failed before the end of the header.
[[nodiscard]] bool has_too_long_line(CURL* handle, CURLcode code) noexcept;

/// Whether a transfer failed because the peer does not speak TLS. `detail`: libcurl's error text.
[[nodiscard]] bool is_not_tls(CURLcode code, std::string_view detail) noexcept;

}  // namespace hondana::transport::http_client
