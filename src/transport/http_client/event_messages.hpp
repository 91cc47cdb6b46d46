/// Messages out of a stream of server-sent events.
#pragma once

#include <cstdint>
#include <hondana/error.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/channel/channel.hpp"
#include "protocol/channel/routed_intake.hpp"
#include "transport/http_client/event_decoder.hpp"

namespace hondana::transport::http_client {

/// Hears what a stream of events holds. `id`: the message's own as JSON text, as far as it is known.
class message_hearer {
 public:
  message_hearer() = default;
  message_hearer(const message_hearer&) = delete;
  message_hearer& operator=(const message_hearer&) = delete;
  virtual ~message_hearer() = default;
  virtual void message(std::string text, const std::optional<std::string>& id) = 0;
  /// A message could not be taken, and is skipped.
  virtual void spoiled(failure why, const std::optional<std::string>& id) = 0;
  /// An event that is no message, cut to 8 KiB.
  virtual void other(std::string_view type, std::string_view data);
};

/// Events without a name or of the name `message` are messages; those without data only carry ids. Threads: one at a time.
class event_messages final : public event_decoder::hearer {
 public:
  /// When a message turns out to be unusable: at once, as far as its id is known then, or at its end.
  enum class when_spoiled : std::uint8_t { at_once, at_end };

  event_messages(message_hearer& tell, channel::routed_intake intake, when_spoiled when);

  void feed(std::string_view bytes) {
    noise_ += bytes.size();
    decoder_.feed(bytes);
  }
  /// Bytes since the last call of this that belong to no message: comments, other events, malformed messages.
  [[nodiscard]] std::size_t take_noise() noexcept { return std::exchange(noise_, 0); }
  /// As `event_decoder::restart`.
  void restart();
  [[nodiscard]] const event_decoder& decoder() const noexcept { return decoder_; }
  /// How much data there has been in all events so far.
  [[nodiscard]] std::uint64_t data_bytes() const noexcept { return data_bytes_; }
  /// The id of the message that is coming, once known.
  [[nodiscard]] std::optional<std::string> coming_id() const { return intake_.id(); }
  /// Whether the message that is coming is held back until its id is known.
  [[nodiscard]] bool is_holding() const noexcept { return intake_.is_holding(); }

 private:
  void data(std::string_view type, std::string_view piece) override;
  void event(std::string_view type) override;
  void forget();

  message_hearer& tell_;
  when_spoiled when_;
  event_decoder decoder_;
  channel::routed_intake intake_;
  bool has_begun_ = false;
  bool is_spoiled_ = false;
  failure why_{};
  std::string other_;
  std::size_t noise_ = 0;
  std::size_t event_bytes_ = 0;  // of the message that is coming
  std::uint64_t data_bytes_ = 0;
};

}  // namespace hondana::transport::http_client
