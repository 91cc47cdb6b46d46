/// A channel and a peer in this process, with a mailbox for messages of the session.
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

/// Answers waiting to be received; owned by the peer and by the requests under way. Threads: any; one takes.
class mailbox final : public rpc::outlet, public std::enable_shared_from_this<mailbox> {
 public:
  void answer(rpc::delivery what) override;
  rpc::sending send(std::string message) override;
  void follow(std::shared_ptr<rpc::message_source> from) override;

  /// The next message, whose content may have to be pulled; null when none came before `deadline`, or after `close`.
  [[nodiscard]] std::shared_ptr<rpc::body> take(std::chrono::steady_clock::time_point deadline);
  /// Nobody takes any more.
  void close();

 private:
  struct followed;
  void wake(followed& one);
  [[nodiscard]] std::shared_ptr<followed> ready() const;
  void put(std::shared_ptr<rpc::body> message);

  std::mutex mutex_;
  std::condition_variable arrived_;
  bool is_closed_ = false;
  std::deque<std::shared_ptr<rpc::body>> messages_;
  std::vector<std::shared_ptr<followed>> sources_;
};

/// "memory": what is sent is worked on by the server's pools, or at once where its providers never block. `to` and `hears`
/// outlive the channel. Content goes to its sink in pieces where the server has it in pieces. Errors: source_unavailable when
/// no thread can be had.
[[nodiscard]] result<std::unique_ptr<channel::channel>> make_memory_channel(hondana::server& to, channel::listener& hears,
                                                                            const channel::limits& most);

}  // namespace hondana::transport
