/// Sends requests one after another over one connection, and waits for their answers.
#include "transport/http_client/blocking_connection.hpp"

#include <algorithm>

namespace hondana::transport::http_client {
namespace {

constexpr std::chrono::milliseconds max_poll_time{60'000};

}  // namespace

result<std::unique_ptr<blocking_connection>> blocking_connection::make() {
  HONDANA_TRY(auto multi, make_multi_handle());
  easy_handle easy(curl().easy_init());
  if (!easy) return fail(errc::source_unavailable, "libcurl cannot be started: out of memory");
  return std::unique_ptr<blocking_connection>(new blocking_connection(std::move(multi), std::move(easy)));
}

tl::unexpected<failure> blocking_connection::cannot(errc code, const std::string& reason) const {
  return fail(code, message_->action + ": " + reason);
}

std::size_t blocking_connection::on_header(char* bytes, std::size_t item_size, std::size_t item_count,
                                           void* user_data) noexcept {
  auto& owner = *static_cast<blocking_connection*>(user_data);
  const bool was_complete = owner.head_.is_complete();
  const auto state = owner.head_.feed({bytes, item_size * item_count});
  owner.last_activity_ = clock::now();
  if (!was_complete && owner.head_.is_complete()) owner.interval_start_ = owner.last_activity_;
  return state == head_reader::state::too_long ? CURL_WRITEFUNC_ERROR : item_size * item_count;
}

std::size_t blocking_connection::on_body(char* bytes, std::size_t item_size, std::size_t item_count, void* user_data) noexcept {
  auto& owner = *static_cast<blocking_connection*>(user_data);
  const auto start = clock::now();
  owner.interval_bytes_ += item_size * item_count;
  owner.is_stopped_ = !(*owner.callback_)(owner.head_.head(), {bytes, item_size * item_count});
  owner.last_activity_ = clock::now();
  owner.interval_start_ += owner.last_activity_ - start;
  return owner.is_stopped_ ? CURL_WRITEFUNC_ERROR : item_size * item_count;
}

curl_socket_t blocking_connection::open_socket(void* user_data, curlsocktype, curl_sockaddr* address) noexcept {
  auto& owner = *static_cast<blocking_connection*>(user_data);
  const auto& allows_address = owner.rules_->allows_address;
  if (address->family != AF_UNIX && allows_address && !allows_address(address->addr)) {
    owner.is_rejected_ = true;
    return CURL_SOCKET_BAD;
  }
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

result<response_head> blocking_connection::perform(const request_rules& rules, const message& message,
                                                   const body_callback& callback, clock::time_point deadline,
                                                   const std::stop_token& stop) {
  rules_ = &rules;
  message_ = &message;
  callback_ = &callback;
  head_ = {};
  is_rejected_ = is_stopped_ = false;
  last_activity_ = interval_start_ = clock::now();
  interval_bytes_ = 0;
  connect_timeout_ =
      std::max(std::chrono::milliseconds(1),
               std::min(std::chrono::ceil<std::chrono::milliseconds>(deadline - last_activity_), rules.target.connect_timeout));
  const auto lines = make_header_lines(message.header_lines);
  if (!lines) return cannot(errc::source_unavailable, "out of memory");
  if (auto status = set_options(easy_.get(), {.target = rules.target,
                                              .url = message.url.c_str(),
                                              .method = message.body ? http_method::post : http_method::get,
                                              .body = message.body ? std::string_view(*message.body) : std::string_view(),
                                              .lines = lines.get(),
                                              .schemes = rules.schemes,
                                              .user = message.user.empty() ? nullptr : message.user.c_str(),
                                              .password = message.password.c_str(),
                                              .connect_timeout = connect_timeout_,
                                              .error_text = error_text_.data(),
                                              .on_header = &blocking_connection::on_header,
                                              .on_body = &blocking_connection::on_body,
                                              .open_socket = &blocking_connection::open_socket,
                                              .owner = this});
      !status)
    return cannot(status.error().code, status.error().public_text);
  if (curl().multi_add_handle(multi_.get(), easy_.get()) != CURLM_OK)
    return cannot(errc::source_unavailable, "libcurl accepts no more requests");
  result<void> outcome{};
  {
    const std::stop_callback wake(stop, [this] { curl().multi_wakeup(multi_.get()); });
    outcome = wait_for_end(deadline, stop);
  }
  curl().multi_remove_handle(multi_.get(), easy_.get());
  if (!outcome) return tl::unexpected(std::move(outcome.error()));
  return head_.head();
}

result<void> blocking_connection::wait_for_end(clock::time_point deadline, const std::stop_token& stop) {
  for (;;) {
    // Check this first: a cancelled request must not start.
    if (stop.stop_requested()) return cannot(errc::cancelled, "it was cancelled");
    int running = 0;
    curl().multi_perform(multi_.get(), &running);
    int queued = 0;
    if (const auto* completion = curl().multi_info_read(multi_.get(), &queued)) return to_result(completion->data.result);
    HONDANA_TRY(const auto next, check_progress(deadline));
    const auto remaining =
        std::max(std::chrono::ceil<std::chrono::milliseconds>(next - clock::now()), std::chrono::milliseconds(1));
    curl().multi_poll(multi_.get(), nullptr, 0, monotonic_clock::poll_timeout(std::min(remaining, max_poll_time).count()),
                      nullptr);
  }
}

result<blocking_connection::clock::time_point> blocking_connection::check_progress(clock::time_point deadline) {
  const auto now = clock::now();
  const auto& limits = message_->progress;
  const bool has_head = head_.is_complete();
  if (!has_head && limits.header_timeout.count() > 0) deadline = std::min(deadline, interval_start_ + limits.header_timeout);
  if (now >= deadline)
    return cannot(errc::timed_out, has_head ? "its answer did not end within the timeout" : "no answer within the timeout");
  if (limits.max_silence.count() > 0) {
    if (now >= last_activity_ + limits.max_silence)
      return cannot(errc::timed_out, "nothing arrived for " + std::to_string(limits.max_silence.count()) + " ms");
    deadline = std::min(deadline, last_activity_ + limits.max_silence);
  }
  if (!has_head || limits.min_bytes == 0 || limits.interval.count() <= 0) return deadline;
  if (now >= interval_start_ + limits.interval) {
    if (interval_bytes_ < limits.min_bytes)
      return cannot(errc::timed_out, "its answer stalled: fewer than " + std::to_string(limits.min_bytes) +
                                         " bytes arrived in " + std::to_string(limits.interval.count()) + " ms");
    interval_start_ = now;
    interval_bytes_ = 0;
  }
  return std::min(deadline, interval_start_ + limits.interval);
}

result<void> blocking_connection::to_result(CURLcode code) const {
  if (is_stopped_ || (code == CURLE_OK && head_.is_complete())) return {};
  if (is_rejected_ && !head_.is_complete() && !head_.is_too_long())
    return cannot(errc::access_denied, rules_->rejection_reason);
  request_names names{.action = message_->action};
  if (!rules_->trust_advice.empty()) names.trust_advice = rules_->trust_advice;
  return tl::unexpected(
      explain_failure({easy_.get(), code, error_text_.c_str(), head_, rules_->target, connect_timeout_}, names));
}

}  // namespace hondana::transport::http_client
