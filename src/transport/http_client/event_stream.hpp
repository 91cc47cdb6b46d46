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

/// Reads `text/event-stream`. Data is handed on as it comes and never kept, so that an event of any length costs nothing; the
/// rest of an event is kept up to the caps below. Threads: one at a time.
/// Spec: HTML Living Standard 9.2.6, basic/transports#streamable-http.
class event_decoder {
 public:
  /// A longer id cannot be sent back: the stream then counts as one without ids.
  static constexpr std::size_t max_id_bytes = 1024;
  /// A longer name belongs to an event that nobody here knows, and is told cut off.
  static constexpr std::size_t max_type_bytes = 64;
  /// Longer pauses are cut to this.
  static constexpr std::chrono::milliseconds max_retry{3'600'000};

  class hearer {
   public:
    hearer() = default;
    hearer(const hearer&) = delete;
    hearer& operator=(const hearer&) = delete;
    virtual ~hearer() = default;
    /// A piece of the data of the present event; lines are joined by line feeds. `type`: the event's as far as it has been
    /// named yet; empty means `message`.
    virtual void data(std::string_view type, std::string_view piece) = 0;
    /// The event with the data told since the last one is complete. Not told of events without a data field.
    virtual void event(std::string_view type) = 0;
  };

  /// `tell` outlives the decoder.
  explicit event_decoder(hearer& tell) noexcept : tell_(tell) {}

  void feed(std::string_view bytes);
  /// What follows comes from a new connection: an event that was not complete is forgotten, ids and pauses are kept.
  void restart() noexcept;

  /// Of the last complete event that named one, or none did; empty: none to go on from.
  [[nodiscard]] const std::string& last_id() const noexcept { return last_id_; }
  /// How long to wait before connecting again, if the server has said so.
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
  std::string value_;  // of a field that is not data
  bool is_value_too_long_ = false;
  bool has_data_ = false;
  std::string type_;
  std::string pending_id_;
  std::string last_id_;
  std::optional<std::chrono::milliseconds> retry_;
};

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
