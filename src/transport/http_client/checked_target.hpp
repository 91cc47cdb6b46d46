/// A checked `http_target`: URL, headers, proxy, and the certificates of both sides.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/client_target.hpp>
#include <hondana/error.hpp>
#include <hondana/token_source.hpp>

#include "transport/http_client/curl.hpp"

namespace hondana::transport::http_client {

/// Paths of PEM files that can be used.
struct identity {
  std::string authorities;  ///< Empty: the system's.
  std::string certificate;  ///< Empty: none is shown.
  std::string key;
};

/// Reads the files that a target names. Errors: invalid_argument, naming file and reason: what cannot be read, holds no PEM or
/// needs a passphrase, and a key that does not belong to the certificate.
[[nodiscard]] result<identity> check_identity(const http_target& target);

/// Tells libcurl, also that a server's certificate must name hosts in its subjectAltName; false when it refuses.
[[nodiscard]] bool use_identity(CURL* handle, const identity& what);

/// What a transfer that failed says of TLS; nothing when that is not it. `origin`: how the server is called. `why`: libcurl's
/// text.
[[nodiscard]] std::optional<failure> failed_handshake(CURLcode how, const std::string& why, const std::string& origin,
                                                      const identity& ours);

struct checked_target {
  std::string url;     ///< Without a fragment.
  std::string origin;  ///< As `origin_of`.
  std::string socket;
  std::vector<std::string> header_lines;  ///< `Name: value`, as libcurl takes them.
  std::optional<std::string> proxy;       ///< Nothing: what the environment says; empty: none, also for tokens by http:.
  std::chrono::milliseconds connect_time{0};
  std::shared_ptr<token_source> tokens;  ///< Null: none.
  identity ours;
};

/// Errors: invalid_argument for a URL that is not http or https, that holds a user name, or is too long; for header fields
/// that would be more than a line or that the transport sets itself, Authorization beside a source of tokens among them; for a
/// proxy that is none, or that would read tokens because the URL is http:; for files as `check_identity`; the text names the
/// part.
[[nodiscard]] result<checked_target> check_target(const http_target& target);

/// `scheme://host:port` with the port always there and letters in lower case; nothing for what is no http or https URL.
[[nodiscard]] std::optional<std::string> origin_of(const std::string& url);

/// Whether a URL holds a user name or password; true for what is no URL.
[[nodiscard]] bool has_credentials(const std::string& url);

/// `reference` as seen from `base`, without its fragment; nothing when there is no such URL.
[[nodiscard]] std::optional<std::string> resolved(const std::string& base, const std::string& reference);

/// `Name: value` as libcurl takes it. Errors: invalid_argument for line breaks and names that are none.
[[nodiscard]] result<std::string> header_line(std::string_view name, std::string_view value);

/// A URL as it may stand in an error: without user name and query, and not endless.
[[nodiscard]] std::string shown(std::string_view url);

}  // namespace hondana::transport::http_client
