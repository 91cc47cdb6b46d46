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
/// data of one piece; text is passed in well-formed pieces. Everything else is stored, up to `limits::message_bytes`. Without a
/// sink, the whole message is stored.
///
/// The stored message may still be invalid JSON: structure and strings were checked; numbers, literals and UTF-8 were not.
/// Errors: broken_protocol for invalid JSON or content; response_too_large with the name of the limit; errors of the sink.
/// Threads: one at a time.
class message_intake {
 public:
  message_intake(const limits& most, content_sink sink);

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
  void only_look();
  /// Prepares for the next message, with the same sink.
  void reset();

 private:
  void take(const json::scanner::part& part, const char*& kept_from);
  void look_for_id(const json::scanner::part& part);
  [[nodiscard]] bool is_content() const noexcept;
  void begin_content();
  void add_content(std::string_view decoded);
  void add_blob(std::string_view characters);
  void end_content();
  void hand_on(std::string_view text);
  void give(std::string_view bytes);
  void keep(const char* from, const char* end);
  void fail_with(failure why);

  limits most_;
  content_sink sink_;
  json::scanner scanner_;
  std::string kept_;
  std::optional<failure> failure_;
  bool is_malformed_ = false;
  bool only_looks_ = false;
  bool has_method_ = false;

  enum class id_state : std::uint8_t { unseen, coming, seen, unusable };
  id_state id_state_ = id_state::unseen;
  std::string id_;

  bool is_in_content_ = false;
  bool is_blob_ = false;
  std::size_t item_ = 0;
  std::optional<std::size_t> begun_item_;
  std::uint64_t given_ = 0;
  std::string decoded_;  // not passed on yet; between pieces at most 3 bytes
  json::base64_stream base64_;
};

/// How long to wait for the id of a message.
struct patience {
  std::size_t unnamed_bytes = 64u << 10;  ///< After this many bytes without an id, `late_route` decides.
  std::uint64_t held_bytes = 8ull << 30;  ///< Maximum size of a buffered message. More than 1 MiB is buffered on disk.
};

/// A `message_intake` whose sink depends on the id of the message.
/// If the id arrives late, the contents go to a guessed sink, are stored in memory, or are buffered until the id arrives.
/// Additional errors: source_unavailable when there is no space to buffer; response_too_large beyond `patience::held_bytes`.
/// Threads: one at a time.
class routed_intake {
 public:
  /// Returns the sink for the contents of the message with this id (JSON text); empty: store everything.
  using route = std::function<content_sink(const std::string& id)>;
  /// Decides about a message whose id has not arrived yet. A sink: contents go there, and the caller must check the id at the
  /// end.
  /// An empty sink: store everything. Nothing: buffer the message.
  using late_route = std::function<std::optional<content_sink>()>;

  /// Uses this sink for all messages.
  routed_intake(const limits& most, content_sink sink);
  routed_intake(const limits& most, route chooses, late_route chooses_late = {}, const patience& waits = {});

  /// As in `message_intake`.
  result<void> feed(std::string_view piece);
  [[nodiscard]] result<std::string> finish();
  /// Passes the complete message to `takes`, or each message of a batch in turn, whose contents are passed on then.
  /// `id` and `has_method` refer to the message being passed. Additional errors: broken_protocol for an array that is empty or
  /// has more than 1000 messages.
  /// Spec: 2025-03-26 basic#batching.
  void finish_each(const std::function<void(result<std::string>)>& takes);
  [[nodiscard]] std::optional<std::string> id() const;
  [[nodiscard]] bool has_method() const noexcept { return plain_.has_method() || (chosen_ && chosen_->has_method()); }
  /// Whether the message is buffered until its id arrives. Still true during the call of `route` for it.
  [[nodiscard]] bool is_holding() const noexcept { return is_held_ && !is_decided_; }
  void reset();

 private:
  result<void> hold(std::string_view piece);
  result<void> decide(const content_sink& sink, std::string_view piece);
  result<void> hand_over(const content_sink& sink, disk::spool from);
  result<void> give_up(failure why);

  limits most_;
  patience waits_;
  route chooses_;
  late_route chooses_late_;
  message_intake plain_;
  std::optional<message_intake> chosen_;
  disk::spool begun_;  // the message until a sink is chosen
  bool is_held_ = false;
  bool is_decided_ = false;
  std::optional<failure> trouble_;
};

}  // namespace hondana::channel
