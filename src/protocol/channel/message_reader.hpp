/// Reads JSON messages in pieces, finds the id of each, and passes contents to a sink as they arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "base/json/base64.hpp"
#include "base/json/scanner.hpp"
#include "os/disk/spool.hpp"
#include "protocol/channel/channel.hpp"

namespace hondana::channel {

/// Reads one JSON message in pieces.
/// Decodes the strings `result.contents[N].text` and `.blob` and passes them to the sink, at most 64 KiB or the data of one
/// piece at a time. Text is passed as well-formed UTF-8. Stores the rest of the message, up to `limits::max_message_bytes`.
///
/// Errors: protocol_error for invalid JSON or content; response_too_large, whose text names the limit; errors of the sink.
/// Threads: one at a time.
class message_reader {
 public:
  /// `sink`: empty: the whole message is stored.
  message_reader(const limits& limits, content_sink sink);

  /// Reads a piece. After a failure, later pieces are only scanned for the id, and `feed` returns the same failure.
  result<void> feed(std::string_view piece);
  /// Returns the message, with "" in place of the strings that went to the sink. Its structure and strings were checked, but
  /// not its numbers, literals and UTF-8. Afterwards only `id`, `has_method`, `is_array` and `reset` may be called.
  [[nodiscard]] result<std::string> finish();
  /// The id of the message as JSON text, once it has arrived completely, also for a message that failed. Otherwise nullopt.
  /// Also nullopt for an id longer than 256 bytes. If there are several, the first one.
  [[nodiscard]] std::optional<std::string> id() const;
  /// Whether a method has arrived. The message is then not an answer but a request or notification of the server.
  [[nodiscard]] bool has_method() const noexcept { return has_method_; }
  /// Whether the message is an array (a batch), as far as it has arrived. Contents in batches do not go to the sink.
  [[nodiscard]] bool is_array() const noexcept { return scanner_.is_array(0); }
  /// Discards the stored message. Later pieces are only scanned for the id, a method and JSON errors.
  void scan_only();
  /// Prepares for the next message, with the same sink.
  void reset();

 private:
  void process(const json::scanner::part& part, const char*& pending_begin);
  void scan_id(const json::scanner::part& part);
  [[nodiscard]] bool is_content() const noexcept;
  void begin_content();
  void add_content(std::string_view decoded);
  void add_blob(std::string_view characters);
  void end_content();
  void flush_text(std::string_view text);
  void deliver(std::string_view bytes);
  void store(const char* begin, const char* end);
  void fail_with(failure error);

  limits limits_;
  content_sink sink_;
  json::scanner scanner_;
  std::string stored_;
  std::optional<failure> failure_;
  bool is_malformed_ = false;
  bool is_scan_only_ = false;
  bool has_method_ = false;

  enum class id_state : std::uint8_t { unseen, partial, complete, unusable };
  id_state id_state_ = id_state::unseen;
  std::string id_;

  bool is_in_content_ = false;
  bool is_blob_ = false;
  std::size_t item_index_ = 0;
  std::optional<std::size_t> last_item_;
  std::uint64_t delivered_bytes_ = 0;
  std::string decoded_;  // not passed on yet; between pieces at most 3 bytes
  json::base64_stream base64_;
};

/// How long `routing_reader` waits for the id of a message.
struct id_wait_limits {
  std::size_t max_bytes_without_id = 64u << 10;   ///< After this many bytes without an id, `late_sink_selector` decides.
  std::uint64_t max_buffered_bytes = 8ull << 30;  ///< Maximum size of a buffered message. More than 1 MiB is buffered on disk.
};

/// Reads one JSON message in pieces, like `message_reader`, and selects the sink by the id of the message.
/// If the id arrives late, the contents go to a guessed sink, are stored in memory, or are buffered until the id arrives.
/// Additional errors: source_unavailable if there is no space to buffer; response_too_large beyond
/// `id_wait_limits::max_buffered_bytes`. Threads: one at a time.
class routing_reader {
 public:
  /// Returns the sink for the contents of the message with this id (JSON text); empty: store the whole message.
  using sink_selector = std::function<content_sink(const std::string& id)>;
  /// Decides about a message whose id has not arrived after `id_wait_limits::max_bytes_without_id`.
  /// A sink: it gets the contents, and the caller must check the id at the end. An empty sink: store the whole message.
  /// nullopt: buffer the message.
  using late_sink_selector = std::function<std::optional<content_sink>()>;

  /// Uses this sink for all messages.
  routing_reader(const limits& limits, content_sink sink);
  /// Selects a sink for each message. `select_late_sink`: empty: messages with a late id are buffered.
  routing_reader(const limits& limits, sink_selector select_sink, late_sink_selector select_late_sink = {},
                 const id_wait_limits& wait_limits = {});

  /// As `message_reader::feed`.
  result<void> feed(std::string_view piece);
  /// As `message_reader::finish`. First passes the contents of a message that is still buffered to its sink.
  [[nodiscard]] result<std::string> finish();
  /// Like `finish`, but passes the message to `consume`; of a batch, each of its messages in turn. Contents in a batch go to
  /// their sink before `consume` gets their message. `id` and `has_method` then refer to this message.
  /// Additional errors: protocol_error for an array that is empty or has more than 1000 messages.
  /// Spec: 2025-03-26 basic#batching.
  void finish_each(const std::function<void(result<std::string>)>& consume);
  /// As `message_reader::id`.
  [[nodiscard]] std::optional<std::string> id() const;
  /// As `message_reader::has_method`.
  [[nodiscard]] bool has_method() const noexcept {
    return plain_reader_.has_method() || (sink_reader_ && sink_reader_->has_method());
  }
  /// Whether the message is buffered until its id arrives. Still true while `sink_selector` is called for it.
  [[nodiscard]] bool is_buffering() const noexcept { return is_buffered_ && !is_decided_; }
  /// Prepares for the next message.
  void reset();

 private:
  result<void> buffer(std::string_view piece);
  result<void> decide(const content_sink& sink, std::string_view piece);
  result<void> replay(const content_sink& sink, disk::spool buffered);
  result<void> give_up(failure error);

  limits limits_;
  id_wait_limits wait_limits_;
  sink_selector select_sink_;
  late_sink_selector select_late_sink_;
  message_reader plain_reader_;                // reads without a selected sink
  std::optional<message_reader> sink_reader_;  // reads with the selected sink
  disk::spool buffered_;                       // the message until a sink is selected
  bool is_buffered_ = false;
  bool is_decided_ = false;
  std::optional<failure> failure_;
};

}  // namespace hondana::channel
