/// Limits of one HTTP peer, and budgets of bytes that connections, sessions and streams share.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace hondana::transport::http_server {

struct limits {
  std::size_t header_bytes = 16u << 10;  ///< Request line and fields; also the trailer of a chunked body.
  std::size_t body_bytes = 16u << 20;    ///< One message.
  /// Unfinished messages of all peers together, as received (a growing buffer may be twice as large); beyond this they are
  /// answered 503.
  std::size_t unfinished_bytes = 256u << 20;
  /// Of each unfinished message, not counted: small messages still pass when large ones have used everything up.
  std::size_t uncounted_bytes = 64u << 10;
  /// What answers that all peers together have not taken yet hold, but for what the read cache lends them; beyond this a peer
  /// has `stall_when_crowded` for its own.
  std::size_t unsent_bytes = 96u << 20;
  std::size_t pipelined_bytes = 64u << 10;  ///< Input kept while an earlier request is worked on.
  std::size_t linger_bytes = 32u << 20;     ///< Input thrown away after the last answer, so that the peer can read it.
  std::size_t taken_at_least =
      16u << 10;  ///< A peer that takes bytes one by one holds an answer not much longer than one that takes none.
  std::size_t connections = 1024;           ///< Beyond this a connection is answered 503 and closed; 0: as descriptors allow.
  std::size_t connections_per_address = 0;  ///< The same for one address; 0: as `admission::caps` says.
  std::size_t turned_away = 64;             ///< Connections being told 503 at once; beyond this they are closed without a word.
  /// Of all clients; then the oldest idle one is dropped, or the new one refused; 0: as many as connections, at most 16 384.
  std::size_t sessions = 4096;
  std::size_t sessions_per_address = 0;  ///< The same for those of one address; 0: a quarter, and of loopback all.
  std::size_t streams_kept = 64;  ///< Answered streams without a reader that a session still knows, for clients that come back.
  std::size_t replay_bytes = 256u << 10;        ///< What a session keeps of what it has sent; the oldest events go first.
  std::size_t replay_bytes_of_all = 64u << 20;  ///< All sessions together.
  std::size_t waiting_bytes = 16u << 20;  ///< What a session's streams hold for readers who do not read, or do not come back.
  std::size_t waiting_bytes_of_all = 256u << 20;  ///< All sessions and stateless requests together.
  /// Answers that wait on the one stream of HTTP+SSE; then messages are answered 503. At four times as many, which those under
  /// way may become, the session ends: its client does not read.
  std::size_t paired_bytes = 16u << 20;
  std::size_t paired_under_way = 256;  ///< Requests of such a session; then messages are answered 503.
  unsigned loops = 0;                  ///< Threads; 0: as many as this process has processors, at most 4.

  std::chrono::milliseconds header_time{10'000};      ///< From a header's first byte (or the accept) to its end.
  std::chrono::milliseconds body_idle{30'000};        ///< Between two pieces of a body.
  std::chrono::milliseconds body_time{300'000};       ///< For the whole body.
  std::chrono::milliseconds keep_alive{60'000};       ///< Between two requests.
  std::chrono::milliseconds session_idle{1'800'000};  ///< Without a request or an open stream, until a session ends.
  std::chrono::milliseconds linger{2'000};            ///< For the peer to close after the last answer.
  std::chrono::milliseconds stall{60'000};  ///< For the peer to take `taken_at_least` bytes of an answer, or its rest.
  std::chrono::milliseconds stall_when_crowded{2'000};  ///< Instead of `stall`, when `unsent_bytes` are used up.
  std::chrono::milliseconds comment_time{15'000};       ///< Between two signs of life on a stream of events.
  std::chrono::milliseconds pull_time{30'000};          ///< For one piece of a streamed answer to come from its source.
  std::chrono::milliseconds accept_pause{100};          ///< Before accepting again when the process is out of descriptors.
};

/// Counts bytes against a cap, and against that of a larger one it is part of. Threads: any.
class byte_budget {
 public:
  explicit byte_budget(std::size_t limit, std::shared_ptr<byte_budget> part_of = {}) noexcept
      : left_(static_cast<std::int64_t>(limit)), part_of_(std::move(part_of)) {}

  /// False, and nothing taken, when fewer than `bytes` are left.
  [[nodiscard]] bool take(std::size_t wanted) noexcept {
    const auto bytes = static_cast<std::int64_t>(wanted);
    auto left = left_.load(std::memory_order_relaxed);
    while (bytes <= left) {
      if (!left_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed)) continue;
      if (!part_of_ || part_of_->take(wanted)) return true;
      left_.fetch_add(bytes, std::memory_order_relaxed);
      return false;
    }
    return false;
  }
  /// Takes what has been used already; nobody else gets any until as much has come back.
  void take_anyway(std::size_t bytes) noexcept {
    left_.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
    if (part_of_) part_of_->take_anyway(bytes);
  }
  [[nodiscard]] bool is_used_up() const noexcept {
    return left_.load(std::memory_order_relaxed) <= 0 || (part_of_ && part_of_->is_used_up());
  }
  void give_back(std::size_t given) noexcept {
    const auto bytes = static_cast<std::int64_t>(given);
    left_.fetch_add(bytes, std::memory_order_relaxed);
    if (part_of_) part_of_->give_back(given);
  }

 private:
  std::atomic<std::int64_t> left_;
  const std::shared_ptr<byte_budget> part_of_;
};

/// What one connection has taken; given back at the latest when this is destroyed. Threads: one at a time.
class byte_share {
 public:
  explicit byte_share(std::shared_ptr<byte_budget> of) noexcept : of_(std::move(of)) {}
  ~byte_share() { release(); }
  byte_share(const byte_share&) = delete;
  byte_share& operator=(const byte_share&) = delete;

  /// Takes what is missing to `bytes`; false, and nothing taken, when there is not so much left.
  [[nodiscard]] bool grow_to(std::size_t bytes) noexcept {
    if (bytes <= taken_) return true;
    if (!of_->take(bytes - taken_)) return false;
    taken_ = bytes;
    return true;
  }
  void release() noexcept { of_->give_back(std::exchange(taken_, 0)); }

 private:
  std::shared_ptr<byte_budget> of_;
  std::size_t taken_ = 0;
};

}  // namespace hondana::transport::http_server
