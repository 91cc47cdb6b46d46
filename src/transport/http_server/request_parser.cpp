/// Splits the bytes of an HTTP/1 connection into requests, with Boost.Beast's parser. No other file uses Beast.
#include "transport/http_server/request_parser.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "base/ascii/ascii.hpp"
#include "transport/http_server/request_head.hpp"

namespace hondana::transport::http_server {
namespace {

namespace beast = boost::beast;
using beast::error_code;
using parse_error = beast::http::error;

// A chunked body ends with at least five bytes, and Beast asserts that it gets them.
constexpr std::size_t min_last_chunk_bytes = 5;
// Memory that one connection keeps between two requests. Bytes.
constexpr std::size_t max_retained_bytes = 64u << 10;
// Longer headers are not compared with the previous one. Bytes.
constexpr std::size_t max_repeated_head_bytes = 4096;
// Numbers with more digits may overflow.
constexpr std::size_t max_count_digits = 18;

/// The bytes of a header, to recognize a repetition.
struct stored_head {
  std::string text;               // empty: none
  std::size_t length_offset = 0;  // offset of the digits of Content-Length
  std::size_t length_size = 0;    // number of these digits; 0: the request has no body
};

/// Parses a Content-Length; empty if it is not a number.
std::optional<std::uint64_t> parse_count(std::string_view digits) noexcept {
  std::uint64_t out = 0;
  if (digits.empty() || digits.size() > max_count_digits) return std::nullopt;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    out = out * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return out;
}

/// Stores the header as offsets into one buffer, which moves when it grows.
class head_collector final : public beast::http::basic_parser<true> {
 public:
  struct slice {
    std::size_t offset;
    std::size_t size;
  };
  struct storage {
    std::string text;
    slice method{};
    slice target{};
    std::vector<std::pair<slice, slice>> fields;
    std::string body;
  };

  head_collector(storage& buffer, request_parser::caps limits) : storage_(buffer), limits_(limits) {
    const auto cap = std::min<std::size_t>(limits.max_header_bytes, std::numeric_limits<std::uint32_t>::max());
    header_limit(static_cast<std::uint32_t>(cap));
    body_limit(boost::none);  // counted here, so that the header is reported first
  }

  [[nodiscard]] bool is_http_1_0() const noexcept { return version_ == 10; }

 private:
  slice append(beast::string_view text) {
    const slice stored{storage_.text.size(), text.size()};
    storage_.text.append(text.data(), text.size());
    return stored;
  }

  void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view target, int version,
                       error_code& error) override {
    if (!fits(method.size() + target.size() + 12, error)) return;
    storage_.method = append(method);
    storage_.target = append(target);
    version_ = version;
  }
  void on_response_impl(int, beast::string_view, int, error_code&) override {}

  void on_field_impl(beast::http::field, beast::string_view name, beast::string_view value, error_code& error) override {
    if (!fits(name.size() + value.size() + 4, error) || in_trailer_) return;
    const auto stored_name = append(name);
    storage_.fields.emplace_back(stored_name, append(value));
  }

  void on_header_impl(error_code&) override {
    in_trailer_ = true;
    header_size_ = 0;
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code& error) override {
    if (length && *length > limits_.max_body_bytes) error = parse_error::body_limit;
  }
  std::size_t on_body_impl(beast::string_view piece, error_code& error) override { return append_body(piece, error); }
  void on_chunk_header_impl(std::uint64_t size, beast::string_view, error_code& error) override {
    if (size > limits_.max_body_bytes - storage_.body.size()) error = parse_error::body_limit;
  }
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view piece, error_code& error) override {
    return append_body(piece, error);
  }
  void on_finish_impl(error_code&) override {}

  /// Counts a line of the header. Beast's own limit starts again with each piece of input.
  bool fits(std::size_t line_bytes, error_code& error) {
    header_size_ += line_bytes;
    if (header_size_ > limits_.max_header_bytes) error = parse_error::header_limit;
    return !error;
  }

  std::size_t append_body(beast::string_view piece, error_code& error) {
    if (piece.size() > limits_.max_body_bytes - storage_.body.size()) {
      error = parse_error::body_limit;
      return 0;
    }
    storage_.body.append(piece.data(), piece.size());
    return piece.size();
  }

  storage& storage_;
  request_parser::caps limits_;
  std::size_t header_size_ = 0;
  int version_ = 11;
  bool in_trailer_ = false;
};

/// Whether a header field is continued in the next line (obs-fold). Other HTTP parsers may read that line as a field of its
/// own. `lines`: as consumed by Beast, which consumes a line only after it has seen the first byte of the next. Spec: RFC 9112
/// 5.2.
bool has_fold(std::string_view lines) noexcept {
  for (auto newline = lines.find('\n'); newline != std::string_view::npos; newline = lines.find('\n', newline + 1)) {
    if (newline + 1 < lines.size() && (lines[newline + 1] == ' ' || lines[newline + 1] == '\t')) return true;
  }
  return false;
}

std::string_view describe_error(const error_code& error) {
  if (error == parse_error::bad_method) return "the method is malformed (is the client speaking TLS to a plain HTTP port?)";
  if (error == parse_error::bad_target) return "the request target is malformed";
  if (error == parse_error::bad_version) return "the version is not HTTP/1.0 or HTTP/1.1";
  if (error == parse_error::bad_field || error == parse_error::bad_value) return "a header field is malformed";
  if (error == parse_error::bad_line_ending) return "a line does not end with CR LF";
  if (error == parse_error::bad_content_length) return "Content-Length is malformed or contradicts Transfer-Encoding";
  if (error == parse_error::multiple_content_length) return "there are several values of Content-Length";
  if (error == parse_error::bad_transfer_encoding) return "Transfer-Encoding is repeated or contradicts Content-Length";
  if (error == parse_error::bad_chunk || error == parse_error::bad_chunk_extension) return "a chunk of the body is malformed";
  if (error == parse_error::bad_obs_fold) return "a folded header line is malformed";
  return "the request is malformed";
}

}  // namespace

struct request_parser::state {
  explicit state(caps request_caps) : limits(request_caps) {}

  enum class phase {
    fresh,     // no byte of the request has arrived
    parsing,   // Beast parses it
    counting,  // its header equals the previous one; `missing_bytes` bytes of its body are still to come
  };

  caps limits;
  head_collector::storage storage;
  std::optional<head_collector> parser;
  request_head head;
  phase current_phase = phase::fresh;
  stored_head previous;
  head_collector::slice length{};  // the digits of Content-Length in `storage`
  std::uint64_t missing_bytes = 0;
  std::string_view body_view;  // if the body came in one piece
  bool is_head_reported = false;
  defect found_defect = defect::none;
  std::string_view reason;

  step fail(std::size_t consumed, defect kind, std::string_view message) {
    found_defect = kind;
    reason = message;
    return {consumed, progress::failed};
  }

  step fail(std::size_t consumed, const error_code& error) {
    if (error == parse_error::header_limit) return fail(consumed, defect::header_too_large, "the header is too large");
    if (error == parse_error::body_limit) return fail(consumed, defect::body_too_large, "the body is too large");
    return fail(consumed, defect::malformed, describe_error(error));
  }

  [[nodiscard]] std::string_view text(head_collector::slice range) const {
    return std::string_view(storage.text).substr(range.offset, range.size);
  }

  void read_head() {
    head.method = text(storage.method);
    head.target = text(storage.target);
    head.fields.clear();
    for (const auto& [name, value] : storage.fields) head.fields.push_back({text(name), text(value)});
    head.is_http_1_0 = parser->is_http_1_0();
    head.keep_alive = parser->keep_alive();
    head.has_body = !parser->is_done();
    head.content_length.reset();
    if (const auto stated = parser->content_length()) head.content_length = *stated;
  }

  void begin() {
    current_phase = phase::parsing;
    previous.text.clear();
    storage.text.clear();
    storage.fields.clear();
    parser.emplace(storage, limits);
    head = {};
    is_head_reported = false;
  }

  /// Stores a header that came in one piece, if the end of its request depends only on a Content-Length.
  void store_head(std::string_view head_text) {
    const auto lengths = head.find("Content-Length");
    if (head_text.size() > max_repeated_head_bytes || !head_text.ends_with("\r\n\r\n") || lengths.count > 1 ||
        head.find("Transfer-Encoding").count != 0)
      return;
    previous.length_size = lengths.first.size();
    if (lengths.count == 1) {
      length = {static_cast<std::size_t>(lengths.first.data() - storage.text.data()), lengths.first.size()};
      const auto offset = find_length(head_text);
      if (!offset || !parse_count(lengths.first)) return;
      previous.length_offset = *offset;
    }
    previous.text = head_text;
  }

  /// The offset of the value of the only Content-Length, in a header that Beast has accepted.
  [[nodiscard]] std::optional<std::size_t> find_length(std::string_view head_text) const {
    constexpr std::string_view name = "Content-Length:";
    for (auto line = head_text.find("\r\n"); line != std::string_view::npos; line = head_text.find("\r\n", line)) {
      line += 2;
      if (!ascii::starts_with_ignore_case(head_text.substr(line), name)) continue;
      const auto offset = head_text.find_first_not_of(" \t", line + name.size());
      if (offset != std::string_view::npos && head_text.substr(offset, length.size) == this->text(length)) return offset;
      break;
    }
    return std::nullopt;
  }

  /// Whether `bytes` begin with the previous header, apart from the digits of Content-Length. If so, takes the new length.
  [[nodiscard]] bool match_previous(std::string_view bytes) {
    const std::string_view stored = previous.text;
    if (stored.empty() || bytes.size() < stored.size()) return false;
    const auto length_end = previous.length_offset + previous.length_size;
    if (previous.length_size == 0) {
      if (!bytes.starts_with(stored)) return false;
      missing_bytes = 0;
    } else {
      if (bytes.substr(0, previous.length_offset) != stored.substr(0, previous.length_offset)) return false;
      if (bytes.substr(length_end, stored.size() - length_end) != stored.substr(length_end)) return false;
      const auto digits = bytes.substr(previous.length_offset, previous.length_size);
      const auto count = parse_count(digits);
      if (!count || *count > limits.max_body_bytes) return false;
      missing_bytes = *count;
      storage.text.replace(length.offset, length.size, digits);
      head.content_length = count;
    }
    head.has_body = missing_bytes != 0;
    is_head_reported = true;
    current_phase = phase::counting;
    return true;
  }

  step count_body(std::string_view bytes) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), missing_bytes));
    missing_bytes -= size;
    if (missing_bytes == 0 && storage.body.empty()) {
      body_view = bytes.substr(0, size);
    } else {
      storage.body.append(bytes.substr(0, size));
    }
    return {size, missing_bytes == 0 ? progress::complete : progress::needs_more};
  }

  /// Ambiguous framing that Beast accepts; empty if the framing is unambiguous.
  [[nodiscard]] std::string_view framing_defect() const {
    const auto coding = head.find("Transfer-Encoding");
    if (coding.count == 0) return {};
    if (head.find("Content-Length").count != 0) return "Content-Length and Transfer-Encoding contradict each other";
    if (coding.count != 1 || !ascii::equals_ignore_case(coding.first, "chunked"))
      return "the only Transfer-Encoding understood is chunked";
    if (head.is_http_1_0) return "HTTP/1.0 has no Transfer-Encoding";
    return {};
  }
};

request_parser::request_parser(caps limits) : caps_(limits) { reset(); }
request_parser::~request_parser() = default;

void request_parser::release_memory() noexcept { state_.reset(); }

void request_parser::reset() {
  if (!state_) state_ = std::make_unique<state>(caps_);
  release_body();
  state_->current_phase = state::phase::fresh;
  state_->found_defect = defect::none;
}

request_parser::step request_parser::feed(std::string_view bytes) {
  const bool is_first = state_->current_phase == state::phase::fresh;
  if (is_first) {
    if (bytes.empty()) return {0, progress::needs_more};
    if (state_->match_previous(bytes)) return {state_->previous.text.size(), progress::head};
    state_->begin();
  }
  if (state_->current_phase == state::phase::counting) return state_->count_body(bytes);
  auto& parser = *state_->parser;
  std::size_t consumed = 0;
  for (;;) {
    if (parser.is_done()) return {consumed, progress::complete};
    const auto remaining = bytes.substr(consumed);
    if (remaining.empty() || (parser.is_header_done() && parser.chunked() && remaining.size() < min_last_chunk_bytes)) {
      return {consumed, progress::needs_more};
    }
    error_code error;
    const bool is_head_part = !parser.is_header_done();
    const auto count = parser.put(boost::asio::const_buffer(remaining.data(), remaining.size()), error);
    consumed += count;
    if (is_head_part && has_fold(remaining.substr(0, count))) {
      return state_->fail(consumed, defect::malformed,
                          "a header field is continued in the next line (obs-fold), which HTTP no longer allows");
    }
    if (error == parse_error::need_more) {
      // Limits a line of the header and the line before a chunk.
      if (bytes.size() - consumed > state_->limits.max_header_bytes) return state_->fail(consumed, parse_error::header_limit);
      return {consumed, progress::needs_more};
    }
    if (error) return state_->fail(consumed, error);
    if (parser.is_header_done() && !state_->is_head_reported) {
      state_->is_head_reported = true;
      state_->read_head();
      if (const auto reason = state_->framing_defect(); !reason.empty())
        return state_->fail(consumed, defect::malformed, reason);
      if (is_first) state_->store_head(bytes.substr(0, consumed));
      return {consumed, progress::head};
    }
  }
}

const request_head& request_parser::head() const noexcept { return state_->head; }
bool request_parser::is_repeated() const noexcept { return state_->current_phase == state::phase::counting; }
std::string_view request_parser::body() const noexcept {
  return state_->body_view.empty() ? std::string_view(state_->storage.body) : state_->body_view;
}
void request_parser::release_body() {
  if (!state_) return;
  state_->body_view = {};
  auto& body = state_->storage.body;
  body.clear();
  if (body.capacity() > max_retained_bytes) body.shrink_to_fit();
}
request_parser::defect request_parser::current_defect() const noexcept { return state_->found_defect; }
std::string_view request_parser::defect_reason() const noexcept { return state_->reason; }

}  // namespace hondana::transport::http_server
