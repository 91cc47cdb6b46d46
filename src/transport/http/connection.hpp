/// Drives one dialogue over a socket. Included only where Asio is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rpc/body.hpp"
#include "rpc/facts.hpp"
#include "server/core.hpp"
#include "session/session.hpp"
#include "transport/http/dialogue.hpp"
#include "transport/http/loop.hpp"

namespace hondana::transport::http {

/// Threads: its loop's, from `start` on. Owned by its loop until it has ended.
///
/// Reads and writes are tried when the socket is ready, so that an idle connection owns no buffer.
class connection final : public dialogue_host, public std::enable_shared_from_this<connection> {
 public:
  /// `place` is let go when the connection is gone. `bound_address`: the literal address listened on. `peer`: the client's,
  /// for the log.
  connection(std::shared_ptr<loop> on, socket with, std::shared_ptr<void> place, std::shared_ptr<core> engine,
             const limits& within, std::string bound_address, std::string peer);
  ~connection() override;

  /// Begins to serve, or only tells the peer that there is no room.
  void start(bool is_welcome);
  /// Takes what has arrived, then ends as soon as no request is under way.
  void drain();
  /// Ends at once; what is under way is cancelled.
  void close();

  void deliver(ticket of, rpc::delivery what);

  void receive(std::string_view message, const rpc::http_headers& headers, ticket of) override;
  void refuse_oversized(const rpc::http_headers& headers, ticket of) override;
  void forget() override;
  [[nodiscard]] result<void> pull(std::shared_ptr<outgoing> what, ticket of) override;
  [[nodiscard]] std::string health() override;
  void log(std::string_view line) override;

 private:
  /// Runs one event's work; an exception ends this connection and nothing else.
  template <class Work>
  void guarded(Work work);
  void pump();
  [[nodiscard]] bool write();
  void read();
  void await_input();
  void await_output();
  void await_deadline();
  [[nodiscard]] rpc::facts facts_of(const rpc::http_headers& headers) const;
  [[nodiscard]] std::shared_ptr<rpc::outlet> outlet_for(ticket of);

  std::shared_ptr<void> place_;
  std::shared_ptr<loop> loop_;
  socket socket_;
  timer timer_;
  std::shared_ptr<core> engine_;
  std::string peer_;
  dialogue dialogue_;
  std::shared_ptr<session::session> session_;
  std::size_t written_ = 0;  // of the dialogue's output
  dialogue::clock::time_point timer_at_ = dialogue::clock::time_point::max();
  bool awaits_input_ = false;
  bool awaits_output_ = false;
  bool said_all_ = false;
  bool closed_ = false;
};

}  // namespace hondana::transport::http
