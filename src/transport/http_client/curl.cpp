/// Loads libcurl on first use, makes header lists, and recognizes errors that libcurl reports in a misleading way.
#include "transport/http_client/curl.hpp"

#include <stdexcept>
#include <string_view>

namespace hondana::transport::http_client {
result<const curl_library*> loaded_curl() {
  // The soname has not changed since 2006.
  return libraries::load_once<curl_library>({"libcurl.so.4", "HTTP requests require", "libcurl4"});
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
