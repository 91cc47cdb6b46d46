/// The requests that one peer waits for: answered exactly once, cancelled without queueing.
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

/// Ids of requests under way, shared by the session and the replies it waits for. Threads: any.
class in_flight : public std::enable_shared_from_this<in_flight> {
 public:
  /// Takes the answer; nothing when the request was cancelled and gets none. Called exactly once a request.
  using sink = std::function<void(std::optional<delivery>)>;

  /// Why a request cannot be registered: its id is in use, or there are as many as there may be.
  enum class refusal { in_use, full };

  /// Registers a request, of at most `limit` that are under way.
  [[nodiscard]] tl::expected<reply, refusal> open(const request_id& id, std::size_t limit, sink answer, delivery if_dropped);
  /// Whether `open` would register it now: for a request that is answered before anything else happens, and needs no place.
  [[nodiscard]] bool has_room_for(const request_id& id, std::size_t limit) const;
  /// Stops the request with this id: its sink is called with nothing now, whatever its handler does later.
  /// False when it is unknown or already answered.
  bool cancel(const request_id& id);
  /// Cancels everything, for a peer that has gone.
  void cancel_all();
  /// Whether it has.
  [[nodiscard]] bool has_left() const noexcept { return has_left_; }
  [[nodiscard]] std::size_t size() const;

 private:
  friend class reply;
  struct entry {
    std::stop_source stop;
    sink answer;
  };
  /// Forgets the id and hands out its sink; nothing when it is gone already.
  sink take(const request_id& id, const std::stop_source& of);

  mutable std::mutex mutex_;
  std::map<request_id, entry> entries_;
  std::atomic<bool> has_left_{false};
};

/// The duty to answer one request, exactly once. Destroyed unanswered, it sends the answer given for that case.
/// Movable; threads: one at a time.
class reply {
 public:
  reply(reply&&) noexcept = default;
  reply& operator=(reply&&) = delete;
  ~reply();

  /// Answers. What comes after the first call, or after a cancellation, is dropped.
  void send(delivery what);
  /// Gives back the answer made for being dropped, after which dropping answers nothing: for a request that is under way as
  /// long as its peer is there, and which nothing but its answer ends.
  void settle_in() { if_dropped_.reset(); }
  /// Requested when the request is cancelled.
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
