/// Subscribed URIs that are other spellings of a listed resource's URI.
#include "protocol/model/watched_aliases.hpp"

#include <algorithm>
#include <utility>

namespace hondana::model {
namespace {

class teller final : public change_listener {
 public:
  teller(std::shared_ptr<const watched_spellings> all, std::shared_ptr<change_listener> to)
      : all_(std::move(all)), to_(std::move(to)) {}
  void list_changed() override { to_->list_changed(); }
  void content_changed(std::string_view uri, std::string_view title) override {
    to_->content_changed(uri, title);
    tell_others(uri, title);
  }
  void alias_changed(std::string_view uri, std::string_view title) override {
    to_->alias_changed(uri, title);
    tell_others(uri, title);
  }

 private:
  void tell_others(std::string_view uri, std::string_view title) {
    for (const auto& one : all_->others(uri)) to_->alias_changed(one, title);
  }

  const std::shared_ptr<const watched_spellings> all_;
  const std::shared_ptr<change_listener> to_;
};

}  // namespace

void watched_spellings::add(const std::string& uri) {
  auto key = key_(uri);
  const std::lock_guard lock(mutex_);
  by_key_.emplace(std::move(key), uri);
}

void watched_spellings::remove(const std::string& uri) {
  const auto key = key_(uri);
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = by_key_.equal_range(key);
  const auto found = std::find_if(begin, end, [&uri](const auto& one) { return one.second == uri; });
  if (found != end) by_key_.erase(found);
}

std::shared_ptr<change_listener> watched_spellings::telling(std::shared_ptr<change_listener> to) {
  return to ? std::make_shared<teller>(shared_from_this(), std::move(to)) : nullptr;
}

std::vector<std::string> watched_spellings::others(std::string_view uri) const {
  const auto key = key_(uri);
  std::vector<std::string> out;
  {
    const std::lock_guard lock(mutex_);
    const auto [begin, end] = by_key_.equal_range(key);
    for (auto at = begin; at != end; ++at) {
      if (at->second != uri) out.push_back(at->second);
    }
  }
  if (is_listed_) std::erase_if(out, is_listed_);
  return out;
}

}  // namespace hondana::model
