/// One HTTP request and its answer, read as it comes: JSON at once, an event stream message by message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "transcripts/line.hpp"

namespace transcripts {

/// A connection of its own. Errors are sentences for the report.
class http_exchange {
 public:
  explicit http_exchange(std::uint16_t port);
  http_exchange(const http_exchange&) = delete;
  http_exchange& operator=(const http_exchange&) = delete;
  ~http_exchange();

  /// Sends `request` and waits for the head of the answer; and for all of it, unless it is an event stream.
  [[nodiscard]] tl::expected<void, std::string> begin(std::string_view request, bool bytewise, time_point deadline);
  /// Takes what has arrived by now.
  [[nodiscard]] tl::expected<void, std::string> take_arrived();

  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] const std::optional<std::string>& session_id() const { return session_id_; }
  /// The answer is an event stream that has not ended.
  [[nodiscard]] bool is_open() const { return is_stream_ && !has_ended_; }
  [[nodiscard]] int descriptor() const { return socket_; }
  /// Messages that came since the last call, in order.
  [[nodiscard]] std::vector<std::string> take_messages();
  /// Ids of the events that came since the last call.
  [[nodiscard]] std::vector<std::string> take_event_ids();

 private:
  [[nodiscard]] tl::expected<bool, std::string> read_some(time_point deadline);
  [[nodiscard]] tl::expected<void, std::string> read_head();
  [[nodiscard]] tl::expected<void, std::string> read_body();
  [[nodiscard]] tl::expected<void, std::string> read_chunks();
  [[nodiscard]] tl::expected<void, std::string> read_events();
  void write(std::string_view bytes, bool bytewise);

  int socket_;
  bool is_connected_ = false;
  std::string input_;  // without what was understood
  std::string body_;   // without the chunks' framing
  int status_ = 0;
  std::string content_type_;
  std::optional<std::string> session_id_;
  std::optional<std::size_t> length_;
  bool has_head_ = false;
  bool is_chunked_ = false;
  bool is_stream_ = false;
  bool has_last_chunk_ = false;
  bool has_ended_ = false;
  std::vector<std::string> messages_;
  std::vector<std::string> ids_;
};

}  // namespace transcripts
