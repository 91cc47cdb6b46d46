/// A received message on its way through a session, and the collection of its answers into one delivery.
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

/// Collects one answer per slot, and delivers them when all are complete. Threads: any.
class exchange {
 public:
  /// `is_batch`: wrap the answers in an array, as JSON-RPC requires even for a single one; `http_status` is then that of the
  /// array. `of_all`: bytes of incomplete batches of all clients.
  exchange(std::shared_ptr<rpc::outlet> out, std::size_t slots, bool is_batch, int http_status = 200,
           std::shared_ptr<std::atomic<std::size_t>> of_all = {});
  ~exchange();
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  /// Prepares an answer to wait for the rest of its batch; it then holds no borrowed memory. Returns false if it exceeds the
  /// limits.
  [[nodiscard]] bool admit(rpc::delivery& what);
  /// Limits of the answers of one batch, and of all incomplete batches.
  static constexpr std::size_t most_bytes = 32u << 20;
  static constexpr std::size_t most_bytes_of_all = 128u << 20;
  /// Fills a slot, once. A delivery without content adds nothing to the result.
  void fill(std::size_t slot, rpc::delivery what);
  [[nodiscard]] const std::shared_ptr<rpc::outlet>& out() const noexcept { return out_; }

 private:
  [[nodiscard]] rpc::delivery join();

  std::shared_ptr<rpc::outlet> out_;
  bool is_batch_;
  int http_status_;
  std::mutex mutex_;
  std::vector<std::optional<rpc::delivery>> slots_;
  std::size_t waiting_;
  std::size_t bytes_ = 0;
  std::shared_ptr<std::atomic<std::size_t>> of_all_;
};

/// The delivery for a message without an answer.
[[nodiscard]] rpc::delivery nothing_to_say();

struct session::incoming {
  const rpc::facts& facts;
  std::shared_ptr<exchange> answers;
  std::size_t slot;
  bool in_batch;
  std::string_view text{};  // of a message that is not in a batch

  void answer(rpc::delivery what) const { answers->fill(slot, std::move(what)); }
};

struct session::admission {
  std::shared_ptr<const context> with;
  caller who;                   // with its access filter by the current rules
  std::shared_ptr<ending> end;  // null: there are no listeners
  result<void> outcome;
  std::shared_ptr<tracing::live_span> span{};  // null: not traced
  std::chrono::steady_clock::time_point since = monotonic_clock::now();
};

/// A request that was decoded before and is admitted, but has no cached answer.
struct known_request {
  std::shared_ptr<const decoded_request> meaning;
  std::int64_t id;
  const wire::codec& manners;
  session::admission granted;
  std::optional<page_key> page{};
};

}  // namespace hondana::session
