/// Stores recent events of a session's streams, to replay them after a lost connection.
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

/// The id of an event: its stream within the session, and its number. Spec: 2025-11-25
/// basic/transports#resumability-and-redelivery.
struct event_id {
  std::uint64_t stream = 0;
  std::uint64_t number = 0;  ///< Increases within the stream.

  friend bool operator==(const event_id&, const event_id&) = default;
};

/// Returns `STREAM-NUMBER`.
[[nodiscard]] std::string to_string(const event_id& id);
/// Parses `STREAM-NUMBER`; empty if it is malformed.
[[nodiscard]] std::optional<event_id> parse_event_id(std::string_view text);

/// Stores the latest events of one session up to a limit of bytes. Drops the oldest first, of any stream. Threads: any.
class replay_buffer {
 public:
  struct event {
    event_id id;
    std::shared_ptr<const std::string> message;
  };

  /// `max_bytes`: the limit of this session. `budget`: the limit of all sessions together.
  replay_buffer(std::size_t max_bytes, std::shared_ptr<byte_budget> budget);

  /// Stores an event, unless one of the limits has no space for it even without older events of this session.
  void store(const event_id& id, std::string_view message);
  /// The stored events of the same stream after `last_seen`, in order.
  [[nodiscard]] std::vector<event> events_after(const event_id& last_seen) const;
  /// Drops the events of one stream.
  void discard(std::uint64_t stream);
  void clear();
  /// The counted bytes: of messages, and 128 for each event.
  [[nodiscard]] std::size_t bytes() const;

 private:
  [[nodiscard]] bool reserve(std::size_t bytes);
  void drop_oldest();

  const std::size_t max_bytes_;
  const std::shared_ptr<byte_budget> budget_;
  mutable std::mutex mutex_;
  std::list<event> events_;
  std::size_t bytes_ = 0;

 public:
  replay_buffer(const replay_buffer&) = delete;
  replay_buffer& operator=(const replay_buffer&) = delete;
  ~replay_buffer() { clear(); }
};

}  // namespace hondana::transport::http_server
