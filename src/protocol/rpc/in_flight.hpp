/// The pending requests of one client: each is answered exactly once, and can be cancelled immediately.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include <tl/expected.hpp>

#include "protocol/rpc/message.hpp"
#include "protocol/rpc/message_sink.hpp"

namespace hondana::rpc {

class reply;

/// The ids of pending requests, shared by a session and its replies. Threads: any.
class in_flight : public std::enable_shared_from_this<in_flight> {
 public:
  /// Receives the answer; nothing when the request was cancelled and gets none. Called exactly once per request.
  using sink = std::function<void(std::optional<delivery>)>;

  /// Why a request cannot be registered: its id is in use, or the limit of pending requests is reached.
  enum class refusal { in_use, full };

  /// Registers a request, unless `limit` requests are pending. `if_dropped`: the answer if the reply is destroyed unanswered.
  [[nodiscard]] tl::expected<reply, refusal> open(const request_id& id, std::size_t limit, sink answer, delivery if_dropped);
  /// Whether `open` would succeed now. For a request that is answered immediately and need not be registered.
  [[nodiscard]] bool has_room_for(const request_id& id, std::size_t limit) const;
  /// Cancels the request with this id: calls its sink with nothing, regardless of later answers.
  /// Returns false when the id is unknown or already answered.
  bool cancel(const request_id& id);
  /// Cancels all requests, because the client has disconnected.
  void cancel_all();
  /// Whether `cancel_all` was called.
  [[nodiscard]] bool has_left() const noexcept { return has_left_; }
  [[nodiscard]] std::size_t size() const;

 private:
  friend class reply;
  struct entry {
    std::stop_source stop;
    sink answer;
  };
  /// Removes the id and returns its sink; empty if the id is already removed.
  sink take(const request_id& id, const std::stop_source& of);

  mutable std::mutex mutex_;
  std::map<request_id, entry> entries_;
  std::atomic<bool> has_left_{false};
};

/// The obligation to answer one request exactly once. If it is destroyed unanswered, it sends the answer prepared for that
/// case.
/// Movable. Threads: one at a time.
class reply {
 public:
  reply(reply&&) noexcept = default;
  reply& operator=(reply&&) = delete;
  ~reply();

  /// Sends the answer. Ignored after the first call and after a cancellation.
  void send(delivery what);
  /// Discards the answer prepared for destruction, which then sends nothing.
  /// For requests that stay pending as long as the client is connected, and end only with their answer.
  void settle_in() { if_dropped_.reset(); }
  /// A stop is requested when the request is cancelled.
  [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }

 private:
  friend class in_flight;
  reply(std::shared_ptr<in_flight> table, request_id id, std::stop_source stop, delivery if_dropped);

  std::shared_ptr<in_flight> table_;
  request_id id_;
  std::stop_source stop_;
  std::optional<delivery> if_dropped_;
};

}  // namespace hondana::rpc
