/// Decodes a stream of server-sent events into messages.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/error.hpp>

#include "protocol/channel/channel.hpp"
#include "protocol/channel/message_intake.hpp"

namespace hondana::transport::http_client {

/// Parses `text/event-stream`. Data is passed on as it arrives and not stored, so that events may have any length. Other fields
/// are stored up to the limits below. Threads: one at a time. Spec: HTML Living Standard 9.2.6,
/// basic/transports#streamable-http.
class event_decoder {
 public:
  /// A longer id cannot be sent back. The stream is then treated as one without ids.
  static constexpr std::size_t max_id_bytes = 1024;
  /// A longer type is unknown in any case, and is truncated.
  static constexpr std::size_t max_type_bytes = 64;
  /// A longer `retry` is reduced to this.
  static constexpr std::chrono::milliseconds max_retry{3'600'000};

  /// Receives the events.
  class hearer {
   public:
    hearer() = default;
    hearer(const hearer&) = delete;
    hearer& operator=(const hearer&) = delete;
    virtual ~hearer() = default;
    /// A piece of the data of the current event; lines are joined by line feeds. `type`: the event's type as far as it is
    /// known; empty means `message`.
    virtual void data(std::string_view type, std::string_view piece) = 0;
    /// The current event is complete. Not called for events without a data field.
    virtual void event(std::string_view type) = 0;
  };

  /// `tell` must outlive the decoder.
  explicit event_decoder(hearer& tell) noexcept : tell_(tell) {}

  void feed(std::string_view bytes);
  /// Starts a new connection: discards an incomplete event, and keeps id and `retry`.
  void restart() noexcept;

  /// Id for resuming after the last complete event; empty: the stream cannot be resumed.
  [[nodiscard]] const std::string& last_id() const noexcept { return last_id_; }
  /// Pause before reconnecting, if the server has sent one.
  [[nodiscard]] std::optional<std::chrono::milliseconds> retry() const noexcept { return retry_; }

 private:
  enum class place : std::uint8_t { name, before_value, value, ignored };
  enum class field : std::uint8_t { data, type, id, retry };

  void consume(std::string_view bytes);
  void take(std::string_view piece);
  void take_value(std::string_view piece);
  void begin_value();
  void end_line();
  void end_event();

  hearer& tell_;
  std::size_t bom_bytes_ = 0;
  bool is_past_bom_ = false;
  bool skips_line_feed_ = false;  // the second half of a CRLF
  place at_ = place::name;
  field field_ = field::data;
  std::string name_;
  std::string value_;  // of fields other than data
  bool is_value_too_long_ = false;
  bool has_data_ = false;
  std::string type_;
  std::string pending_id_;
  std::string last_id_;
  std::optional<std::chrono::milliseconds> retry_;
};

/// Receives the messages of an event stream. `id`: the message's id as JSON text, if it is known.
class message_hearer {
 public:
  message_hearer() = default;
  message_hearer(const message_hearer&) = delete;
  message_hearer& operator=(const message_hearer&) = delete;
  virtual ~message_hearer() = default;
  virtual void message(std::string text, const std::optional<std::string>& id) = 0;
  /// A message was unusable and is skipped.
  virtual void spoiled(failure why, const std::optional<std::string>& id) = 0;
  /// An event that is not a message, truncated to 8 KiB.
  virtual void other(std::string_view type, std::string_view data);
};

/// Turns events into messages. Events without type or of type `message` are messages; events without data only carry ids.
/// Threads: one at a time.
class event_messages final : public event_decoder::hearer {
 public:
  /// When to report an unusable message: immediately, if necessary without its id, or at its end.
  enum class when_spoiled : std::uint8_t { at_once, at_end };

  event_messages(message_hearer& tell, channel::routed_intake intake, when_spoiled when);

  void feed(std::string_view bytes) {
    noise_ += bytes.size();
    decoder_.feed(bytes);
  }
  /// Bytes since the last call that belong to no valid message: comments, other events, malformed messages.
  [[nodiscard]] std::size_t take_noise() noexcept { return std::exchange(noise_, 0); }
  /// See `event_decoder::restart`.
  void restart();
  [[nodiscard]] const event_decoder& decoder() const noexcept { return decoder_; }
  /// Data bytes of all events so far.
  [[nodiscard]] std::uint64_t data_bytes() const noexcept { return data_bytes_; }
  /// The id of the current message, once known.
  [[nodiscard]] std::optional<std::string> coming_id() const { return intake_.id(); }
  /// Whether the current message is held back until its id is known.
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
  std::size_t event_bytes_ = 0;  // of the current message
  std::uint64_t data_bytes_ = 0;
};

}  // namespace hondana::transport::http_client
