/// Validates an `http_target`: URL, headers, proxy, and the certificates of both sides. Helpers for URLs.
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

namespace hondana::transport::http_client {

/// Paths of validated PEM files.
struct tls_files {
  std::string ca_file;           ///< Empty: those that the system trusts.
  std::string certificate_file;  ///< The client certificate; empty: none.
  std::string key_file;          ///< Its key; may be the same file.
};

/// Validates the PEM files of a target. Errors: invalid_argument, naming file and reason: for a file that is unreadable, is not
/// PEM or needs a passphrase, and for a key that has no certificate or does not match it.
[[nodiscard]] result<tls_files> check_tls_files(const http_target& target);

/// A validated `http_target`.
struct checked_target {
  std::string url;                        ///< Normalized, without fragment.
  std::string origin;                     ///< See `origin_of`.
  std::string socket_path;                ///< Empty: none.
  std::vector<std::string> header_lines;  ///< See `header_line`.
  /// Empty optional: from the environment. Empty string: no proxy, as always for a Unix socket and for tokens over plain http:.
  std::optional<std::string> proxy;
  std::chrono::milliseconds connect_timeout{0};
  std::shared_ptr<token_source> tokens;  ///< Null: none.
  tls_files tls;
};

/// Validates a target. The text of an error names the invalid part. Errors: source_unavailable without libcurl;
/// invalid_argument for:
/// - A URL that is not http or https, has a user name, or is too long.
/// - Header fields that `header_line` rejects or that the transport sets itself, or Authorization together with a token source.
/// - An invalid proxy, a proxy together with a Unix socket, or one that could read tokens because the URL is http:.
/// - Files that `check_tls_files` rejects.
/// - A path of a Unix socket that is too long, or a `connect_timeout` that is not positive.
[[nodiscard]] result<checked_target> check_target(const http_target& target);

/// Returns the origin of a URL: `scheme://host:port`, always with the port, in lower case. Empty unless it is an http or https
/// URL.
[[nodiscard]] std::optional<std::string> origin_of(const std::string& url);

/// Whether a URL has a user name or password; true for malformed URLs.
[[nodiscard]] bool has_credentials(const std::string& url);

/// Resolves `reference` against `base`, and removes the fragment. Empty if the result is not a URL.
[[nodiscard]] std::optional<std::string> resolve_url(const std::string& base, const std::string& reference);

/// Returns `Name: value` in the form that libcurl accepts. Errors: invalid_argument for an invalid name, for line breaks and
/// other control characters, and for more than 16 KiB.
[[nodiscard]] result<std::string> header_line(std::string_view name, std::string_view value);

/// Prepares a URL for error messages: without user name and query, only visible ASCII, and truncated to 300 bytes.
[[nodiscard]] std::string display_url(std::string_view url);

}  // namespace hondana::transport::http_client
