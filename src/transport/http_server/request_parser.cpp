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
using failure_of = beast::http::error;

// A chunked body ends with at least five bytes, and Beast asserts that it gets them.
constexpr std::size_t shortest_last_chunk = 5;
// Memory that one connection keeps between two requests. Bytes.
constexpr std::size_t kept_bytes = 64u << 10;
// Longer headers are not compared with the previous one. Bytes.
constexpr std::size_t longest_repeated = 4096;
// Numbers with more digits may overflow.
constexpr std::size_t longest_count = 18;

/// The bytes of a header, to recognize a repetition.
struct seen_head {
  std::string text;             // empty: none
  std::size_t length_at = 0;    // offset of the digits of Content-Length
  std::size_t length_size = 0;  // number of these digits; 0: the request has no body
};

/// Parses a Content-Length; empty if it is not a number.
std::optional<std::uint64_t> read_count(std::string_view digits) noexcept {
  std::uint64_t out = 0;
  if (digits.empty() || digits.size() > longest_count) return std::nullopt;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    out = out * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return out;
}

/// Stores the header as offsets into one buffer, which moves when it grows.
class collector final : public beast::http::basic_parser<true> {
 public:
  struct slice {
    std::size_t at;
    std::size_t size;
  };
  struct storage {
    std::string text;
    slice method{};
    slice target{};
    std::vector<std::pair<slice, slice>> fields;
    std::string body;
  };

  collector(storage& into, request_parser::caps limits) : into_(into), limits_(limits) {
    const auto cap = std::min<std::size_t>(limits.header_bytes, std::numeric_limits<std::uint32_t>::max());
    header_limit(static_cast<std::uint32_t>(cap));
    body_limit(boost::none);  // counted here, so that the header is reported first
  }

  [[nodiscard]] bool is_http_1_0() const noexcept { return version_ == 10; }

 private:
  slice keep(beast::string_view text) {
    const slice where{into_.text.size(), text.size()};
    into_.text.append(text.data(), text.size());
    return where;
  }

  void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view target, int version,
                       error_code& error) override {
    if (!fits(method.size() + target.size() + 12, error)) return;
    into_.method = keep(method);
    into_.target = keep(target);
    version_ = version;
  }
  void on_response_impl(int, beast::string_view, int, error_code&) override {}

  void on_field_impl(beast::http::field, beast::string_view name, beast::string_view value, error_code& error) override {
    if (!fits(name.size() + value.size() + 4, error) || in_trailer_) return;
    const auto kept_name = keep(name);
    into_.fields.emplace_back(kept_name, keep(value));
  }

  void on_header_impl(error_code&) override {
    in_trailer_ = true;
    header_size_ = 0;
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code& error) override {
    if (length && *length > limits_.body_bytes) error = failure_of::body_limit;
  }
  std::size_t on_body_impl(beast::string_view piece, error_code& error) override { return keep_body(piece, error); }
  void on_chunk_header_impl(std::uint64_t size, beast::string_view, error_code& error) override {
    if (size > limits_.body_bytes - into_.body.size()) error = failure_of::body_limit;
  }
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view piece, error_code& error) override {
    return keep_body(piece, error);
  }
  void on_finish_impl(error_code&) override {}

  /// Counts a line of the header. Beast's own limit starts again with each piece of input.
  bool fits(std::size_t line, error_code& error) {
    header_size_ += line;
    if (header_size_ > limits_.header_bytes) error = failure_of::header_limit;
    return !error;
  }

  std::size_t keep_body(beast::string_view piece, error_code& error) {
    if (piece.size() > limits_.body_bytes - into_.body.size()) {
      error = failure_of::body_limit;
      return 0;
    }
    into_.body.append(piece.data(), piece.size());
    return piece.size();
  }

  storage& into_;
  request_parser::caps limits_;
  std::size_t header_size_ = 0;
  int version_ = 11;
  bool in_trailer_ = false;
};

/// Whether a header field is continued in the next line (obs-fold). Other HTTP parsers may read that line as a field of its
/// own. `lines`: as consumed by Beast, which consumes a line only after it has seen the first byte of the next. Spec: RFC 9112
/// 5.2.
bool has_fold(std::string_view lines) noexcept {
  for (auto at = lines.find('\n'); at != std::string_view::npos; at = lines.find('\n', at + 1)) {
    if (at + 1 < lines.size() && (lines[at + 1] == ' ' || lines[at + 1] == '\t')) return true;
  }
  return false;
}

std::string_view explain(const error_code& error) {
  if (error == failure_of::bad_method) return "the method is malformed (is the client speaking TLS to a plain HTTP port?)";
  if (error == failure_of::bad_target) return "the request target is malformed";
  if (error == failure_of::bad_version) return "the version is not HTTP/1.0 or HTTP/1.1";
  if (error == failure_of::bad_field || error == failure_of::bad_value) return "a header field is malformed";
  if (error == failure_of::bad_line_ending) return "a line does not end with CR LF";
  if (error == failure_of::bad_content_length) return "Content-Length is malformed or contradicts Transfer-Encoding";
  if (error == failure_of::multiple_content_length) return "there are several values of Content-Length";
  if (error == failure_of::bad_transfer_encoding) return "Transfer-Encoding is repeated or contradicts Content-Length";
  if (error == failure_of::bad_chunk || error == failure_of::bad_chunk_extension) return "a chunk of the body is malformed";
  if (error == failure_of::bad_obs_fold) return "a folded header line is malformed";
  return "the request is malformed";
}

}  // namespace

struct request_parser::state {
  explicit state(caps given) : limits(given) {}

  enum class phase {
    fresh,     // no byte of the request has arrived
    parsing,   // Beast parses it
    counting,  // its header equals the previous one; `missing` bytes of its body are still to come
  };

  caps limits;
  collector::storage storage;
  std::optional<collector> parser;
  request_head head;
  phase now = phase::fresh;
  seen_head seen;
  collector::slice length{};  // the digits of Content-Length in `storage`
  std::uint64_t missing = 0;
  std::string_view lent_body;  // if the body came in one piece
  bool head_told = false;
  defect what = defect::none;
  std::string_view why;

  step fail(std::size_t taken, defect kind, std::string_view text) {
    what = kind;
    why = text;
    return {taken, progress::failed};
  }

  step fail(std::size_t taken, const error_code& error) {
    if (error == failure_of::header_limit) return fail(taken, defect::header_too_large, "the header is too large");
    if (error == failure_of::body_limit) return fail(taken, defect::body_too_large, "the body is too large");
    return fail(taken, defect::malformed, explain(error));
  }

  [[nodiscard]] std::string_view text(collector::slice where) const {
    return std::string_view(storage.text).substr(where.at, where.size);
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
    now = phase::parsing;
    seen.text.clear();
    storage.text.clear();
    storage.fields.clear();
    parser.emplace(storage, limits);
    head = {};
    head_told = false;
  }

  /// Stores a header that came in one piece, if the end of its request depends only on a Content-Length.
  void remember(std::string_view text) {
    const auto lengths = head.find("Content-Length");
    if (text.size() > longest_repeated || !text.ends_with("\r\n\r\n") || lengths.count > 1 ||
        head.find("Transfer-Encoding").count != 0)
      return;
    seen.length_size = lengths.first.size();
    if (lengths.count == 1) {
      length = {static_cast<std::size_t>(lengths.first.data() - storage.text.data()), lengths.first.size()};
      const auto at = place_of_length(text);
      if (!at || !read_count(lengths.first)) return;
      seen.length_at = *at;
    }
    seen.text = text;
  }

  /// The offset of the value of the only Content-Length, in a header that Beast has accepted.
  [[nodiscard]] std::optional<std::size_t> place_of_length(std::string_view text) const {
    constexpr std::string_view name = "Content-Length:";
    for (auto line = text.find("\r\n"); line != std::string_view::npos; line = text.find("\r\n", line)) {
      line += 2;
      if (!ascii::begins_with(text.substr(line), name)) continue;
      const auto at = text.find_first_not_of(" \t", line + name.size());
      if (at != std::string_view::npos && text.substr(at, length.size) == this->text(length)) return at;
      break;
    }
    return std::nullopt;
  }

  /// Whether `bytes` begin with the previous header, apart from the digits of Content-Length. If so, takes the new length.
  [[nodiscard]] bool recall(std::string_view bytes) {
    const std::string_view before = seen.text;
    if (before.empty() || bytes.size() < before.size()) return false;
    const auto behind = seen.length_at + seen.length_size;
    if (seen.length_size == 0) {
      if (!bytes.starts_with(before)) return false;
      missing = 0;
    } else {
      if (bytes.substr(0, seen.length_at) != before.substr(0, seen.length_at)) return false;
      if (bytes.substr(behind, before.size() - behind) != before.substr(behind)) return false;
      const auto digits = bytes.substr(seen.length_at, seen.length_size);
      const auto count = read_count(digits);
      if (!count || *count > limits.body_bytes) return false;
      missing = *count;
      storage.text.replace(length.at, length.size, digits);
      head.content_length = count;
    }
    head.has_body = missing != 0;
    head_told = true;
    now = phase::counting;
    return true;
  }

  step count(std::string_view bytes) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), missing));
    missing -= size;
    if (missing == 0 && storage.body.empty()) {
      lent_body = bytes.substr(0, size);
    } else {
      storage.body.append(bytes.substr(0, size));
    }
    return {size, missing == 0 ? progress::complete : progress::needs_more};
  }

  /// Ambiguous framing that Beast accepts; empty if the framing is unambiguous.
  [[nodiscard]] std::string_view framing_defect() const {
    const auto coding = head.find("Transfer-Encoding");
    if (coding.count == 0) return {};
    if (head.find("Content-Length").count != 0) return "Content-Length and Transfer-Encoding contradict each other";
    if (coding.count != 1 || !ascii::is_same(coding.first, "chunked"))
      return "the only Transfer-Encoding understood is chunked";
    if (head.is_http_1_0) return "HTTP/1.0 has no Transfer-Encoding";
    return {};
  }
};

request_parser::request_parser(caps limits) : caps_(limits) { reset(); }
request_parser::~request_parser() = default;

void request_parser::rest() noexcept { state_.reset(); }

void request_parser::reset() {
  if (!state_) state_ = std::make_unique<state>(caps_);
  forget_body();
  state_->now = state::phase::fresh;
  state_->what = defect::none;
}

request_parser::step request_parser::put(std::string_view bytes) {
  const bool is_begin = state_->now == state::phase::fresh;
  if (is_begin) {
    if (bytes.empty()) return {0, progress::needs_more};
    if (state_->recall(bytes)) return {state_->seen.text.size(), progress::head};
    state_->begin();
  }
  if (state_->now == state::phase::counting) return state_->count(bytes);
  auto& parser = *state_->parser;
  std::size_t taken = 0;
  for (;;) {
    if (parser.is_done()) return {taken, progress::complete};
    const auto rest = bytes.substr(taken);
    if (rest.empty() || (parser.is_header_done() && parser.chunked() && rest.size() < shortest_last_chunk)) {
      return {taken, progress::needs_more};
    }
    error_code error;
    const bool is_of_head = !parser.is_header_done();
    const auto count = parser.put(boost::asio::const_buffer(rest.data(), rest.size()), error);
    taken += count;
    if (is_of_head && has_fold(rest.substr(0, count))) {
      return state_->fail(taken, defect::malformed,
                          "a header field is continued in the next line (obs-fold), which HTTP no longer allows");
    }
    if (error == failure_of::need_more) {
      // Limits a line of the header and the line before a chunk.
      if (bytes.size() - taken > state_->limits.header_bytes) return state_->fail(taken, failure_of::header_limit);
      return {taken, progress::needs_more};
    }
    if (error) return state_->fail(taken, error);
    if (parser.is_header_done() && !state_->head_told) {
      state_->head_told = true;
      state_->read_head();
      if (const auto why = state_->framing_defect(); !why.empty()) return state_->fail(taken, defect::malformed, why);
      if (is_begin) state_->remember(bytes.substr(0, taken));
      return {taken, progress::head};
    }
  }
}

const request_head& request_parser::head() const noexcept { return state_->head; }
bool request_parser::is_repeated() const noexcept { return state_->now == state::phase::counting; }
std::string_view request_parser::body() const noexcept {
  return state_->lent_body.empty() ? std::string_view(state_->storage.body) : state_->lent_body;
}
void request_parser::forget_body() {
  if (!state_) return;
  state_->lent_body = {};
  auto& body = state_->storage.body;
  body.clear();
  if (body.capacity() > kept_bytes) body.shrink_to_fit();
}
request_parser::defect request_parser::what_failed() const noexcept { return state_->what; }
std::string_view request_parser::why_failed() const noexcept { return state_->why; }

}  // namespace hondana::transport::http_server
