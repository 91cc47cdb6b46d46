/// Joins the decoder of events and the intake of messages.
#include "transport/http_client/event_messages.hpp"

#include <algorithm>
#include <utility>

namespace hondana::transport::http_client {
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
    // Some servers prime a stream with an empty line.
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
