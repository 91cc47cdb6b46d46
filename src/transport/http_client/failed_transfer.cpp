/// Telling failed transfers apart.
#include "transport/http_client/failed_transfer.hpp"

namespace hondana::transport::http_client {
namespace {

constexpr int too_large = 100;  // CURLE_TOO_LARGE, which libcurl has since 8.6

}  // namespace

bool has_too_long_line(CURL* handle, CURLcode how) noexcept {
  if (how == too_large) return true;
  // Memory that is lacking before a byte has come is lacking indeed.
  curl_off_t first_byte = 0;
  return how == CURLE_OUT_OF_MEMORY && curl().easy_getinfo(handle, CURLINFO_STARTTRANSFER_TIME_T, &first_byte) == CURLE_OK &&
         first_byte > 0;
}

bool speaks_no_tls(CURLcode how, std::string_view why) noexcept {
  return how == CURLE_SSL_CONNECT_ERROR && (why.find("wrong version number") != std::string_view::npos ||
                                            why.find("packet length too long") != std::string_view::npos);
}

}  // namespace hondana::transport::http_client
