/// Cuts a stream of server-sent events into the data of its events, however its bytes come.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace hondana::transport::http_client
