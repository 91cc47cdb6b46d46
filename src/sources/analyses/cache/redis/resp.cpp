/// The Redis protocol RESP 2: commands as bytes, and replies parsed from bytes.
#include "sources/analyses/cache/redis/resp.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace hondana::analyses {
namespace {

constexpr std::string_view line_end = "\r\n";

tl::unexpected<failure> no_reply(const std::string& why) {
  return fail(errc::broken_protocol, "the server does not answer like Redis; check the address", "RESP: " + why);
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

}  // namespace

const reply& reply::at(std::size_t index) const noexcept {
  static const reply none{};
  return index < all.size() ? all[index] : none;
}

std::int64_t reply::as_number() const noexcept {
  if (what == kind::number) return number;
  return number_in(text).value_or(0);
}

double reply::as_real() const noexcept {
  if (what == kind::number) return static_cast<double>(number);
  double out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

std::string command_of(std::span<const std::string_view> words) {
  std::size_t size = 16;
  for (const auto word : words) size += word.size() + 24;
  std::string out;
  out.reserve(size);
  out.append("*").append(std::to_string(words.size())).append(line_end);
  for (const auto word : words)
    out.append("$").append(std::to_string(word.size())).append(line_end).append(word).append(line_end);
  return out;
}

void reply_reader::passed(std::size_t bytes) {
  at_ += bytes;
  searched_ = at_;
  bytes_ += bytes;
  if (at_ == rest_.size()) {
    rest_.clear();
    at_ = searched_ = 0;
  } else if (at_ > (std::size_t{1} << 20)) {
    rest_.erase(0, at_);
    at_ = searched_ = 0;
  }
}

bool reply_reader::add(std::optional<reply>& one) {
  while (!open_.empty()) {
    auto& into = open_.back();
    into.made.all.push_back(std::move(*one));
    one.reset();
    if (into.made.all.size() < into.wanted) return false;
    one = std::move(into.made);
    open_.pop_back();
  }
  return true;
}

result<bool> reply_reader::take_text(std::optional<reply>& into) {
  const auto length = *text_;
  if (rest_.size() - at_ < length + line_end.size()) return false;
  if (rest_.compare(at_ + length, line_end.size(), line_end) != 0) return no_reply("a string is longer than its length");
  into.emplace();
  into->what = reply::kind::text;
  into->text = rest_.substr(at_, length);
  text_.reset();
  passed(length + line_end.size());
  return true;
}

result<bool> reply_reader::take_line(std::optional<reply>& into) {
  const auto end = rest_.find(line_end, searched_);
  if (end == std::string::npos) {
    if (rest_.size() - at_ > longest_line + 1) return no_reply("a line is too long");
    searched_ = std::max(at_, rest_.size() - (rest_.ends_with('\r') ? 1 : 0));
    return false;
  }
  if (end - at_ > longest_line) return no_reply("a line is too long");
  if (end == at_) return no_reply("an empty line");
  const char type = rest_[at_];
  const std::string line = rest_.substr(at_ + 1, end - at_ - 1);
  passed(end - at_ + line_end.size());
  into.emplace();
  if (type == '+' || type == '-') {
    into->what = type == '+' ? reply::kind::status : reply::kind::error;
    into->text = line;
    return true;
  }
  const auto number = number_in(line);
  if (!number) return no_reply("not a number");
  if (type == ':') {
    into->what = reply::kind::number;
    into->number = *number;
    return true;
  }
  if (type != '$' && type != '*') return no_reply("an unknown type");
  if (*number == -1) return true;
  if (*number < 0) return no_reply("a negative length");
  const auto length = static_cast<std::size_t>(*number);
  if (type == '$') {
    if (length > longest_text) return no_reply("a text of " + line + " bytes");
    text_ = length;
    into.reset();
    return take_text(into);
  }
  elements_ += length;
  if (elements_ > most_elements || open_.size() >= most_depth) return no_reply("too many elements");
  into->what = reply::kind::array;
  if (length == 0) return true;
  open_.push_back({std::move(*into), length});
  into.reset();
  return true;
}

result<std::optional<reply>> reply_reader::next() {
  for (;;) {
    std::optional<reply> one;
    if (bytes_ > most_reply) return no_reply("a reply is too large");
    HONDANA_TRY(const auto taken, text_ ? take_text(one) : take_line(one));
    if (!taken) return std::nullopt;
    if (!one || !add(one)) continue;
    elements_ = 0;
    bytes_ = 0;
    return one;
  }
}

}  // namespace hondana::analyses
