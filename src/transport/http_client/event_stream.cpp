/// Decodes a stream of server-sent events into messages.
#include "transport/http_client/event_stream.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace hondana::transport::http_client {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
/// The longest known field name. Bytes.
constexpr std::size_t max_name_bytes = 5;

std::size_t find_char(char target, std::string_view text, std::size_t start) noexcept {
  if (start >= text.size()) return text.size();
  const auto* match = static_cast<const char*>(std::memchr(text.data() + start, target, text.size() - start));
  return match == nullptr ? text.size() : static_cast<std::size_t>(match - text.data());
}

}  // namespace

void event_decoder::feed(std::string_view bytes) {
  while (!is_past_bom_ && !bytes.empty()) {
    if (bytes.front() == byte_order_mark[bom_bytes_]) {
      bytes.remove_prefix(1);
      is_past_bom_ = ++bom_bytes_ == byte_order_mark.size();
    } else {
      is_past_bom_ = true;
      consume(byte_order_mark.substr(0, bom_bytes_));
    }
  }
  consume(bytes);
}

void event_decoder::consume(std::string_view bytes) {
  // Each search starts where the last one ended, so that many short lines do not cost quadratic time.
  std::size_t line_feed = find_char('\n', bytes, 0);
  std::size_t carriage_return = find_char('\r', bytes, 0);
  std::size_t offset = 0;
  while (offset < bytes.size()) {
    if (skips_line_feed_) {
      skips_line_feed_ = false;
      if (bytes[offset] == '\n') {
        line_feed = find_char('\n', bytes, ++offset);
        continue;
      }
    }
    const auto end = std::min(line_feed, carriage_return);
    if (end > offset) parse_piece(bytes.substr(offset, end - offset));
    offset = end;
    if (offset == bytes.size()) return;
    end_line();
    ++offset;
    if (end == carriage_return) {
      skips_line_feed_ = true;
      carriage_return = find_char('\r', bytes, offset);
    } else {
      line_feed = find_char('\n', bytes, offset);
    }
  }
}

void event_decoder::parse_piece(std::string_view piece) {
  if (line_part_ == line_part::name) {
    const auto colon = find_char(':', piece, 0);
    // One byte more than the longest known name is enough to recognize an unknown field.
    name_ += piece.substr(0, std::min(colon, max_name_bytes + 1 - std::min(name_.size(), max_name_bytes + 1)));
    if (colon == piece.size()) return;
    piece.remove_prefix(colon + 1);
    begin_value();
  }
  if (line_part_ == line_part::before_value && !piece.empty()) {
    if (piece.front() == ' ') piece.remove_prefix(1);
    line_part_ = line_part::value;
  }
  if (line_part_ == line_part::value) append_value(piece);
}

void event_decoder::begin_value() {
  line_part_ = line_part::before_value;
  value_.clear();
  is_value_too_long_ = false;
  if (name_ == "data") {
    field_ = field::data;
    if (has_data_) listener_.on_data(type_, "\n");
    has_data_ = true;
  } else if (name_ == "event") {
    field_ = field::type;
  } else if (name_ == "id") {
    field_ = field::id;
  } else if (name_ == "retry") {
    field_ = field::retry;
  } else {
    line_part_ = line_part::ignored;
  }
}

void event_decoder::append_value(std::string_view piece) {
  if (piece.empty()) return;
  if (field_ == field::data) {
    listener_.on_data(type_, piece);
    return;
  }
  const auto max_bytes = field_ == field::id ? max_id_bytes : max_type_bytes;
  const auto space_left = max_bytes - value_.size();
  is_value_too_long_ = is_value_too_long_ || piece.size() > space_left;
  value_ += piece.substr(0, space_left);
}

void event_decoder::end_line() {
  if (line_part_ == line_part::name) {
    if (name_.empty()) {
      end_event();
      return;
    }
    begin_value();
  }
  if (line_part_ != line_part::ignored) {
    switch (field_) {
      case field::data:
        break;
      case field::type:
        type_ = value_;
        break;
      case field::id:
        if (is_value_too_long_) {
          pending_id_.clear();
        } else if (value_.find('\0') == std::string::npos) {
          pending_id_ = value_;
        }
        break;
      case field::retry:
        if (!value_.empty() && value_.find_first_not_of("0123456789") == std::string::npos) {
          std::chrono::milliseconds delay{0};
          for (const char digit : value_) delay = std::min(max_retry, delay * 10 + std::chrono::milliseconds(digit - '0'));
          retry_ = is_value_too_long_ ? max_retry : delay;
        }
        break;
    }
  }
  line_part_ = line_part::name;
  name_.clear();
}

void event_decoder::end_event() {
  last_id_ = pending_id_;
  if (has_data_) listener_.on_event(type_);
  has_data_ = false;
  type_.clear();
}

void event_decoder::restart() noexcept {
  bom_bytes_ = 0;
  is_past_bom_ = false;
  skips_line_feed_ = false;
  line_part_ = line_part::name;
  name_.clear();
  value_.clear();
  has_data_ = false;
  type_.clear();
  pending_id_ = last_id_;
}

namespace {

constexpr std::size_t max_other_bytes = 8192;

bool is_message(std::string_view type) noexcept { return type.empty() || type == "message"; }

}  // namespace

void message_listener::on_other(std::string_view, std::string_view) {}

message_decoder::message_decoder(message_listener& listener, channel::routing_reader intake, error_timing timing)
    : listener_(listener), error_timing_(timing), decoder_(*this), intake_(std::move(intake)) {}

void message_decoder::restart() {
  decoder_.restart();
  reset_message();
}

void message_decoder::reset_message() {
  intake_.reset();
  has_begun_ = false;
  is_invalid_ = false;
  other_data_.clear();
  event_bytes_ = 0;
}

void message_decoder::on_data(std::string_view type, std::string_view piece) {
  data_bytes_ += piece.size();
  if (!is_message(type)) {
    other_data_ += piece.substr(0, max_other_bytes - std::min(other_data_.size(), max_other_bytes));
    return;
  }
  noise_bytes_ -= std::min(noise_bytes_, piece.size());
  event_bytes_ += piece.size();
  if (!has_begun_) {
    // Some servers start a stream with an empty line.
    piece.remove_prefix(std::min(piece.find_first_not_of(" \t\n"), piece.size()));
    if (piece.empty()) return;
    has_begun_ = true;
  }
  auto parsed = intake_.feed(piece);
  if (parsed || is_invalid_) return;
  is_invalid_ = true;
  error_ = std::move(parsed.error());
  if (error_timing_ == error_timing::immediate) listener_.on_invalid(error_, intake_.id());
}

void message_decoder::on_event(std::string_view type) {
  if (!is_message(type)) {
    listener_.on_other(type, other_data_);
  } else if (is_invalid_) {
    noise_bytes_ += event_bytes_;
    if (error_timing_ == error_timing::at_end) listener_.on_invalid(std::move(error_), intake_.id());
  } else if (has_begun_) {
    intake_.finish_each([this](result<std::string> message) {
      if (message) {
        listener_.on_message(std::move(*message), intake_.id());
      } else {
        listener_.on_invalid(std::move(message.error()), intake_.id());
      }
    });
  }
  reset_message();
}

}  // namespace hondana::transport::http_client
