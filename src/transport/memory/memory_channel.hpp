/// A channel to a server in this process, and the mailbox that receives the messages of a session.
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

/// Receives the messages of a session, and stores them until `pop`. Requests in progress share ownership. Threads: any; only
/// one may call `pop`.
class mailbox final : public rpc::response_writer, public std::enable_shared_from_this<mailbox> {
 public:
  void answer(rpc::outgoing_response response) override;
  rpc::send_outcome send(std::string message) override;
  void stream(std::shared_ptr<rpc::message_source> source) override;

  /// Waits for the next message, removes and returns it. Its content may have to be read in pieces. Null if none arrived before
  /// `deadline`, or after `close`.
  [[nodiscard]] std::shared_ptr<rpc::body> pop(std::chrono::steady_clock::time_point deadline);
  /// Makes a waiting `pop` and all later ones return null.
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

/// Makes a channel of kind "memory". Requests run on the server's thread pools, or inside `send` if its providers never block.
/// `server` and `listener` must outlive the channel. Content goes to its sink piece by piece, as the server reads it. Errors:
/// source_unavailable if no thread can be started.
[[nodiscard]] result<std::unique_ptr<channel::channel>> make_memory_channel(hondana::server& server,
                                                                            channel::channel_listener& listener,
                                                                            const channel::limits& limits);

}  // namespace hondana::transport
