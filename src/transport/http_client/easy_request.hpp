/// Sets the options of a request in libcurl, and explains why a request failed. All clients use it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "transport/http_client/checked_target.hpp"
#include "transport/http_client/curl.hpp"
#include "transport/http_client/response_head.hpp"

namespace hondana::transport::http_client {

enum class http_method : std::uint8_t { get, post, remove };  ///< `remove`: DELETE.

/// The options of a request. Everything that they refer to must exist until the request ends.
struct easy_options {
  const checked_target& target;  ///< Only its socket, proxy and TLS files are used.
  const char* url;
  http_method method = http_method::get;
  std::string_view body{};             ///< Only for POST.
  const curl_slist* lines = nullptr;   ///< See `make_header_lines`.
  const char* schemes = "http,https";  ///< In libcurl's form.
  const char* user = nullptr;          ///< For Basic authentication; null: none.
  const char* password = nullptr;      ///< Set if `user` is.
  std::chrono::milliseconds connect_timeout{0};
  char* error_text = nullptr;  ///< At least CURL_ERROR_SIZE bytes.
  curl_write_callback on_header = nullptr;
  curl_write_callback on_body = nullptr;
  curl_opensocket_callback open_socket = nullptr;  ///< Null: all addresses are allowed.
  void* owner = nullptr;                           ///< Passed to the callbacks.
};

/// Resets a handle and sets the options. libcurl follows no redirects, decompresses nothing and verifies certificates, whose
/// host names must be in the subjectAltName. Errors: source_unavailable if libcurl rejects an option.
[[nodiscard]] result<void> set_options(CURL* easy, const easy_options& options);

/// How error texts name a request and its server.
struct request_names {
  std::string action;    ///< "cannot fetch https://example.com/a"
  std::string server{};  ///< Begins sentences about the server: "https://example.com:443"; empty: "`action`: it …".
  /// What the user can do to trust the server's certificate.
  std::string trust_advice = "add its issuer to the system's certificates (update-ca-certificates)";
  bool shows_files = false;  ///< Whether the texts may contain the paths of TLS files.
};

/// A request that ended with an error of libcurl.
struct failed_request {
  CURL* easy;
  CURLcode code;
  const char* error_text;  ///< See `easy_options::error_text`.
  const head_reader& head;
  const checked_target& target;
  std::chrono::milliseconds connect_timeout;
};

/// Returns the error of a request; libcurl's own text is in the private text. The code is timed_out without a connection,
/// protocol_error for answers that are not HTTP or have too large a header, and otherwise source_unavailable. No text contains
/// a query, a header or the body.
[[nodiscard]] failure explain_failure(const failed_request& request, const request_names& names);

}  // namespace hondana::transport::http_client
