/// Answers that remember how they left, and who wrote them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "deadline.hpp"
#include "protocol/rpc/message_body.hpp"
#include "protocol/rpc/message_sink.hpp"

namespace hondana::transport::stdio {

/// Makes answers. Threads: any.
struct watched {
  rpc::outgoing_response of(std::string text) {
    rpc::body out(std::move(text));
    out.attach_receipt(std::make_shared<rpc::receipt>([this](rpc::delivery_outcome how, std::uint64_t) {
      const std::lock_guard lock(mutex);
      told.push_back(how);
      tellers.push_back(std::this_thread::get_id());
      changed.notify_all();
    }));
    return {200, std::move(out)};
  }
  std::vector<rpc::delivery_outcome> wait_for(std::size_t count) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, hondana_test::event_deadline, [&] { return told.size() >= count; });
    return told;
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<rpc::delivery_outcome> told;
  std::vector<std::thread::id> tellers;  // who told each
};

}  // namespace hondana::transport::stdio
