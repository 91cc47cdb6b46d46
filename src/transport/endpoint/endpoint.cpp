/// Sends requests to an HTTP service from the configuration, such as an exporter or a trace collector.
#include "transport/endpoint/endpoint.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/client_target.hpp>
#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "base/uri/web_url.hpp"
#include "os/disk/private_file.hpp"
#include "transport/endpoint/address_rules.hpp"
#include "transport/endpoint/gzip_decoder.hpp"
#include "transport/http_client/blocking_connection.hpp"
#include "transport/http_client/checked_target.hpp"
#include "transport/http_client/public_address.hpp"
#include "transport/http_client/response_head.hpp"

namespace hondana::endpoint {

using fields = std::vector<std::pair<std::string, std::string>>;

/// `name=value&…`, both percent-encoded.
[[nodiscard]] std::string encode_form(const fields& query);

/// Appends `path` to the path of `base`, and `query` to its query. Errors: invalid_argument for a path that does not begin with
/// `/`, has dot segments, also escaped ones, or invalid characters; and for URLs over 8192 bytes.
[[nodiscard]] result<std::string> build_url(std::string_view base, std::string_view path, const fields& query);

/// Reads a secret from a file with one line. Errors: those of `disk::read_private`; invalid_argument for a file that is empty,
/// has several lines or control characters, or is longer than 16 KiB. Only the private texts contain the path.
[[nodiscard]] result<std::string> read_secret(const std::string& path, std::string_view setting);

namespace {

constexpr std::size_t max_secret_bytes = 16u << 10;

bool is_path_char(char c) noexcept {
  constexpr std::string_view punctuation = "/-._~!$&'()*+,;=:@%";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || punctuation.find(c) != punctuation.npos;
}

/// Errors: those of `build_url`.
result<void> check_path(std::string_view path) {
  if (!path.starts_with('/') || !std::all_of(path.begin(), path.end(), is_path_char))
    return fail(errc::invalid_argument, "the request path does not begin with / or has characters that must be escaped");
  const auto decoded = percent_decode(path);
  if (!decoded || decoded->find('\0') != std::string::npos)
    return fail(errc::invalid_argument, "the request path has an invalid percent-escape");
  std::string_view remaining(*decoded);
  while (!remaining.empty()) {
    remaining.remove_prefix(1);
    const auto segment = remaining.substr(0, remaining.find_first_of("/\\"));
    if (segment == "." || segment == "..") return fail(errc::invalid_argument, "the request path has . or .. segments");
    remaining.remove_prefix(segment.size());
  }
  return {};
}

bool is_control(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

}  // namespace

std::string encode_form(const fields& query) {
  std::string out;
  for (const auto& [name, value] : query) {
    if (!out.empty()) out += '&';
    out += percent_encode(name) + '=' + percent_encode(value);
  }
  return out;
}

result<std::string> build_url(std::string_view base, std::string_view path, const fields& query) {
  const auto question = base.find('?');
  std::string out(base.substr(0, question));
  auto parameters = question == std::string_view::npos ? std::string() : std::string(base.substr(question + 1));
  if (!path.empty()) {
    HONDANA_TRY(check_path(path));
    if (out.ends_with('/')) out.pop_back();
    out += path;
  }
  if (const auto encoded = encode_form(query); !encoded.empty()) parameters += (parameters.empty() ? "" : "&") + encoded;
  if (!parameters.empty()) out += '?' + parameters;
  if (out.size() > max_uri_bytes)
    return fail(errc::invalid_argument, "the request URL would be longer than 8192 bytes; send the query as a form");
  return out;
}

result<std::string> read_secret(const std::string& path, std::string_view setting) {
  const auto unusable = [&](errc code, std::string_view reason, std::string private_text) {
    return fail(code, "its " + std::string(setting) + ' ' + std::string(reason), std::move(private_text));
  };
  auto file = disk::read_private(path, max_secret_bytes);
  if (!file) {
    const auto& error = file.error();
    return unusable(error.code == errc::resource_not_found ? errc::source_unavailable : error.code,
                    "cannot be read; the reason is in the log",
                    path + ": " + error.public_text + (error.private_text.empty() ? "" : " (" + error.private_text + ')'));
  }
  auto text = std::move(file->bytes);
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  if (text.empty()) return unusable(errc::invalid_argument, "is empty", path);
  if (std::any_of(text.begin(), text.end(), is_control))
    return unusable(errc::invalid_argument, "contains more than one line, or control characters", path);
  return text;
}

namespace {

namespace http = transport::http_client;
using clock = monotonic_clock;

constexpr std::size_t max_concurrent_requests = 8;
constexpr int max_redirects = 3;
constexpr std::array<std::string_view, 4> secret_fields{"authorization", "proxy-authorization", "cookie", "host"};

tl::unexpected<failure> invalid_settings(std::string reason) { return fail(errc::invalid_argument, std::move(reason)); }

/// The host and port of the URL. Errors: invalid_argument.
result<uri::host_port> host_port_of(const std::string& url) {
  const auto parts = split_uri(url);
  const auto scheme = ascii::to_lower(std::string(parts.scheme));
  if ((scheme != "http" && scheme != "https") || !parts.authority)
    return invalid_settings('"' + http::display_url(url) +
                            "\" is not an http: or https: URL; use one like http://127.0.0.1:9100");
  if (parts.fragment) return invalid_settings("the URL has a fragment (#…), which is never sent to a server; remove it");
  if (parts.authority->find('@') != std::string_view::npos)
    return invalid_settings(
        "the URL contains a user name or password, which would appear in logs; set user and password_file instead");
  auto host_port = uri::parse_host_port(*parts.authority);
  if (!host_port)
    return invalid_settings(
        '"' + http::display_url(url) +
        "\" has no valid host; use a name of letters, digits, hyphens and dots, or an address such as 192.0.2.1 or "
        "[2001:db8::1]");
  if (is_cloud_metadata_host(host_port->host))
    return invalid_settings(host_port->host +
                            " is a cloud metadata address, which gives out credentials; hondana never calls it");
  if (!host_port->port) host_port->port = scheme == "https" ? std::uint16_t{443} : std::uint16_t{80};
  return std::move(*host_port);
}

/// Checks credentials, and that they do not go over plain http: to another machine. Errors: invalid_argument.
result<void> check_secrets(const settings& options, const std::string& host, bool is_plaintext) {
  if (options.user.empty() != options.password_file.empty())
    return invalid_settings("user and password_file are needed together; set both or neither");
  if (!options.bearer_file.empty() && !options.user.empty())
    return invalid_settings("bearer_file and user exclude each other; set only one of them");
  if (options.user.find(':') != std::string::npos || !http::is_field_value(options.user))
    return invalid_settings("user contains a colon or control characters, which Basic authentication does not allow");
  for (const auto& [name, value] : options.headers) {
    static_cast<void>(value);
    if (std::any_of(secret_fields.begin(), secret_fields.end(),
                    [&](std::string_view field) { return ascii::equals_ignore_case(field, name); }))
      return invalid_settings("the header field \"" + name +
                              "\" cannot be set here; use bearer_file or password_file for credentials");
  }
  const bool has_secret = !options.bearer_file.empty() || !options.user.empty();
  if (!has_secret || !is_plaintext || options.allows_plaintext_secrets || !options.socket_path.empty()) return {};
  if (!options.proxy.empty() && options.proxy != "none")
    return invalid_settings(
        "a token or password is not sent over plain http: through a proxy, which could read it; use https:, or no proxy");
  if (is_local_host(host)) return {};
  return invalid_settings("a token or password would go over plain http: to " + host +
                          ", where others can read it in transit; use https:, or set allow_cleartext_credentials = true");
}

/// Checks the variables that libcurl reads: of http_proxy only the lower-case form.
bool has_environment_proxy(bool is_plaintext) {
  const auto is_set = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  if (is_set("all_proxy") || is_set("ALL_PROXY")) return true;
  return is_plaintext ? is_set("http_proxy") : is_set("https_proxy") || is_set("HTTPS_PROXY");
}

std::string action_on(const std::string& origin) { return "cannot call " + origin; }

/// Makes a failure with the text "cannot call ORIGIN: REASON".
tl::unexpected<failure> cannot_call(errc code, const std::string& origin, std::string_view reason,
                                    std::string private_text = {}) {
  return fail(code, action_on(origin) + ": " + std::string(reason), std::move(private_text));
}

response to_response(const http::response_head& head) {
  return {.status = head.status,
          .content_type = head.content_type,
          .content_range = head.content_range,
          .date = head.date,
          .location = head.location,
          .retry_after = http::parse_retry_after(head.retry_after, std::chrono::system_clock::now())};
}

/// Receives the body of one answer.
class body_receiver {
 public:
  body_receiver(const request& request, const endpoint::sink& sink, const std::string& origin) noexcept
      : request_(request), sink_(sink), origin_(origin) {}

  /// Receives a piece of the body. False: stop reading; `error_` has the reason if it is an error.
  bool receive(const http::response_head& head, std::string_view piece) {
    // The body of a redirect is skipped. A short one is read to its end, so that the connection can be reused.
    if (head.is_redirect()) return (skipped_ += piece.size()) <= http::max_error_body_bytes;
    const auto coding = ascii::to_lower(head.content_encoding);
    const auto append_piece = [&](std::string_view unpacked) { return append(head, unpacked); };
    if (coding.empty() || coding == "identity") return append_piece(piece);
    if (coding != "gzip" && coding != "x-gzip")
      return stop(errc::protocol_error, "its answer has a Content-Encoding that was not requested");
    if (!decoder_) decoder_.emplace();
    auto outcome = decoder_->decode(piece, append_piece);
    if (!outcome) return stop(outcome.error().code, outcome.error().public_text);
    return *outcome;
  }
  /// Errors: those of the body.
  result<void> finish() {
    if (!error_ && !is_truncated_ && decoder_ && !decoder_->is_complete())
      stop(errc::protocol_error, "its compressed answer is incomplete");
    if (error_) return tl::unexpected(std::move(*error_));
    return {};
  }
  [[nodiscard]] bool is_truncated() const noexcept { return is_truncated_ || skipped_ > http::max_error_body_bytes; }
  std::string bytes{};

 private:
  bool stop(errc code, std::string_view reason) {
    error_ = std::move(cannot_call(code, origin_, reason).value());
    return false;
  }
  bool append(const http::response_head& head, std::string_view piece) {
    size_ += piece.size();
    if (!head.is_success()) {
      // The text of an error may be longer than the limit of the content.
      const auto max_bytes = sink_ ? http::max_error_body_bytes : std::min(request_.max_bytes, http::max_error_body_bytes);
      bytes += piece.substr(0, max_bytes - std::min(max_bytes, bytes.size()));
      is_truncated_ = size_ > max_bytes;
      return !is_truncated_;
    }
    if (size_ > request_.max_bytes)
      return stop(errc::response_too_large,
                  "its answer is larger than the limit of " + std::to_string(request_.max_bytes) + " bytes");
    if (request_.on_head && !std::exchange(has_reported_head_, true)) {
      if (auto accepted = request_.on_head(to_response(head)); !accepted) {
        error_ = std::move(accepted.error());
        return false;
      }
    }
    if (!sink_) {
      bytes += piece;
      return true;
    }
    if (auto accepted = sink_(piece); !accepted) {
      error_ = std::move(accepted.error());
      return false;
    }
    return true;
  }

  const request& request_;
  const endpoint::sink& sink_;
  const std::string& origin_;
  std::optional<gzip_decoder> decoder_;
  std::optional<failure> error_;  // our own reason to stop
  std::size_t size_ = 0;
  std::size_t skipped_ = 0;
  bool is_truncated_ = false;
  bool has_reported_head_ = false;
};

}  // namespace

struct endpoint::state {
  settings options;
  http::request_rules rules;
  std::string address;
  std::mutex mutex{};
  std::condition_variable_any released{};
  std::vector<std::unique_ptr<http::blocking_connection>> idle_connections{};
  std::size_t busy_connections = 0;

  /// Takes an idle connection, or makes one. Errors: cancelled, timed_out, source_unavailable.
  result<std::unique_ptr<http::blocking_connection>> acquire(clock::time_point deadline, const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    if (!monotonic_clock::wait_until(released, lock, stop, deadline,
                                     [this] { return busy_connections < max_concurrent_requests; }))
      return cannot_call(stop.stop_requested() ? errc::cancelled : errc::timed_out, rules.target.origin,
                         stop.stop_requested() ? "it was cancelled" : "timed out behind other requests to the same server");
    auto out = idle_connections.empty()
                   ? http::blocking_connection::make()
                   : result<std::unique_ptr<http::blocking_connection>>(std::move(idle_connections.back()));
    if (!out) return cannot_call(out.error().code, rules.target.origin, out.error().public_text, out.error().private_text);
    if (!idle_connections.empty()) idle_connections.pop_back();
    ++busy_connections;
    return out;
  }
  void release(std::unique_ptr<http::blocking_connection> connection, bool is_reusable) {
    {
      const std::lock_guard lock(mutex);
      --busy_connections;
      if (is_reusable && idle_connections.size() < std::min(options.max_idle_connections, max_concurrent_requests))
        idle_connections.push_back(std::move(connection));
    }
    released.notify_one();
  }
  /// Errors: those of paths, header fields and secret files.
  [[nodiscard]] result<http::blocking_connection::message> make_message(const request& request) const {
    const auto cannot = [&](const failure& error) {
      return cannot_call(error.code, rules.target.origin, error.public_text, error.private_text);
    };
    http::blocking_connection::message out;
    out.action = action_on(rules.target.origin);
    auto url = build_url(rules.target.url, request.path, request.posts_query ? fields{} : request.query);
    if (!url) return cannot(url.error());
    out.url = std::move(*url);
    out.header_lines = rules.target.header_lines;
    if (request.accepts_compressed) out.header_lines.emplace_back("Accept-Encoding: gzip");
    for (const auto& [name, value] : request.headers) {
      auto line = http::header_line(name, value);
      if (!line) return cannot(line.error());
      out.header_lines.push_back(std::move(*line));
    }
    out.progress = request.progress;
    out.body = request.body;
    if (request.posts_query) {
      out.body = encode_form(request.query);
      out.header_lines.emplace_back("Content-Type: application/x-www-form-urlencoded");
    }
    if (!options.bearer_file.empty()) {
      auto token = read_secret(options.bearer_file, "bearer_file");
      if (!token) return cannot(token.error());
      out.header_lines.push_back("Authorization: Bearer " + *token);
    } else if (!options.user.empty()) {
      auto password = read_secret(options.password_file, "password_file");
      if (!password) return cannot(password.error());
      out.user = options.user;
      out.password = std::move(*password);
    }
    return out;
  }
  /// The target of a redirect. Errors: access_denied, protocol_error.
  [[nodiscard]] result<std::string> redirect_target(const std::string& url, const std::string& location) const {
    auto target = location.empty() ? std::nullopt : http::resolve_url(url, location);
    if (!target) return cannot_call(errc::protocol_error, rules.target.origin, "it redirects without a valid Location");
    if (http::origin_of(*target) == rules.target.origin && !http::has_credentials(*target)) return std::move(*target);
    return cannot_call(
        errc::access_denied, rules.target.origin,
        "it redirects to another scheme, host or port, which is not followed; if that is the right server, set its URL");
  }
};

result<std::shared_ptr<endpoint>> endpoint::create(settings options) {
  HONDANA_TRY(const auto host_port, host_port_of(options.url));
  if (options.timeout.count() <= 0 || options.timeout > std::chrono::hours(1))
    return invalid_settings("the timeout of a request must be more than 0 and at most one hour");
  const bool is_plaintext = ascii::equals_ignore_case(split_uri(options.url).scheme, "http");
  HONDANA_TRY(check_secrets(options, host_port.host, is_plaintext));
  const auto unless_empty = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); };
  HONDANA_TRY(auto target, http::check_target({.url = options.url,
                                               .socket_path = unless_empty(options.socket_path),
                                               .headers = options.headers,
                                               .proxy = unless_empty(options.proxy),
                                               .ca_file = unless_empty(options.ca_file),
                                               .certificate_file = unless_empty(options.certificate_file),
                                               .key_file = unless_empty(options.key_file)}));

  auto initial = std::make_unique<state>();
  const bool has_secret = !options.bearer_file.empty() || !options.user.empty();
  const bool loopback_only = has_secret && is_plaintext && !options.allows_plaintext_secrets;
  if (!target.proxy && (is_local_host(host_port.host) || (has_secret && is_plaintext))) target.proxy.emplace();
  const bool has_proxy = target.proxy && !target.proxy->empty();
  initial->rules.allows_address = [host = host_port.host, loopback_only, has_proxy](const sockaddr& address) {
    if (has_proxy) return true;
    return loopback_only ? http::is_loopback(address) : is_allowed_address(address) || matches_literal(address, host);
  };
  initial->rules.rejection_reason =
      loopback_only
          ? "its name resolves to another machine, and a token or password would go there over plain http:; use https:"
          : "it resolves to a link-local, multicast, unspecified or cloud metadata address, which is never called; if "
            "that is intended, put the address itself in the URL";
  initial->rules.trust_advice = "set ca_file to a file with its issuer's certificate";
  initial->rules.target = std::move(target);
  initial->address = !options.socket_path.empty() ? options.socket_path
                     : has_proxy || (!initial->rules.target.proxy && has_environment_proxy(is_plaintext))
                         ? "*:*"
                         : host_port.host + ':' + std::to_string(*host_port.port);
  initial->options = std::move(options);
  return std::shared_ptr<endpoint>(new endpoint(std::move(initial)));
}

endpoint::endpoint(std::unique_ptr<state> initial) noexcept : state_(std::move(initial)) {}
endpoint::~endpoint() = default;

const std::string& endpoint::origin() const noexcept { return state_->rules.target.origin; }

std::string endpoint::url() const { return http::display_url(state_->rules.target.url); }

std::string endpoint::address() const { return state_->address; }

std::vector<std::string> endpoint::files() const {
  std::vector<std::string> out;
  const auto& options = state_->options;
  for (const auto* path :
       {&options.bearer_file, &options.password_file, &options.ca_file, &options.certificate_file, &options.key_file}) {
    if (!path->empty() && std::find(out.begin(), out.end(), *path) == out.end()) out.push_back(*path);
  }
  return out;
}

result<response> endpoint::send(const request& request, const std::stop_token& stop, const sink& body_sink) const {
  auto deadline = clock::now() + state_->options.timeout;
  if (request.deadline) deadline = std::min(deadline, *request.deadline);
  HONDANA_TRY(auto message, state_->make_message(request));
  HONDANA_TRY(auto connection, state_->acquire(deadline, stop));

  for (int redirects = 0;; ++redirects) {
    body_receiver body(request, body_sink, origin());
    auto head = connection->perform(
        state_->rules, message,
        [&body](const auto& received_head, std::string_view piece) { return body.receive(received_head, piece); }, deadline,
        stop);
    auto outcome = body.finish();
    result<std::string> redirect{};
    const bool is_redirected = head && outcome && head->is_redirect() && !message.body && request.follows_redirects;
    if (is_redirected) redirect = state_->redirect_target(message.url, head->location);
    if (is_redirected && redirect && redirects < max_redirects && !body.is_truncated()) {
      message.url = std::move(*redirect);
      continue;
    }
    state_->release(std::move(connection), head && outcome && !body.is_truncated());
    if (!outcome) return tl::unexpected(std::move(outcome.error()));
    if (!head) return tl::unexpected(std::move(head.error()));
    if (!redirect) return tl::unexpected(std::move(redirect.error()));
    if (is_redirected)
      return cannot_call(errc::protocol_error, origin(), "it redirects more than 3 times, or with an oversized body");
    auto out = to_response(*head);
    out.body = std::move(body.bytes);
    return out;
  }
}

}  // namespace hondana::endpoint
