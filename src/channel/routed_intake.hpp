/// Takes messages of many calls, where only the id in a message tells whose content it holds.
#pragma once

#include <cstddef>
#include <functional>
#include <hondana/error.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "channel/channel.hpp"
#include "channel/message_intake.hpp"

namespace hondana::channel {

/// A `message_intake` whose sink is chosen by the message's id. A message that names its id only behind more than 64 KiB goes
/// to the sink for such, or is kept whole, up to the limit of messages in memory, and its content handed on at the end.
/// Threads: one at a time.
class routed_intake {
 public:
  /// The sink for the content of the message with this id (JSON text); an empty one: all is kept.
  using route = std::function<content_sink(const std::string& id)>;
  /// The sink for the content of a message whose id is not known yet; an empty one: all is kept. Whoever gives one looks at the
  /// id in the end.
  using late_route = std::function<content_sink()>;

  /// All messages with this sink.
  routed_intake(const limits& most, content_sink sink);
  routed_intake(const limits& most, route chooses, late_route chooses_late = {});

  /// All as in `message_intake`.
  result<void> feed(std::string_view piece);
  [[nodiscard]] result<std::string> finish();
  [[nodiscard]] std::optional<std::string> id() const { return id_ ? id_ : chosen_ ? chosen_->id() : plain_.id(); }
  [[nodiscard]] bool has_method() const noexcept { return chosen_ ? chosen_->has_method() : plain_.has_method(); }
  void reset();

 private:
  result<void> hand_over(const content_sink& sink, std::string_view begun, std::string_view piece);

  limits most_;
  route chooses_;
  late_route chooses_late_;
  message_intake plain_;
  std::optional<message_intake> chosen_;
  std::optional<std::string> id_;  // of a message whose sink has been chosen
  std::string begun_;              // as long as the id has not come
  bool is_decided_ = false;        // or too late to be, before the end
};

}  // namespace hondana::channel
