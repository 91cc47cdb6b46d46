/// Subscribed URIs that are other spellings of a listed resource's URI.
#include "protocol/model/watched_aliases.hpp"

#include <algorithm>
#include <utility>

namespace hondana::model {
namespace {

class alias_notifier final : public change_listener {
 public:
  alias_notifier(std::shared_ptr<const watched_aliases> aliases, std::shared_ptr<change_listener> listener)
      : aliases_(std::move(aliases)), listener_(std::move(listener)) {}
  void list_changed() override { listener_->list_changed(); }
  void content_changed(std::string_view uri, std::string_view title) override {
    listener_->content_changed(uri, title);
    notify_aliases(uri, title);
  }
  void alias_changed(std::string_view uri, std::string_view title) override {
    listener_->alias_changed(uri, title);
    notify_aliases(uri, title);
  }

 private:
  void notify_aliases(std::string_view uri, std::string_view title) {
    for (const auto& alias : aliases_->aliases_of(uri)) listener_->alias_changed(alias, title);
  }

  const std::shared_ptr<const watched_aliases> aliases_;
  const std::shared_ptr<change_listener> listener_;
};

}  // namespace

void watched_aliases::add(const std::string& uri) {
  auto key = key_(uri);
  const std::lock_guard lock(mutex_);
  by_key_.emplace(std::move(key), uri);
}

void watched_aliases::remove(const std::string& uri) {
  const auto key = key_(uri);
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = by_key_.equal_range(key);
  const auto match = std::find_if(begin, end, [&uri](const auto& entry) { return entry.second == uri; });
  if (match != end) by_key_.erase(match);
}

std::shared_ptr<change_listener> watched_aliases::wrap_listener(std::shared_ptr<change_listener> listener) {
  return listener ? std::make_shared<alias_notifier>(shared_from_this(), std::move(listener)) : nullptr;
}

std::vector<std::string> watched_aliases::aliases_of(std::string_view uri) const {
  const auto key = key_(uri);
  std::vector<std::string> out;
  {
    const std::lock_guard lock(mutex_);
    const auto [begin, end] = by_key_.equal_range(key);
    for (auto it = begin; it != end; ++it) {
      if (it->second != uri) out.push_back(it->second);
    }
  }
  if (is_listed_) std::erase_if(out, is_listed_);
  return out;
}

}  // namespace hondana::model
