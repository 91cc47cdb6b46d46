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

/// `STREAM-NUMBER`.
[[nodiscard]] std::string to_text(const event_id& id);
/// Parses `STREAM-NUMBER`; empty if it is malformed.
[[nodiscard]] std::optional<event_id> read_event_id(std::string_view text);

/// Stores the latest events up to a limit of bytes. Drops the oldest first, of any stream. Threads: any.
class replay {
 public:
  struct event {
    event_id id;
    std::shared_ptr<const std::string> message;
  };

  /// `shared`: the budget of all sessions together.
  replay(std::size_t byte_cap, std::shared_ptr<byte_budget> shared);

  /// Stores an event, unless it exceeds the limit on its own.
  void keep(const event_id& id, std::string_view message);
  /// The stored events of the same stream after `seen`, in order.
  [[nodiscard]] std::vector<event> after(const event_id& seen) const;
  /// Drops the events of one stream.
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
