/// A received message on its way through a session, and the collection of its answers into one response.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "base/tracing/tracing.hpp"
#include "protocol/rpc/message_sink.hpp"
#include "server/session/answer_cache.hpp"
#include "server/session/request_accounting.hpp"
#include "server/session/session.hpp"

namespace hondana::session {

/// Collects one answer per slot, and sends them together when all slots are filled. Threads: any.
class response_collector {
 public:
  /// `is_batch`: send the answers as an array, even a single one, as JSON-RPC requires; `http_status` is then the status of the
  /// array. Otherwise there is one slot. `total_bytes`: bytes of incomplete batches of all clients; null: not limited.
  response_collector(std::shared_ptr<rpc::response_writer> writer, std::size_t slots, bool is_batch, int http_status = 200,
                     std::shared_ptr<std::atomic<std::size_t>> total_bytes = {});
  ~response_collector();
  response_collector(const response_collector&) = delete;
  response_collector& operator=(const response_collector&) = delete;

  /// Prepares an answer to wait for the rest of its batch, so that it holds no borrowed memory. Returns false if it exceeds the
  /// limits: then fill the slot with an error instead. Always true without a batch.
  [[nodiscard]] bool admit(rpc::outgoing_response& response);
  /// Limit of the answers of one batch.
  static constexpr std::size_t max_bytes = 32u << 20;
  /// Limit of the answers of all incomplete batches.
  static constexpr std::size_t max_total_bytes = 128u << 20;
  /// Fills a slot; only the first call for a slot has an effect. A response without content adds nothing to the array.
  void fill(std::size_t slot, rpc::outgoing_response response);
  [[nodiscard]] const std::shared_ptr<rpc::response_writer>& writer() const noexcept { return writer_; }

 private:
  /// All answers as one.
  [[nodiscard]] rpc::outgoing_response join();

  std::shared_ptr<rpc::response_writer> writer_;
  bool is_batch_;
  int http_status_;
  std::mutex mutex_;
  std::vector<std::optional<rpc::outgoing_response>> slots_;
  std::size_t waiting_;
  std::size_t bytes_ = 0;
  std::shared_ptr<std::atomic<std::size_t>> total_bytes_;
};

/// The response to a message that has no answer, such as a notification.
[[nodiscard]] rpc::outgoing_response empty_response();

/// A received message, and where its answer goes.
struct session::incoming_message {
  const rpc::request_info& request_info;
  std::shared_ptr<response_collector> answers;
  std::size_t slot;
  bool in_batch;
  std::string_view text{};  // of a message that is not in a batch; otherwise empty

  void answer(rpc::outgoing_response response) const { answers->fill(slot, std::move(response)); }
};

/// The decision whether a request is executed.
struct session::admission_result {
  std::shared_ptr<const server_snapshot> snapshot;
  caller_info caller;                            // with its access filter by the current rules
  std::shared_ptr<request_tracker> tracker;      // null: there are no listeners
  result<void> outcome;                          // the error with which the request is rejected, or success
  std::shared_ptr<tracing::active_span> span{};  // null: not traced
  std::chrono::steady_clock::time_point start = monotonic_clock::now();  // when the decision began
};

/// A request of the request cache, with the decision about it but without an answer.
struct cached_request {
  std::shared_ptr<const decoded_request> decoded;
  std::int64_t id;
  const wire::codec& codec;
  session::admission_result admission;
  std::optional<page_key> page{};  // the page that it requests; nullopt: none that is cached
};

}  // namespace hondana::session
