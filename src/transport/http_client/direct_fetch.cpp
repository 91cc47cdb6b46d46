/// Fetches an `https:` resource from a URL that is not trusted.
#include "transport/http_client/direct_fetch.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <hondana/clock.hpp>

#include "transport/http_client/blocking_connection.hpp"
#include "transport/http_client/checked_target.hpp"
#include "transport/http_client/public_address.hpp"
#include "transport/http_client/response_head.hpp"

namespace hondana::transport::http_client {
namespace {

constexpr int max_fetch_redirects = 5;
constexpr const char* private_address_reason =
    "it resolves to this machine or a private network, which is never fetched from directly";

std::string action_on(const std::string& url) { return "cannot fetch " + display_url(url); }

tl::unexpected<failure> cannot_fetch(errc code, const std::string& url, const std::string& reason) {
  return fail(code, action_on(url) + ": " + reason);
}

/// Sends GET requests and follows redirects, until the first other answer.
class direct_fetch {
 public:
  direct_fetch(const fetch_limits& limits, const channel::content_sink& sink, const std::stop_token& stop,
               const fetch_environment& environment)
      : limits_(limits), sink_(sink), stop_(stop) {
    rules_.target.proxy = limits.proxy;
    rules_.target.connect_timeout = limits.connect_timeout;
    rules_.target.tls.ca_file = environment.ca_file;
    rules_.schemes = "https";
    // A proxy connects to the server, so that the address is not known here.
    if (limits.proxy.empty()) rules_.allows_address = environment.allows_address ? environment.allows_address : is_public;
    rules_.rejection_reason = private_address_reason;
  }

  result<fetch_result> run(const std::string& url);

 private:
  result<response_head> send();
  result<void> check_url(const std::string& url) const;
  result<void> check_status(const response_head& head) const;
  bool receive_body(const response_head& head, std::string_view bytes);

  const fetch_limits& limits_;
  const channel::content_sink& sink_;
  const std::stop_token& stop_;
  const monotonic_clock::time_point started_at_ = monotonic_clock::now();
  request_rules rules_{};
  fetch_result result_{};
  std::optional<failure> error_;  // our own reason to stop
};

bool direct_fetch::receive_body(const response_head& head, std::string_view bytes) {
  // The bodies of redirects and errors are not read.
  if (!check_status(head)) return false;
  result_.size += bytes.size();
  if (result_.size > limits_.max_bytes) {
    error_ = std::move(cannot_fetch(errc::response_too_large, result_.url,
                                    "it is longer than the limit of " + std::to_string(limits_.max_bytes) + " bytes")
                           .value());
    return false;
  }
  if (!sink_) {
    result_.body += bytes;
    return true;
  }
  if (auto accepted = sink_(0, bytes); !accepted) {
    error_ = std::move(accepted.error());
    return false;
  }
  return true;
}

result<void> direct_fetch::check_url(const std::string& url) const {
  const auto origin = origin_of(url);
  if (!origin || !origin->starts_with("https://"))
    return cannot_fetch(errc::invalid_argument, url, "only https: URLs are fetched directly");
  if (has_credentials(url))
    return cannot_fetch(errc::invalid_argument, url, "URLs with a user name or password are not fetched");
  if (limits_.proxy.empty() || !is_private_origin(*origin)) return {};
  return cannot_fetch(errc::access_denied, url, private_address_reason);
}

result<void> direct_fetch::check_status(const response_head& head) const {
  const auto summary = "the server answered " + std::to_string(head.status);
  switch (head.status) {
    case 200:
      break;
    case 401:
    case 403:
      return cannot_fetch(errc::unauthorized, result_.url, summary + ", and credentials are never sent there");
    case 404:
    case 410:
      return cannot_fetch(errc::resource_not_found, result_.url, summary);
    default:
      return cannot_fetch(head.status == 429 || head.status >= 500 ? errc::source_unavailable : errc::protocol_error,
                          result_.url, summary);
  }
  if (!head.content_encoding.empty() && head.content_encoding != "identity")
    return cannot_fetch(errc::protocol_error, result_.url,
                        "it is compressed (" + display_url(head.content_encoding) + "), which was not requested");
  return {};
}

result<response_head> direct_fetch::send() {
  auto timeout = limits_.total_timeout;
  if (!sink_) timeout = std::min(timeout, limits_.timeout);
  const auto deadline = started_at_ + timeout;
  blocking_connection::message message{.action = action_on(result_.url), .url = result_.url};
  if (sink_) message.progress.max_silence = limits_.timeout;
  HONDANA_TRY(const auto connection, blocking_connection::make());
  auto head = connection->perform(
      rules_, message, [this](const auto& received, std::string_view bytes) { return receive_body(received, bytes); }, deadline,
      stop_);
  if (!head && head.error().code == errc::timed_out && monotonic_clock::now() >= deadline)
    return cannot_fetch(errc::timed_out, result_.url, "no complete answer within " + std::to_string(timeout.count()) + " ms");
  return head;
}

result<fetch_result> direct_fetch::run(const std::string& url) {
  HONDANA_TRY(loaded_curl());
  result_.url = url;
  for (int redirects = 0; redirects <= max_fetch_redirects; ++redirects) {
    HONDANA_TRY(check_url(result_.url));
    auto head = send();
    if (error_) return tl::unexpected(std::move(*error_));
    if (!head) return tl::unexpected(std::move(head.error()));
    if (head->is_redirect() && !head->location.empty()) {
      if (auto target = resolve_url(result_.url, head->location)) {
        result_.url = std::move(*target);
        continue;
      }
    }
    HONDANA_TRY(check_status(*head));
    result_.content_type = head->content_type;
    result_.media_type = head->media_type();
    result_.charset = head->charset();
    return std::move(result_);
  }
  return cannot_fetch(errc::protocol_error, url, "it redirects more than " + std::to_string(max_fetch_redirects) + " times");
}

}  // namespace

result<fetch_result> fetch_directly(const std::string& url, const fetch_limits& limits, const channel::content_sink& sink,
                                    const std::stop_token& stop) {
  return fetch_directly(url, limits, sink, stop, {});
}

result<fetch_result> fetch_directly(const std::string& url, const fetch_limits& limits, const channel::content_sink& sink,
                                    const std::stop_token& stop, const fetch_environment& environment) {
  return direct_fetch(limits, sink, stop, environment).run(url);
}

}  // namespace hondana::transport::http_client
