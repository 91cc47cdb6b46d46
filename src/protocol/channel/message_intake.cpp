/// The intake: one pass over the pieces, in which long runs are copied or handed on at once.
#include "protocol/channel/message_intake.hpp"

#include <algorithm>
#include <utility>

#include "base/json/utf8.hpp"

namespace hondana::channel {
namespace {

using json::scanner;

constexpr std::size_t hand_on_bytes = 64 << 10;
constexpr std::size_t run_bytes = 4 << 10;  // a run of this length is handed on where it lies
constexpr std::size_t most_id_bytes = 256;
constexpr std::size_t spare_bytes = 1 << 20;  // a buffer larger than this is given back

bool is_continuation(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80; }

}  // namespace

message_intake::message_intake(const limits& most, content_sink sink) : most_(most), sink_(std::move(sink)) {}

void message_intake::reset() {
  scanner_ = {};
  if (kept_.capacity() > spare_bytes) kept_ = std::string();
  kept_.clear();
  failure_.reset();
  is_malformed_ = false;
  only_looks_ = false;
  has_method_ = false;
  id_state_ = id_state::unseen;
  id_.clear();
  is_in_content_ = false;
  begun_item_.reset();
  given_ = 0;
  decoded_.clear();
}

void message_intake::only_look() {
  only_looks_ = true;
  kept_ = std::string();
  decoded_ = std::string();
  is_in_content_ = false;
}

std::optional<std::string> message_intake::id() const {
  if (id_state_ != id_state::seen) return {};
  return id_;
}

void message_intake::fail_with(failure why) {
  if (failure_) return;
  failure_ = std::move(why);
  kept_ = std::string();
  decoded_ = std::string();
  is_in_content_ = false;
}

result<void> message_intake::feed(std::string_view piece) {
  const char* kept_from = piece.data();
  while (!is_malformed_) {
    const auto part = scanner_.next(piece);
    if (part.what == scanner::kind::nothing) break;
    if (part.what == scanner::kind::malformed) {
      is_malformed_ = true;
      fail_with({errc::broken_protocol,
                 "the message is not JSON: a string, comma, colon or bracket is malformed or misplaced",
                 {},
                 {}});
      break;
    }
    look_for_id(part);
    if (part.what == scanner::kind::open && scanner_.depth() == 1 && scanner_.is_member(0, "method")) has_method_ = true;
    if (!failure_ && !only_looks_) take(part, kept_from);
  }
  if (!failure_ && !only_looks_ && !is_in_content_) keep(kept_from, piece.data());
  if (!failure_ && is_in_content_ && !is_blob_) hand_on(decoded_);
  if (failure_) return tl::unexpected(*failure_);
  return {};
}

result<std::string> message_intake::finish() {
  if (failure_) return tl::unexpected(*failure_);
  if (!scanner_.is_complete()) return fail(errc::broken_protocol, "the message is not JSON: it ends in the middle");
  return std::move(kept_);
}

void message_intake::look_for_id(const scanner::part& part) {
  if (id_state_ == id_state::seen || id_state_ == id_state::unusable) return;
  const bool is_of_string = part.what == scanner::kind::open || part.what == scanner::kind::text ||
                            part.what == scanner::kind::escape || part.what == scanner::kind::close;
  if (id_state_ == id_state::coming && !is_of_string && part.what != scanner::kind::atom) {
    id_state_ = id_state::seen;
    return;
  }
  if ((!is_of_string && part.what != scanner::kind::atom) || scanner_.depth() != 1 || !scanner_.is_member(0, "id")) return;
  id_state_ = id_state::coming;
  id_ += part.raw.substr(0, most_id_bytes + 1);
  if (part.what == scanner::kind::close) id_state_ = id_state::seen;
  if (id_.size() > most_id_bytes) id_state_ = id_state::unusable;
}

void message_intake::take(const scanner::part& part, const char*& kept_from) {
  if (is_in_content_) {
    if (part.what != scanner::kind::close) return add_content(part.decoded);
    end_content();
    kept_from = part.raw.data();
  } else if (part.what == scanner::kind::open && sink_ && is_content()) {
    keep(kept_from, part.raw.data() + part.raw.size());
    begin_content();
  }
}

bool message_intake::is_content() const noexcept {
  return scanner_.depth() == 4 && scanner_.is_member(0, "result") && scanner_.is_member(1, "contents") &&
         scanner_.is_array(2) && (scanner_.is_member(3, "text") || scanner_.is_member(3, "blob"));
}

void message_intake::begin_content() {
  if (failure_) return;
  if (begun_item_ == scanner_.index(2))
    return fail_with({errc::broken_protocol, "an item has more than one text or blob", {}, {}});
  begun_item_ = scanner_.index(2);
  is_in_content_ = true;
  is_blob_ = scanner_.is_member(3, "blob");
  item_ = scanner_.index(2);
  base64_ = {};
}

void message_intake::add_content(std::string_view decoded) {
  if (is_blob_) return add_blob(decoded);
  if (decoded.size() < run_bytes) {
    decoded_ += decoded;
    if (decoded_.size() >= hand_on_bytes) hand_on(decoded_);
    return;
  }
  // What was held back ends with this run's first bytes.
  while (!decoded.empty() && is_continuation(decoded.front()) && decoded_.size() < hand_on_bytes) {
    decoded_ += decoded.front();
    decoded.remove_prefix(1);
  }
  hand_on(decoded_);
  if (failure_) return;
  if (!decoded_.empty()) {
    return fail_with({errc::broken_protocol, "the text of an item is not well-formed UTF-8", {}, {}});
  }
  hand_on(decoded);
}

void message_intake::add_blob(std::string_view characters) {
  constexpr std::size_t round = hand_on_bytes / 3 * 4;
  for (; !characters.empty() && !failure_; characters.remove_prefix(std::min(characters.size(), round))) {
    if (!base64_.feed(characters.substr(0, round), decoded_)) {
      return fail_with({errc::broken_protocol, "the blob of an item is not padded base64", {}, {}});
    }
    give(decoded_);
    decoded_.clear();
  }
}

void message_intake::end_content() {
  if (!is_blob_) hand_on(decoded_);
  if (!failure_ && !is_blob_ && !decoded_.empty()) {
    return fail_with({errc::broken_protocol, "the text of an item is not well-formed UTF-8", {}, {}});
  }
  if (!failure_ && is_blob_ && !base64_.finish()) {
    return fail_with({errc::broken_protocol, "the blob of an item is not padded base64", {}, {}});
  }
  is_in_content_ = false;
}

/// Hands on all of `text` but a sequence that is cut at its end, which is held back.
void message_intake::hand_on(std::string_view text) {
  const std::size_t tail = json::incomplete_tail(text);
  const auto whole = text.substr(0, text.size() - tail);
  if (!json::is_utf8(whole)) {
    return fail_with({errc::broken_protocol, "the text of an item is not well-formed UTF-8", {}, {}});
  }
  const std::string rest(text.substr(whole.size()));  // `text` may be what is held
  give(whole);
  if (!failure_) decoded_ = rest;
}

void message_intake::give(std::string_view bytes) {
  if (bytes.empty()) return;
  if (bytes.size() > most_.content_bytes - given_) {
    return fail_with(
        {errc::response_too_large,
         "the content is longer than the " + std::to_string(most_.content_bytes) + " bytes that one read may return",
         {},
         {}});
  }
  given_ += bytes.size();
  if (auto taken = sink_(item_, bytes); !taken) fail_with(std::move(taken.error()));
}

void message_intake::keep(const char* from, const char* end) {
  if (from == end) return;
  const auto count = static_cast<std::size_t>(end - from);
  if (count > most_.message_bytes - kept_.size()) {
    return fail_with({errc::response_too_large,
                      "the message is longer than the " + std::to_string(most_.message_bytes) +
                          " bytes that may be held in memory; read content in parts, or allow longer messages",
                      {},
                      {}});
  }
  kept_.append(from, count);
}

}  // namespace hondana::channel
