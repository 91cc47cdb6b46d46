/// Joins the answers to one received message, which may be a batch, into one delivery.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "protocol/rpc/outlet.hpp"

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

}  // namespace hondana::session
