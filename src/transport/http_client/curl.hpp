/// Loads libcurl on first use; its handles and header lists.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "os/libraries/shared_library.hpp"

namespace hondana::transport::http_client {

/// The functions of libcurl that are used, with their names without `curl_`. libcurl is loaded dynamically because it depends
/// on about thirty libraries (Kerberos, LDAP, SSH and others). A server that makes no HTTP requests does not load them.
struct curl_library {
  libraries::function<decltype(&::curl_global_init)> global_init{"curl_global_init"};
  libraries::function<decltype(&::curl_easy_init)> easy_init{"curl_easy_init"};
  libraries::function<decltype(&::curl_easy_cleanup)> easy_cleanup{"curl_easy_cleanup"};
  libraries::function<decltype(&::curl_easy_pause)> easy_pause{"curl_easy_pause"};
  libraries::function<decltype(&::curl_easy_reset)> easy_reset{"curl_easy_reset"};
  libraries::function<decltype(&::curl_easy_setopt)> easy_setopt{"curl_easy_setopt"};
  libraries::function<decltype(&::curl_easy_getinfo)> easy_getinfo{"curl_easy_getinfo"};
  libraries::function<decltype(&::curl_easy_strerror)> easy_strerror{"curl_easy_strerror"};
  libraries::function<decltype(&::curl_multi_init)> multi_init{"curl_multi_init"};
  libraries::function<decltype(&::curl_multi_cleanup)> multi_cleanup{"curl_multi_cleanup"};
  libraries::function<decltype(&::curl_multi_setopt)> multi_setopt{"curl_multi_setopt"};
  libraries::function<decltype(&::curl_multi_add_handle)> multi_add_handle{"curl_multi_add_handle"};
  libraries::function<decltype(&::curl_multi_remove_handle)> multi_remove_handle{"curl_multi_remove_handle"};
  libraries::function<decltype(&::curl_multi_perform)> multi_perform{"curl_multi_perform"};
  libraries::function<decltype(&::curl_multi_poll)> multi_poll{"curl_multi_poll"};
  libraries::function<decltype(&::curl_multi_wakeup)> multi_wakeup{"curl_multi_wakeup"};
  libraries::function<decltype(&::curl_multi_info_read)> multi_info_read{"curl_multi_info_read"};
  libraries::function<decltype(&::curl_slist_append)> slist_append{"curl_slist_append"};
  libraries::function<decltype(&::curl_slist_free_all)> slist_free_all{"curl_slist_free_all"};
  libraries::function<decltype(&::curl_url)> url{"curl_url"};
  libraries::function<decltype(&::curl_url_cleanup)> url_cleanup{"curl_url_cleanup"};
  libraries::function<decltype(&::curl_url_set)> url_set{"curl_url_set"};
  libraries::function<decltype(&::curl_url_get)> url_get{"curl_url_get"};
  libraries::function<decltype(&::curl_getdate)> getdate{"curl_getdate"};
  libraries::function<decltype(&::curl_free)> free{"curl_free"};
};

/// Returns libcurl, which the first successful call loads. Errors: source_unavailable, see `libraries::load_once`. Threads:
/// any.
[[nodiscard]] result<const curl_library*> loaded_curl();
/// Returns libcurl. `loaded_curl` must have succeeded before. Threads: any.
[[nodiscard]] const curl_library& curl();

struct easy_deleter {
  void operator()(CURL* handle) const noexcept { curl().easy_cleanup(handle); }
};
using easy_handle = std::unique_ptr<CURL, easy_deleter>;

struct multi_deleter {
  void operator()(CURLM* handle) const noexcept { curl().multi_cleanup(handle); }
};
/// Must be destroyed after the easy handles that were added to it.
using multi_handle = std::unique_ptr<CURLM, multi_deleter>;
/// Loads and initializes libcurl, and makes a handle, which is never null. Errors: source_unavailable. Threads: any.
[[nodiscard]] result<multi_handle> make_multi_handle();

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

}  // namespace hondana::transport::http_client
