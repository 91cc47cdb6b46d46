/// An outgoing message: ready text, content that is read while it is sent, and receipts of its delivery.
#include "protocol/rpc/message_body.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include <hondana/clock.hpp>

#include "base/json/base64.hpp"
#include "base/json/escape.hpp"

namespace hondana::rpc {
namespace {

// A multiple of three, so that base64 pieces concatenate. The encoded piece fits into the L2 cache until it is sent.
constexpr std::size_t pull_bytes = 192 * 1024;
// The amount to encode in one step, so that escaping makes a piece only slightly longer than `pull_bytes`.
constexpr std::size_t step_bytes = json::escape_step / 3 * 3;
// Content up to this size is encoded immediately, so that the message is one buffer and one write.
constexpr std::size_t small_bytes = 64 * 1024;

template <class Out>
void append_encoded(Out& out, std::string_view bytes, bool is_text) {
  if (is_text) {
    json::append_escaped(out, bytes);
  } else {
    json::append_base64(out, bytes);
  }
}

void count(receipt* by, std::size_t bytes) {
  if (by != nullptr) by->count(bytes);
}

/// Fills `into`, or reads to the end of the content. Returns the number of bytes.
result<std::size_t> read_fully(byte_reader& reader, std::span<char> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    HONDANA_TRY(const auto count, reader.read(into.subspan(filled)));
    if (count == 0) break;
    filled += count;
  }
  return filled;
}

}  // namespace

body::body(std::string text) : first_(std::move(text)) {}

std::string& body::text() {
  if (pieces_.empty()) return first_;
  if (!std::holds_alternative<std::string>(pieces_.back())) pieces_.emplace_back(std::string());
  return std::get<std::string>(pieces_.back());
}

void body::append(bytes::prepared content, const std::shared_ptr<executor::lane>& home) {
  if (auto* whole = std::get_if<shared_bytes>(&content.data)) {
    if ((*whole)->size() <= small_bytes) {
      append_encoded(text(), **whole, content.is_text);
    } else {
      pieces_.emplace_back(held{std::move(*whole), 0, content.is_text, {}});
    }
    return;
  }
  if (auto* kept = std::get_if<bytes::encoded>(&content.data)) {
    pieces_.emplace_back(lent{std::move(kept->inside), 0, {}});
    return;
  }
  auto& from = std::get<bytes::stream>(content.data);
  pieces_.emplace_back(pulled{std::move(from.reader), from.expected, content.is_text, home, {}, {}});
}

void body::append(body other) {
  if (pieces_.empty() && first_.empty()) {
    first_ = std::move(other.first_);
  } else if (!other.first_.empty()) {
    text() += other.first_;
  }
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
  one->count(first_.size());
  for (auto& each : pieces_) {
    if (const auto* ready = std::get_if<std::string>(&each)) one->count(ready->size());
    if (auto* kept = std::get_if<lent>(&each)) kept->counted_by = one;
    if (auto* waiting = std::get_if<held>(&each)) waiting->counted_by = one;
    if (auto* from = std::get_if<pulled>(&each)) from->counted_by = one;
  }
  receipts_.add(one);
}

bool body::is_whole() const noexcept { return pieces_.empty(); }

std::string body::take_text() { return std::exchange(first_, {}); }

bool body::settle() {
  if (is_begun_) return false;
  body settled(std::move(first_));
  bool is_whole = true;
  for (auto& one : pieces_) {
    if (auto* ready = std::get_if<std::string>(&one)) {
      settled.text() += *ready;
    } else if (auto* waiting = std::get_if<held>(&one)) {
      const auto bytes = std::exchange(waiting->bytes, nullptr);
      auto& into = settled.text();
      const auto before = into.size();
      append_encoded(into, *bytes, waiting->is_text);
      count(waiting->counted_by.get(), into.size() - before);
    } else if (const auto* kept = std::get_if<lent>(&one)) {
      settled.text() += *kept->inside;
      count(kept->counted_by.get(), kept->inside->size());
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
  auto total = first_.size();
  for (const auto& one : pieces_) {
    if (const auto* ready = std::get_if<std::string>(&one)) total += ready->size();
    if (const auto* waiting = std::get_if<held>(&one); waiting != nullptr && waiting->bytes) total += waiting->bytes->size();
    if (std::holds_alternative<pulled>(one)) total += pull_bytes;
  }
  return total;
}

std::size_t body::bytes_once_settled() const noexcept {
  auto total = bytes_held();
  for (const auto& one : pieces_) {
    if (const auto* kept = std::get_if<lent>(&one); kept != nullptr && kept->inside) total += kept->inside->size();
  }
  return total;
}

std::shared_ptr<executor::lane> body::next_lane() const {
  if (!first_.empty() || next_ >= pieces_.size()) return nullptr;
  const auto* from = std::get_if<pulled>(&pieces_[next_]);
  return from == nullptr ? nullptr : from->home;
}

std::optional<std::size_t> body::length() const noexcept {
  auto total = first_.size();
  for (auto at = next_; at < pieces_.size(); ++at) {
    if (const auto* ready = std::get_if<std::string>(&pieces_[at])) {
      total += ready->size();
    } else if (const auto* kept = std::get_if<lent>(&pieces_[at])) {
      total += kept->inside->size() - kept->next;
    } else {
      return std::nullopt;
    }
  }
  return total;
}

bool body::lends_next() const noexcept {
  auto at = next_;
  if (first_.empty() && at < pieces_.size() && std::holds_alternative<std::string>(pieces_[at])) ++at;
  const auto* const kept = at < pieces_.size() ? std::get_if<lent>(&pieces_[at]) : nullptr;
  return kept != nullptr && kept->next == 0;
}

body::loan body::take_lent() {
  auto* const kept = first_.empty() && has_more() ? std::get_if<lent>(&pieces_[next_]) : nullptr;
  if (kept == nullptr || kept->next != 0) return {};
  is_begun_ = true;
  ++next_;
  return {std::move(kept->inside), std::move(kept->counted_by)};
}

std::string body::take_ready() {
  if (!first_.empty()) {
    is_begun_ = true;
    return std::exchange(first_, {});
  }
  auto* const ready = has_more() ? std::get_if<std::string>(&pieces_[next_]) : nullptr;
  if (ready == nullptr) return {};
  is_begun_ = true;
  ++next_;
  return std::move(*ready);
}

result<bool> body::pull(std::string& out) {
  json::buffer once;
  auto more = pull(once);
  out += once.view();
  return more;
}

result<bool> body::pull(json::buffer& out) {
  if (!has_more()) return false;
  is_begun_ = true;
  if (!first_.empty()) {
    out.append(first_);
    first_ = std::string();
    return has_more();
  }
  if (auto* ready = std::get_if<std::string>(&pieces_[next_])) {
    out.append(*ready);
    pieces_[next_] = std::string();
    ++next_;
  } else if (auto* waiting = std::get_if<held>(&pieces_[next_])) {
    if (!pull_held(*waiting, out)) ++next_;
  } else if (auto* kept = std::get_if<lent>(&pieces_[next_])) {
    if (!pull_lent(*kept, out)) ++next_;
  } else {
    auto more = pull_stream(std::get<pulled>(pieces_[next_]), out);
    if (!more) return more;
    if (!*more) ++next_;
  }
  return has_more();
}

bool body::pull_held(held& from, json::buffer& out) {
  const auto before = out.size();
  out.reserve(before + pull_bytes + json::escape_room);
  while (from.next < from.bytes->size() && out.size() - before < pull_bytes) {
    const auto bytes = std::string_view(*from.bytes).substr(from.next, step_bytes);
    append_encoded(out, bytes, from.is_text);
    from.next += bytes.size();
  }
  count(from.counted_by.get(), out.size() - before);
  if (from.next < from.bytes->size()) return true;
  from.bytes.reset();
  return false;
}

bool body::pull_lent(lent& from, json::buffer& out) {
  const auto bytes = std::string_view(*from.inside).substr(from.next, pull_bytes);
  out.append(bytes);
  count(from.counted_by.get(), bytes.size());
  from.next += bytes.size();
  if (from.next < from.inside->size()) return true;
  from.inside.reset();
  return false;
}

result<bool> body::pull_stream(pulled& from, json::buffer& out) {
  const auto window = std::make_unique_for_overwrite<char[]>(pull_bytes);
  HONDANA_TRY(const auto got, read_fully(*from.reader, std::span(window.get(), pull_bytes)));
  const std::string_view bytes(window.get(), got);
  from.digest.feed(bytes);
  const bool at_end = bytes.size() < pull_bytes;
  if (at_end && from.digest.value() != from.expected) {
    return fail(errc::content_changed, "The resource changed while it was being sent. Read it again.");
  }
  const auto before = out.size();
  out.reserve(before + (from.is_text ? bytes.size() + json::escape_room : json::base64_size(bytes.size())));
  append_encoded(out, bytes, from.is_text);
  count(from.counted_by.get(), out.size() - before);
  if (at_end) from.reader.reset();
  return !at_end;
}

namespace {

/// Shared by both threads, because the waiting thread may give up first.
struct handover {
  std::mutex mutex;
  std::condition_variable done;
  std::optional<result<bool>> outcome;
  std::string bytes;
};

/// Readers can be third-party code: an exception ends their answer, never one of our threads.
result<bool> pull_safely(body& from, std::string& out) {
  try {
    return from.pull(out);
  } catch (const std::exception& error) {
    return fail(errc::internal, "Internal error", std::string("a reader threw: ") + error.what());
  } catch (...) {
    return fail(errc::internal, "Internal error", "a reader threw something that is not a std::exception");
  }
}

}  // namespace

result<bool> pull_until(const std::shared_ptr<body>& from, std::string& out, executor::clock::time_point deadline) {
  const auto lane = from->next_lane();
  if (!lane) return pull_safely(*from, out);
  const auto between = std::make_shared<handover>();
  auto submitted = lane->submit(
      [from, between] {
        std::string bytes;
        auto outcome = pull_safely(*from, bytes);
        const std::lock_guard lock(between->mutex);
        between->bytes = std::move(bytes);
        between->outcome = std::move(outcome);
        between->done.notify_one();
      },
      deadline, executor::urgency::continuation);
  if (!submitted) return tl::unexpected(std::move(submitted.error()));
  std::unique_lock lock(between->mutex);
  if (!monotonic_clock::wait_until(between->done, lock, deadline, [&] { return between->outcome.has_value(); })) {
    return fail(errc::timed_out, "The source did not deliver the rest of the resource in time.");
  }
  out += between->bytes;
  return std::move(*between->outcome);
}

}  // namespace hondana::rpc
