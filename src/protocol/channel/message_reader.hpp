/// Reads JSON messages in pieces, finds the call that each belongs to, and passes content on as it arrives.
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
/// With a sink, the strings `result.contents[N].text` and `.blob` go there, decoded. Each call passes at most 64 KiB or the
/// data of one piece; text is passed in well-formed pieces. Everything else is stored, up to `limits::max_message_bytes`.
/// Without a sink, the whole message is stored.
///
/// The stored message may still be invalid JSON: structure and strings were checked; numbers, literals and UTF-8 were not.
/// Errors: protocol_error for invalid JSON or content; response_too_large with the name of the limit; errors of the sink.
/// Threads: one at a time.
class message_reader {
 public:
  message_reader(const limits& limits, content_sink sink);

  /// Processes a piece. A failure is final: later pieces are only scanned for the id.
  result<void> feed(std::string_view piece);
  /// Returns the message, with "" in place of the strings that went to the sink. Afterwards only `id` and `reset` may be
  /// called.
  [[nodiscard]] result<std::string> finish();
  /// The id of the message as JSON text, once it has arrived completely; also for a message that failed.
  /// Nothing for an id longer than 256 bytes. If there are several, the first one.
  [[nodiscard]] std::optional<std::string> id() const;
  /// Whether the part read so far contains a method. The message is then not an answer, and its id belongs to its sender.
  [[nodiscard]] bool has_method() const noexcept { return has_method_; }
  /// Whether the message is an array (a batch), according to the part read so far. Contents in batches do not go to the sink.
  [[nodiscard]] bool is_array() const noexcept { return scanner_.is_array(0); }
  /// From now on, input is neither stored nor passed on. It is only scanned for the id, a method and JSON errors.
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

/// How long to wait for the id of a message.
struct id_wait_limits {
  std::size_t max_bytes_without_id = 64u << 10;   ///< After this many bytes without an id, `late_sink_selector` decides.
  std::uint64_t max_buffered_bytes = 8ull << 30;  ///< Maximum size of a buffered message. More than 1 MiB is buffered on disk.
};

/// A `message_reader` whose sink depends on the id of the message.
/// If the id arrives late, the contents go to a guessed sink, are stored in memory, or are buffered until the id arrives.
/// Additional errors: source_unavailable when there is no space to buffer; response_too_large beyond
/// `id_wait_limits::max_buffered_bytes`. Threads: one at a time.
class routing_reader {
 public:
  /// Returns the sink for the contents of the message with this id (JSON text); empty: store everything.
  using sink_selector = std::function<content_sink(const std::string& id)>;
  /// Decides about a message whose id has not arrived yet. A sink: contents go there, and the caller must check the id at the
  /// end.
  /// An empty sink: store everything. Nothing: buffer the message.
  using late_sink_selector = std::function<std::optional<content_sink>()>;

  /// Uses this sink for all messages.
  routing_reader(const limits& limits, content_sink sink);
  routing_reader(const limits& limits, sink_selector select_sink, late_sink_selector select_late_sink = {},
                 const id_wait_limits& wait_limits = {});

  /// As in `message_reader`.
  result<void> feed(std::string_view piece);
  [[nodiscard]] result<std::string> finish();
  /// Passes the complete message to `consume`, or each message of a batch in turn, whose contents are passed on then.
  /// `id` and `has_method` refer to the message being passed. Additional errors: protocol_error for an array that is empty or
  /// has more than 1000 messages.
  /// Spec: 2025-03-26 basic#batching.
  void finish_each(const std::function<void(result<std::string>)>& consume);
  [[nodiscard]] std::optional<std::string> id() const;
  [[nodiscard]] bool has_method() const noexcept {
    return plain_reader_.has_method() || (sink_reader_ && sink_reader_->has_method());
  }
  /// Whether the message is buffered until its id arrives. Still true during the call of `sink_selector` for it.
  [[nodiscard]] bool is_buffering() const noexcept { return is_buffered_ && !is_decided_; }
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
  message_reader plain_reader_;
  std::optional<message_reader> sink_reader_;
  disk::spool buffered_;  // the message until a sink is selected
  bool is_buffered_ = false;
  bool is_decided_ = false;
  std::optional<failure> failure_;
};

}  // namespace hondana::channel
