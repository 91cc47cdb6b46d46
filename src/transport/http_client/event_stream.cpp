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

std::size_t position_of(char wanted, std::string_view in, std::size_t from) noexcept {
  if (from >= in.size()) return in.size();
  const auto* at = static_cast<const char*>(std::memchr(in.data() + from, wanted, in.size() - from));
  return at == nullptr ? in.size() : static_cast<std::size_t>(at - in.data());
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
  std::size_t line_feed = position_of('\n', bytes, 0);
  std::size_t carriage_return = position_of('\r', bytes, 0);
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (skips_line_feed_) {
      skips_line_feed_ = false;
      if (bytes[at] == '\n') {
        line_feed = position_of('\n', bytes, ++at);
        continue;
      }
    }
    const auto end = std::min(line_feed, carriage_return);
    if (end > at) take(bytes.substr(at, end - at));
    at = end;
    if (at == bytes.size()) return;
    end_line();
    ++at;
    if (end == carriage_return) {
      skips_line_feed_ = true;
      carriage_return = position_of('\r', bytes, at);
    } else {
      line_feed = position_of('\n', bytes, at);
    }
  }
}

void event_decoder::take(std::string_view piece) {
  if (at_ == place::name) {
    const auto colon = position_of(':', piece, 0);
    // One byte more than the longest known name is enough to recognize an unknown field.
    name_ += piece.substr(0, std::min(colon, max_name_bytes + 1 - std::min(name_.size(), max_name_bytes + 1)));
    if (colon == piece.size()) return;
    piece.remove_prefix(colon + 1);
    begin_value();
  }
  if (at_ == place::before_value && !piece.empty()) {
    if (piece.front() == ' ') piece.remove_prefix(1);
    at_ = place::value;
  }
  if (at_ == place::value) take_value(piece);
}

void event_decoder::begin_value() {
  at_ = place::before_value;
  value_.clear();
  is_value_too_long_ = false;
  if (name_ == "data") {
    field_ = field::data;
    if (has_data_) tell_.data(type_, "\n");
    has_data_ = true;
  } else if (name_ == "event") {
    field_ = field::type;
  } else if (name_ == "id") {
    field_ = field::id;
  } else if (name_ == "retry") {
    field_ = field::retry;
  } else {
    at_ = place::ignored;
  }
}

void event_decoder::take_value(std::string_view piece) {
  if (piece.empty()) return;
  if (field_ == field::data) {
    tell_.data(type_, piece);
    return;
  }
  const auto most = field_ == field::id ? max_id_bytes : max_type_bytes;
  const auto room = most - value_.size();
  is_value_too_long_ = is_value_too_long_ || piece.size() > room;
  value_ += piece.substr(0, room);
}

void event_decoder::end_line() {
  if (at_ == place::name) {
    if (name_.empty()) {
      end_event();
      return;
    }
    begin_value();
  }
  if (at_ != place::ignored) {
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
          std::chrono::milliseconds wanted{0};
          for (const char digit : value_) wanted = std::min(max_retry, wanted * 10 + std::chrono::milliseconds(digit - '0'));
          retry_ = is_value_too_long_ ? max_retry : wanted;
        }
        break;
    }
  }
  at_ = place::name;
  name_.clear();
}

void event_decoder::end_event() {
  last_id_ = pending_id_;
  if (has_data_) tell_.event(type_);
  has_data_ = false;
  type_.clear();
}

void event_decoder::restart() noexcept {
  bom_bytes_ = 0;
  is_past_bom_ = false;
  skips_line_feed_ = false;
  at_ = place::name;
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

void message_hearer::other(std::string_view, std::string_view) {}

event_messages::event_messages(message_hearer& tell, channel::routed_intake intake, when_spoiled when)
    : tell_(tell), when_(when), decoder_(*this), intake_(std::move(intake)) {}

void event_messages::restart() {
  decoder_.restart();
  forget();
}

void event_messages::forget() {
  intake_.reset();
  has_begun_ = false;
  is_spoiled_ = false;
  other_.clear();
  event_bytes_ = 0;
}

void event_messages::data(std::string_view type, std::string_view piece) {
  data_bytes_ += piece.size();
  if (!is_message(type)) {
    other_ += piece.substr(0, max_other_bytes - std::min(other_.size(), max_other_bytes));
    return;
  }
  noise_ -= std::min(noise_, piece.size());
  event_bytes_ += piece.size();
  if (!has_begun_) {
    // Some servers start a stream with an empty line.
    piece.remove_prefix(std::min(piece.find_first_not_of(" \t\n"), piece.size()));
    if (piece.empty()) return;
    has_begun_ = true;
  }
  auto taken = intake_.feed(piece);
  if (taken || is_spoiled_) return;
  is_spoiled_ = true;
  why_ = std::move(taken.error());
  if (when_ == when_spoiled::at_once) tell_.spoiled(why_, intake_.id());
}

void event_messages::event(std::string_view type) {
  if (!is_message(type)) {
    tell_.other(type, other_);
  } else if (is_spoiled_) {
    noise_ += event_bytes_;
    if (when_ == when_spoiled::at_end) tell_.spoiled(std::move(why_), intake_.id());
  } else if (has_begun_) {
    intake_.finish_each([this](result<std::string> whole) {
      if (whole) {
        tell_.message(std::move(*whole), intake_.id());
      } else {
        tell_.spoiled(std::move(whole.error()), intake_.id());
      }
    });
  }
  forget();
}

}  // namespace hondana::transport::http_client
