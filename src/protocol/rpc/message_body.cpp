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
constexpr std::size_t max_inline_bytes = 64 * 1024;

template <class Out>
void append_encoded(Out& out, std::string_view bytes, bool is_text) {
  if (is_text) {
    json::append_escaped(out, bytes);
  } else {
    json::append_base64(out, bytes);
  }
}

void count_bytes(receipt* counter, std::size_t bytes) {
  if (counter != nullptr) counter->count(bytes);
}

/// Fills `target`, or reads to the end of the content. Returns the number of bytes.
result<std::size_t> read_fully(byte_reader& reader, std::span<char> target) {
  std::size_t filled = 0;
  while (filled < target.size()) {
    HONDANA_TRY(const auto count, reader.read(target.subspan(filled)));
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

void body::append(bytes::prepared_content content, const std::shared_ptr<executor::executor>& reader_executor) {
  if (auto* content_bytes = std::get_if<shared_bytes>(&content.data)) {
    if ((*content_bytes)->size() <= max_inline_bytes) {
      append_encoded(text(), **content_bytes, content.is_text);
    } else {
      pieces_.emplace_back(buffered_piece{std::move(*content_bytes), 0, content.is_text, {}});
    }
    return;
  }
  if (auto* cached = std::get_if<bytes::encoded_content>(&content.data)) {
    pieces_.emplace_back(cached_piece{std::move(cached->json_text), 0, {}});
    return;
  }
  auto& stream = std::get<bytes::verified_stream>(content.data);
  pieces_.emplace_back(
      stream_piece{std::move(stream.reader), stream.expected_digest, content.is_text, reader_executor, {}, {}});
}

void body::append(body other) {
  if (pieces_.empty() && first_.empty()) {
    first_ = std::move(other.first_);
  } else if (!other.first_.empty()) {
    text() += other.first_;
  }
  for (auto& piece_text : other.pieces_) {
    if (auto* ready = std::get_if<std::string>(&piece_text)) {
      text() += *ready;
    } else {
      pieces_.push_back(std::move(piece_text));
    }
  }
  receipts_.add(std::move(other.receipts_));
}

void body::attach_receipt(const std::shared_ptr<receipt>& counter) {
  counter->count(first_.size());
  for (auto& part : pieces_) {
    if (const auto* ready = std::get_if<std::string>(&part)) counter->count(ready->size());
    if (auto* cached = std::get_if<cached_piece>(&part)) cached->counter = counter;
    if (auto* buffered = std::get_if<buffered_piece>(&part)) buffered->counter = counter;
    if (auto* stream = std::get_if<stream_piece>(&part)) stream->counter = counter;
  }
  receipts_.add(counter);
}

bool body::is_single_text() const noexcept { return pieces_.empty(); }

std::string body::extract_text() { return std::exchange(first_, {}); }

bool body::encode_content() {
  if (is_started_) return false;
  body encoded(std::move(first_));
  bool is_complete = true;
  for (auto& part : pieces_) {
    if (auto* ready = std::get_if<std::string>(&part)) {
      encoded.text() += *ready;
    } else if (auto* buffered = std::get_if<buffered_piece>(&part)) {
      const auto bytes = std::exchange(buffered->bytes, nullptr);
      auto& target = encoded.text();
      const auto start_size = target.size();
      append_encoded(target, *bytes, buffered->is_text);
      count_bytes(buffered->counter.get(), target.size() - start_size);
    } else if (const auto* cached = std::get_if<cached_piece>(&part)) {
      encoded.text() += *cached->json_text;
      count_bytes(cached->counter.get(), cached->json_text->size());
    } else {
      encoded.pieces_.push_back(std::move(part));
      is_complete = false;
    }
  }
  encoded.receipts_ = std::move(receipts_);
  *this = std::move(encoded);
  return is_complete;
}

std::size_t body::buffered_bytes() const noexcept {
  auto total = first_.size();
  for (const auto& part : pieces_) {
    if (const auto* ready = std::get_if<std::string>(&part)) total += ready->size();
    if (const auto* buffered = std::get_if<buffered_piece>(&part); buffered != nullptr && buffered->bytes)
      total += buffered->bytes->size();
    if (std::holds_alternative<stream_piece>(part)) total += pull_bytes;
  }
  return total;
}

std::size_t body::min_encoded_bytes() const noexcept {
  auto total = buffered_bytes();
  for (const auto& part : pieces_) {
    if (const auto* cached = std::get_if<cached_piece>(&part); cached != nullptr && cached->json_text)
      total += cached->json_text->size();
  }
  return total;
}

std::shared_ptr<executor::executor> body::next_executor() const {
  if (!first_.empty() || next_ >= pieces_.size()) return nullptr;
  const auto* stream = std::get_if<stream_piece>(&pieces_[next_]);
  return stream == nullptr ? nullptr : stream->reader_executor;
}

std::optional<std::size_t> body::length() const noexcept {
  auto total = first_.size();
  for (auto index = next_; index < pieces_.size(); ++index) {
    if (const auto* ready = std::get_if<std::string>(&pieces_[index])) {
      total += ready->size();
    } else if (const auto* cached = std::get_if<cached_piece>(&pieces_[index])) {
      total += cached->json_text->size() - cached->next;
    } else {
      return std::nullopt;
    }
  }
  return total;
}

bool body::is_next_cached() const noexcept {
  auto index = next_;
  if (first_.empty() && index < pieces_.size() && std::holds_alternative<std::string>(pieces_[index])) ++index;
  const auto* const cached = index < pieces_.size() ? std::get_if<cached_piece>(&pieces_[index]) : nullptr;
  return cached != nullptr && cached->next == 0;
}

body::cached_content body::take_cached() {
  auto* const cached = first_.empty() && has_more() ? std::get_if<cached_piece>(&pieces_[next_]) : nullptr;
  if (cached == nullptr || cached->next != 0) return {};
  is_started_ = true;
  ++next_;
  return {std::move(cached->json_text), std::move(cached->counter)};
}

std::string body::take_text_piece() {
  if (!first_.empty()) {
    is_started_ = true;
    return std::exchange(first_, {});
  }
  auto* const ready = has_more() ? std::get_if<std::string>(&pieces_[next_]) : nullptr;
  if (ready == nullptr) return {};
  is_started_ = true;
  ++next_;
  return std::move(*ready);
}

result<bool> body::pull(std::string& out) {
  json::buffer buffer;
  auto outcome = pull(buffer);
  out += buffer.view();
  return outcome;
}

result<bool> body::pull(json::buffer& out) {
  if (!has_more()) return false;
  is_started_ = true;
  if (!first_.empty()) {
    out.append(first_);
    first_ = std::string();
    return has_more();
  }
  if (auto* ready = std::get_if<std::string>(&pieces_[next_])) {
    out.append(*ready);
    pieces_[next_] = std::string();
    ++next_;
  } else if (auto* buffered = std::get_if<buffered_piece>(&pieces_[next_])) {
    if (!pull_buffered(*buffered, out)) ++next_;
  } else if (auto* cached = std::get_if<cached_piece>(&pieces_[next_])) {
    if (!pull_cached(*cached, out)) ++next_;
  } else {
    auto outcome = pull_stream(std::get<stream_piece>(pieces_[next_]), out);
    if (!outcome) return outcome;
    if (!*outcome) ++next_;
  }
  return has_more();
}

bool body::pull_buffered(buffered_piece& source, json::buffer& out) {
  const auto start_size = out.size();
  out.reserve(start_size + pull_bytes + json::escape_capacity);
  while (source.next < source.bytes->size() && out.size() - start_size < pull_bytes) {
    const auto bytes = std::string_view(*source.bytes).substr(source.next, step_bytes);
    append_encoded(out, bytes, source.is_text);
    source.next += bytes.size();
  }
  count_bytes(source.counter.get(), out.size() - start_size);
  if (source.next < source.bytes->size()) return true;
  source.bytes.reset();
  return false;
}

bool body::pull_cached(cached_piece& source, json::buffer& out) {
  const auto bytes = std::string_view(*source.json_text).substr(source.next, pull_bytes);
  out.append(bytes);
  count_bytes(source.counter.get(), bytes.size());
  source.next += bytes.size();
  if (source.next < source.json_text->size()) return true;
  source.json_text.reset();
  return false;
}

result<bool> body::pull_stream(stream_piece& source, json::buffer& out) {
  const auto window = std::make_unique_for_overwrite<char[]>(pull_bytes);
  HONDANA_TRY(const auto size, read_fully(*source.reader, std::span(window.get(), pull_bytes)));
  const std::string_view bytes(window.get(), size);
  source.digest.update(bytes);
  const bool is_at_end = bytes.size() < pull_bytes;
  if (is_at_end && source.digest.value() != source.expected) {
    return fail(errc::content_changed, "The resource changed while it was being sent. Read it again.");
  }
  const auto start_size = out.size();
  out.reserve(start_size + (source.is_text ? bytes.size() + json::escape_capacity : json::base64_size(bytes.size())));
  append_encoded(out, bytes, source.is_text);
  count_bytes(source.counter.get(), out.size() - start_size);
  if (is_at_end) source.reader.reset();
  return !is_at_end;
}

namespace {

/// Shared by both threads, because the waiting thread may give up first.
struct pull_state {
  std::mutex mutex;
  std::condition_variable finished;
  std::optional<result<bool>> outcome;
  std::string bytes;
};

/// Readers can be third-party code: an exception ends their answer, never one of our threads.
result<bool> pull_safely(body& source, std::string& out) {
  try {
    return source.pull(out);
  } catch (const std::exception& error) {
    return fail(errc::internal, "Internal error", std::string("a reader threw: ") + error.what());
  } catch (...) {
    return fail(errc::internal, "Internal error", "a reader threw something that is not a std::exception");
  }
}

}  // namespace

result<bool> pull_until(const std::shared_ptr<body>& source, std::string& out, executor::clock::time_point deadline) {
  const auto executor = source->next_executor();
  if (!executor) return pull_safely(*source, out);
  const auto state = std::make_shared<pull_state>();
  auto submitted = executor->submit(
      [source, state] {
        std::string bytes;
        auto outcome = pull_safely(*source, bytes);
        const std::lock_guard lock(state->mutex);
        state->bytes = std::move(bytes);
        state->outcome = std::move(outcome);
        state->finished.notify_one();
      },
      deadline, executor::job_priority::continuation);
  if (!submitted) return tl::unexpected(std::move(submitted.error()));
  std::unique_lock lock(state->mutex);
  if (!monotonic_clock::wait_until(state->finished, lock, deadline, [&] { return state->outcome.has_value(); })) {
    return fail(errc::timed_out, "The source did not deliver the rest of the resource in time.");
  }
  out += state->bytes;
  return std::move(*state->outcome);
}

}  // namespace hondana::rpc
