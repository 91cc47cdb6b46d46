/// The sessions of all clients: found by id, counted, and dropped when nobody uses them.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "transport/http_server/kept_session.hpp"
#include "transport/http_server/limits.hpp"

namespace hondana::transport::http_server {

/// A fresh session id: 128 bits nobody can guess, as 32 hexadecimal digits. Errors: source_unavailable, when the system has no
/// random bytes. Spec: 2025-11-25 basic/transports#session-management (1).
[[nodiscard]] result<std::string> make_session_id();

/// Bounds: at a cap the session that has been idle longest is dropped, of the same address when it is that address's cap.
/// Threads: any.
class sessions {
 public:
  using clock = monotonic_clock;

  explicit sessions(const limits& with);

  /// Errors: overloaded, when there is a cap and nobody is idle.
  [[nodiscard]] result<void> keep(const std::shared_ptr<kept_session>& made, clock::time_point now);
  /// The session of this id, when it is `who`'s, by the same client, and of this manner: an id alone opens nothing. It counts
  /// as used now.
  [[nodiscard]] std::shared_ptr<kept_session> find(std::string_view id, const caller& who, kept_session::manner how,
                                                   clock::time_point now);
  void end(const kept_session& which);
  /// Ends those that have been idle for too long.
  void expire(clock::time_point now);
  void end_all();

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] const std::shared_ptr<shared_room>& room() const noexcept { return room_; }
  [[nodiscard]] const limits& within() const noexcept { return within_; }

 private:
  struct entry {
    std::shared_ptr<kept_session> what;
    clock::time_point used;
  };
  using order = std::list<entry>;  // the one used last at the end

  [[nodiscard]] std::size_t cap_of(const std::string& address) const;
  std::shared_ptr<kept_session> remove(order::iterator which);
  [[nodiscard]] std::shared_ptr<kept_session> drop_idle(std::string_view address);

  const limits within_;
  const std::shared_ptr<shared_room> room_;
  mutable std::mutex mutex_;
  order order_;
  std::unordered_map<std::string_view, order::iterator> by_id_;  // by the sessions' own strings
  std::unordered_map<std::string, std::size_t> of_address_;
};

}  // namespace hondana::transport::http_server
