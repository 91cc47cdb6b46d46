/// The part of a browser that a redirect needs.
#include "login.hpp"

#include <curl/curl.h>

#include <memory>

namespace {

constexpr const char* come_back = "http://127.0.0.1:8090/callback";
constexpr long most_milliseconds = 180'000;

struct easy_deleter {
  void operator()(CURL* handle) const noexcept { curl_easy_cleanup(handle); }
};

std::size_t drop(char*, std::size_t one, std::size_t size, void*) noexcept { return one * size; }

}  // namespace

/// Nobody listens there: what would be heard is read from the redirect.
hondana::result<std::string> login_without_user::begin(const std::string&) { return come_back; }

hondana::result<std::string> login_without_user::visit(const std::string& url, const std::stop_token&) {
  const auto cannot = [](const std::string& why) {
    return hondana::fail(hondana::errc::source_unavailable, "the page of the authorization server cannot be seen: " + why);
  };
  const std::unique_ptr<CURL, easy_deleter> browser(curl_easy_init());
  if (!browser) return cannot("out of memory");
  const bool is_set = curl_easy_setopt(browser.get(), CURLOPT_URL, url.c_str()) == CURLE_OK &&
                      curl_easy_setopt(browser.get(), CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
                      curl_easy_setopt(browser.get(), CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
                      curl_easy_setopt(browser.get(), CURLOPT_TIMEOUT_MS, most_milliseconds) == CURLE_OK &&
                      curl_easy_setopt(browser.get(), CURLOPT_WRITEFUNCTION, &drop) == CURLE_OK;
  if (!is_set) return cannot("libcurl refuses an option");
  if (const auto how = curl_easy_perform(browser.get()); how != CURLE_OK) return cannot(curl_easy_strerror(how));
  char* next = nullptr;
  if (curl_easy_getinfo(browser.get(), CURLINFO_REDIRECT_URL, &next) != CURLE_OK || next == nullptr)
    return cannot("it leads nowhere");
  return std::string(next);
}
