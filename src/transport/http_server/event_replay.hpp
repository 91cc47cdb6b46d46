/// Recent events of the streams of one session, replayed to clients whose connection broke.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/http_server/limits.hpp"

namespace hondana::transport::http_server {

/// Names one event of a session, and the stream it belongs to.
/// Spec: 2025-11-25 basic/transports#resumability-and-redelivery.
struct event_id {
  std::uint64_t stream = 0;
  std::uint64_t number = 0;  ///< In its stream; those after it have higher ones.

  friend bool operator==(const event_id&, const event_id&) = default;
};

/// `STREAM-NUMBER`.
[[nodiscard]] std::string to_text(const event_id& id);
[[nodiscard]] std::optional<event_id> read_event_id(std::string_view text);

/// Keeps the latest events up to a cap of bytes; the oldest go first, whatever stream they belong to. Threads: any.
class replay {
 public:
  struct event {
    event_id id;
    std::shared_ptr<const std::string> message;
  };

  /// `shared`: what all sessions together may keep.
  replay(std::size_t byte_cap, std::shared_ptr<byte_budget> shared);

  /// Keeps an event, or not, when it is over the cap alone.
  void keep(const event_id& id, std::string_view message);
  /// The events of the same stream that are still there and came after `seen`, in order.
  [[nodiscard]] std::vector<event> after(const event_id& seen) const;
  /// Forgets the events of one stream.
  void forget(std::uint64_t stream);
  void clear();
  [[nodiscard]] std::size_t bytes() const;

 private:
  [[nodiscard]] bool make_room(std::size_t bytes);
  void drop_oldest();

  const std::size_t cap_;
  const std::shared_ptr<byte_budget> shared_;
  mutable std::mutex mutex_;
  std::list<event> events_;
  std::size_t bytes_ = 0;

 public:
  replay(const replay&) = delete;
  replay& operator=(const replay&) = delete;
  ~replay() { clear(); }
};

}  // namespace hondana::transport::http_server
