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
enum class departure : std::uint8_t {
  sent,  ///< Completely passed to the connection.
  cut,   ///< Partially: its source failed, or its client stopped reading for too long.
  gone,  ///< Not completely: the client was disconnected.
};

/// Counts the bytes of one answer as they are written, and reports once how the answer was sent.
///
/// Threads: any. The listener is called by the sender, possibly while it holds locks. It must return quickly.
class receipt {
 public:
  using listener = std::function<void(departure how, std::uint64_t bytes)>;

  explicit receipt(listener hears) : hears_(std::move(hears)) {}
  receipt(const receipt&) = delete;
  receipt& operator=(const receipt&) = delete;
  /// An answer that is destroyed unsent counts as `gone`.
  ~receipt() { tell(departure::gone); }

  void count(std::size_t bytes) noexcept { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  /// Ignored after the first call.
  void tell(departure how) {
    if (!is_told_.exchange(true)) hears_(how, bytes_.load(std::memory_order_relaxed));
  }

 private:
  const listener hears_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<bool> is_told_{false};
};

/// The receipts of the answers in one message: several for a batch, none if nothing needs them.
class receipts {
 public:
  void add(std::shared_ptr<receipt> one) { all_.push_back(std::move(one)); }
  void add(receipts other) {
    if (all_.empty()) return void(all_.swap(other.all_));
    for (auto& one : other.all_) all_.push_back(std::move(one));
  }
  /// Reports `how` to all receipts.
  void tell(departure how) const {
    for (const auto& one : all_) one->tell(how);
  }
  /// The same, and releases the receipts.
  void settle(departure how) {
    for (const auto& one : std::exchange(all_, {})) one->tell(how);
  }
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }

 private:
  std::vector<std::shared_ptr<receipt>> all_;
};

/// One JSON message as a sequence of pieces. Movable, not copyable.
///
/// Small contents in memory are encoded when they are added. Large contents and streams are encoded in pieces by `pull`, so
/// that a waiting message holds its content only once and unencoded. Contents from a cache of encoded data are *lent*: they are
/// sent directly from the cache (`take_lent`). The cache shares them and may drop its reference meanwhile.
/// Threads: one at a time.
class body {
 public:
  body() = default;
  explicit body(std::string text);
  body(body&&) noexcept = default;
  body& operator=(body&&) noexcept = default;

  /// The ready text at the end of the message, to which JSON can be appended.
  [[nodiscard]] std::string& text();
  /// Appends a content in its JSON form without quotes: escaped text or base64. `home`: the executor for calls of its reader.
  void append(bytes::prepared content, const std::shared_ptr<executor::lane>& home);
  /// Appends all pieces of another body, with its receipts.
  void append(body other);

  /// Makes `one` count the bytes of this message: ready text now, other pieces when they are pulled.
  /// The sender counts lent pieces. The sender must take `sent_for` and report the result to it; a body that is destroyed
  /// reports `gone`.
  void watch(const std::shared_ptr<receipt>& one);
  /// The receipts for this message, which can contain several answers.
  [[nodiscard]] const receipts& sent_for() const noexcept { return receipts_; }
  /// Takes the receipts of a message that this one replaces.
  void stand_for(receipts of) { receipts_.add(std::move(of)); }

  /// Whether the message is a single text, which `take_text` returns completely.
  [[nodiscard]] bool is_whole() const noexcept;
  [[nodiscard]] std::string take_text();
  /// Encodes all content in memory, so that its owners get it back. Returns false if a stream remains, which only `pull` can
  /// read.
  bool settle();
  /// The bytes that this message holds in memory while it waits. A stream counts as one piece; lent pieces count in their
  /// cache.
  [[nodiscard]] std::size_t bytes_held() const noexcept;
  /// A lower bound of `bytes_held` after `settle`: content in memory grows when it is encoded.
  [[nodiscard]] std::size_t bytes_once_settled() const noexcept;
  /// The total length, if no piece needs to be encoded or pulled.
  [[nodiscard]] std::optional<std::size_t> length() const noexcept;

  /// The executor on which `pull` must be called: that of the next stream; null when the next piece is in memory.
  [[nodiscard]] std::shared_ptr<executor::lane> next_lane() const;
  /// Whether the next piece is lent, possibly after a text. `take_ready` and `take_lent` then return them without copying.
  [[nodiscard]] bool lends_next() const noexcept;
  struct loan {
    shared_bytes inside;                  ///< To be written unchanged.
    std::shared_ptr<receipt> counted_by;  ///< The writer must count the written bytes here; may be null.
  };
  /// Takes the next piece if it is lent. Otherwise `inside` is null, and `pull` must be used.
  [[nodiscard]] loan take_lent();
  /// Takes the next piece if it is text; otherwise empty.
  [[nodiscard]] std::string take_ready();
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
  struct pulled {
    std::shared_ptr<byte_reader> reader;
    bytes::digest expected{};
    bool is_text = false;
    std::shared_ptr<executor::lane> home;
    bytes::digester digest;
    std::shared_ptr<receipt> counted_by{};
  };
  /// Content in memory that is encoded while it is sent.
  struct held {
    shared_bytes bytes;
    std::size_t next = 0;
    bool is_text = false;
    std::shared_ptr<receipt> counted_by{};
  };
  struct lent {
    shared_bytes inside;
    std::size_t next = 0;
    std::shared_ptr<receipt> counted_by{};
  };
  using piece = std::variant<std::string, held, pulled, lent>;

  static bool pull_held(held& from, json::buffer& out);
  static bool pull_lent(lent& from, json::buffer& out);
  static result<bool> pull_stream(pulled& from, json::buffer& out);

  std::string first_;          // most messages consist only of this text
  std::vector<piece> pieces_;  // after `first_`; the first of them is not text
  std::size_t next_ = 0;
  bool is_begun_ = false;  // a part has been taken
  receipts receipts_;
};

/// Calls `body::pull` on the executor that its stream requires, and waits until `deadline`.
/// Errors: as `body::pull`; timed_out when the source does not deliver in time. The body must then not be used again.
[[nodiscard]] result<bool> pull_until(const std::shared_ptr<body>& from, std::string& out,
                                      executor::clock::time_point deadline);

}  // namespace hondana::rpc
