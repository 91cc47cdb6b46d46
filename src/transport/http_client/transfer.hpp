/// Sends an HTTP request on a `transfer_loop`; follows redirects inside the origin, and renews rejected tokens.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/token_source.hpp>

#include "base/executor/thread_pool.hpp"
#include "transport/http_client/checked_target.hpp"
#include "transport/http_client/curl.hpp"
#include "transport/http_client/easy_request.hpp"
#include "transport/http_client/response_head.hpp"
#include "transport/http_client/transfer_loop.hpp"

namespace hondana::transport::http_client {

/// Calls `token_source::obtain` on a thread of its own, one call at a time. Requests with the same rejection share one call,
/// which gets a stop request when none of them waits any more. Threads: the loop's, or any after the loop has stopped.
class token_worker {
 public:
  using request_id = std::uint64_t;
  using callback = std::function<void(const result<void>&)>;

  /// `loop` must outlive it. `source` may be null: no tokens.
  token_worker(transfer_loop& loop, std::shared_ptr<token_source> source);
  /// Drops the callbacks. Waits for the source at most 2 s.
  ~token_worker();
  token_worker(const token_worker&) = delete;
  token_worker& operator=(const token_worker&) = delete;

  /// Whether new tokens can be obtained.
  [[nodiscard]] bool is_open() const noexcept { return source_ && !is_closed_; }
  /// See `token_source::token`. Empty string: send none. Empty optional: call `obtain` first.
  [[nodiscard]] std::optional<std::string> token() const { return source_ ? source_->token() : std::string(); }
  /// Gets a token other than `rejection.token`, then calls `on_done` on the loop's thread, never inside this call. Call it only
  /// if `is_open`.
  request_id obtain(rejected_token rejection, callback on_done);
  /// Drops the callback of a request.
  void cancel(request_id id);
  /// Stops the current call. The waiting requests get their callbacks later, with the error cancelled.
  void close();

 private:
  using callback_map = std::map<request_id, callback>;
  /// A waiting call of `token_source::obtain`, for one or more requests.
  struct token_request {
    rejected_token rejection;
    callback_map callbacks{};
    std::stop_source stop{};
  };
  /// A callback to make.
  struct completion {
    request_id id;
    callback on_done;
    result<void> outcome;
  };
  struct back_link;

  [[nodiscard]] bool has_newer_token(const rejected_token& rejection) const;
  void start_next();
  /// Handles the end of the call for the first of `requests_`.
  void finish_first(result<void> outcome);
  /// Adds callbacks to `completions_`.
  void complete(callback_map callbacks, const result<void>& outcome);
  /// Makes the callbacks in `completions_`.
  void deliver_completions();
  void schedule_completions();

  transfer_loop& loop_;
  const std::shared_ptr<token_source> source_;
  std::deque<token_request> requests_;  // the first is in progress
  std::deque<completion> completions_;
  std::optional<transfer_loop::timer> completion_timer_;
  request_id last_id_ = 0;
  bool is_closed_ = false;
  std::shared_ptr<back_link> link_;  // shared with the thread
  executor::thread_pool pool_;
};

/// A request, in addition to what the target specifies.
struct http_request {
  http_method method = http_method::get;
  std::string url{};
  std::vector<std::string> header_lines{};  ///< See `header_line`.
  std::string body{};                       ///< Only for POST.
};

/// Receives an answer. Threads: the loop's, and never inside a function of the transfer.
class response_listener {
 public:
  response_listener() = default;
  response_listener(const response_listener&) = delete;
  response_listener& operator=(const response_listener&) = delete;
  virtual ~response_listener() = default;

  /// Receives the header of the answer, at most once. Returns false to stop reading; `on_finished` comes next.
  virtual bool on_head(const response_head& head) = 0;
  /// Receives a piece of the body. Returns false to stop reading; `on_finished` comes next.
  virtual bool on_body(std::string_view bytes) = 0;
  /// The last callback, in any case; may destroy the transfer. Success: the answer is complete, or a callback returned false.
  /// Errors: source_unavailable, timed_out, protocol_error; unauthorized if no token can be obtained; source_unavailable,
  /// timed_out, overloaded and cancelled of the token source.
  virtual void on_finished(result<void> outcome) = 0;
};

/// Sends one request, with a token if there is a token source. If the token is rejected (401, or 403 for missing scopes), gets
/// a new one and repeats the request, at most three times. Follows at most five redirects within the origin. Only the last
/// answer is reported.
///
/// Destruction ends it without callbacks. Threads: the loop's, not inside `on_head` and `on_body`. Spec: basic/authorization.
class transfer final : transfer_listener {
 public:
  /// `loop`, `target`, `tokens` and `listener` must outlive it.
  transfer(transfer_loop& loop, const checked_target& target, token_worker& tokens, response_listener& listener);
  ~transfer() override;

  /// Starts the request; the callbacks come later. Call it once.
  void begin(http_request request);
  /// The request, with the URL of the last redirect.
  [[nodiscard]] const http_request& request() const noexcept { return request_; }
  /// Pauses reading for `duration`, unless it is paused already. May be called inside `on_head` and `on_body`.
  void pause_reading(std::chrono::milliseconds duration);

 private:
  static std::size_t on_header(char* bytes, std::size_t item_size, std::size_t item_count, void* user_data) noexcept;
  static std::size_t on_body(char* bytes, std::size_t item_size, std::size_t item_count, void* user_data) noexcept;
  bool receive_header(std::string_view line);
  bool receive_body(std::string_view bytes);
  void on_done(CURLcode code) override;

  [[nodiscard]] bool is_redirect() const noexcept { return head_.head().is_redirect() && !head_.head().location.empty(); }
  /// Sets the URL of a redirect. Errors: protocol_error for a redirect that is not followed.
  result<void> follow();
  /// Whether the answer rejects the token, and a new one may be obtained.
  [[nodiscard]] bool is_rejection() const;
  /// Sends the request with the current token, or gets one first. Errors: those of `on_finished`.
  result<void> send();
  /// Gets a token, then calls `send`.
  void obtain_token(rejected_token rejection);
  /// Starts the request with `token_`.
  result<void> perform();
  [[nodiscard]] failure to_failure(CURLcode code) const;
  [[nodiscard]] failure with_reason(failure error) const;
  /// Reports an error to the listener, later.
  void fail_later(failure error);

  transfer_loop& loop_;
  const checked_target& target_;
  token_worker& tokens_;
  response_listener& listener_;
  http_request request_;
  std::string token_{};     // the token that is sent; empty: none
  int rejections_ = 0;      // answers that rejected the token
  int missing_tokens_ = 0;  // attempts without a token to send
  std::optional<token_worker::request_id> pending_token_{};
  easy_handle handle_;
  header_lines lines_;
  std::string error_text_;
  head_reader head_;
  bool has_reported_head_ = false;  // `on_head` was called
  bool is_stopped_ = false;         // a callback wants no more of the answer
  bool is_rejected_ = false;        // the answer is a rejection and not reported
  std::string rejection_body_;      // the body of the rejection
  int redirects_ = 0;
  transfer_loop::timer failure_timer_{};
  std::optional<transfer_loop::timer> pause_timer_{};
};

}  // namespace hondana::transport::http_client
