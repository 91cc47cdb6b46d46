/// Takes messages of many calls, where only the id in a message tells whose content it holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <hondana/error.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "os/disk/spool.hpp"
#include "protocol/channel/channel.hpp"
#include "protocol/channel/message_intake.hpp"

namespace hondana::channel {

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
