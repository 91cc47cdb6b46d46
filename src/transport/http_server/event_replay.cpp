/// Stores recent events of a session's streams, to replay them after a lost connection.
#include "transport/http_server/event_replay.hpp"

#include <charconv>
#include <system_error>
#include <utility>

namespace hondana::transport::http_server {
namespace {

// Memory of an event in addition to its text. Bytes.
constexpr std::size_t event_overhead_bytes = 128;

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return out;
}

}  // namespace

std::string to_string(const event_id& id) { return std::to_string(id.stream) + '-' + std::to_string(id.number); }

std::optional<event_id> parse_event_id(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto stream = parse_number(text.substr(0, dash));
  const auto number = parse_number(text.substr(dash + 1));
  if (!stream || !number) return std::nullopt;
  return event_id{*stream, *number};
}

replay_buffer::replay_buffer(std::size_t max_bytes, std::shared_ptr<byte_budget> budget)
    : max_bytes_(max_bytes), budget_(std::move(budget)) {}

void replay_buffer::store(const event_id& id, std::string_view message) {
  const auto bytes = message.size() + event_overhead_bytes;
  const std::lock_guard lock(mutex_);
  if (!reserve(bytes)) return;
  events_.push_back({id, std::make_shared<const std::string>(message)});
  bytes_ += bytes;
}

/// Requires the mutex. Reserves `bytes` in the shared budget, and drops old events of this session if necessary.
bool replay_buffer::reserve(std::size_t bytes) {
  if (bytes > max_bytes_) return false;
  while (bytes_ + bytes > max_bytes_) drop_oldest();
  while (!budget_->reserve(bytes)) {
    if (events_.empty()) return false;
    drop_oldest();
  }
  return true;
}

void replay_buffer::drop_oldest() {
  const auto bytes = events_.front().message->size() + event_overhead_bytes;
  events_.pop_front();
  bytes_ -= bytes;
  budget_->release(bytes);
}

std::vector<replay_buffer::event> replay_buffer::events_after(const event_id& last_seen) const {
  std::vector<event> out;
  const std::lock_guard lock(mutex_);
  for (const auto& entry : events_) {
    if (entry.id.stream == last_seen.stream && entry.id.number > last_seen.number) out.push_back(entry);
  }
  return out;
}

void replay_buffer::discard(std::uint64_t stream) {
  const std::lock_guard lock(mutex_);
  std::erase_if(events_, [&](const event& entry) {
    if (entry.id.stream != stream) return false;
    const auto bytes = entry.message->size() + event_overhead_bytes;
    bytes_ -= bytes;
    budget_->release(bytes);
    return true;
  });
}

void replay_buffer::clear() {
  const std::lock_guard lock(mutex_);
  while (!events_.empty()) drop_oldest();
}

std::size_t replay_buffer::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace hondana::transport::http_server
