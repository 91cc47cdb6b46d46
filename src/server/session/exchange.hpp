/// One received message on its way through a session, and the answers to it joined into one delivery.
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

/// Collects one answer a slot and delivers when all are in. Threads: any.
class exchange {
 public:
  /// `is_batch` wraps the answers in an array, as JSON-RPC wants even for one; then `http_status` is the array's.
  /// `of_all`: bytes that the batches of all peers hold, counted here too.
  exchange(std::shared_ptr<rpc::outlet> out, std::size_t slots, bool is_batch, int http_status = 200,
           std::shared_ptr<std::atomic<std::size_t>> of_all = {});
  ~exchange();
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  /// Makes an answer ready to wait for the others of its batch: it keeps nothing that was lent. False when there is no room for
  /// it.
  [[nodiscard]] bool admit(rpc::delivery& what);
  /// What the answers of one batch may have together, and those of all batches that are not complete yet.
  static constexpr std::size_t most_bytes = 32u << 20;
  static constexpr std::size_t most_bytes_of_all = 128u << 20;
  /// Fills a slot, once; a slot filled with a delivery without content contributes nothing.
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

/// What a message without an answer delivers.
[[nodiscard]] rpc::delivery nothing_to_say();

struct session::incoming {
  const rpc::facts& facts;
  std::shared_ptr<exchange> answers;
  std::size_t slot;
  bool in_batch;
  std::string_view text{};  // of a message by itself

  void answer(rpc::delivery what) const { answers->fill(slot, std::move(what)); }
};

struct session::admission {
  std::shared_ptr<const context> with;
  caller who;                   // with its view by the present rules
  std::shared_ptr<ending> end;  // null: nobody wants to know
  result<void> outcome;
  std::shared_ptr<tracing::live_span> span{};  // null: it is not traced
  std::chrono::steady_clock::time_point since = monotonic_clock::now();
};

/// A request that came before and was decided about, but whose answer is not at hand.
struct known_request {
  std::shared_ptr<const decoded_request> meaning;
  std::int64_t id;
  const wire::codec& manners;
  session::admission granted;
  std::optional<page_key> page{};
};

}  // namespace hondana::session
