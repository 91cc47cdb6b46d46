/// libcurl, loaded on first use; its header lists, and errors whose own texts mislead.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::transport::http_client {

/// What is used of it, under its own names. It brings some thirty libraries with it (Kerberos, LDAP, SSH and what those need),
/// which a server that asks nobody over HTTP should neither wait for nor keep in memory.
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

/// Loads the library of that name. Never unloaded. Threads: any. Errors: source_unavailable: there is none, it cannot be loaded
/// now (the loader's words are private), or it is another library or too old.
[[nodiscard]] result<curl_library> load_curl(const char* name);
/// Loads libcurl with the first call that can. Errors: as `load_curl`; the next call tries again. Threads: any.
[[nodiscard]] result<const curl_library*> loaded_curl();
/// The same for whoever has something that it made, or has looked before.
[[nodiscard]] const curl_library& curl();

struct frees_header_lines {
  void operator()(curl_slist* list) const noexcept { curl().slist_free_all(list); }
};
using header_lines = std::unique_ptr<curl_slist, frees_header_lines>;

/// Null when there is no memory.
[[nodiscard]] inline header_lines header_lines_of(const std::vector<std::string>& lines) {
  // Without this a long body waits a second for a "100 Continue" that few servers send.
  header_lines out(curl().slist_append(nullptr, "Expect:"));
  for (const auto& line : lines) {
    curl_slist* const longer = out ? curl().slist_append(out.get(), line.c_str()) : nullptr;
    if (longer == nullptr) return {};
    static_cast<void>(out.release());
    out.reset(longer);
  }
  return out;
}

/// A transfer that ended before its head was complete did so because a header line is longer than libcurl takes (100 KiB),
/// which older versions call a lack of memory.
[[nodiscard]] bool has_too_long_line(CURL* handle, CURLcode how) noexcept;

/// The other side answered a TLS greeting with what is no TLS. `why`: libcurl's text.
[[nodiscard]] bool speaks_no_tls(CURLcode how, std::string_view why) noexcept;

}  // namespace hondana::transport::http_client
