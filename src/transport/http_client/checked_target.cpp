/// Validates an `http_target`: URL, headers, proxy, and the certificates of both sides. Helpers for URLs.
#include "transport/http_client/checked_target.hpp"

#include <openssl/x509.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "base/crypto/openssl.hpp"
#include "transport/http_client/curl.hpp"
#include "transport/http_client/response_head.hpp"
#include "transport/tls/certificate.hpp"

namespace hondana::transport::http_client {
result<tls_files> check_tls_files(const http_target& target) {
  if (target.ca_file) {
    HONDANA_TRY(const auto file, tls::pem_file::read("the authorities", *target.ca_file));
    HONDANA_TRY(file.certificates());
  }
  const auto ca_file = target.ca_file.value_or(std::string());
  if (!target.certificate_file) {
    if (!target.key_file) return tls_files{ca_file, {}, {}};
    return fail(errc::invalid_argument,
                "the key " + *target.key_file + " has no certificate; give the certificate's file, too");
  }
  HONDANA_TRY(const auto file, tls::pem_file::read("the certificate", *target.certificate_file));
  HONDANA_TRY(const auto chain, file.certificates());
  const auto& key_path = target.key_file ? *target.key_file : *target.certificate_file;
  const auto key_file = tls::pem_file::read("the key", key_path);
  if (!key_file) return tl::unexpected(key_file.error());
  HONDANA_TRY(const auto key, key_file->key());
  const crypto::error_queue_guard errors;
  if (X509_check_private_key(chain.front().get(), key.get()) != 1)
    return key_file->reject("it does not belong to the certificate in " + *target.certificate_file + '.');
  return tls_files{ca_file, *target.certificate_file, key_path};
}

namespace {

struct url_deleter {
  void operator()(CURLU* url) const noexcept { curl().url_cleanup(url); }
};
using parsed_url = std::unique_ptr<CURLU, url_deleter>;

constexpr std::size_t max_header_line_bytes = 16u << 10;
constexpr std::size_t max_header_lines = 100;

/// Header fields that the transport sets itself.
constexpr std::array<std::string_view, 11> reserved_fields{
    "accept", "accept-encoding",   "connection",     "content-length",      "content-type", "expect", "last-event-id",
    "te",     "transfer-encoding", "mcp-session-id", "mcp-protocol-version"};

parsed_url parse(const std::string& url, unsigned flags = 0) {
  if (url.size() > max_uri_bytes || url.find('\0') != std::string::npos) return {};
  const auto library = loaded_curl();
  parsed_url out(library ? (*library)->url() : nullptr);
  if (!out || curl().url_set(out.get(), CURLUPART_URL, url.c_str(), flags) != CURLUE_OK) return {};
  return out;
}

std::optional<std::string> url_part(const parsed_url& url, CURLUPart component, unsigned flags = 0) {
  char* text = nullptr;
  if (curl().url_get(url.get(), component, &text, flags) != CURLUE_OK) return std::nullopt;
  const std::unique_ptr<char, decltype(curl().free)> owner(text, curl().free);
  return std::string(text);
}

std::optional<std::string> parsed_origin(const parsed_url& url) {
  const auto scheme = url_part(url, CURLUPART_SCHEME);
  const auto host = url_part(url, CURLUPART_HOST);
  const auto port = url_part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
  if (!scheme || !host || host->empty() || !port || (*scheme != "http" && *scheme != "https")) return std::nullopt;
  return ascii::to_lower(*scheme + "://" + *host + ':' + *port);
}

result<void> check_proxy(const std::string& proxy) {
  constexpr std::array<std::string_view, 6> schemes{"http", "https", "socks4", "socks4a", "socks5", "socks5h"};
  const auto url = parse(proxy, CURLU_NON_SUPPORT_SCHEME | CURLU_DEFAULT_SCHEME);
  const auto scheme = url ? url_part(url, CURLUPART_SCHEME) : std::nullopt;
  if (scheme && std::find(schemes.begin(), schemes.end(), ascii::to_lower(*scheme)) != schemes.end()) return {};
  return fail(errc::invalid_argument,
              "the proxy is not a valid URL; use one like \"http://host:port\" or \"socks5h://host:port\", or \"none\"");
}

}  // namespace

std::optional<std::string> origin_of(const std::string& url) {
  const auto parsed = parse(url);
  return parsed ? parsed_origin(parsed) : std::nullopt;
}

bool has_credentials(const std::string& url) {
  const auto parsed = parse(url);
  return !parsed || url_part(parsed, CURLUPART_USER) || url_part(parsed, CURLUPART_PASSWORD);
}

std::optional<std::string> resolve_url(const std::string& base, const std::string& reference) {
  const auto url = parse(base);
  if (!url || reference.size() > max_uri_bytes || reference.find('\0') != std::string::npos) return std::nullopt;
  if (curl().url_set(url.get(), CURLUPART_URL, reference.c_str(), CURLU_URLENCODE) != CURLUE_OK) return std::nullopt;
  curl().url_set(url.get(), CURLUPART_FRAGMENT, nullptr, 0);
  return url_part(url, CURLUPART_URL);
}

std::string display_url(std::string_view url) {
  constexpr std::size_t max_bytes = 300;
  url = url.substr(0, url.find_first_of("?#"));
  const auto scheme = url.find("//");
  const auto begin = scheme == std::string_view::npos ? 0 : scheme + 2;
  const auto at_sign = url.substr(0, url.find_first_of("/\\", begin)).rfind('@');
  std::string out(url.substr(0, at_sign == std::string_view::npos ? 0 : begin));
  out += url.substr(at_sign == std::string_view::npos ? 0 : at_sign + 1);
  for (char& c : out) c = c > ' ' && c < 0x7f ? c : '?';
  if (out.size() <= max_bytes) return out;
  out.resize(max_bytes);
  return out + "...";
}

result<std::string> header_line(std::string_view name, std::string_view value) {
  if (!is_field_name(name)) return fail(errc::invalid_argument, "a header field's name is empty or has invalid characters");
  if (!is_field_value(value))
    return fail(errc::invalid_argument, "the header field \"" + std::string(name) + "\" has line breaks or control characters");
  if (name.size() + value.size() > max_header_line_bytes)
    return fail(errc::invalid_argument, "the header field \"" + std::string(name) + "\" is longer than 16 KiB");
  // For libcurl, "Name:" removes the field; "Name;" sends it empty.
  if (value.empty()) return std::string(name) + ';';
  return std::string(name) + ": " + std::string(value);
}

result<checked_target> check_target(const http_target& target) {
  HONDANA_TRY(loaded_curl());
  checked_target out;
  if (target.url.size() > max_uri_bytes) return fail(errc::invalid_argument, "the server's URL is longer than 8192 bytes");
  const auto url = parse(target.url);
  const auto origin = url ? parsed_origin(url) : std::nullopt;
  if (!origin)
    return fail(errc::invalid_argument,
                "\"" + display_url(target.url) + "\" is not an http: or https: URL; use one like http://127.0.0.1:7325/mcp");
  if (url_part(url, CURLUPART_USER) || url_part(url, CURLUPART_PASSWORD))
    return fail(
        errc::invalid_argument,
        "the server's URL contains a user name or password, which would appear in logs; send an Authorization header instead");
  curl().url_set(url.get(), CURLUPART_FRAGMENT, nullptr, 0);
  // The connection uses the normalized URL. A host with percent-encoded control characters would be parsed differently there,
  // so compare the origins.
  out.url = url_part(url, CURLUPART_URL).value_or(std::string());
  out.origin = *origin;
  if (origin_of(out.url) != origin)
    return fail(errc::invalid_argument,
                "\"" + display_url(target.url) + "\" has a host with invalid characters; write it without percent signs");

  if (target.headers.size() > max_header_lines) return fail(errc::invalid_argument, "there are more than 100 header fields");
  for (const auto& [name, value] : target.headers) {
    if (std::any_of(reserved_fields.begin(), reserved_fields.end(),
                    [&](std::string_view reserved) { return ascii::equals_ignore_case(reserved, name); }))
      return fail(errc::invalid_argument, "the header field \"" + name + "\" is set automatically; remove it");
    HONDANA_TRY(auto line, header_line(name, value));
    out.header_lines.push_back(std::move(line));
  }

  if (target.tokens && std::any_of(target.headers.begin(), target.headers.end(),
                                   [](const auto& field) { return ascii::equals_ignore_case(field.first, "authorization"); }))
    return fail(errc::invalid_argument, "an Authorization header and a token source exclude each other; use only one of them");
  out.tokens = target.tokens;

  if (target.socket_path) {
    if (target.socket_path->size() >= sizeof(sockaddr_un::sun_path) || target.socket_path->find('\0') != std::string::npos)
      return fail(errc::invalid_argument, "the path of the Unix socket is longer than 107 bytes, or contains a NUL byte");
    if (target.proxy && target.proxy != "none")
      return fail(errc::invalid_argument, "a proxy and a Unix socket exclude each other; use only one of them");
    out.socket_path = *target.socket_path;
    out.proxy.emplace();
  } else if (target.proxy == "none") {
    out.proxy.emplace();
  } else if (target.proxy) {
    HONDANA_TRY(check_proxy(*target.proxy));
    out.proxy = target.proxy;
  }
  if (out.tokens && out.origin.starts_with("http://")) {
    if (out.proxy && !out.proxy->empty())
      return fail(errc::invalid_argument,
                  "a token is not sent over plain http: through a proxy, which could read it; use https:, or no proxy");
    // Do not use proxies of the environment: they could read the token.
    out.proxy.emplace();
  }
  HONDANA_TRY(auto files, check_tls_files(target));
  out.tls = std::move(files);
  if (target.connect_timeout.count() <= 0) return fail(errc::invalid_argument, "connect_timeout must be more than 0 ms");
  out.connect_timeout = std::min<std::chrono::milliseconds>(target.connect_timeout, std::chrono::hours(1));
  return out;
}

}  // namespace hondana::transport::http_client
