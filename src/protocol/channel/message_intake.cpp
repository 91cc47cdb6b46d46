/// Reads JSON messages in pieces, finds the call that each belongs to, and passes content on as it arrives.
#include "protocol/channel/message_intake.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/json/scanner.hpp"
#include "base/json/utf8.hpp"

namespace hondana::channel {
namespace {

using json::scanner;

constexpr std::size_t hand_on_bytes = 64 << 10;
constexpr std::size_t run_bytes = 4 << 10;  // a run of at least this length is passed on without copying
constexpr std::size_t most_id_bytes = 256;
constexpr std::size_t spare_bytes = 1 << 20;  // a buffer larger than this is freed

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
  // An incomplete sequence from before ends with the first bytes of this run.
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

/// Passes on `text`, except for an incomplete sequence at its end, which stays in `decoded_`.
void message_intake::hand_on(std::string_view text) {
  const std::size_t tail = json::incomplete_tail(text);
  const auto whole = text.substr(0, text.size() - tail);
  if (!json::is_utf8(whole)) {
    return fail_with({errc::broken_protocol, "the text of an item is not well-formed UTF-8", {}, {}});
  }
  const std::string rest(text.substr(whole.size()));  // a copy, because `text` may refer to `decoded_`
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

namespace {

constexpr std::size_t read_back_bytes = 64u << 10;
constexpr std::size_t most_together = 1'000;

/// The elements of a valid array, as text.
struct elements {
  std::vector<std::string_view> first;  ///< At most `most_together` elements.
  std::size_t count = 0;
};

/// Caps the buffer at the largest acceptable message: a byte of content takes at most six characters.
patience within(patience waits, const limits& most) {
  constexpr auto end = std::numeric_limits<std::uint64_t>::max();
  const auto text = most.content_bytes > (end - most.message_bytes) / 6 ? end : 6 * most.content_bytes + most.message_bytes;
  waits.held_bytes = std::min(waits.held_bytes, text);
  return waits;
}

elements elements_of(std::string_view array) {
  elements out;
  json::scanner scanner;
  std::size_t depth = 0;
  const char* from = nullptr;
  const auto end_at = [&](const char* end) {
    constexpr std::string_view space = " \t\r\n";
    const std::string_view one(from, static_cast<std::size_t>(end - from));
    const auto begin = one.find_first_not_of(space);
    if (begin != std::string_view::npos && ++out.count <= most_together)
      out.first.push_back(one.substr(begin, one.find_last_not_of(space) + 1 - begin));
    from = end + 1;
  };
  for (auto rest = array; !rest.empty();) {
    const auto part = scanner.next(rest);
    if (part.what != json::scanner::kind::mark) continue;
    for (const char& c : part.raw) {
      if ((c == ']' || c == '}') && --depth == 0) end_at(&c);
      if (c == ',' && depth == 1) end_at(&c);
      if ((c == '[' || c == '{') && depth++ == 0) from = &c + 1;
    }
  }
  return out;
}

}  // namespace

routed_intake::routed_intake(const limits& most, content_sink sink)
    : most_(most), plain_(most, std::move(sink)), is_decided_(true) {}

routed_intake::routed_intake(const limits& most, route chooses, late_route chooses_late, const patience& waits)
    : most_(most),
      waits_(within(waits, most)),
      chooses_(std::move(chooses)),
      chooses_late_(std::move(chooses_late)),
      plain_(most, {}) {}

result<void> routed_intake::feed(std::string_view piece) {
  if (chosen_) return chosen_->feed(piece);
  auto taken = plain_.feed(piece);
  if (trouble_) return tl::unexpected(*trouble_);
  if (is_decided_ || !taken) return taken;
  if (const auto named = plain_.id()) return decide(chooses_(*named), piece);
  if (is_held_) return plain_.has_method() ? decide({}, piece) : hold(piece);
  if (begun_.size() + piece.size() <= waits_.unnamed_bytes) return begun_.append(piece);
  // A message that is not an answer, or a batch, has no content for a sink.
  if (plain_.has_method() || plain_.is_array()) return decide({}, piece);
  if (const auto sink = chooses_late_ ? chooses_late_() : std::nullopt) return decide(*sink, piece);
  is_held_ = true;
  plain_.only_look();
  return hold(piece);
}

result<void> routed_intake::hold(std::string_view piece) {
  if (piece.size() > waits_.held_bytes - begun_.size()) {
    return give_up({errc::response_too_large,
                    "an answer is longer than the " + std::to_string(waits_.held_bytes) +
                        " bytes that are buffered until its id arrives; request less at a time, or one thing at a time",
                    {}});
  }
  auto held = begun_.append(piece);
  return held ? held : give_up(std::move(held.error()));
}

result<void> routed_intake::give_up(failure why) {
  if (why.code == errc::source_unavailable) {
    why.public_text = "an answer has its id after its content, and there is no space to buffer the content (" +
                      why.private_text + "); free some space in the folder of TMPDIR, or in /tmp";
  }
  trouble_ = std::move(why);
  begun_ = {};
  chosen_.reset();
  return tl::unexpected(*trouble_);
}

result<void> routed_intake::decide(const content_sink& sink, std::string_view piece) {
  auto begun = std::exchange(begun_, {});
  is_decided_ = true;
  if (!sink && !is_held_) return {};
  plain_.only_look();  // an id that arrives later is ignored
  HONDANA_TRY(hand_over(sink, std::move(begun)));
  return chosen_->feed(piece);
}

/// Passes the buffered message on. After a failure of the content, the rest is only scanned.
result<void> routed_intake::hand_over(const content_sink& sink, disk::spool from) {
  auto data = from.take();
  if (!data) return give_up(std::move(data.error()));
  chosen_.emplace(most_, sink);
  if (const auto* small = std::get_if<shared_bytes>(&*data)) return chosen_->feed(**small);
  const auto& reader = std::get<std::shared_ptr<byte_reader>>(*data);
  std::string buffer(read_back_bytes, '\0');
  for (;;) {
    const auto got = reader->read(std::span(buffer));
    if (!got) return give_up(got.error());
    if (*got == 0) return {};
    // After a failure the rest is not needed, and may be large.
    HONDANA_TRY(chosen_->feed(std::string_view(buffer).substr(0, *got)));
  }
}

result<std::string> routed_intake::finish() {
  if (is_holding() && !trouble_) {
    HONDANA_TRY(plain_.feed({}));
    static_cast<void>(decide({}, {}));  // the result is reported below
  }
  if (trouble_) return tl::unexpected(*trouble_);
  return chosen_ ? chosen_->finish() : plain_.finish();
}

void routed_intake::finish_each(const std::function<void(result<std::string>)>& takes) {
  auto whole = finish();
  if (!whole || !plain_.is_array()) return takes(std::move(whole));
  const auto all = elements_of(*whole);
  if (all.count == 0) return takes(fail(errc::broken_protocol, "an empty array is not a message"));
  if (all.count > most_together) {
    return takes(fail(errc::broken_protocol, "an array of " + std::to_string(all.count) +
                                                 " messages is longer than the limit of " + std::to_string(most_together)));
  }
  for (const auto one : all.first) {
    reset();
    static_cast<void>(feed(one));  // the result is reported by finish()
    takes(finish());
  }
}

std::optional<std::string> routed_intake::id() const {
  auto named = plain_.id();
  return named || !chosen_ ? named : chosen_->id();
}

void routed_intake::reset() {
  plain_.reset();
  chosen_.reset();
  begun_ = {};
  is_held_ = false;
  is_decided_ = !chooses_;
  trouble_.reset();
}

}  // namespace hondana::channel
