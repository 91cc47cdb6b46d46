/// The state of one I/O thread: its event loop, its connections, and what they share.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/executor/batching.hpp"
#include "base/json/buffer.hpp"
#include "os/reactor/reactor.hpp"
#include "protocol/rpc/message.hpp"
#include "transport/http_server/authentication.hpp"
#include "transport/http_server/limits.hpp"
#include "transport/http_server/sessions.hpp"
#include "transport/http_server/status_pages.hpp"

namespace hondana::transport::http_server {

class connection;

/// One I/O thread. Shared with the streams of its connections, which may answer after the thread has ended; such answers are
/// dropped.
struct loop final : executor::turns {
  loop(std::shared_ptr<byte_budget> bodies_of_all, std::shared_ptr<byte_budget> unsent_of_all,
       std::shared_ptr<http_server::reports> reports_of_all, std::shared_ptr<sessions> sessions_of_all,
       std::shared_ptr<const identification> callers_of_all)
      : bodies(std::move(bodies_of_all)),
        unsent(std::move(unsent_of_all)),
        reports(std::move(reports_of_all)),
        kept(std::move(sessions_of_all)),
        callers(std::move(callers_of_all)) {
    io.at_end_of_telling([this] { answer_arrivals(); });
  }

  /// Schedules `who->look()`. Many calls at once wake the loop only once, and connections are processed in groups, between
  /// which requests have their turn. Threads: any; calls no callback and takes no lock of a caller.
  void ring(std::weak_ptr<connection> who);

  void take_turns(std::function<bool()> step) override;

  /// A buffer to read into, with space for at least one TLS record; valid until the next read.
  [[nodiscard]] std::span<char> room();
  /// A connection has read `bytes` to the front of `room()`. They are processed when all connections of this turn have read, so
  /// that the time is determined only once, which saves system calls.
  void arrived(std::shared_ptr<connection> at, std::size_t bytes);

  // Shared by all loops and thread-safe.
  const std::shared_ptr<byte_budget> bodies;
  const std::shared_ptr<byte_budget> unsent;
  const std::shared_ptr<http_server::reports> reports;
  const std::shared_ptr<sessions> kept;
  const std::shared_ptr<const identification> callers;
  reactor::reactor io;
  // Used only by the loop's own thread.
  std::string events;                       // buffer for events
  std::vector<json::buffer> spares;         // for pieces of answers
  std::unique_ptr<rpc::facts> spare_facts;  // of a finished request, for reuse
  std::unordered_set<std::shared_ptr<connection>> connections;

 private:
  /// Bytes that a connection has read.
  struct arrival {
    std::shared_ptr<connection> at;
    std::string_view bytes;
  };
  void answer_arrivals();
  std::array<char, 64u << 10> scratch_;
  std::size_t scratch_used_ = 0;
  std::vector<arrival> arrivals_;
  std::size_t next_arrival_ = 0;

  void answer_rings();
  void take_turn(const std::shared_ptr<std::function<bool()>>& step);
  std::vector<std::weak_ptr<connection>> answering_;  // taken from `rung_`
  std::size_t answered_ = 0;                          // number of processed ones

  std::mutex ringing_;
  std::vector<std::weak_ptr<connection>> rung_;
  bool is_told_ = false;
};

}  // namespace hondana::transport::http_server
