/// The channels by which Drive sends change notifications, and the check of notifications against them.
#include "sources/gdrive/notification_channels.hpp"

#include <utility>

#include "base/bytes/random_token.hpp"

namespace hondana::gdrive {
namespace {

constexpr std::chrono::hours life_of_channel{24};
/// A new channel is opened this long before the old one expires.
constexpr std::chrono::minutes margin{60};
constexpr std::chrono::minutes after_refusal{30};
constexpr std::size_t bytes_of_id = 16, bytes_of_secret = 32;

/// Compares in constant time, so that timing does not reveal where the texts differ.
bool is_same_secret(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  const volatile unsigned whole = difference;
  return whole == 0;
}

}  // namespace

result<drive::watch_request> channels::request_for(const std::string& home, const std::string& page_token,
                                                   const std::string& address) {
  HONDANA_TRY(auto id, bytes::random_bytes(bytes_of_id));
  HONDANA_TRY(auto secret, bytes::random_bytes(bytes_of_secret));
  drive::watch_request made;
  made.from.page_token = page_token;
  made.from.drive_id = home;
  made.id = bytes::to_hex(id);
  made.token = bytes::to_hex(secret);
  made.address = address;
  made.life = std::chrono::duration_cast<std::chrono::seconds>(life_of_channel);
  return made;
}

bool channels::needs_one(const std::string& home, clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(home);
  if (found == all_.end()) return true;
  if (now < found->second.not_before) return false;
  const auto& open = found->second.now;
  return !open || (open->ends && *open->ends - now < margin);
}

void channels::expect(const std::string& home, const drive::watch_request& asked, clock::time_point now) {
  const std::lock_guard lock(mutex_);
  one coming;
  coming.id = asked.id;
  coming.secret = asked.token;
  coming.ends = now + life_of_channel;
  all_[home].coming = std::move(coming);
}

std::optional<drive::channel> channels::opened(const std::string& home, const drive::channel& answer, clock::time_point now) {
  const std::lock_guard lock(mutex_);
  auto& of = all_[home];
  std::optional<drive::channel> before;
  if (of.now) {
    before.emplace();
    before->id = of.now->id;
    before->resource_id = of.now->resource_id;
  }
  if (!of.coming) return before;
  of.now = std::exchange(of.coming, std::nullopt);
  of.now->resource_id = answer.resource_id;
  // Drive may grant less time than the margin. Do not replace the channel at once.
  if (answer.ends) of.now->ends = *answer.ends;
  of.not_before = now + std::chrono::minutes(1);
  return before;
}

void channels::refused(const std::string& home, clock::time_point now) {
  const std::lock_guard lock(mutex_);
  auto& of = all_[home];
  of.coming.reset();
  of.not_before = now + after_refusal;
}

void channels::forget(const std::string& home) {
  const std::lock_guard lock(mutex_);
  all_.erase(home);
}

std::vector<drive::channel> channels::close_all() {
  const std::lock_guard lock(mutex_);
  std::vector<drive::channel> open;
  for (const auto& [home, of] : all_) {
    if (!of.now) continue;
    drive::channel one;
    one.id = of.now->id;
    one.resource_id = of.now->resource_id;
    open.push_back(std::move(one));
  }
  all_.clear();
  return open;
}

channels::verdict channels::judge(const notice& what) const {
  const auto id = what.field("x-goog-channel-id");
  const auto secret = what.field("x-goog-channel-token");
  const std::lock_guard lock(mutex_);
  for (const auto& [home, of] : all_) {
    for (const auto* known : {&of.now, &of.coming}) {
      if (!*known || (*known)->id != id) continue;
      if (!is_same_secret((*known)->secret, secret)) return verdict::foreign;
      return what.field("x-goog-resource-state") == "sync" ? verdict::greeting : verdict::news;
    }
  }
  return verdict::foreign;
}

std::size_t channels::open() const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto& [home, of] : all_) count += of.now ? 1 : 0;
  return count;
}

}  // namespace hondana::gdrive
