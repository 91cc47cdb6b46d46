/// An outgoing message: ready text, content that is read while it is sent, and receipts of its delivery.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/error.hpp>

#include "base/bytes/prepared_content.hpp"
#include "base/executor/thread_pool.hpp"
#include "base/json/buffer.hpp"

namespace hondana::rpc {

/// How an answer was sent.
enum class delivery_outcome : std::uint8_t {
  sent,          ///< Completely passed to the connection.
  truncated,     ///< Partially: its source failed, or its client stopped reading for too long.
  disconnected,  ///< Not completely: the client was disconnected.
};

/// Counts the bytes of one answer as they are written, and reports once how the answer was sent.
///
/// Threads: any. The listener is called by the sender, possibly while it holds locks. It must return quickly.
class receipt {
 public:
  using listener = std::function<void(delivery_outcome outcome, std::uint64_t bytes)>;

  explicit receipt(listener on_sent) : on_sent_(std::move(on_sent)) {}
  receipt(const receipt&) = delete;
  receipt& operator=(const receipt&) = delete;
  /// An answer that is destroyed unsent counts as `disconnected`.
  ~receipt() { report(delivery_outcome::disconnected); }

  void count(std::size_t bytes) noexcept { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  /// Ignored after the first call.
  void report(delivery_outcome outcome) {
    if (!is_reported_.exchange(true)) on_sent_(outcome, bytes_.load(std::memory_order_relaxed));
  }

 private:
  const listener on_sent_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<bool> is_reported_{false};
};

/// The receipts of the answers in one message: several for a batch, none if nothing needs them.
class receipts {
 public:
  void add(std::shared_ptr<receipt> entry) { entries_.push_back(std::move(entry)); }
  void add(receipts other) {
    if (entries_.empty()) return void(entries_.swap(other.entries_));
    for (auto& entry : other.entries_) entries_.push_back(std::move(entry));
  }
  /// Reports `outcome` to all receipts.
  void report(delivery_outcome outcome) const {
    for (const auto& entry : entries_) entry->report(outcome);
  }
  /// The same, and releases the receipts.
  void finish(delivery_outcome outcome) {
    for (const auto& entry : std::exchange(entries_, {})) entry->report(outcome);
  }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }

 private:
  std::vector<std::shared_ptr<receipt>> entries_;
};

/// One JSON message as a sequence of pieces. Movable, not copyable.
///
/// Small contents in memory are encoded when they are added. Large contents and streams are encoded in pieces by `pull`, so
/// that a waiting message holds its content only once and unencoded. Contents from a cache of encoded data are sent directly
/// from the cache (`take_cached`). The cache shares them and may drop its reference meanwhile.
/// Threads: one at a time.
class body {
 public:
  body() = default;
  explicit body(std::string text);
  body(body&&) noexcept = default;
  body& operator=(body&&) noexcept = default;

  /// The ready text at the end of the message, to which JSON can be appended.
  [[nodiscard]] std::string& text();
  /// Appends a content in its JSON form without quotes: escaped text or base64. `reader_executor`: the executor for calls of
  /// its reader.
  void append(bytes::prepared_content content, const std::shared_ptr<executor::executor>& reader_executor);
  /// Appends all pieces of another body, with its receipts.
  void append(body other);

  /// Makes `counter` count the bytes of this message: ready text now, other pieces when they are pulled.
  /// The sender counts cached pieces. The sender must take `attached_receipts` and report the outcome to them; a body that is
  /// destroyed reports `disconnected`.
  void attach_receipt(const std::shared_ptr<receipt>& counter);
  /// The receipts for this message, which can contain several answers.
  [[nodiscard]] const receipts& attached_receipts() const noexcept { return receipts_; }
  /// Takes the receipts of a message that this one replaces.
  void add_receipts(receipts added) { receipts_.add(std::move(added)); }

  /// Whether the message is a single text, which `extract_text` returns completely.
  [[nodiscard]] bool is_single_text() const noexcept;
  [[nodiscard]] std::string extract_text();
  /// Encodes all content in memory, so that its owners get it back. Returns false if a stream remains, which only `pull` can
  /// read.
  bool encode_content();
  /// The bytes that this message holds in memory while it waits. A stream counts as one piece; cached pieces count in their
  /// cache.
  [[nodiscard]] std::size_t buffered_bytes() const noexcept;
  /// A lower bound of `buffered_bytes` after `encode_content`: content in memory grows when it is encoded.
  [[nodiscard]] std::size_t min_encoded_bytes() const noexcept;
  /// The total length, if no piece needs to be encoded or pulled.
  [[nodiscard]] std::optional<std::size_t> length() const noexcept;

  /// The executor on which `pull` must be called: that of the next stream; null when the next piece is in memory.
  [[nodiscard]] std::shared_ptr<executor::executor> next_executor() const;
  /// Whether the next piece is cached, possibly after a text. `take_text_piece` and `take_cached` then return them without
  /// copying.
  [[nodiscard]] bool is_next_cached() const noexcept;
  struct cached_content {
    shared_bytes json_text;            ///< To be written unchanged.
    std::shared_ptr<receipt> counter;  ///< The writer must count the written bytes here; may be null.
  };
  /// Takes the next piece if it is cached. Otherwise `json_text` is null, and `pull` must be used.
  [[nodiscard]] cached_content take_cached();
  /// Takes the next piece if it is text; otherwise empty.
  [[nodiscard]] std::string take_text_piece();
  /// Whether any piece is left.
  [[nodiscard]] bool has_more() const noexcept { return !first_.empty() || next_ < pieces_.size(); }
  /// Appends the next piece, of about 192 KiB, to `out`. Returns false when the message is complete. May block if a stream is
  /// next.
  /// Errors: content_changed when the bytes differ from the first pass; errors of the reader. The message must then be cut off,
  /// so that no client takes it for well-formed.
  [[nodiscard]] result<bool> pull(json::buffer& out);
  /// The same, for callers that cannot reuse a buffer.
  [[nodiscard]] result<bool> pull(std::string& out);

 private:
  struct stream_piece {
    std::shared_ptr<byte_reader> reader;
    bytes::digest expected{};
    bool is_text = false;
    std::shared_ptr<executor::executor> reader_executor;
    bytes::digester digest;
    std::shared_ptr<receipt> counter{};
  };
  /// Content in memory that is encoded while it is sent.
  struct buffered_piece {
    shared_bytes bytes;
    std::size_t next = 0;
    bool is_text = false;
    std::shared_ptr<receipt> counter{};
  };
  struct cached_piece {
    shared_bytes json_text;
    std::size_t next = 0;
    std::shared_ptr<receipt> counter{};
  };
  using piece = std::variant<std::string, buffered_piece, stream_piece, cached_piece>;

  static bool pull_buffered(buffered_piece& source, json::buffer& out);
  static bool pull_cached(cached_piece& source, json::buffer& out);
  static result<bool> pull_stream(stream_piece& source, json::buffer& out);

  std::string first_;          // most messages consist only of this text
  std::vector<piece> pieces_;  // after `first_`; the first of them is not text
  std::size_t next_ = 0;
  bool is_started_ = false;  // a part has been taken
  receipts receipts_;
};

/// Calls `body::pull` on the executor that its stream requires, and waits until `deadline`.
/// Errors: as `body::pull`; timed_out when the source does not deliver in time. The body must then not be used again.
[[nodiscard]] result<bool> pull_until(const std::shared_ptr<body>& source, std::string& out,
                                      executor::clock::time_point deadline);

}  // namespace hondana::rpc
