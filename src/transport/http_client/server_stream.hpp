/// What a Streamable HTTP server of an older revision sends by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <hondana/error.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "transport/http_client/conversation.hpp"
#include "transport/http_client/event_messages.hpp"
#include "transport/http_client/loop.hpp"
#include "transport/http_client/transfer.hpp"

namespace hondana::transport::http_client {

/// The GET stream of a session, asked for again whenever it ends. Servers need not offer it. Destruction closes it. Threads:
/// the loop's. Spec: basic/transports#listening-for-messages-from-the-server.
class server_stream final : public answer_hearer, public message_hearer {
 public:
  /// `lost`: the session has ended, or a stream that was there cannot be had again. The last thing heard; may destroy this.
  server_stream(loop& within, conversation& in, std::function<void(failure)> lost);
  ~server_stream() override;

  void open();

 private:
  bool answered(const response_head& head) override;
  bool body(std::string_view bytes) override;
  void finished(result<void> how) override;
  void message(std::string text, const std::optional<std::string>& id) override;
  void spoiled(failure why, const std::optional<std::string>& id) override;
  void again(std::chrono::milliseconds pause);
  void give_up(failure why);

  loop& loop_;
  conversation& in_;
  std::function<void(failure)> lost_;
  event_messages events_;
  std::unique_ptr<transfer> transfer_;
  std::optional<loop::timer> timer_;
  response_head head_{};
  bool is_stream_ = false;   // the present answer
  bool is_resumed_ = false;  // it was asked for what came after the last event
  bool was_open_ = false;    // once
  bool has_heard_ = false;   // something on the present connection
  bool had_session_ = false;
  std::size_t ignored_ = 0;  // bytes of an answer that is no stream
  int failures_ = 0;
};

}  // namespace hondana::transport::http_client
