/// Encoding contents into messages, at once or while they are sent.
#include "rpc/body.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "json/base64.hpp"
#include "json/escape.hpp"

namespace hondana::rpc {
namespace {

// A multiple of three, so that base64 pieces concatenate.
constexpr std::size_t pull_bytes = 192 * 1024;
// Content up to this size is encoded at once: then the message is one buffer and one write.
constexpr std::size_t small_bytes = 64 * 1024;

void append_encoded(std::string& out, std::string_view bytes, bool is_text) {
  if (is_text) {
    json::append_escaped(out, bytes);
  } else {
    json::append_base64(out, bytes);
  }
}

/// Appends and counts.
void append_counted(std::string& out, std::string_view bytes, bool is_text, receipt* by) {
  const auto before = out.size();
  append_encoded(out, bytes, is_text);
  if (by != nullptr) by->count(out.size() - before);
}

/// Fills `into` as far as the reader goes.
result<std::size_t> read_fully(byte_reader& reader, std::span<char> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    const auto count = reader.read(into.subspan(filled));
    if (!count) return tl::unexpected(count.error());
    if (*count == 0) break;
    filled += *count;
  }
  return filled;
}

}  // namespace

body::body(std::string text) { pieces_.emplace_back(std::move(text)); }

std::string& body::text() {
  if (pieces_.empty() || !std::holds_alternative<std::string>(pieces_.back())) pieces_.emplace_back(std::string());
  return std::get<std::string>(pieces_.back());
}

void body::append(bytes::prepared content, const std::shared_ptr<work::lane>& home) {
  if (auto* whole = std::get_if<shared_bytes>(&content.data)) {
    if ((*whole)->size() <= small_bytes) {
      append_encoded(text(), **whole, content.is_text);
    } else {
      pieces_.emplace_back(held{std::move(*whole), 0, content.is_text, {}});
    }
    return;
  }
  auto& from = std::get<bytes::stream>(content.data);
  pieces_.emplace_back(pulled{std::move(from.reader), from.expected, content.is_text, home, {}, {}});
}

void body::append(body other) {
  for (auto& one : other.pieces_) {
    if (auto* ready = std::get_if<std::string>(&one)) {
      text() += *ready;
    } else {
      pieces_.push_back(std::move(one));
    }
  }
  receipts_.add(std::move(other.receipts_));
}

void body::watch(const std::shared_ptr<receipt>& one) {
  for (auto& each : pieces_) {
    if (const auto* ready = std::get_if<std::string>(&each)) one->count(ready->size());
    if (auto* waiting = std::get_if<held>(&each)) waiting->counted_by = one;
    if (auto* from = std::get_if<pulled>(&each)) from->counted_by = one;
  }
  receipts_.add(one);
}

bool body::is_whole() const noexcept {
  return std::all_of(pieces_.begin(), pieces_.end(), [](const piece& one) { return std::holds_alternative<std::string>(one); });
}

std::string body::take_text() { return pieces_.empty() ? std::string() : std::get<std::string>(std::move(pieces_.front())); }

bool body::settle() {
  if (next_ != 0) return false;  // it is being sent
  body settled;
  bool is_whole = true;
  for (auto& one : pieces_) {
    if (auto* ready = std::get_if<std::string>(&one)) {
      settled.text() += *ready;
    } else if (auto* waiting = std::get_if<held>(&one)) {
      auto& into = settled.text();
      while (pull_held(*waiting, into)) {
      }
    } else {
      settled.pieces_.push_back(std::move(one));
      is_whole = false;
    }
  }
  settled.receipts_ = std::move(receipts_);
  *this = std::move(settled);
  return is_whole;
}

std::size_t body::bytes_held() const noexcept {
  std::size_t total = 0;
  for (const auto& one : pieces_) {
    if (const auto* ready = std::get_if<std::string>(&one)) total += ready->size();
    if (const auto* waiting = std::get_if<held>(&one); waiting != nullptr && waiting->bytes) total += waiting->bytes->size();
    if (std::holds_alternative<pulled>(one)) total += pull_bytes;
  }
  return total;
}

std::shared_ptr<work::lane> body::next_lane() const {
  if (next_ >= pieces_.size()) return nullptr;
  const auto* from = std::get_if<pulled>(&pieces_[next_]);
  return from == nullptr ? nullptr : from->home;
}

result<bool> body::pull(std::string& out) {
  if (next_ >= pieces_.size()) return false;
  if (auto* ready = std::get_if<std::string>(&pieces_[next_])) {
    out += *ready;
    pieces_[next_] = std::string();
    return ++next_ < pieces_.size();
  }
  if (auto* waiting = std::get_if<held>(&pieces_[next_])) {
    if (!pull_held(*waiting, out)) ++next_;
    return next_ < pieces_.size();
  }
  auto more = pull_stream(std::get<pulled>(pieces_[next_]), out);
  if (!more) return more;
  if (!*more) ++next_;
  return next_ < pieces_.size();
}

bool body::pull_held(held& from, std::string& out) {
  const auto bytes = std::string_view(*from.bytes).substr(from.next, pull_bytes);
  append_counted(out, bytes, from.is_text, from.counted_by.get());
  from.next += bytes.size();
  if (from.next < from.bytes->size()) return true;
  from.bytes.reset();
  return false;
}

result<bool> body::pull_stream(pulled& from, std::string& out) {
  const auto window = std::make_unique_for_overwrite<char[]>(pull_bytes);
  const auto count = read_fully(*from.reader, std::span(window.get(), pull_bytes));
  if (!count) return tl::unexpected(count.error());
  const std::string_view bytes(window.get(), *count);
  from.digest.feed(bytes);
  const bool at_end = bytes.size() < pull_bytes;
  if (at_end && from.digest.value() != from.expected) {
    return fail(errc::content_changed, "The resource changed while it was being sent. Ask for it again.");
  }
  append_counted(out, bytes, from.is_text, from.counted_by.get());
  if (at_end) from.reader.reset();
  return !at_end;
}

}  // namespace hondana::rpc
