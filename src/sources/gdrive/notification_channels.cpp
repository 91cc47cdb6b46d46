/// The channels by which Drive sends change notifications, and the check of notifications against them.
#include "sources/gdrive/notification_channels.hpp"

#include <utility>

#include "base/bytes/random_token.hpp"

namespace hondana::gdrive {
namespace {

constexpr std::chrono::hours channel_ttl{24};
/// A new channel is opened this long before the old one expires.
constexpr std::chrono::minutes renewal_margin{60};
constexpr std::chrono::minutes rejection_delay{30};
constexpr std::size_t id_bytes = 16, secret_bytes = 32;

/// Compares in constant time, so that timing does not reveal where the texts differ.
bool is_same_secret(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  const volatile unsigned combined = difference;
  return combined == 0;
}

}  // namespace

result<drive::watch_request> channel_registry::make_request(const std::string& home, const std::string& page_token,
                                                            const std::string& address) {
  HONDANA_TRY(auto id, bytes::random_bytes(id_bytes));
  HONDANA_TRY(auto secret, bytes::random_bytes(secret_bytes));
  drive::watch_request request;
  request.changes.page_token = page_token;
  request.changes.drive_id = home;
  request.id = bytes::to_hex(id);
  request.token = bytes::to_hex(secret);
  request.address = address;
  request.ttl = std::chrono::duration_cast<std::chrono::seconds>(channel_ttl);
  return request;
}

bool channel_registry::needs_channel(const std::string& home, clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  const auto entry = homes_.find(home);
  if (entry == homes_.end()) return true;
  if (now < entry->second.retry_at) return false;
  const auto& active = entry->second.active;
  return !active || (active->expires_at && *active->expires_at - now < renewal_margin);
}

void channel_registry::add_pending(const std::string& home, const drive::watch_request& request, clock::time_point now) {
  const std::lock_guard lock(mutex_);
  channel_entry pending;
  pending.id = request.id;
  pending.secret = request.token;
  pending.expires_at = now + channel_ttl;
  homes_[home].pending = std::move(pending);
}

std::optional<drive::channel> channel_registry::activate(const std::string& home, const drive::channel& granted,
                                                         clock::time_point now) {
  const std::lock_guard lock(mutex_);
  auto& entry = homes_[home];
  std::optional<drive::channel> replaced;
  if (entry.active) {
    replaced.emplace();
    replaced->id = entry.active->id;
    replaced->resource_id = entry.active->resource_id;
  }
  if (!entry.pending) return replaced;
  entry.active = std::exchange(entry.pending, std::nullopt);
  entry.active->resource_id = granted.resource_id;
  // Drive may grant less time than the margin. Do not replace the channel at once.
  if (granted.expires_at) entry.active->expires_at = *granted.expires_at;
  entry.retry_at = now + std::chrono::minutes(1);
  return replaced;
}

void channel_registry::record_rejection(const std::string& home, clock::time_point now) {
  const std::lock_guard lock(mutex_);
  auto& entry = homes_[home];
  entry.pending.reset();
  entry.retry_at = now + rejection_delay;
}

void channel_registry::remove(const std::string& home) {
  const std::lock_guard lock(mutex_);
  homes_.erase(home);
}

std::vector<drive::channel> channel_registry::close_all() {
  const std::lock_guard lock(mutex_);
  std::vector<drive::channel> open;
  for (const auto& [home, entry] : homes_) {
    if (!entry.active) continue;
    drive::channel channel;
    channel.id = entry.active->id;
    channel.resource_id = entry.active->resource_id;
    open.push_back(std::move(channel));
  }
  homes_.clear();
  return open;
}

channel_registry::notification_kind channel_registry::classify(const webhook_request& notification) const {
  const auto id = notification.header("x-goog-channel-id");
  const auto secret = notification.header("x-goog-channel-token");
  const std::lock_guard lock(mutex_);
  for (const auto& [home, entry] : homes_) {
    for (const auto* known : {&entry.active, &entry.pending}) {
      if (!*known || (*known)->id != id) continue;
      if (!is_same_secret((*known)->secret, secret)) return notification_kind::unauthenticated;
      return notification.header("x-goog-resource-state") == "sync" ? notification_kind::sync : notification_kind::change;
    }
  }
  return notification_kind::unauthenticated;
}

std::size_t channel_registry::open_count() const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto& [home, entry] : homes_) count += entry.active ? 1 : 0;
  return count;
}

}  // namespace hondana::gdrive
