/// Sends one message to a Streamable HTTP server, and receives the answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "protocol/channel/channel.hpp"
#include "protocol/channel/message_reader.hpp"
#include "transport/http_client/channel_state.hpp"
#include "transport/http_client/event_stream.hpp"
#include "transport/http_client/transfer.hpp"
#include "transport/http_client/transfer_loop.hpp"

namespace hondana::transport::http_client {

/// POSTs a message, and passes the messages in the response to the listener of `channel_state`. With a session, resumes a
/// stream that ends before the answer by GET. Destruction ends the exchange without callbacks. Threads: the loop's. Spec:
/// basic/transports#sending-messages-to-the-server, #resumability-and-redelivery.
class exchange final : public response_listener, public message_listener {
 public:
  struct hooks {
    std::function<void()> on_answered;  ///< Called when the answer has arrived; not called for messages without a call.
    std::function<void()> on_finished;  ///< The last callback, in any case; may destroy the exchange.
  };

  /// `loop` and `state` must outlive the exchange. Subtracts the message's bytes from `channel_state::queued_bytes` later.
  exchange(transfer_loop& loop, channel_state& state, channel::outgoing_message message, hooks callbacks);
  ~exchange() override;

  /// Starts the POST; the callbacks come later. Call it once.
  void begin();

 private:
  /// How the body of the current response is used.
  enum class mode : std::uint8_t {
    none,      // no response has arrived
    ignoring,  // not used, because the message has no answer
    json,      // contains the answer
    events,    // is an event stream
    error      // explains an error
  };

  bool on_head(const response_head& head) override;
  bool on_body(std::string_view bytes) override;
  void on_finished(result<void> outcome) override;
  void on_message(std::string text, const std::optional<std::string>& id) override;
  void on_invalid(failure error, const std::optional<std::string>& id) override;

  [[nodiscard]] mode mode_for(const response_head& head);
  [[nodiscard]] channel::routing_reader intake() const;
  void feed_events(std::string_view bytes);
  void store_session(const response_head& head);
  void finish_json();
  void finish_stream(result<void> outcome);
  void finish_resumption(result<void> outcome);
  void resume_later(std::chrono::milliseconds delay);
  void resume();
  void mark_answered();
  void release_queued_bytes();
  void finish(channel::termination termination);
  void finish(failure error);

  transfer_loop& loop_;
  channel_state& state_;
  channel::outgoing_message message_;
  hooks hooks_;
  std::unique_ptr<transfer> transfer_;
  std::optional<transfer_loop::timer> timer_;
  std::size_t queued_bytes_ = 0;

  mode mode_ = mode::none;
  bool is_resuming_ = false;
  std::optional<std::string> session_id_;  // the session of this message
  int failures_ = 0;
  response_head head_{};
  std::string error_body_;
  std::optional<failure> error_;
  bool is_answered_ = false;
  bool has_passed_content_ = false;  // content of an incomplete message went to the sink
  bool has_received_ = false;        // bytes arrived on the current connection
  std::unique_ptr<channel::routing_reader> intake_;
  std::unique_ptr<message_decoder> events_;
};

}  // namespace hondana::transport::http_client
