/// Limits of an HTTP server, and budgets of bytes that connections, sessions and streams share.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace hondana::transport::http_server {

/// The limits of an HTTP server. Sizes are in bytes.
struct limits {
  std::size_t header_bytes = 16u << 10;  ///< Request line and header fields; also the trailer of a chunked body.
  std::size_t body_bytes = 16u << 20;    ///< One message.
  /// Unfinished messages of all peers together, as received; a growing buffer may be twice as large. Beyond it they are
  /// answered 503.
  std::size_t unfinished_bytes = 256u << 20;
  /// So many bytes of each unfinished message are not counted, so that small messages still arrive when large ones have used up
  /// the limit.
  std::size_t uncounted_bytes = 64u << 10;
  /// Memory of unsent answers of all peers together, except what belongs to the read cache. Beyond it, answers have the
  /// deadline `stall_when_crowded`.
  std::size_t unsent_bytes = 96u << 20;
  std::size_t pipelined_bytes = 64u << 10;  ///< Input that is stored while an earlier request is in progress.
  std::size_t linger_bytes = 32u << 20;     ///< Input that is discarded after the last answer, so that the peer can read it.
  /// So many bytes must be accepted within `stall`, so that a peer cannot hold an answer by reading single bytes.
  std::size_t taken_at_least = 16u << 10;
  std::size_t connections = 1024;           ///< Further connections are answered 503 and closed; 0: by the descriptor limit.
  std::size_t connections_per_address = 0;  ///< The same for one address; 0: see `admission::caps`.
  std::size_t turned_away = 64;             ///< Connections that are being answered 503; further ones are closed immediately.
  /// Sessions of all clients. Beyond it the oldest idle session is dropped, or the new one rejected; 0: as many as connections,
  /// at most 16 384.
  std::size_t sessions = 4096;
  std::size_t sessions_per_address = 0;  ///< The same for one address; 0: a quarter, for loopback all.
  std::size_t streams_kept = 64;         ///< Finished streams without a reader that a session keeps for clients that reconnect.
  std::size_t replay_bytes = 256u << 10;        ///< Sent events that a session stores for replay; the oldest are dropped first.
  std::size_t replay_bytes_of_all = 64u << 20;  ///< All sessions together.
  std::size_t waiting_bytes = 16u << 20;        ///< Messages of a session that wait for a reader.
  std::size_t waiting_bytes_of_all = 256u << 20;  ///< All sessions and stateless requests together.
  /// Answers that wait on the stream of an HTTP+SSE session; beyond it messages are answered 503. Requests in progress may add
  /// more answers. At four times the limit the session ends, because its client does not read.
  std::size_t paired_bytes = 16u << 20;
  std::size_t paired_under_way = 256;  ///< Requests in progress of such a session; beyond it messages are answered 503.
  unsigned loops = 0;                  ///< Threads; 0: as many as this process has processors, at most 4.

  std::chrono::milliseconds header_time{10'000};      ///< From a header's first byte (or the accept) to its end.
  std::chrono::milliseconds body_idle{30'000};        ///< Between two pieces of a body.
  std::chrono::milliseconds body_time{300'000};       ///< For the whole body.
  std::chrono::milliseconds keep_alive{60'000};       ///< Between two requests.
  std::chrono::milliseconds session_idle{1'800'000};  ///< Until a session without a request and open stream ends.
  std::chrono::milliseconds linger{2'000};            ///< For the peer to close after the last answer.
  std::chrono::milliseconds stall{60'000};  ///< For the peer to accept `taken_at_least` bytes of an answer, or its rest.
  std::chrono::milliseconds stall_when_crowded{2'000};  ///< Replaces `stall` when `unsent_bytes` is exceeded.
  std::chrono::milliseconds comment_time{15'000};       ///< Between two keep-alive comments on an event stream.
  std::chrono::milliseconds pull_time{30'000};          ///< For a source to return one piece of a streamed answer.
  std::chrono::milliseconds accept_pause{100};          ///< Before accepting again when the process has no free descriptors.
};

/// Counts bytes against a limit, and against that of the budget that it is part of. Threads: any.
class byte_budget {
 public:
  explicit byte_budget(std::size_t limit, std::shared_ptr<byte_budget> part_of = {}) noexcept
      : left_(static_cast<std::int64_t>(limit)), part_of_(std::move(part_of)) {}

  /// Takes bytes. Returns false and takes nothing if fewer than `wanted` are left.
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
  /// Takes bytes beyond the limit. `take` fails until as much has been returned.
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

/// The bytes that one connection has taken from a budget; the destructor returns them. Threads: one at a time.
class byte_share {
 public:
  explicit byte_share(std::shared_ptr<byte_budget> of) noexcept : of_(std::move(of)) {}
  ~byte_share() { release(); }
  byte_share(const byte_share&) = delete;
  byte_share& operator=(const byte_share&) = delete;

  /// Takes the difference to `bytes`. Returns false and takes nothing if less is left.
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
