/// Fetches an `https:` resource from a URL that is not trusted.
#include "transport/http_client/direct_fetch.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <hondana/uri.hpp>

#include "transport/http_client/checked_target.hpp"
#include "transport/http_client/guarded_request.hpp"
#include "transport/http_client/public_address.hpp"
#include "transport/http_client/response_head.hpp"

namespace hondana::transport::http_client {
namespace {

constexpr int max_fetch_redirects = 5;
constexpr const char* private_address_reason =
    "it resolves to this machine or a private network, which is never fetched from directly";

/// Sends GET requests and follows redirects, until the first other answer.
class direct_fetch {
 public:
  direct_fetch(const fetch_limits& limits, const channel::content_sink& sink, const std::stop_token& stop,
               const fetch_environment& environment)
      : limits_(limits),
        sink_(sink),
        request_(
            {.allows_address = environment.allows_address,
             .rejection_reason = private_address_reason,
             .ca_file = environment.ca_file,
             .proxy = limits.proxy,
             .connect_timeout = limits.connect_timeout,
             .timeout = limits.timeout,
             .limits_each_wait = static_cast<bool>(sink),
             .total_timeout = limits.total_timeout},
            [this](std::string_view bytes) { return receive_body(bytes); }, stop) {}

  result<fetch_result> run(const std::string& url);

 private:
  result<void> check_url(const std::string& url) const;
  result<void> check_status() const;
  [[nodiscard]] std::optional<std::string> redirect_target() const;
  bool receive_body(std::string_view bytes);

  const fetch_limits& limits_;
  const channel::content_sink& sink_;
  guarded_request request_;
  fetch_result result_{};
  std::optional<failure> error_;  // our own reason to stop
};

bool direct_fetch::receive_body(std::string_view bytes) {
  // The bodies of redirects and errors are not read.
  if (!check_status()) return false;
  result_.size += bytes.size();
  if (result_.size > limits_.max_bytes) {
    error_ = failure{errc::response_too_large,
                     "cannot fetch " + display_url(result_.url) + ": it is longer than the limit of " +
                         std::to_string(limits_.max_bytes) + " bytes",
                     {},
                     nullptr};
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
    return request_.cannot(errc::invalid_argument, url, "only https: URLs are fetched directly");
  if (has_credentials(url))
    return request_.cannot(errc::invalid_argument, url, "URLs with a user name or password are not fetched");
  if (limits_.proxy.empty() || !is_private_origin(*origin)) return {};
  return request_.cannot(errc::access_denied, url, private_address_reason);
}

std::optional<std::string> direct_fetch::redirect_target() const {
  const auto& head = request_.head();
  switch (head.status) {
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
      break;
    default:
      return std::nullopt;
  }
  return head.location.empty() ? std::nullopt : resolve_url(result_.url, head.location);
}

result<void> direct_fetch::check_status() const {
  const auto& head = request_.head();
  const auto summary = "the server answered " + std::to_string(head.status);
  switch (head.status) {
    case 200:
      break;
    case 401:
    case 403:
      return request_.cannot(errc::unauthorized, result_.url, summary + ", and credentials are never sent there");
    case 404:
    case 410:
      return request_.cannot(errc::resource_not_found, result_.url, summary);
    default:
      return request_.cannot(head.status == 429 || head.status >= 500 ? errc::source_unavailable : errc::protocol_error,
                             result_.url, summary);
  }
  if (!head.content_encoding.empty() && head.content_encoding != "identity")
    return request_.cannot(errc::protocol_error, result_.url,
                           "it is compressed (" + display_url(head.content_encoding) + "), which was not requested");
  return {};
}

result<fetch_result> direct_fetch::run(const std::string& url) {
  result_.url = url;
  for (int redirects = 0; redirects <= max_fetch_redirects; ++redirects) {
    HONDANA_TRY(check_url(result_.url));
    auto outcome = request_.perform({.url = result_.url});
    if (error_) return tl::unexpected(std::move(*error_));
    if (!outcome) return tl::unexpected(std::move(outcome.error()));
    if (auto target = redirect_target()) {
      result_.url = std::move(*target);
      continue;
    }
    HONDANA_TRY(check_status());
    result_.content_type = request_.head().content_type;
    result_.media_type = request_.head().media_type();
    result_.charset = request_.head().charset();
    return std::move(result_);
  }
  return request_.cannot(errc::protocol_error, url, "it redirects more than " + std::to_string(max_fetch_redirects) + " times");
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
