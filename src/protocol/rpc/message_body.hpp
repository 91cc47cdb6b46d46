/// The body of an outgoing message, whose content may be read while it is sent, and receipts that report its delivery.
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
  sent,          ///< Passed to the connection completely.
  truncated,     ///< Passed partially: its source failed, or its client stopped reading for too long.
  disconnected,  ///< Passed partially or not at all: the client was disconnected.
};

/// Counts the bytes of one answer as they are written, and reports once to its listener how the answer was sent.
/// Threads: any.
class receipt {
 public:
  /// `bytes`: the number of counted bytes. Called by the sender, possibly while it holds locks. Must return quickly.
  using listener = std::function<void(delivery_outcome outcome, std::uint64_t bytes)>;

  explicit receipt(listener on_sent) : on_sent_(std::move(on_sent)) {}
  receipt(const receipt&) = delete;
  receipt& operator=(const receipt&) = delete;
  /// Reports `disconnected` if there was no other report.
  ~receipt() { report(delivery_outcome::disconnected); }

  /// Adds written bytes.
  void count(std::size_t bytes) noexcept { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  /// Calls the listener. Later calls have no effect.
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
  /// Reports `outcome` to all receipts and releases them.
  void finish(delivery_outcome outcome) {
    for (const auto& entry : std::exchange(entries_, {})) entry->report(outcome);
  }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }

 private:
  std::vector<std::shared_ptr<receipt>> entries_;
};

/// One JSON message as a sequence of pieces: ready text, content in memory, streams, and cached pieces. Not copyable.
///
/// Small contents in memory are encoded when they are appended. `pull` encodes large ones and streams piece by piece, so that
/// they wait unencoded. Cached pieces, from a cache of encoded contents, are sent without copying (`take_cached`).
/// Threads: one at a time.
class body {
 public:
  body() = default;
  /// A message that begins with `text`.
  explicit body(std::string text);
  body(body&&) noexcept = default;
  body& operator=(body&&) noexcept = default;

  /// The ready text at the end of the message, to which JSON can be appended. Valid until the next call of another function.
  [[nodiscard]] std::string& text();
  /// Appends a content as it occurs in JSON, without quotation marks: escaped text or base64.
  /// `reader_executor`: for a stream, the executor on which its reader must be called.
  void append(bytes::prepared_content content, const std::shared_ptr<executor::executor>& reader_executor);
  /// Appends all pieces of another body, with its receipts.
  void append(body other);

  /// Makes `counter` count the bytes of this message: ready text now, other pieces when `pull` encodes them.
  /// Does not count what is appended later. The sender must count pieces from `take_cached`, and report the outcome to
  /// `attached_receipts`.
  void attach_receipt(const std::shared_ptr<receipt>& counter);
  /// The receipts of this message. It can contain several answers.
  [[nodiscard]] const receipts& attached_receipts() const noexcept { return receipts_; }
  /// Adds the receipts of a message that this one replaces.
  void add_receipts(receipts added) { receipts_.add(std::move(added)); }

  /// Whether the message consists of one ready text, so that `extract_text` returns all of it.
  [[nodiscard]] bool is_single_text() const noexcept;
  /// Takes the ready text at the start of the message.
  [[nodiscard]] std::string extract_text();
  /// Encodes all contents in memory and copies cached pieces, so that the message no longer shares them.
  /// Returns false if a stream remains, which only `pull` can read. Also returns false, and does nothing, if a piece was taken.
  bool encode_content();
  /// The number of bytes that this message needs in memory. A stream counts as one piece of 192 KiB. Cached pieces do not
  /// count.
  [[nodiscard]] std::size_t buffered_bytes() const noexcept;
  /// A lower bound of `buffered_bytes` after `encode_content`, which makes contents longer.
  [[nodiscard]] std::size_t min_encoded_bytes() const noexcept;
  /// The length of the remaining message; nullopt if it has pieces that `pull` must encode.
  [[nodiscard]] std::optional<std::size_t> length() const noexcept;

  /// The executor on which the next `pull` must be called; null: any thread, because the next piece is in memory.
  [[nodiscard]] std::shared_ptr<executor::executor> next_executor() const;
  /// Whether `take_cached` returns the next piece, or the one after `take_text_piece`.
  [[nodiscard]] bool is_next_cached() const noexcept;
  struct cached_content {
    shared_bytes json_text;            ///< To be written unchanged.
    std::shared_ptr<receipt> counter;  ///< The sender must count the written bytes here; may be null.
  };
  /// Takes the next piece if it is cached. Otherwise `json_text` is null, and `pull` must be used.
  [[nodiscard]] cached_content take_cached();
  /// Takes the next piece if it is text; otherwise returns an empty string.
  [[nodiscard]] std::string take_text_piece();
  /// Whether any piece is left.
  [[nodiscard]] bool has_more() const noexcept { return !first_.empty() || next_ < pieces_.size(); }
  /// Takes the next piece, or about 192 KiB of it, and appends it to `out`. Returns false if the message is then complete.
  /// Blocks while it reads a stream.
  /// Errors: content_changed if a stream differs from its digest; errors of its reader. The sender must then end the connection
  /// or stream, so that no client takes the message for complete.
  [[nodiscard]] result<bool> pull(json::buffer& out);
  /// Like the overload for buffers, for callers that cannot reuse a buffer.
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
    std::size_t next = 0;  // the number of bytes already encoded
    bool is_text = false;
    std::shared_ptr<receipt> counter{};
  };
  struct cached_piece {
    shared_bytes json_text;
    std::size_t next = 0;  // the number of bytes already pulled
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

/// Calls `body::pull` on the executor that it requires, or on the calling thread, and waits for it until `deadline`.
/// Errors: as `body::pull` and `executor::submit`; internal if a reader throws; timed_out. After an error, the body must not be
/// used again.
[[nodiscard]] result<bool> pull_until(const std::shared_ptr<body>& source, std::string& out,
                                      executor::clock::time_point deadline);

}  // namespace hondana::rpc
