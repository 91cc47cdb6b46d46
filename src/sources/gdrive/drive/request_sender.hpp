/// Sends one request to Drive with token, retries and rate limit, and checks the content that comes back.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "sources/gdrive/drive/client.hpp"
#include "transport/endpoint/endpoint.hpp"

namespace hondana::drive {

/// The result of `check_link`.
struct link_policy {
  bool is_allowed = false;      ///< The link may be followed.
  bool receives_token = false;  ///< The request may contain the access token.
  bool is_login_page = false;   ///< Google's log-in page. A redirect to it means that Google did not accept the token.
};

/// Decides whether a link may be followed, and whether the request may contain the token.
/// `url`: an export link or a redirect. `base`: `client_settings::base_url`.
/// Allowed are the origin of `base`, and google.com, googleapis.com, googleusercontent.com and their subdomains by https: on
/// the default port. The token may be sent to the origin of `base`, docs.google.com and www.googleapis.com.
[[nodiscard]] link_policy check_link(const std::string& url, const std::string& base);

/// Resolves the header `location` of a redirect against `url`, without its fragment. Empty: it is not a usable URL.
[[nodiscard]] std::string resolve_redirect(const std::string& url, const std::string& location);

/// A parsed Content-Range header, such as `bytes 0-99/1000`.
struct content_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;                      ///< Inclusive.
  std::optional<std::uint64_t> total_bytes{};  ///< Size of the whole content. nullopt: the header has `*`.
};
/// Parses a Content-Range header. nullopt: it is invalid. Spec: RFC 9110 section 14.4.
[[nodiscard]] std::optional<content_range> parse_content_range(std::string_view header) noexcept;

/// Checks a content against the request, and passes it to the sink. Threads: one at a time.
class content_receiver {
 public:
  /// `type`: the MIME type of an export link. If it is set and not text/html, HTML pages are rejected. Empty: no check.
  content_receiver(const content_sink& sink, const std::optional<byte_range>& range, std::string type, bool uses_export_link)
      : sink_(sink), range_(range), type_(std::move(type)), uses_export_link_(uses_export_link) {}

  /// Call it with the header of a successful answer, before its body. Errors: those of the sink; protocol_error.
  result<void> begin(const endpoint::response& head);
  /// Call it with each chunk of the body. Errors: those of the sink; cancelled: the requested range is complete, and the rest
  /// is not needed.
  result<void> receive(std::string_view chunk);
  /// Call it after a successful answer, even without a body. Errors: as `begin`; invalid_argument: the range starts after the
  /// end.
  result<void> finish(const endpoint::response& head);

  [[nodiscard]] bool has_begun() const noexcept { return has_begun_; }
  [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }          ///< A range with a `last` byte is complete.
  [[nodiscard]] bool is_sink_error() const noexcept { return is_sink_error_; }      ///< The error came from the sink.
  [[nodiscard]] bool is_server_error() const noexcept { return is_server_error_; }  ///< The error is in the server's answer.
  [[nodiscard]] std::uint64_t passed_bytes() const noexcept { return passed_bytes_; }

 private:
  result<void> reject_content(std::string_view reason);

  const content_sink& sink_;
  std::optional<byte_range> range_;
  std::string type_;
  bool uses_export_link_;
  bool has_begun_ = false, is_complete_ = false, is_sink_error_ = false, is_server_error_ = false;
  bool is_range_ignored_ = false;              // the server sends the whole content instead of the range
  std::uint64_t bytes_to_skip_ = 0;            // bytes before the requested range that are still to be skipped
  std::optional<std::uint64_t> bytes_left_{};  // bytes of the requested range that are still to come
  std::uint64_t passed_bytes_ = 0;
};

/// A request.
struct api_request {
  std::string operation;               ///< As `error_context::operation`.
  std::string path{};                  ///< Appended to the base URL, escaped. Empty: the URL of a `link_server`.
  string_pairs query{};                ///< Not escaped.
  std::optional<std::string> body{};   ///< JSON, sent by POST. nullopt: the request is a GET.
  bool has_page_token = false;         ///< As `error_context::has_page_token`.
  bool is_export = false;              ///< As `error_context::is_export`.
  const content_sink* sink = nullptr;  ///< Receives the content. Null: the answer is JSON and is returned.
  std::optional<byte_range> range{};   ///< The requested part of the content. nullopt: all.
};

/// The server of an export link.
struct link_server {
  std::shared_ptr<endpoint::endpoint> origin;  ///< Its URL is the link.
  bool has_token = false;                      ///< `link_policy::receives_token`.
  std::string type{};                          ///< As for `content_receiver`.
};

/// Sends requests with token and rate limit, and retries them. Threads: any.
class request_sender {
 public:
  using clock = monotonic_clock;

  request_sender(client_settings settings, std::shared_ptr<google::access_token_source> tokens,
                 std::shared_ptr<endpoint::endpoint> base)
      : settings_(std::move(settings)), tokens_(std::move(tokens)), base_(std::move(base)), budget_(settings_.quota) {}

  /// Sends a request until it succeeds or must not be retried. Returns the successful answer; from a `server`, also a redirect.
  /// `server`: null: the base.
  [[nodiscard]] api_result<endpoint::response> send(const api_request& request, const call_options& options,
                                                    const link_server* server = nullptr);

  [[nodiscard]] client::statistics current_statistics() const;
  /// As `client::account`.
  [[nodiscard]] std::string account() const;
  /// Sets the account that is used if the credentials do not name one.
  void set_account(const std::string& account);
  [[nodiscard]] const client_settings& settings() const noexcept { return settings_; }
  [[nodiscard]] const endpoint::endpoint& base() const noexcept { return *base_; }
  [[nodiscard]] google::access_token_source& tokens() const noexcept { return *tokens_; }
  [[nodiscard]] error_context make_error_context(const api_request& request) const;

 private:
  /// The state of one `send`.
  struct request_attempt;
  /// Limits the number of requests with the priority `crawling` that run at once.
  class crawl_slot;
  api_result<endpoint::response> send_once(request_attempt& attempt);
  [[nodiscard]] endpoint::request make_request(const request_attempt& attempt, const std::string& token) const;
  /// Makes the error of an attempt without an HTTP answer, and sets `is_retryable`.
  [[nodiscard]] drive_error classify_failure(request_attempt& attempt, failure error) const;
  /// Waits before the next attempt. Returns false if there must be none; `error` is then the result of the call.
  bool wait_for_retry(request_attempt& attempt, drive_error& error);
  void log_line(const std::string& line) const {
    if (settings_.log) settings_.log(line);
  }

  const client_settings settings_;
  const std::shared_ptr<google::access_token_source> tokens_;
  const std::shared_ptr<endpoint::endpoint> base_;  // the server of `client_settings::base_url`
  request_budget budget_;
  mutable std::mutex mutex_;
  std::string account_;
  std::condition_variable_any slot_released_;
  std::size_t running_crawls_ = 0;  // running requests with priority `crawling`
  std::atomic<std::uint64_t> requests_{0}, retries_{0}, throttled_{0}, bytes_{0};
};

/// Makes an error without an HTTP answer. `operation`: as `error_context::operation`. `reason`: the rest of the public text.
[[nodiscard]] drive_error make_error(error_kind kind, errc code, const std::string& operation, const std::string& reason,
                                     std::string private_text = {});

}  // namespace hondana::drive
