/// An HTTP service from the configuration, such as an exporter or a trace collector.
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
#include "transport/endpoint/endpoint_connection.hpp"
#include "transport/http_client/checked_target.hpp"
#include "transport/http_client/response_head.hpp"

namespace hondana::endpoint {

using fields = std::vector<std::pair<std::string, std::string>>;

/// `name=value&…`, both percent-encoded.
[[nodiscard]] std::string form_of(const fields& query);

/// Appends `path` to the path of `base`, and `query` to its query. Errors: invalid_argument for a path that does not begin with
/// `/`, has dot segments, also escaped ones, or invalid characters; and for URLs over 8192 bytes.
[[nodiscard]] result<std::string> url_with(std::string_view base, std::string_view path, const fields& query);

/// Reads a secret from a file with one line. Errors: those of `disk::read_private`; invalid_argument for a file that is empty,
/// has several lines or control characters, or is longer than 16 KiB. Only the private texts contain the path.
[[nodiscard]] result<std::string> secret_in(const std::string& path, std::string_view setting);

namespace {

constexpr std::size_t longest_secret = 16u << 10;

bool is_in_paths(char c) noexcept {
  constexpr std::string_view others = "/-._~!$&'()*+,;=:@%";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || others.find(c) != others.npos;
}

/// Errors: those of `url_with`.
result<void> check_path(std::string_view path) {
  if (!path.starts_with('/') || !std::all_of(path.begin(), path.end(), is_in_paths))
    return fail(errc::invalid_argument, "the request path does not begin with / or has characters that must be escaped");
  const auto plain = percent_decode(path);
  if (!plain || plain->find('\0') != std::string::npos)
    return fail(errc::invalid_argument, "the request path has an invalid percent-escape");
  std::string_view rest(*plain);
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const auto segment = rest.substr(0, rest.find_first_of("/\\"));
    if (segment == "." || segment == "..") return fail(errc::invalid_argument, "the request path has . or .. segments");
    rest.remove_prefix(segment.size());
  }
  return {};
}

bool is_control(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

}  // namespace

std::string form_of(const fields& query) {
  std::string out;
  for (const auto& [name, value] : query) {
    if (!out.empty()) out += '&';
    out += percent_encode(name) + '=' + percent_encode(value);
  }
  return out;
}

result<std::string> url_with(std::string_view base, std::string_view path, const fields& query) {
  const auto question = base.find('?');
  std::string out(base.substr(0, question));
  auto parameters = question == std::string_view::npos ? std::string() : std::string(base.substr(question + 1));
  if (!path.empty()) {
    HONDANA_TRY(check_path(path));
    if (out.ends_with('/')) out.pop_back();
    out += path;
  }
  if (const auto more = form_of(query); !more.empty()) parameters += (parameters.empty() ? "" : "&") + more;
  if (!parameters.empty()) out += '?' + parameters;
  if (out.size() > max_uri_bytes)
    return fail(errc::invalid_argument, "the request URL would be longer than 8192 bytes; send the query as a form");
  return out;
}

result<std::string> secret_in(const std::string& path, std::string_view setting) {
  const auto unfit = [&](errc code, std::string_view why, std::string private_text) {
    return fail(code, "its " + std::string(setting) + ' ' + std::string(why), std::move(private_text));
  };
  auto read = disk::read_private(path, longest_secret);
  if (!read) {
    const auto& why = read.error();
    return unfit(why.code == errc::resource_not_found ? errc::source_unavailable : why.code,
                 "cannot be read; the reason is in the log",
                 path + ": " + why.public_text + (why.private_text.empty() ? "" : " (" + why.private_text + ')'));
  }
  auto text = std::move(read->bytes);
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  if (text.empty()) return unfit(errc::invalid_argument, "is empty", path);
  if (std::any_of(text.begin(), text.end(), is_control))
    return unfit(errc::invalid_argument, "contains more than one line, or control characters", path);
  return text;
}

namespace {

namespace http = transport::http_client;
using steady = monotonic_clock;

constexpr std::size_t most_at_once = 8;
constexpr int most_redirects = 3;
constexpr std::array<std::string_view, 4> secret_fields{"authorization", "proxy-authorization", "cookie", "host"};

tl::unexpected<failure> unfit(std::string why) { return fail(errc::invalid_argument, std::move(why)); }

/// The host and port of the URL. Errors: invalid_argument.
result<uri::host_port> place_in(const std::string& url) {
  const auto parts = split_uri(url);
  const auto scheme = ascii::in_lower_case(std::string(parts.scheme));
  if ((scheme != "http" && scheme != "https") || !parts.authority)
    return unfit('"' + http::shown(url) + "\" is not an http: or https: URL; use one like http://127.0.0.1:9100");
  if (parts.fragment) return unfit("the URL has a fragment (#…), which is never sent to a server; remove it");
  if (parts.authority->find('@') != std::string_view::npos)
    return unfit("the URL contains a user name or password, which would appear in logs; set user and password_file instead");
  auto where = uri::parse_host_port(*parts.authority);
  if (!where)
    return unfit('"' + http::shown(url) +
                 "\" has no valid host; use a name of letters, digits, hyphens and dots, or an address such as 192.0.2.1 or "
                 "[2001:db8::1]");
  if (names_metadata_of_clouds(where->host))
    return unfit(where->host + " is a cloud metadata address, which gives out credentials; hondana never calls it");
  if (!where->port) where->port = scheme == "https" ? std::uint16_t{443} : std::uint16_t{80};
  return std::move(*where);
}

/// Checks credentials, and that they do not go over plain http: to another machine. Errors: invalid_argument.
result<void> check_secrets(const settings& from, const std::string& host, bool is_plain) {
  if (from.user.empty() != from.password_file.empty())
    return unfit("user and password_file are needed together; set both or neither");
  if (!from.bearer_file.empty() && !from.user.empty())
    return unfit("bearer_file and user exclude each other; set only one of them");
  if (from.user.find(':') != std::string::npos || !http::is_field_value(from.user))
    return unfit("user contains a colon or control characters, which Basic authentication does not allow");
  for (const auto& [name, value] : from.headers) {
    static_cast<void>(value);
    if (std::any_of(secret_fields.begin(), secret_fields.end(),
                    [&](std::string_view one) { return ascii::is_same(one, name); }))
      return unfit("the header field \"" + name + "\" cannot be set here; use bearer_file or password_file for credentials");
  }
  const bool has_secret = !from.bearer_file.empty() || !from.user.empty();
  if (!has_secret || !is_plain || from.sends_secrets_in_the_clear || !from.socket.empty()) return {};
  if (!from.proxy.empty() && from.proxy != "none")
    return unfit(
        "a token or password is not sent over plain http: through a proxy, which could read it; use https:, or no proxy");
  if (names_this_machine(host)) return {};
  return unfit("a token or password would go over plain http: to " + host +
               ", where others can read it in transit; use https:, or set secrets_in_the_clear = true");
}

/// Checks the variables that libcurl reads: of http_proxy only the lower-case form.
bool has_environment_proxy(bool is_plain) {
  const auto is_set = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  if (is_set("all_proxy") || is_set("ALL_PROXY")) return true;
  return is_plain ? is_set("http_proxy") : is_set("https_proxy") || is_set("HTTPS_PROXY");
}

bool is_redirect(int status) noexcept {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

answer answer_of(const http::response_head& head) {
  return {.status = head.status,
          .content_type = head.content_type,
          .content_range = head.content_range,
          .date = head.date,
          .location = head.location,
          .retry = http::parse_retry_after(head.retry_after, std::chrono::system_clock::now())};
}

/// Receives the body of one answer.
class body_taker {
 public:
  body_taker(const request& what, const endpoint::sink& into, const std::string& origin) noexcept
      : what_(what), into_(into), origin_(origin) {}

  /// Takes a piece of the body. False: stop reading; `stopped_` has the reason if it is an error.
  bool hear(const http::response_head& head, std::string_view piece) {
    // The body of a redirect is skipped. A short one is read to its end, so that the connection can be reused.
    if (is_redirect(head.status)) return (skipped_ += piece.size()) <= http::max_error_body_bytes;
    const auto coding = ascii::in_lower_case(head.content_encoding);
    const auto take = [&](std::string_view unpacked) { return keep(head, unpacked); };
    if (coding.empty() || coding == "identity") return take(piece);
    if (coding != "gzip" && coding != "x-gzip")
      return stop(errc::broken_protocol, "its answer has a Content-Encoding that was not requested");
    if (!unpacking_) unpacking_.emplace();
    auto done = unpacking_->take(piece, take);
    if (!done) return stop(done.error().code, done.error().public_text);
    return *done;
  }
  /// Errors: those of the body.
  result<void> finish() {
    if (!stopped_ && !is_cut_ && unpacking_ && !unpacking_->is_whole())
      stop(errc::broken_protocol, "its compressed answer is incomplete");
    if (stopped_) return tl::unexpected(std::move(*stopped_));
    return {};
  }
  [[nodiscard]] bool is_cut() const noexcept { return is_cut_ || skipped_ > http::max_error_body_bytes; }
  std::string bytes{};

 private:
  bool stop(errc code, std::string_view why) {
    stopped_ = std::move(cannot_ask(code, origin_, why).value());
    return false;
  }
  bool keep(const http::response_head& head, std::string_view piece) {
    size_ += piece.size();
    if (!head.is_success()) {
      // The text of an error may be longer than the limit of the content.
      const auto most = into_ ? http::max_error_body_bytes : std::min(what_.most_bytes, http::max_error_body_bytes);
      bytes += piece.substr(0, most - std::min(most, bytes.size()));
      is_cut_ = size_ > most;
      return !is_cut_;
    }
    if (size_ > what_.most_bytes)
      return stop(errc::response_too_large,
                  "its answer is larger than the limit of " + std::to_string(what_.most_bytes) + " bytes");
    if (what_.on_head && !std::exchange(is_announced_, true)) {
      if (auto fine = what_.on_head(answer_of(head)); !fine) {
        stopped_ = std::move(fine.error());
        return false;
      }
    }
    if (!into_) {
      bytes += piece;
      return true;
    }
    if (auto taken = into_(piece); !taken) {
      stopped_ = std::move(taken.error());
      return false;
    }
    return true;
  }

  const request& what_;
  const endpoint::sink& into_;
  const std::string& origin_;
  std::optional<unpacker> unpacking_;
  std::optional<failure> stopped_;  // our own reason to stop
  std::size_t size_ = 0;
  std::size_t skipped_ = 0;
  bool is_cut_ = false;
  bool is_announced_ = false;
};

}  // namespace

struct endpoint::state {
  settings from;
  ground on;
  std::string place;
  std::mutex mutex{};
  std::condition_variable_any freed{};
  std::vector<std::unique_ptr<connection>> idle{};
  std::size_t busy = 0;

  /// Takes an idle connection, or makes one. Errors: cancelled, timed_out, source_unavailable.
  result<std::unique_ptr<connection>> take(steady::time_point until, const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    if (!monotonic_clock::wait_until(freed, lock, stop, until, [this] { return busy < most_at_once; }))
      return cannot_ask(stop.stop_requested() ? errc::cancelled : errc::timed_out, on.target.origin,
                        stop.stop_requested() ? "it was cancelled" : "timed out behind other requests to the same server");
    std::unique_ptr<connection> out;
    if (!idle.empty()) {
      out = std::move(idle.back());
      idle.pop_back();
    } else {
      out = connection::make();
    }
    if (!out) return cannot_ask(errc::source_unavailable, on.target.origin, "libcurl cannot be started");
    ++busy;
    return out;
  }
  void give_back(std::unique_ptr<connection> one, bool is_good) {
    {
      const std::lock_guard lock(mutex);
      --busy;
      if (is_good && idle.size() < std::min(from.idle, most_at_once)) idle.push_back(std::move(one));
    }
    freed.notify_one();
  }
  /// Errors: those of paths, header fields and secret files.
  [[nodiscard]] result<connection::message> message_of(const request& what) const {
    const auto cannot = [&](const failure& why) {
      return cannot_ask(why.code, on.target.origin, why.public_text, why.private_text);
    };
    connection::message out;
    auto url = url_with(on.target.url, what.path, what.posts_query ? fields{} : what.query);
    if (!url) return cannot(url.error());
    out.url = std::move(*url);
    out.header_lines = on.target.header_lines;
    if (what.is_packed) out.header_lines.emplace_back("Accept-Encoding: gzip");
    for (const auto& [name, value] : what.headers) {
      auto line = http::header_line(name, value);
      if (!line) return cannot(line.error());
      out.header_lines.push_back(std::move(*line));
    }
    out.speed = what.speed;
    out.body = what.body;
    if (what.posts_query) {
      out.body = form_of(what.query);
      out.header_lines.emplace_back("Content-Type: application/x-www-form-urlencoded");
    }
    if (!from.bearer_file.empty()) {
      auto token = secret_in(from.bearer_file, "bearer_file");
      if (!token) return cannot(token.error());
      out.header_lines.push_back("Authorization: Bearer " + *token);
    } else if (!from.user.empty()) {
      auto password = secret_in(from.password_file, "password_file");
      if (!password) return cannot(password.error());
      out.user = from.user;
      out.password = std::move(*password);
    }
    return out;
  }
  /// The target of a redirect. Errors: access_denied, broken_protocol.
  [[nodiscard]] result<std::string> next_of(const std::string& url, const std::string& location) const {
    auto next = location.empty() ? std::nullopt : http::resolved(url, location);
    if (!next) return cannot_ask(errc::broken_protocol, on.target.origin, "it redirects without a valid Location");
    if (http::origin_of(*next) == on.target.origin && !http::has_credentials(*next)) return std::move(*next);
    return cannot_ask(
        errc::access_denied, on.target.origin,
        "it redirects to another scheme, host or port, which is not followed; if that is the right server, set its URL");
  }
};

result<std::shared_ptr<endpoint>> endpoint::of(settings from) {
  HONDANA_TRY(const auto where, place_in(from.url));
  if (from.time.count() <= 0 || from.time > std::chrono::hours(1))
    return unfit("the timeout of a request must be more than 0 and at most one hour");
  const bool is_plain = ascii::is_same(split_uri(from.url).scheme, "http");
  HONDANA_TRY(check_secrets(from, where.host, is_plain));
  HONDANA_TRY(auto target, http::check_target({.url = from.url,
                                               .socket = from.socket,
                                               .headers = from.headers,
                                               .proxy = from.proxy,
                                               .authorities = from.authorities,
                                               .certificate = from.certificate,
                                               .key = from.key}));

  auto made = std::make_unique<state>();
  const bool has_secret = !from.bearer_file.empty() || !from.user.empty();
  const bool only_here = has_secret && is_plain && !from.sends_secrets_in_the_clear;
  if (!target.proxy && (names_this_machine(where.host) || (has_secret && is_plain))) target.proxy.emplace();
  const bool has_proxy = target.proxy && !target.proxy->empty();
  made->on.admits = [host = where.host, only_here, has_proxy](const sockaddr& to) {
    if (has_proxy) return true;
    return only_here ? is_this_machine(to) : may_serve(to) || is_literally(to, host);
  };
  made->on.refusal =
      only_here ? "its name resolves to another machine, and a token or password would go there over plain http:; use https:"
                : "it resolves to a link-local, multicast, unspecified or cloud metadata address, which is never called; if "
                  "that is intended, put the address itself in the URL";
  made->on.target = std::move(target);
  made->place = !from.socket.empty() ? from.socket
                : has_proxy || (!made->on.target.proxy && has_environment_proxy(is_plain))
                    ? "*:*"
                    : where.host + ':' + std::to_string(*where.port);
  made->from = std::move(from);
  return std::shared_ptr<endpoint>(new endpoint(std::move(made)));
}

endpoint::endpoint(std::unique_ptr<state> made) noexcept : state_(std::move(made)) {}
endpoint::~endpoint() = default;

const std::string& endpoint::origin() const noexcept { return state_->on.target.origin; }

std::string endpoint::url() const { return http::shown(state_->on.target.url); }

std::string endpoint::place() const { return state_->place; }

std::vector<std::string> endpoint::files() const {
  std::vector<std::string> out;
  const auto& from = state_->from;
  for (const auto* one : {&from.bearer_file, &from.password_file, &from.authorities, &from.certificate, &from.key}) {
    if (!one->empty() && std::find(out.begin(), out.end(), *one) == out.end()) out.push_back(*one);
  }
  return out;
}

result<answer> endpoint::ask(const request& what, const std::stop_token& stop, const sink& into) const {
  auto until = steady::now() + state_->from.time;
  if (what.until) until = std::min(until, *what.until);
  HONDANA_TRY(auto message, state_->message_of(what));
  HONDANA_TRY(auto line, state_->take(until, stop));

  for (int redirects = 0;; ++redirects) {
    body_taker body(what, into, origin());
    auto head = line->perform(
        state_->on, message, [&body](const auto& of, std::string_view piece) { return body.hear(of, piece); }, until, stop);
    auto taken = body.finish();
    result<std::string> next{};
    const bool follows = head && taken && is_redirect(head->status) && !message.body && what.follows_redirects;
    if (follows) next = state_->next_of(message.url, head->location);
    if (follows && next && redirects < most_redirects && !body.is_cut()) {
      message.url = std::move(*next);
      continue;
    }
    state_->give_back(std::move(line), head && taken && !body.is_cut());
    if (!taken) return tl::unexpected(std::move(taken.error()));
    if (!head) return tl::unexpected(std::move(head.error()));
    if (!next) return tl::unexpected(std::move(next.error()));
    if (follows)
      return cannot_ask(errc::broken_protocol, origin(), "it redirects more than 3 times, or with an oversized body");
    auto out = answer_of(*head);
    out.bytes = std::move(body.bytes);
    return out;
  }
}

}  // namespace hondana::endpoint
