/// Takes JSON messages in pieces, finds the call that each belongs to, and passes content on as it arrives.
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

/// With a sink, the strings `result.contents[N].text` and `.blob` go there, decoded, each call with at most 64 KiB or what one
/// piece held; text in well-formed pieces. Everything else is kept, up to `limits::message_bytes`. Without a sink all is kept.
///
/// What is kept may still be no JSON: structure and strings were checked, numbers, literals and its UTF-8 were not.
/// Errors: broken_protocol for what cannot be JSON or content, response_too_large with the limit's name, and the sink's own.
/// Threads: one at a time.
class message_intake {
 public:
  message_intake(const limits& most, content_sink sink);

  /// A failure is final: what is fed then is only looked through for the id.
  result<void> feed(std::string_view piece);
  /// The whole message, with "" in place of what went to the sink. Afterwards only `id` and `reset` are of use.
  [[nodiscard]] result<std::string> finish();
  /// The id of the message as JSON text, once it has come whole, also of a message that failed. Nothing for one longer than
  /// 256 bytes; the first where there are several.
  [[nodiscard]] std::optional<std::string> id() const;
  /// Whether the message names a method, as far as it has come: then it is no answer, and its id is its sender's own.
  [[nodiscard]] bool has_method() const noexcept { return has_method_; }
  /// Whether it is an array, as far as it has come: a batch, none of whose messages' content goes to the sink.
  [[nodiscard]] bool is_array() const noexcept { return scanner_.is_array(0); }
  /// What follows is neither kept nor handed on, only looked through: for the id, a method, and whether it can be JSON.
  void only_look();
  /// For the next message, with the same sink.
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
  std::string decoded_;  // not handed on yet; between pieces at most 3 bytes
  json::base64_stream base64_;
};

/// How long a message's id is waited for.
struct patience {
  std::size_t unnamed_bytes = 64u << 10;  ///< After so many it is asked what to do without.
  std::uint64_t held_bytes = 8ull << 30;  ///< The most of one message that is held back, beyond a MiB on the disk.
};

/// A `message_intake` whose sink is chosen by the message's id. A message that names its id late goes to a sink that is
/// guessed, or is kept in memory, or is held back and handed on once the id has come. Errors besides: source_unavailable when
/// there is no room to hold it back, response_too_large beyond `patience::held_bytes`. Threads: one at a time.
class routed_intake {
 public:
  /// The sink for the content of the message with this id (JSON text); an empty one: all is kept.
  using route = std::function<content_sink(const std::string& id)>;
  /// What becomes of a message whose id is not known yet: a sink, to which it goes (whoever gives one looks at the id in the
  /// end), an empty one: all is kept; nothing: it is held back.
  using late_route = std::function<std::optional<content_sink>()>;

  /// All messages with this sink.
  routed_intake(const limits& most, content_sink sink);
  routed_intake(const limits& most, route chooses, late_route chooses_late = {}, const patience& waits = {});

  /// All as in `message_intake`.
  result<void> feed(std::string_view piece);
  [[nodiscard]] result<std::string> finish();
  /// The whole message, or each in turn of an array of them, whose content is handed on then; `id` and `has_method` are of the
  /// one that is told. Errors besides: broken_protocol for an array that is empty or has more than 1000 messages.
  /// Spec: 2025-03-26 basic#batching.
  void finish_each(const std::function<void(result<std::string>)>& takes);
  [[nodiscard]] std::optional<std::string> id() const;
  [[nodiscard]] bool has_method() const noexcept { return plain_.has_method() || (chosen_ && chosen_->has_method()); }
  /// Whether what has come is held back until its id comes. While `route` is asked still true of what it decides about.
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
  disk::spool begun_;  // the message, as long as nothing is decided
  bool is_held_ = false;
  bool is_decided_ = false;
  std::optional<failure> trouble_;
};

}  // namespace hondana::channel
