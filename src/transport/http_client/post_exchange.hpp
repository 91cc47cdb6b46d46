/// The exchange for one message to a Streamable HTTP server: the POST, its answer, and resumed streams.
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
#include "protocol/channel/message_intake.hpp"
#include "transport/http_client/channel_state.hpp"
#include "transport/http_client/event_stream.hpp"
#include "transport/http_client/transfer.hpp"
#include "transport/http_client/transfer_loop.hpp"

namespace hondana::transport::http_client {

/// POSTs a message. With a legacy server, a stream that ends before the answer is resumed by GET. Destruction ends the exchange
/// without callbacks. Threads: the loop's. Spec: basic/transports#sending-messages-to-the-server, #resumability-and-redelivery.
class exchange final : public answer_hearer, public message_hearer {
 public:
  struct hooks {
    std::function<void()> answered;  ///< The answer has arrived; the request is no longer pending at the server.
    std::function<void()> over;      ///< The last callback; may destroy the exchange.
  };

  exchange(loop& within, conversation& in, channel::outgoing message, hooks hears);
  ~exchange() override;

  void begin();

 private:
  enum class mode : std::uint8_t { nothing, ignoring, json, events, error };

  bool answered(const response_head& head) override;
  bool body(std::string_view bytes) override;
  void finished(result<void> how) override;
  void message(std::string text, const std::optional<std::string>& id) override;
  void spoiled(failure why, const std::optional<std::string>& id) override;

  [[nodiscard]] mode mode_for(const response_head& head);
  [[nodiscard]] channel::routed_intake intake() const;
  void take_events(std::string_view bytes);
  void take_session(const response_head& head);
  void finish_json();
  void finish_stream(result<void> how);
  void finish_resumption(result<void> how);
  void take_up(std::chrono::milliseconds pause);
  void resume();
  void note_answer();
  void release_queue();
  void end(channel::ending how);
  void end(failure why);

  loop& loop_;
  conversation& in_;
  channel::outgoing message_;
  hooks hears_;
  std::unique_ptr<transfer> transfer_;
  std::optional<loop::timer> timer_;
  std::size_t queued_ = 0;

  mode mode_ = mode::nothing;
  bool is_resuming_ = false;
  std::optional<std::string> session_id_;  // the session of this message
  int failures_ = 0;
  response_head head_{};
  std::string error_body_;
  std::optional<failure> spoiled_;
  bool is_answered_ = false;
  bool has_given_content_ = false;  // of an incomplete message
  bool has_heard_ = false;          // bytes arrived on the current connection
  std::unique_ptr<channel::routed_intake> intake_;
  std::unique_ptr<event_messages> events_;
};

}  // namespace hondana::transport::http_client
