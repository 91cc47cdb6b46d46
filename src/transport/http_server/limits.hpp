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
  std::size_t max_header_bytes = 16u << 10;  ///< Request line and header fields; also the trailer of a chunked body.
  std::size_t max_body_bytes = 16u << 20;    ///< One message.
  /// Unfinished messages of all peers together, as received; a growing buffer may be twice as large. Beyond this limit they are
  /// answered 503.
  std::size_t max_unfinished_bytes = 256u << 20;
  /// So many bytes of each message do not count in `max_unfinished_bytes`, so that small messages still arrive when large ones
  /// have used up the limit.
  std::size_t uncounted_bytes = 64u << 10;
  /// Memory of unsent answers of all peers together, except what belongs to the read cache. Beyond this limit, answers have the
  /// deadline `overload_stall_timeout`.
  std::size_t max_unsent_bytes = 96u << 20;
  std::size_t max_pipelined_bytes = 64u << 10;  ///< Input that is stored while an earlier request is in progress.
  /// Input that is discarded after the last answer. If the connection closed before, the peer might lose the answer.
  std::size_t max_linger_bytes = 32u << 20;
  /// So many bytes must be accepted within `stall_timeout`, so that a peer cannot hold an answer by reading single bytes.
  std::size_t min_accepted_bytes = 16u << 10;
  std::size_t max_connections = 1024;  ///< Further connections are answered 503 and closed; 0: by the descriptor limit.
  std::size_t max_connections_per_address = 0;  ///< Like `max_connections`, for one address; 0: see `admission::caps`.
  std::size_t max_rejected_connections = 64;  ///< Connections that are being answered 503; further ones are closed immediately.
  /// Sessions of all clients. Beyond this limit the oldest idle session is dropped, or the new one rejected; 0: as many as
  /// connections, at most 16 384.
  std::size_t max_sessions = 4096;
  std::size_t max_sessions_per_address = 0;  ///< Like `max_sessions`, for one address; 0: a quarter, for this machine all.
  std::size_t max_stored_streams = 64;  ///< Finished streams without a reader that a session keeps for clients that reconnect.
  std::size_t max_replay_bytes = 256u << 10;  ///< Sent events that a session stores for replay; the oldest are dropped first.
  std::size_t max_total_replay_bytes = 64u << 20;    ///< Like `max_replay_bytes`, for all sessions together.
  std::size_t max_waiting_bytes = 16u << 20;         ///< Messages of a session that wait for a reader.
  std::size_t max_total_waiting_bytes = 256u << 20;  ///< Waiting messages of all sessions and stateless requests together.
  /// Answers that wait on the stream of an HTTP+SSE session; beyond this limit messages are answered 503. Requests in progress
  /// may add more answers. At four times the limit the session ends, because its client does not read.
  std::size_t max_sse_waiting_bytes = 16u << 20;
  std::size_t max_sse_requests = 256;  ///< Requests in progress of an HTTP+SSE session; beyond it messages are answered 503.
  unsigned loops = 0;                  ///< I/O threads; 0: as many as this process has processors, at most 4.

  std::chrono::milliseconds header_timeout{10'000};           ///< From a header's first byte (or the accept) to its end.
  std::chrono::milliseconds body_idle_timeout{30'000};        ///< Between two pieces of a body.
  std::chrono::milliseconds body_timeout{300'000};            ///< For the whole body.
  std::chrono::milliseconds keep_alive_timeout{60'000};       ///< Between two requests.
  std::chrono::milliseconds session_idle_timeout{1'800'000};  ///< Until a session without a request and open stream ends.
  std::chrono::milliseconds linger_timeout{2'000};            ///< For the peer to close after the last answer.
  std::chrono::milliseconds stall_timeout{60'000};  ///< For the peer to accept `min_accepted_bytes` of an answer, or its rest.
  std::chrono::milliseconds overload_stall_timeout{2'000};  ///< Replaces `stall_timeout` when `max_unsent_bytes` is exceeded.
  std::chrono::milliseconds comment_interval{15'000};       ///< Between two keep-alive comments on an event stream.
  std::chrono::milliseconds pull_timeout{30'000};  ///< For a source to return one piece of an answer, and for authentication.
  std::chrono::milliseconds accept_retry_delay{100};  ///< Before accepting again when the process has no free descriptors.
};

/// Counts bytes against a limit. Threads: any.
class byte_budget {
 public:
  /// `parent`: a larger budget in which the same bytes count, too; null: none.
  explicit byte_budget(std::size_t limit, std::shared_ptr<byte_budget> parent = {}) noexcept
      : available_(static_cast<std::int64_t>(limit)), parent_(std::move(parent)) {}

  /// Reserves bytes. Returns false and reserves nothing if fewer than `count` are left, here or in the parent.
  [[nodiscard]] bool reserve(std::size_t count) noexcept {
    const auto bytes = static_cast<std::int64_t>(count);
    auto available = available_.load(std::memory_order_relaxed);
    while (bytes <= available) {
      if (!available_.compare_exchange_weak(available, available - bytes, std::memory_order_relaxed)) continue;
      if (!parent_ || parent_->reserve(count)) return true;
      available_.fetch_add(bytes, std::memory_order_relaxed);
      return false;
    }
    return false;
  }
  /// Reserves bytes beyond the limit. `reserve` fails until as many have been released.
  void force_reserve(std::size_t bytes) noexcept {
    available_.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
    if (parent_) parent_->force_reserve(bytes);
  }
  /// Whether nothing is left, here or in the parent.
  [[nodiscard]] bool is_exhausted() const noexcept {
    return available_.load(std::memory_order_relaxed) <= 0 || (parent_ && parent_->is_exhausted());
  }
  /// Gives back reserved bytes.
  void release(std::size_t count) noexcept {
    const auto bytes = static_cast<std::int64_t>(count);
    available_.fetch_add(bytes, std::memory_order_relaxed);
    if (parent_) parent_->release(count);
  }

 private:
  std::atomic<std::int64_t> available_;
  const std::shared_ptr<byte_budget> parent_;
};

/// The bytes that one connection has reserved in a budget; the destructor releases them. Threads: one at a time.
class byte_share {
 public:
  explicit byte_share(std::shared_ptr<byte_budget> budget) noexcept : budget_(std::move(budget)) {}
  ~byte_share() { release(); }
  byte_share(const byte_share&) = delete;
  byte_share& operator=(const byte_share&) = delete;

  /// Raises the reservation to `bytes`; never lowers it. Returns false and reserves nothing if the budget has too little left.
  [[nodiscard]] bool grow_to(std::size_t bytes) noexcept {
    if (bytes <= reserved_) return true;
    if (!budget_->reserve(bytes - reserved_)) return false;
    reserved_ = bytes;
    return true;
  }
  /// Gives back all reserved bytes.
  void release() noexcept { budget_->release(std::exchange(reserved_, 0)); }

 private:
  std::shared_ptr<byte_budget> budget_;
  std::size_t reserved_ = 0;
};

}  // namespace hondana::transport::http_server
