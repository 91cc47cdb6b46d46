/// Follows the redirect of a log-in as a browser does.
#include "login.hpp"

#include <curl/curl.h>

#include <memory>

namespace {

constexpr const char* redirect_uri = "http://127.0.0.1:8090/callback";
constexpr long timeout_ms = 180'000;

struct easy_deleter {
  void operator()(CURL* handle) const noexcept { curl_easy_cleanup(handle); }
};

std::size_t discard_body(char*, std::size_t element_size, std::size_t count, void*) noexcept { return element_size * count; }

}  // namespace

/// Nothing listens at this URI: `visit` reads the redirect itself.
hondana::result<std::string> automatic_login::listen(const std::optional<std::string>&) { return redirect_uri; }

hondana::result<std::string> automatic_login::visit(const std::string& url, const std::stop_token&) {
  const auto cannot = [](const std::string& reason) {
    return hondana::fail(hondana::errc::source_unavailable, "the page of the authorization server cannot be seen: " + reason);
  };
  const std::unique_ptr<CURL, easy_deleter> browser(curl_easy_init());
  if (!browser) return cannot("out of memory");
  const bool is_set = curl_easy_setopt(browser.get(), CURLOPT_URL, url.c_str()) == CURLE_OK &&
                      curl_easy_setopt(browser.get(), CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
                      curl_easy_setopt(browser.get(), CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
                      curl_easy_setopt(browser.get(), CURLOPT_TIMEOUT_MS, timeout_ms) == CURLE_OK &&
                      curl_easy_setopt(browser.get(), CURLOPT_WRITEFUNCTION, &discard_body) == CURLE_OK;
  if (!is_set) return cannot("libcurl refuses an option");
  if (const auto code = curl_easy_perform(browser.get()); code != CURLE_OK) return cannot(curl_easy_strerror(code));
  char* next = nullptr;
  if (curl_easy_getinfo(browser.get(), CURLINFO_REDIRECT_URL, &next) != CURLE_OK || next == nullptr)
    return cannot("it leads nowhere");
  return std::string(next);
}
