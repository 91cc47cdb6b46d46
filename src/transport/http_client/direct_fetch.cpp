/// Fetches an `https:` resource directly from a URL that is not trusted.
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

constexpr int max_hops = 5;
constexpr const char* home = "it resolves to this machine or a private network, which is never fetched from directly";

/// Sends GET requests and follows redirects, until the first other answer.
class direct_fetch {
 public:
  direct_fetch(const fetch_limits& most, const channel::content_sink& sink, const std::stop_token& stop,
               const fetch_world& world)
      : most_(most),
        sink_(sink),
        request_(
            {.admits = world.admits,
             .refusal = home,
             .authorities = world.authorities,
             .proxy = most.proxy,
             .connect_time = most.connect_time,
             .time = most.time,
             .is_for_each_wait = static_cast<bool>(sink)},
            [this](std::string_view bytes) { return take_body(bytes); }, stop) {}

  result<fetched> run(const std::string& url);

 private:
  result<void> check_url(const std::string& url) const;
  result<void> judge_status() const;
  [[nodiscard]] std::optional<std::string> next_hop() const;
  bool take_body(std::string_view bytes);

  const fetch_limits& most_;
  const channel::content_sink& sink_;
  guarded_request request_;
  fetched out_{};
  std::optional<failure> stopped_;  // our own reason to stop
};

bool direct_fetch::take_body(std::string_view bytes) {
  // The bodies of redirects and errors are not read.
  if (!judge_status()) return false;
  out_.size += bytes.size();
  if (out_.size > most_.bytes) {
    stopped_ = failure{
        errc::response_too_large,
        "cannot fetch " + shown(out_.url) + ": it is longer than the limit of " + std::to_string(most_.bytes) + " bytes",
        {},
        nullptr};
    return false;
  }
  if (!sink_) {
    out_.bytes += bytes;
    return true;
  }
  if (auto taken = sink_(0, bytes); !taken) {
    stopped_ = std::move(taken.error());
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
  if (most_.proxy.empty() || !leads_home(*origin)) return {};
  return request_.cannot(errc::access_denied, url, home);
}

std::optional<std::string> direct_fetch::next_hop() const {
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
  return head.location.empty() ? std::nullopt : resolved(out_.url, head.location);
}

result<void> direct_fetch::judge_status() const {
  const auto& head = request_.head();
  const auto answered = "the server answered " + std::to_string(head.status);
  switch (head.status) {
    case 200:
      break;
    case 401:
    case 403:
      return request_.cannot(errc::unauthorized, out_.url, answered + ", and credentials are never sent there");
    case 404:
    case 410:
      return request_.cannot(errc::resource_not_found, out_.url, answered);
    default:
      return request_.cannot(head.status == 429 || head.status >= 500 ? errc::source_unavailable : errc::broken_protocol,
                             out_.url, answered);
  }
  if (!head.content_encoding.empty() && head.content_encoding != "identity")
    return request_.cannot(errc::broken_protocol, out_.url,
                           "it is compressed (" + shown(head.content_encoding) + "), which was not requested");
  return {};
}

result<fetched> direct_fetch::run(const std::string& url) {
  out_.url = url;
  for (int hop = 0; hop <= max_hops; ++hop) {
    HONDANA_TRY(check_url(out_.url));
    auto done = request_.perform({.url = out_.url});
    if (stopped_) return tl::unexpected(std::move(*stopped_));
    if (!done) return tl::unexpected(std::move(done.error()));
    if (auto next = next_hop()) {
      out_.url = std::move(*next);
      continue;
    }
    HONDANA_TRY(judge_status());
    out_.content_type = request_.head().content_type;
    out_.media_type = request_.head().media_type();
    out_.charset = request_.head().charset();
    return std::move(out_);
  }
  return request_.cannot(errc::broken_protocol, url, "it redirects more than " + std::to_string(max_hops) + " times");
}

}  // namespace

result<fetched> fetch_directly(const std::string& url, const fetch_limits& most, const channel::content_sink& sink,
                               const std::stop_token& stop) {
  return fetch_directly(url, most, sink, stop, {});
}

result<fetched> fetch_directly(const std::string& url, const fetch_limits& most, const channel::content_sink& sink,
                               const std::stop_token& stop, const fetch_world& world) {
  return direct_fetch(most, sink, stop, world).run(url);
}

}  // namespace hondana::transport::http_client
