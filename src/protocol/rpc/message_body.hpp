/// An outgoing message: text that is ready, content pulled while it is sent, and the receipt of its delivery.
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

/// How an answer left.
enum class departure : std::uint8_t {
  sent,  ///< All of it was taken by the connection.
  cut,   ///< Half-way: its source failed, or its peer took nothing for too long.
  gone,  ///< Not all of it: nobody was there any more to take it.
};

/// Counts the bytes of one answer as they are written into its message, and tells once how it left.
///
/// Threads: any. The listener is called by whoever sends, maybe under locks of theirs: it takes a note and returns.
class receipt {
 public:
  using listener = std::function<void(departure how, std::uint64_t bytes)>;

  explicit receipt(listener hears) : hears_(std::move(hears)) {}
  receipt(const receipt&) = delete;
  receipt& operator=(const receipt&) = delete;
  /// An answer that nobody has any more is gone.
  ~receipt() { tell(departure::gone); }

  void count(std::size_t bytes) noexcept { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  /// What comes after the first call is ignored.
  void tell(departure how) {
    if (!is_told_.exchange(true)) hears_(how, bytes_.load(std::memory_order_relaxed));
  }

 private:
  const listener hears_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<bool> is_told_{false};
};

/// The receipts of the answers in one message: several of a batch, and none when nobody wants to know.
class receipts {
 public:
  void add(std::shared_ptr<receipt> one) { all_.push_back(std::move(one)); }
  void add(receipts other) {
    if (all_.empty()) return void(all_.swap(other.all_));
    for (auto& one : other.all_) all_.push_back(std::move(one));
  }
  /// Tells all.
  void tell(departure how) const {
    for (const auto& one : all_) one->tell(how);
  }
  /// The same, and lets go of them.
  void settle(departure how) {
    for (const auto& one : std::exchange(all_, {})) one->tell(how);
  }
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }

 private:
  std::vector<std::shared_ptr<receipt>> all_;
};

/// One JSON message as a row of pieces. Movable, never copied.
///
/// Small contents in memory are encoded when they are added; big ones and streams piece by piece in `pull`, so that a message
/// that waits holds its content once, unencoded. Contents that somebody keeps encoded are lent: they go out from where they
/// are kept (`take_lent`), which is shared and may be given up by whoever keeps it meanwhile.
/// Threads: one at a time.
class body {
 public:
  body() = default;
  explicit body(std::string text);
  body(body&&) noexcept = default;
  body& operator=(body&&) noexcept = default;

  /// Text appended to the ready tail; JSON is written straight into it.
  [[nodiscard]] std::string& text();
  /// Appends a content as the inside of a JSON string: escaped text or base64. `home` is where its reader may be called.
  void append(bytes::prepared content, const std::shared_ptr<executor::lane>& home);
  /// Appends all pieces of another body, with its receipts.
  void append(body other);

  /// From now on `one` counts what is written: what is text already at once, the rest as it is pulled, and what is lent by
  /// whoever takes it. Whoever sends this takes `sent_for` and tells it how that went; a body that is dropped tells that it is
  /// gone.
  void watch(const std::shared_ptr<receipt>& one);
  /// Whoever wants to know how this message leaves, which may be several answers.
  [[nodiscard]] const receipts& sent_for() const noexcept { return receipts_; }
  /// Takes over the receipts of a message of which this is another form.
  void stand_for(receipts of) { receipts_.add(std::move(of)); }

  /// Whether it is one text: then `take_text` is the whole message.
  [[nodiscard]] bool is_whole() const noexcept;
  [[nodiscard]] std::string take_text();
  /// Encodes what is in memory now, so that whoever lent it has it back; false when a stream is left, which only pulling ends.
  bool settle();
  /// Bytes this message holds in memory while it waits, encoded or not. A stream counts as one piece of it; what is lent counts
  /// where it is kept.
  [[nodiscard]] std::size_t bytes_held() const noexcept;
  /// What `bytes_held` will be after `settle`, and less where content in memory grows by being encoded then.
  [[nodiscard]] std::size_t bytes_once_settled() const noexcept;
  /// How long all of it is, while nothing of it has to be encoded or pulled.
  [[nodiscard]] std::optional<std::size_t> length() const noexcept;

  /// Where `pull` must be called: the lane of the stream that comes next, or nothing when what is next is in memory.
  [[nodiscard]] std::shared_ptr<executor::lane> next_lane() const;
  /// Whether what comes next is lent, maybe behind a text: then `take_ready` and `take_lent` have it without copying it.
  [[nodiscard]] bool lends_next() const noexcept;
  struct loan {
    shared_bytes inside;                  ///< To be written as it is.
    std::shared_ptr<receipt> counted_by;  ///< Told how much of it was, by whoever writes it; may be null.
  };
  /// What comes next, when that is lent, otherwise without `inside`: then `pull` has it.
  [[nodiscard]] loan take_lent();
  /// The text that comes next, when that is text.
  [[nodiscard]] std::string take_ready();
  /// Whether anything is left.
  [[nodiscard]] bool has_more() const noexcept { return !first_.empty() || next_ < pieces_.size(); }
  /// Appends the next piece, of about 192 KiB, to `out`; false when the message is complete.
  /// Errors: content_changed when the bytes differ from the first pass, and the reader's own; the message must then be cut
  /// off so that no peer takes it for well-formed. May block while a stream is next.
  [[nodiscard]] result<bool> pull(json::buffer& out);
  /// The same for those who cannot use a buffer again.
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

  std::string first_;          // most messages are this text and no more
  std::vector<piece> pieces_;  // behind it; the first of them is no text
  std::size_t next_ = 0;
  bool is_begun_ = false;  // something of it has been taken
  receipts receipts_;
};

/// As `body::pull`, on the lane its stream wants, waiting until `deadline`.
/// Errors: as `body::pull`; timed_out when the source does not deliver in time, and then the body must not be used again.
[[nodiscard]] result<bool> pull_until(const std::shared_ptr<body>& from, std::string& out,
                                      executor::clock::time_point deadline);

}  // namespace hondana::rpc
