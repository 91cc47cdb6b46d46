/// Stores recent events of a session's streams, to replay them after a lost connection.
#include "transport/http_server/event_replay.hpp"

#include <charconv>
#include <system_error>
#include <utility>

namespace hondana::transport::http_server {
namespace {

// Memory of an event in addition to its text. Bytes.
constexpr std::size_t event_overhead = 128;

std::optional<std::uint64_t> read_number(std::string_view text) {
  std::uint64_t out = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (failed != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return out;
}

}  // namespace

std::string to_text(const event_id& id) { return std::to_string(id.stream) + '-' + std::to_string(id.number); }

std::optional<event_id> read_event_id(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto stream = read_number(text.substr(0, dash));
  const auto number = read_number(text.substr(dash + 1));
  if (!stream || !number) return std::nullopt;
  return event_id{*stream, *number};
}

replay::replay(std::size_t byte_cap, std::shared_ptr<byte_budget> shared) : cap_(byte_cap), shared_(std::move(shared)) {}

void replay::keep(const event_id& id, std::string_view message) {
  const auto bytes = message.size() + event_overhead;
  const std::lock_guard lock(mutex_);
  if (!make_room(bytes)) return;
  events_.push_back({id, std::make_shared<const std::string>(message)});
  bytes_ += bytes;
}

/// Requires the mutex. Takes `bytes` from the shared budget, and drops old events of this session if necessary.
bool replay::make_room(std::size_t bytes) {
  if (bytes > cap_) return false;
  while (bytes_ + bytes > cap_) drop_oldest();
  while (!shared_->take(bytes)) {
    if (events_.empty()) return false;
    drop_oldest();
  }
  return true;
}

void replay::drop_oldest() {
  const auto bytes = events_.front().message->size() + event_overhead;
  events_.pop_front();
  bytes_ -= bytes;
  shared_->give_back(bytes);
}

std::vector<replay::event> replay::after(const event_id& seen) const {
  std::vector<event> out;
  const std::lock_guard lock(mutex_);
  for (const auto& one : events_) {
    if (one.id.stream == seen.stream && one.id.number > seen.number) out.push_back(one);
  }
  return out;
}

void replay::forget(std::uint64_t stream) {
  const std::lock_guard lock(mutex_);
  std::erase_if(events_, [&](const event& one) {
    if (one.id.stream != stream) return false;
    const auto bytes = one.message->size() + event_overhead;
    bytes_ -= bytes;
    shared_->give_back(bytes);
    return true;
  });
}

void replay::clear() {
  const std::lock_guard lock(mutex_);
  while (!events_.empty()) drop_oldest();
}

std::size_t replay::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace hondana::transport::http_server
