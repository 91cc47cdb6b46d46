/// A channel and a peer in this process, and the mailbox for messages of their sessions.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/server.hpp>

#include "protocol/channel/channel.hpp"
#include "protocol/rpc/message_body.hpp"
#include "protocol/rpc/message_sink.hpp"

namespace hondana::transport {

/// Messages that wait to be taken; owned by the peer and by the requests in progress. Threads: any; only one may call `pop`.
class mailbox final : public rpc::response_writer, public std::enable_shared_from_this<mailbox> {
 public:
  void answer(rpc::outgoing_response response) override;
  rpc::send_outcome send(std::string message) override;
  void stream(std::shared_ptr<rpc::message_source> source) override;

  /// The next message, whose content may have to be read in pieces. Null if none arrived before `deadline`, or after `close`.
  [[nodiscard]] std::shared_ptr<rpc::body> pop(std::chrono::steady_clock::time_point deadline);
  /// Ends `pop`; no more messages are taken.
  void close();

 private:
  struct followed_source;
  void mark_ready(followed_source& entry);
  [[nodiscard]] std::shared_ptr<followed_source> find_ready() const;
  void put(std::shared_ptr<rpc::body> message);

  std::mutex mutex_;
  std::condition_variable arrived_;
  bool is_closed_ = false;
  std::deque<std::shared_ptr<rpc::body>> messages_;
  std::vector<std::shared_ptr<followed_source>> sources_;
};

/// Makes a channel of kind "memory". Requests run on the server's thread pools, or immediately if its providers never block.
/// `server` and `listener` must outlive the channel. Content goes to its sink in the pieces that the server has. Errors:
/// source_unavailable if no thread can be started.
[[nodiscard]] result<std::unique_ptr<channel::channel>> make_memory_channel(hondana::server& server,
                                                                            channel::channel_listener& listener,
                                                                            const channel::limits& limits);

}  // namespace hondana::transport
