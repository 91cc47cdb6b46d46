/// The streams of changes a peer has open.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "protocol/rpc/envelope.hpp"
#include "server/session/announcements.hpp"

namespace hondana::session {

/// Open streams by the id of the request that opened them. Threads: any.
class streams {
 public:
  /// `end` ends the stream gracefully: it answers the request.
  void open(const rpc::request_id& id, std::shared_ptr<announcements> from, std::function<void()> end) {
    const std::lock_guard lock(mutex_);
    open_.insert_or_assign(id, stream{std::move(from), std::move(end)});
  }

  /// The request has been answered or cancelled: nothing more is told.
  void close(const rpc::request_id& id) {
    stream closed;
    {
      const std::lock_guard lock(mutex_);
      const auto place = open_.find(id);
      if (place == open_.end()) return;
      closed = std::move(place->second);
      open_.erase(place);
    }
    closed.from->close();
  }

  /// Ends all.
  void finish() {
    std::map<rpc::request_id, stream> ending;
    {
      const std::lock_guard lock(mutex_);
      ending.swap(open_);
    }
    for (auto& [id, one] : ending) {
      one.from->close();
      one.end();
    }
  }

 private:
  struct stream {
    std::shared_ptr<announcements> from;
    std::function<void()> end;
  };
  std::mutex mutex_;
  std::map<rpc::request_id, stream> open_;
};

}  // namespace hondana::session
