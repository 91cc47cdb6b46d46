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

/// What `check_link` found out about a URL.
struct link_policy {
  bool is_allowed = false;
  bool receives_token = false;
  /// Google's log-in page. A redirect to it means that Google did not accept the token.
  bool is_login_page = false;
};

/// Decides whether a link may be followed, and whether it gets the token.
/// `url`: from Drive or from a redirect. `base`: the client's own.
/// Allowed: the base's origin; and by https: on the default port google.com, googleapis.com, googleusercontent.com and their
/// subdomains. The token is sent to docs.google.com, *.googleapis.com and the base only.
[[nodiscard]] link_policy check_link(const std::string& url, const std::string& base);

/// Resolves `location` against `url`, without its fragment. Empty if it is not a usable URL.
[[nodiscard]] std::string resolve_redirect(const std::string& url, const std::string& location);

/// `bytes 0-99/1000`. `total_bytes` is empty if the header has `*`.
struct content_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::optional<std::uint64_t> total_bytes{};
};
/// Parses a Content-Range header; empty if it is invalid. Spec: RFC 9110 section 14.4.
[[nodiscard]] std::optional<content_range> parse_content_range(std::string_view header) noexcept;

/// Checks a content against the request, and passes it to the sink. Threads: one at a time.
class content_receiver {
 public:
  /// `type`: the MIME type that a content from a link must have; empty: any.
  content_receiver(const content_sink& sink, const std::optional<byte_range>& range, std::string type, bool uses_export_link)
      : sink_(sink), range_(range), type_(std::move(type)), uses_export_link_(uses_export_link) {}

  result<void> begin(const endpoint::response& head);
  result<void> receive(std::string_view chunk);
  /// Call after a successful answer, even without a body. Errors: those of the sink; invalid_argument if the range starts after
  /// the end.
  result<void> finish(const endpoint::response& head);

  [[nodiscard]] bool has_begun() const noexcept { return has_begun_; }
  [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }      ///< The requested range is complete and valid.
  [[nodiscard]] bool is_sink_error() const noexcept { return is_sink_error_; }  ///< The error came from the sink.
  [[nodiscard]] bool is_server_error() const noexcept { return is_server_error_; }  ///< The error is in the server's answer.
  [[nodiscard]] std::uint64_t passed_bytes() const noexcept { return passed_bytes_; }

 private:
  result<void> reject_content(std::string_view reason);

  const content_sink& sink_;
  std::optional<byte_range> range_;
  std::string type_;
  bool uses_export_link_;
  bool has_begun_ = false, is_complete_ = false, is_sink_error_ = false, is_server_error_ = false;
  bool is_range_ignored_ = false;              // the server ignored the requested range
  std::uint64_t bytes_to_skip_ = 0;            // bytes before the requested range that are still to be skipped
  std::optional<std::uint64_t> bytes_left_{};  // bytes of the requested range that are still to come
  std::uint64_t passed_bytes_ = 0;
};

/// A request.
struct api_request {
  std::string operation;  ///< As `error_context::operation`.
  std::string path{};     ///< Relative to the base, escaped; empty for a link.
  string_pairs query{};
  std::optional<std::string> body{};  ///< JSON, sent by POST.
  bool has_page_token = false;
  bool is_export = false;
  /// Receives the content. Null: the answer is JSON and is returned.
  const content_sink* sink = nullptr;
  std::optional<byte_range> range{};
};

/// A server other than the base.
struct link_server {
  std::shared_ptr<endpoint::endpoint> origin;
  bool has_token = false;  ///< May receive the client's token.
  std::string type{};      ///< The MIME type that the content must have.
};

/// Sends requests and retries them. Threads: any.
class request_sender {
 public:
  using clock = monotonic_clock;

  request_sender(client_settings settings, std::shared_ptr<google::access_token_source> tokens,
                 std::shared_ptr<endpoint::endpoint> base)
      : settings_(std::move(settings)), tokens_(std::move(tokens)), base_(std::move(base)), budget_(settings_.quota) {}

  /// Returns the answer: a success, or a redirect that is not followed. `server` null: the base.
  [[nodiscard]] api_result<endpoint::response> send(const api_request& request, const call_options& options,
                                                    const link_server* server = nullptr);

  [[nodiscard]] client::statistics current_statistics() const;
  [[nodiscard]] std::string account() const;
  void set_account(const std::string& account);
  [[nodiscard]] const client_settings& settings() const noexcept { return settings_; }
  [[nodiscard]] const endpoint::endpoint& base() const noexcept { return *base_; }
  [[nodiscard]] google::access_token_source& tokens() const noexcept { return *tokens_; }
  [[nodiscard]] error_context make_error_context(const api_request& request) const;

 private:
  struct request_attempt;
  class crawl_slot;
  api_result<endpoint::response> send_once(request_attempt& attempt);
  [[nodiscard]] endpoint::request make_request(const request_attempt& attempt, const std::string& token) const;
  [[nodiscard]] drive_error classify_failure(request_attempt& attempt, failure error) const;
  /// Waits before the next attempt. False if there is none; then `error` says so.
  bool wait_for_retry(request_attempt& attempt, drive_error& error);
  void log_line(const std::string& line) const {
    if (settings_.log) settings_.log(line);
  }

  const client_settings settings_;
  const std::shared_ptr<google::access_token_source> tokens_;
  const std::shared_ptr<endpoint::endpoint> base_;
  request_budget budget_;
  mutable std::mutex mutex_;
  std::string account_;
  std::condition_variable_any slot_released_;
  std::size_t running_crawls_ = 0;  // running requests with priority `crawling`
  std::atomic<std::uint64_t> requests_{0}, retries_{0}, throttled_{0}, bytes_{0};
};

/// Makes the error of a call that failed before a request was sent, or for a reason other than an HTTP error.
[[nodiscard]] drive_error make_error(error_kind kind, errc code, const std::string& operation, const std::string& reason,
                                     std::string private_text = {});

}  // namespace hondana::drive
