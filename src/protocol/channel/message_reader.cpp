/// Reads JSON messages in pieces, finds the call that each belongs to, and passes content on as it arrives.
#include "protocol/channel/message_reader.hpp"

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

constexpr std::size_t flush_bytes = 64 << 10;
constexpr std::size_t min_run_bytes = 4 << 10;  // a run of at least this length is passed on without copying
constexpr std::size_t max_id_bytes = 256;
constexpr std::size_t max_spare_bytes = 1 << 20;  // a buffer larger than this is freed

bool is_continuation(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80; }

}  // namespace

message_reader::message_reader(const limits& limits, content_sink sink) : limits_(limits), sink_(std::move(sink)) {}

void message_reader::reset() {
  scanner_ = {};
  if (stored_.capacity() > max_spare_bytes) stored_ = std::string();
  stored_.clear();
  failure_.reset();
  is_malformed_ = false;
  is_scan_only_ = false;
  has_method_ = false;
  id_state_ = id_state::unseen;
  id_.clear();
  is_in_content_ = false;
  last_item_.reset();
  delivered_bytes_ = 0;
  decoded_.clear();
}

void message_reader::scan_only() {
  is_scan_only_ = true;
  stored_ = std::string();
  decoded_ = std::string();
  is_in_content_ = false;
}

std::optional<std::string> message_reader::id() const {
  if (id_state_ != id_state::complete) return {};
  return id_;
}

void message_reader::fail_with(failure error) {
  if (failure_) return;
  failure_ = std::move(error);
  stored_ = std::string();
  decoded_ = std::string();
  is_in_content_ = false;
}

result<void> message_reader::feed(std::string_view piece) {
  const char* pending_begin = piece.data();
  while (!is_malformed_) {
    const auto part = scanner_.next(piece);
    if (part.kind == scanner::part_kind::none) break;
    if (part.kind == scanner::part_kind::malformed) {
      is_malformed_ = true;
      fail_with({errc::protocol_error,
                 "the message is not JSON: a string, comma, colon or bracket is malformed or misplaced",
                 {},
                 {}});
      break;
    }
    scan_id(part);
    if (part.kind == scanner::part_kind::open_quote && scanner_.depth() == 1 && scanner_.is_member(0, "method"))
      has_method_ = true;
    if (!failure_ && !is_scan_only_) process(part, pending_begin);
  }
  if (!failure_ && !is_scan_only_ && !is_in_content_) store(pending_begin, piece.data());
  if (!failure_ && is_in_content_ && !is_blob_) flush_text(decoded_);
  if (failure_) return tl::unexpected(*failure_);
  return {};
}

result<std::string> message_reader::finish() {
  if (failure_) return tl::unexpected(*failure_);
  if (!scanner_.is_complete()) return fail(errc::protocol_error, "the message is not JSON: it ends in the middle");
  return std::move(stored_);
}

void message_reader::scan_id(const scanner::part& part) {
  if (id_state_ == id_state::complete || id_state_ == id_state::unusable) return;
  const bool is_string_part = part.kind == scanner::part_kind::open_quote || part.kind == scanner::part_kind::text ||
                              part.kind == scanner::part_kind::escape || part.kind == scanner::part_kind::close_quote;
  if (id_state_ == id_state::partial && !is_string_part && part.kind != scanner::part_kind::atom) {
    id_state_ = id_state::complete;
    return;
  }
  if ((!is_string_part && part.kind != scanner::part_kind::atom) || scanner_.depth() != 1 || !scanner_.is_member(0, "id"))
    return;
  id_state_ = id_state::partial;
  id_ += part.raw.substr(0, max_id_bytes + 1);
  if (part.kind == scanner::part_kind::close_quote) id_state_ = id_state::complete;
  if (id_.size() > max_id_bytes) id_state_ = id_state::unusable;
}

void message_reader::process(const scanner::part& part, const char*& pending_begin) {
  if (is_in_content_) {
    if (part.kind != scanner::part_kind::close_quote) return add_content(part.decoded);
    end_content();
    pending_begin = part.raw.data();
  } else if (part.kind == scanner::part_kind::open_quote && sink_ && is_content()) {
    store(pending_begin, part.raw.data() + part.raw.size());
    begin_content();
  }
}

bool message_reader::is_content() const noexcept {
  return scanner_.depth() == 4 && scanner_.is_member(0, "result") && scanner_.is_member(1, "contents") &&
         scanner_.is_array(2) && (scanner_.is_member(3, "text") || scanner_.is_member(3, "blob"));
}

void message_reader::begin_content() {
  if (failure_) return;
  if (last_item_ == scanner_.index(2))
    return fail_with({errc::protocol_error, "an item has more than one text or blob", {}, {}});
  last_item_ = scanner_.index(2);
  is_in_content_ = true;
  is_blob_ = scanner_.is_member(3, "blob");
  item_index_ = scanner_.index(2);
  base64_ = {};
}

void message_reader::add_content(std::string_view decoded) {
  if (is_blob_) return add_blob(decoded);
  if (decoded.size() < min_run_bytes) {
    decoded_ += decoded;
    if (decoded_.size() >= flush_bytes) flush_text(decoded_);
    return;
  }
  // An incomplete sequence from before ends with the first bytes of this run.
  while (!decoded.empty() && is_continuation(decoded.front()) && decoded_.size() < flush_bytes) {
    decoded_ += decoded.front();
    decoded.remove_prefix(1);
  }
  flush_text(decoded_);
  if (failure_) return;
  if (!decoded_.empty()) {
    return fail_with({errc::protocol_error, "the text of an item is not well-formed UTF-8", {}, {}});
  }
  flush_text(decoded);
}

void message_reader::add_blob(std::string_view characters) {
  constexpr std::size_t step_bytes = flush_bytes / 3 * 4;
  for (; !characters.empty() && !failure_; characters.remove_prefix(std::min(characters.size(), step_bytes))) {
    if (!base64_.feed(characters.substr(0, step_bytes), decoded_)) {
      return fail_with({errc::protocol_error, "the blob of an item is not padded base64", {}, {}});
    }
    deliver(decoded_);
    decoded_.clear();
  }
}

void message_reader::end_content() {
  if (!is_blob_) flush_text(decoded_);
  if (!failure_ && !is_blob_ && !decoded_.empty()) {
    return fail_with({errc::protocol_error, "the text of an item is not well-formed UTF-8", {}, {}});
  }
  if (!failure_ && is_blob_ && !base64_.finish()) {
    return fail_with({errc::protocol_error, "the blob of an item is not padded base64", {}, {}});
  }
  is_in_content_ = false;
}

/// Passes on `text`, except for an incomplete sequence at its end, which stays in `decoded_`.
void message_reader::flush_text(std::string_view text) {
  const std::size_t tail = json::incomplete_tail(text);
  const auto complete_text = text.substr(0, text.size() - tail);
  if (!json::is_utf8(complete_text)) {
    return fail_with({errc::protocol_error, "the text of an item is not well-formed UTF-8", {}, {}});
  }
  const std::string incomplete(text.substr(complete_text.size()));  // a copy, because `text` may refer to `decoded_`
  deliver(complete_text);
  if (!failure_) decoded_ = incomplete;
}

void message_reader::deliver(std::string_view bytes) {
  if (bytes.empty()) return;
  if (bytes.size() > limits_.max_content_bytes - delivered_bytes_) {
    return fail_with(
        {errc::response_too_large,
         "the content is longer than the " + std::to_string(limits_.max_content_bytes) + " bytes that one read may return",
         {},
         {}});
  }
  delivered_bytes_ += bytes.size();
  if (auto status = sink_(item_index_, bytes); !status) fail_with(std::move(status.error()));
}

void message_reader::store(const char* begin, const char* end) {
  if (begin == end) return;
  const auto count = static_cast<std::size_t>(end - begin);
  if (count > limits_.max_message_bytes - stored_.size()) {
    return fail_with({errc::response_too_large,
                      "the message is longer than the " + std::to_string(limits_.max_message_bytes) +
                          " bytes that may be held in memory; read content in parts, or allow longer messages",
                      {},
                      {}});
  }
  stored_.append(begin, count);
}

namespace {

constexpr std::size_t read_back_bytes = 64u << 10;
constexpr std::size_t max_batch_messages = 1'000;

/// The elements of a valid array, as text.
struct array_elements {
  std::vector<std::string_view> first_elements;  ///< At most `max_batch_messages` elements.
  std::size_t count = 0;
};

/// Caps the buffer at the largest acceptable message: a byte of content takes at most six characters.
id_wait_limits cap_buffer(id_wait_limits wait_limits, const limits& limits) {
  constexpr auto max_value = std::numeric_limits<std::uint64_t>::max();
  const auto max_text_bytes = limits.max_content_bytes > (max_value - limits.max_message_bytes) / 6
                                  ? max_value
                                  : 6 * limits.max_content_bytes + limits.max_message_bytes;
  wait_limits.max_buffered_bytes = std::min(wait_limits.max_buffered_bytes, max_text_bytes);
  return wait_limits;
}

array_elements split_array(std::string_view array) {
  array_elements out;
  json::scanner scanner;
  std::size_t depth = 0;
  const char* element_begin = nullptr;
  const auto end_element = [&](const char* end) {
    constexpr std::string_view space = " \t\r\n";
    const std::string_view element(element_begin, static_cast<std::size_t>(end - element_begin));
    const auto begin = element.find_first_not_of(space);
    if (begin != std::string_view::npos && ++out.count <= max_batch_messages)
      out.first_elements.push_back(element.substr(begin, element.find_last_not_of(space) + 1 - begin));
    element_begin = end + 1;
  };
  for (auto unread = array; !unread.empty();) {
    const auto part = scanner.next(unread);
    if (part.kind != json::scanner::part_kind::punctuation) continue;
    for (const char& c : part.raw) {
      if ((c == ']' || c == '}') && --depth == 0) end_element(&c);
      if (c == ',' && depth == 1) end_element(&c);
      if ((c == '[' || c == '{') && depth++ == 0) element_begin = &c + 1;
    }
  }
  return out;
}

}  // namespace

routing_reader::routing_reader(const limits& limits, content_sink sink)
    : limits_(limits), plain_reader_(limits, std::move(sink)), is_decided_(true) {}

routing_reader::routing_reader(const limits& limits, sink_selector select_sink, late_sink_selector select_late_sink,
                               const id_wait_limits& wait_limits)
    : limits_(limits),
      wait_limits_(cap_buffer(wait_limits, limits)),
      select_sink_(std::move(select_sink)),
      select_late_sink_(std::move(select_late_sink)),
      plain_reader_(limits, {}) {}

result<void> routing_reader::feed(std::string_view piece) {
  if (sink_reader_) return sink_reader_->feed(piece);
  auto status = plain_reader_.feed(piece);
  if (failure_) return tl::unexpected(*failure_);
  if (is_decided_ || !status) return status;
  if (const auto id_text = plain_reader_.id()) return decide(select_sink_(*id_text), piece);
  if (is_buffered_) return plain_reader_.has_method() ? decide({}, piece) : buffer(piece);
  if (buffered_.size() + piece.size() <= wait_limits_.max_bytes_without_id) return buffered_.append(piece);
  // A message that is not an answer, or a batch, has no content for a sink.
  if (plain_reader_.has_method() || plain_reader_.is_array()) return decide({}, piece);
  if (const auto sink = select_late_sink_ ? select_late_sink_() : std::nullopt) return decide(*sink, piece);
  is_buffered_ = true;
  plain_reader_.scan_only();
  return buffer(piece);
}

result<void> routing_reader::buffer(std::string_view piece) {
  if (piece.size() > wait_limits_.max_buffered_bytes - buffered_.size()) {
    return give_up({errc::response_too_large,
                    "an answer is longer than the " + std::to_string(wait_limits_.max_buffered_bytes) +
                        " bytes that are buffered until its id arrives; request less at a time, or one thing at a time",
                    {}});
  }
  auto status = buffered_.append(piece);
  return status ? status : give_up(std::move(status.error()));
}

result<void> routing_reader::give_up(failure error) {
  if (error.code == errc::source_unavailable) {
    error.public_text = "an answer has its id after its content, and there is no space to buffer the content (" +
                        error.private_text + "); free some space in the folder of TMPDIR, or in /tmp";
  }
  failure_ = std::move(error);
  buffered_ = {};
  sink_reader_.reset();
  return tl::unexpected(*failure_);
}

result<void> routing_reader::decide(const content_sink& sink, std::string_view piece) {
  auto buffered = std::exchange(buffered_, {});
  is_decided_ = true;
  if (!sink && !is_buffered_) return {};
  plain_reader_.scan_only();  // an id that arrives later is ignored
  HONDANA_TRY(replay(sink, std::move(buffered)));
  return sink_reader_->feed(piece);
}

/// Passes the buffered message on. After a failure of the content, the rest is only scanned.
result<void> routing_reader::replay(const content_sink& sink, disk::spool buffered) {
  auto data = buffered.finish();
  if (!data) return give_up(std::move(data.error()));
  sink_reader_.emplace(limits_, sink);
  if (const auto* in_memory = std::get_if<shared_bytes>(&*data)) return sink_reader_->feed(**in_memory);
  const auto& reader = std::get<std::shared_ptr<byte_reader>>(*data);
  std::string buffer(read_back_bytes, '\0');
  for (;;) {
    const auto count = reader->read(std::span(buffer));
    if (!count) return give_up(count.error());
    if (*count == 0) return {};
    // After a failure the rest is not needed, and may be large.
    HONDANA_TRY(sink_reader_->feed(std::string_view(buffer).substr(0, *count)));
  }
}

result<std::string> routing_reader::finish() {
  if (is_buffering() && !failure_) {
    HONDANA_TRY(plain_reader_.feed({}));
    static_cast<void>(decide({}, {}));  // the result is reported below
  }
  if (failure_) return tl::unexpected(*failure_);
  return sink_reader_ ? sink_reader_->finish() : plain_reader_.finish();
}

void routing_reader::finish_each(const std::function<void(result<std::string>)>& consume) {
  auto message = finish();
  if (!message || !plain_reader_.is_array()) return consume(std::move(message));
  const auto elements = split_array(*message);
  if (elements.count == 0) return consume(fail(errc::protocol_error, "an empty array is not a message"));
  if (elements.count > max_batch_messages) {
    return consume(fail(errc::protocol_error, "an array of " + std::to_string(elements.count) +
                                                  " messages is longer than the limit of " +
                                                  std::to_string(max_batch_messages)));
  }
  for (const auto element : elements.first_elements) {
    reset();
    static_cast<void>(feed(element));  // the result is reported by finish()
    consume(finish());
  }
}

std::optional<std::string> routing_reader::id() const {
  auto plain_id = plain_reader_.id();
  return plain_id || !sink_reader_ ? plain_id : sink_reader_->id();
}

void routing_reader::reset() {
  plain_reader_.reset();
  sink_reader_.reset();
  buffered_ = {};
  is_buffered_ = false;
  is_decided_ = !select_sink_;
  failure_.reset();
}

}  // namespace hondana::channel
