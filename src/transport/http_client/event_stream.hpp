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
#include "protocol/channel/message_reader.hpp"

namespace hondana::transport::http_client {

/// Parses `text/event-stream` and calls a listener. Passes data on as it arrives, so that events may have any length. Stores
/// other fields up to the limits below. Threads: one at a time. Spec: HTML Living Standard 9.2.6,
/// basic/transports#streamable-http.
class event_decoder {
 public:
  /// A longer id cannot be sent back. The stream is then treated as one without ids.
  static constexpr std::size_t max_id_bytes = 1024;
  /// A longer type is unknown in any case, and is truncated.
  static constexpr std::size_t max_type_bytes = 64;
  /// A longer `retry` is reduced to this.
  static constexpr std::chrono::milliseconds max_retry{3'600'000};

  /// Receives the events, during `feed`.
  class listener {
   public:
    listener() = default;
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;
    virtual ~listener() = default;
    /// Receives a piece of the data of the current event; lines are joined by line feeds. `type`: the event's type, or empty if
    /// it has not arrived yet, or is the default type `message`.
    virtual void on_data(std::string_view type, std::string_view piece) = 0;
    /// Called at the end of an event. Not called for events without a data field.
    virtual void on_event(std::string_view type) = 0;
  };

  /// `listener` must outlive the decoder.
  explicit event_decoder(listener& listener) noexcept : listener_(listener) {}

  void feed(std::string_view bytes);
  /// Prepares for the data of a new connection: discards an incomplete event, and keeps `last_id` and `retry`.
  void restart() noexcept;

  /// The id of the last complete event, to resume the stream after it; empty: the stream cannot be resumed.
  [[nodiscard]] const std::string& last_id() const noexcept { return last_id_; }
  /// The pause before reconnecting that the server has sent; empty: none.
  [[nodiscard]] std::optional<std::chrono::milliseconds> retry() const noexcept { return retry_; }

 private:
  enum class line_part : std::uint8_t { name, before_value, value, ignored };
  enum class field : std::uint8_t { data, type, id, retry };

  void consume(std::string_view bytes);
  void parse_piece(std::string_view piece);
  void append_value(std::string_view piece);
  void begin_value();
  void end_line();
  void end_event();

  listener& listener_;
  std::size_t bom_bytes_ = 0;
  bool is_past_bom_ = false;
  bool skips_line_feed_ = false;  // the second half of a CRLF
  line_part line_part_ = line_part::name;
  field field_ = field::data;
  std::string name_;
  std::string value_;  // of fields other than data
  bool is_value_too_long_ = false;
  bool has_data_ = false;
  std::string type_;
  std::string pending_id_;  // of the current event
  std::string last_id_;
  std::optional<std::chrono::milliseconds> retry_;
};

/// Receives the messages of an event stream. `id`: the message's id as JSON text; empty if it has none or it is not known.
class message_listener {
 public:
  message_listener() = default;
  message_listener(const message_listener&) = delete;
  message_listener& operator=(const message_listener&) = delete;
  virtual ~message_listener() = default;
  /// Receives a complete message, not parsed yet.
  virtual void on_message(std::string text, const std::optional<std::string>& id) = 0;
  /// Called for an unusable message, which is skipped.
  virtual void on_invalid(failure error, const std::optional<std::string>& id) = 0;
  /// Receives an event that is not a message; `data` is truncated to 8 KiB. Default: does nothing.
  virtual void on_other(std::string_view type, std::string_view data);
};

/// Turns events into messages: those without type or of type `message`. Events without data only carry ids. Threads: one at a
/// time.
class message_decoder final : public event_decoder::listener {
 public:
  /// When to report an unusable message: immediately, even if its id is not known yet, or at its end.
  enum class error_timing : std::uint8_t { immediate, at_end };

  /// `listener` must outlive the decoder. `intake` reads the messages, and passes contents to sinks.
  message_decoder(message_listener& listener, channel::routing_reader intake, error_timing timing);

  void feed(std::string_view bytes) {
    noise_bytes_ += bytes.size();
    decoder_.feed(bytes);
  }
  /// Returns the number of bytes since the last call that belong to no valid message: comments, field names, other events,
  /// malformed messages.
  [[nodiscard]] std::size_t pop_noise_bytes() noexcept { return std::exchange(noise_bytes_, 0); }
  /// See `event_decoder::restart`.
  void restart();
  [[nodiscard]] const event_decoder& decoder() const noexcept { return decoder_; }
  /// The number of data bytes of all events so far.
  [[nodiscard]] std::uint64_t data_bytes() const noexcept { return data_bytes_; }
  /// The id of the current message as JSON text; empty if it is not known yet.
  [[nodiscard]] std::optional<std::string> current_id() const { return intake_.id(); }
  /// Whether the current message is held back until its id is known.
  [[nodiscard]] bool is_buffering() const noexcept { return intake_.is_buffering(); }

 private:
  void on_data(std::string_view type, std::string_view piece) override;
  void on_event(std::string_view type) override;
  void reset_message();

  message_listener& listener_;
  error_timing error_timing_;
  event_decoder decoder_;
  channel::routing_reader intake_;
  bool has_begun_ = false;   // the message has data other than blanks
  bool is_invalid_ = false;  // `error_` is why
  failure error_{};
  std::string other_data_;
  std::size_t noise_bytes_ = 0;
  std::size_t event_bytes_ = 0;  // of the current message
  std::uint64_t data_bytes_ = 0;
};

}  // namespace hondana::transport::http_client
