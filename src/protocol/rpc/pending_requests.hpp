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

class pending_reply;

/// The pending requests of one client by id, shared by its session and the `pending_reply` objects. Threads: any.
class pending_requests : public std::enable_shared_from_this<pending_requests> {
 public:
  /// Receives the answer to a request; nullopt: the request was cancelled and gets no answer. Called at most once per request.
  using sink = std::function<void(std::optional<outgoing_response>)>;

  /// Why a request cannot be registered. `in_use`: its id is that of a pending request. `full`: the limit is reached.
  enum class rejection { in_use, full };

  /// Registers a request, unless `limit` requests are pending. `answer`: receives its answer.
  /// `fallback`: the answer if the result is destroyed without an answer.
  [[nodiscard]] tl::expected<pending_reply, rejection> open(const request_id& id, std::size_t limit, sink answer,
                                                            outgoing_response fallback);
  /// Whether `open` would succeed now. For a request that is answered immediately and need not be registered.
  [[nodiscard]] bool has_capacity_for(const request_id& id, std::size_t limit) const;
  /// Cancels the request with this id: requests its stop, and calls its sink with nullopt. Later answers are ignored.
  /// Returns false if no such request is pending.
  bool cancel(const request_id& id);
  /// Cancels all requests. To be called when the client has disconnected.
  void cancel_all();
  /// Whether `cancel_all` was called.
  [[nodiscard]] bool is_disconnected() const noexcept { return is_disconnected_; }
  /// The number of pending requests.
  [[nodiscard]] std::size_t size() const;

 private:
  friend class pending_reply;
  struct entry {
    std::stop_source stop;
    sink answer;
  };
  /// Removes the id and returns its sink; empty if the id is already removed.
  sink extract_sink(const request_id& id, const std::stop_source& stop);

  mutable std::mutex mutex_;
  std::map<request_id, entry> entries_;
  std::atomic<bool> is_disconnected_{false};
};

/// The obligation to answer one request. If it is destroyed without an answer, it sends the `fallback` of
/// `pending_requests::open`. Threads: one at a time.
class pending_reply {
 public:
  pending_reply(pending_reply&&) noexcept = default;
  pending_reply& operator=(pending_reply&&) = delete;
  ~pending_reply();

  /// Sends the answer. Does nothing after the first call and after a cancellation.
  void send(outgoing_response response);
  /// Discards the fallback: if this object is destroyed, the request stays pending until it is cancelled.
  /// For requests that last as long as the client is connected.
  void drop_fallback() { fallback_.reset(); }
  /// A stop is requested when the request is cancelled.
  [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }

 private:
  friend class pending_requests;
  pending_reply(std::shared_ptr<pending_requests> table, request_id id, std::stop_source stop, outgoing_response fallback);

  std::shared_ptr<pending_requests> table_;
  request_id id_;
  std::stop_source stop_;
  std::optional<outgoing_response> fallback_;
};

}  // namespace hondana::rpc
