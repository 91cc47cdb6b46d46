/// The Redis protocol RESP 2: commands as bytes, and replies parsed from bytes.
#include "sources/analyses/cache/redis/resp.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace hondana::analyses {
namespace {

constexpr std::string_view line_end = "\r\n";

tl::unexpected<failure> protocol_failure(const std::string& reason) {
  return fail(errc::protocol_error, "the server does not answer like Redis; check the address", "RESP: " + reason);
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

}  // namespace

const redis_reply& redis_reply::at(std::size_t index) const noexcept {
  static const redis_reply none{};
  return index < elements.size() ? elements[index] : none;
}

std::int64_t redis_reply::as_integer() const noexcept {
  if (type == kind::integer) return integer;
  return parse_integer(text).value_or(0);
}

double redis_reply::as_double() const noexcept {
  if (type == kind::integer) return static_cast<double>(integer);
  double out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

std::string encode_command(std::span<const std::string_view> arguments) {
  std::size_t size = 16;
  for (const auto word : arguments) size += word.size() + 24;
  std::string out;
  out.reserve(size);
  out.append("*").append(std::to_string(arguments.size())).append(line_end);
  for (const auto word : arguments)
    out.append("$").append(std::to_string(word.size())).append(line_end).append(word).append(line_end);
  return out;
}

void reply_parser::consume(std::size_t bytes) {
  position_ += bytes;
  line_search_position_ = position_;
  reply_bytes_ += bytes;
  if (position_ == buffer_.size()) {
    buffer_.clear();
    position_ = line_search_position_ = 0;
  } else if (position_ > (std::size_t{1} << 20)) {
    buffer_.erase(0, position_);
    position_ = line_search_position_ = 0;
  }
}

bool reply_parser::append(std::optional<redis_reply>& reply) {
  while (!open_arrays_.empty()) {
    auto& innermost = open_arrays_.back();
    innermost.array.elements.push_back(std::move(*reply));
    reply.reset();
    if (innermost.array.elements.size() < innermost.size) return false;
    reply = std::move(innermost.array);
    open_arrays_.pop_back();
  }
  return true;
}

result<bool> reply_parser::parse_bulk_string(std::optional<redis_reply>& reply) {
  const auto length = *bulk_length_;
  if (buffer_.size() - position_ < length + line_end.size()) return false;
  if (buffer_.compare(position_ + length, line_end.size(), line_end) != 0)
    return protocol_failure("a string is longer than its length");
  reply.emplace();
  reply->type = redis_reply::kind::bulk_string;
  reply->text = buffer_.substr(position_, length);
  bulk_length_.reset();
  consume(length + line_end.size());
  return true;
}

result<bool> reply_parser::parse_line(std::optional<redis_reply>& reply) {
  const auto end = buffer_.find(line_end, line_search_position_);
  if (end == std::string::npos) {
    if (buffer_.size() - position_ > max_line_bytes + 1) return protocol_failure("a line is too long");
    line_search_position_ = std::max(position_, buffer_.size() - (buffer_.ends_with('\r') ? 1 : 0));
    return false;
  }
  if (end - position_ > max_line_bytes) return protocol_failure("a line is too long");
  if (end == position_) return protocol_failure("an empty line");
  const char type = buffer_[position_];
  const std::string line = buffer_.substr(position_ + 1, end - position_ - 1);
  consume(end - position_ + line_end.size());
  reply.emplace();
  if (type == '+' || type == '-') {
    reply->type = type == '+' ? redis_reply::kind::simple_string : redis_reply::kind::error;
    reply->text = line;
    return true;
  }
  const auto integer = parse_integer(line);
  if (!integer) return protocol_failure("not a number");
  if (type == ':') {
    reply->type = redis_reply::kind::integer;
    reply->integer = *integer;
    return true;
  }
  if (type != '$' && type != '*') return protocol_failure("an unknown type");
  if (*integer == -1) return true;
  if (*integer < 0) return protocol_failure("a negative length");
  const auto length = static_cast<std::size_t>(*integer);
  if (type == '$') {
    if (length > max_bulk_bytes) return protocol_failure("a text of " + line + " bytes");
    bulk_length_ = length;
    reply.reset();
    return parse_bulk_string(reply);
  }
  element_count_ += length;
  if (element_count_ > max_elements || open_arrays_.size() >= max_depth) return protocol_failure("too many elements");
  reply->type = redis_reply::kind::array;
  if (length == 0) return true;
  open_arrays_.push_back({std::move(*reply), length});
  reply.reset();
  return true;
}

result<std::optional<redis_reply>> reply_parser::next() {
  for (;;) {
    std::optional<redis_reply> reply;
    if (reply_bytes_ > max_reply_bytes) return protocol_failure("a reply is too large");
    HONDANA_TRY(const auto is_parsed, bulk_length_ ? parse_bulk_string(reply) : parse_line(reply));
    if (!is_parsed) return std::nullopt;
    if (!reply || !append(reply)) continue;
    element_count_ = 0;
    reply_bytes_ = 0;
    return reply;
  }
}

}  // namespace hondana::analyses
