/// One HTTP request and its answer, with redirects inside its origin and renewed tokens.
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
#include "transport/http_client/response_head.hpp"
#include "transport/http_client/transfer_loop.hpp"

namespace hondana::transport::http_client {

/// Calls `token_source::obtain` on a thread of its own, one call at a time. Requests with the same rejection share one call. It
/// gets a stop request when none of them waits any more. Threads: the loop's, or any after the loop has stopped.
class token_worker {
 public:
  using name = std::uint64_t;
  using hook = std::function<void(const result<void>&)>;

  /// `within` must outlive it. `from` may be null: no tokens.
  token_worker(loop& within, std::shared_ptr<token_source> from);
  /// Makes no more callbacks. Waits for the source at most 2 s.
  ~token_worker();
  token_worker(const token_worker&) = delete;
  token_worker& operator=(const token_worker&) = delete;

  /// Whether new tokens can be obtained.
  [[nodiscard]] bool is_open() const noexcept { return from_ && !is_closed_; }
  /// The token to send now. Empty string: none. Empty optional: obtain one first.
  [[nodiscard]] std::optional<std::string> token() const { return from_ ? from_->token() : std::string(); }
  /// Gets a token other than `why.token` and calls `over`, never from inside this call.
  name obtain(refused_token why, hook over);
  /// Cancels the callback.
  void forget(name which);
  /// Stops the current call. The waiting requests get their callbacks with cancelled, later.
  void close();

 private:
  using waiters = std::map<name, hook>;
  struct errand {
    refused_token why;
    waiters waiting{};
    std::stop_source stop{};
  };
  struct news {
    name to;
    hook over;
    result<void> how;
  };
  struct way_back;

  [[nodiscard]] bool has_better(const refused_token& why) const;
  void run_first();
  void done(result<void> how);
  void end(waiters who, const result<void>& how);
  void tell();
  void tell_soon();

  loop& loop_;
  const std::shared_ptr<token_source> from_;
  std::deque<errand> errands_;  // the first is in progress
  std::deque<news> news_;
  std::optional<loop::timer> telling_;
  name last_ = 0;
  bool is_closed_ = false;
  std::shared_ptr<way_back> back_;  // shared with the thread
  executor::pool pool_;
};

enum class verb : std::uint8_t { get, post, remove };

/// A request, in addition to what the target specifies.
struct http_request {
  verb what = verb::get;
  std::string url{};
  std::vector<std::string> header_lines{};
  std::string body{};
};

/// Receives an answer. Threads: the loop's, and never from inside a call of the transfer.
class answer_hearer {
 public:
  answer_hearer() = default;
  answer_hearer(const answer_hearer&) = delete;
  answer_hearer& operator=(const answer_hearer&) = delete;
  virtual ~answer_hearer() = default;

  /// The header of the answer, once. Returns false to stop reading; `finished` comes next.
  virtual bool answered(const response_head& head) = 0;
  /// A piece of the body. Returns false to stop reading.
  virtual bool body(std::string_view bytes) = 0;
  /// The last callback. Success: the answer is complete, or a callback returned false. Errors: source_unavailable, timed_out,
  /// broken_protocol; unauthorized if no token can be obtained; temporary errors of the token source keep their code. May
  /// destroy the transfer.
  virtual void finished(result<void> how) = 0;
};

/// Sends one request, with a token if there is a token source. If the token is rejected (401, or 403 for missing scopes), gets
/// a new one and repeats the request, at most three times. Only the last answer is reported.
///
/// Destruction ends it without callbacks. Threads: the loop's, not inside `answered` and `body`. Spec: basic/authorization.
class transfer final : transfer_end {
 public:
  /// `within`, `target`, `tokens` and `tell` must outlive it.
  transfer(loop& within, const checked_target& target, token_worker& tokens, answer_hearer& tell);
  ~transfer() override;

  /// Starts the request; the callbacks come later. Call it once.
  void begin(http_request what);
  [[nodiscard]] const http_request& request() const noexcept { return what_; }
  /// Pauses reading for this time. May be called inside `answered` and `body`.
  void pause_reading(std::chrono::milliseconds time);

 private:
  struct easy_deleter {
    void operator()(CURL* handle) const noexcept { curl().easy_cleanup(handle); }
  };
  struct list_deleter {
    void operator()(curl_slist* list) const noexcept { curl().slist_free_all(list); }
  };

  static std::size_t on_header(char* bytes, std::size_t one, std::size_t size, void* self) noexcept;
  static std::size_t on_body(char* bytes, std::size_t one, std::size_t size, void* self) noexcept;
  bool take_header(std::string_view line);
  bool take_body(std::string_view bytes);
  void done(CURLcode how) override;

  [[nodiscard]] bool is_redirect() const noexcept;
  /// Sets the next URL. Errors: broken_protocol for a redirect that is not followed.
  result<void> follow();
  /// Whether a better token may change the answer.
  [[nodiscard]] bool is_refusal() const;
  /// Sends the request with the current token, or gets one first. Errors: those of `finished`.
  result<void> send();
  void obtain(refused_token why);
  result<void> perform();
  result<void> set_options();
  [[nodiscard]] failure failure_for(CURLcode how) const;
  [[nodiscard]] failure no_socket() const;
  [[nodiscard]] failure with_reason(failure why) const;
  void fail_later(failure why);

  loop& loop_;
  const checked_target& target_;
  token_worker& tokens_;
  answer_hearer& tell_;
  http_request what_;
  std::string token_{};  // the token that is sent; empty: none
  int refusals_ = 0;
  int lacks_ = 0;  // attempts without a token to send
  std::optional<token_worker::name> obtaining_{};
  std::unique_ptr<CURL, easy_deleter> handle_;
  std::unique_ptr<curl_slist, list_deleter> lines_;
  std::string error_text_;
  head_reader head_;
  bool is_told_ = false;    // `answered` was called
  bool is_enough_ = false;  // a callback wants no more of the answer
  bool is_too_long_ = false;
  bool is_refused_ = false;  // the answer is a rejection and not reported
  std::string refusal_;      // the body of the rejection
  int redirects_ = 0;
  loop::timer failing_{};
  std::optional<loop::timer> paused_{};
};

}  // namespace hondana::transport::http_client
