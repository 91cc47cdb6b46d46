/// One message to the POST address of HTTP+SSE, whose answer comes elsewhere.
#pragma once

#include <cstddef>
#include <functional>
#include <hondana/error.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/channel/channel.hpp"
#include "transport/http_client/conversation.hpp"
#include "transport/http_client/loop.hpp"
#include "transport/http_client/transfer.hpp"

namespace hondana::transport::http_client {

/// POSTs a message and hears whether it was taken. Destruction ends it unheard. Threads: the loop's.
/// Spec: 2024-11-05 basic/transports#http-with-sse.
class delivery final : public answer_hearer {
 public:
  /// `over`: nothing when the server has taken it. The last thing heard; may destroy the delivery.
  using hook = std::function<void(std::optional<channel::ending>)>;

  delivery(loop& within, conversation& in, std::string url, channel::outgoing message, hook over);
  ~delivery() override;

  void begin();

 private:
  bool answered(const response_head& head) override;
  bool body(std::string_view bytes) override;
  void finished(result<void> how) override;
  void release_queue() { in_.queued_bytes -= std::exchange(queued_, 0); }

  conversation& in_;
  std::string url_;
  channel::outgoing message_;
  hook over_;
  std::size_t queued_;
  response_head head_{};
  std::string body_;
  transfer transfer_;
};

}  // namespace hondana::transport::http_client
