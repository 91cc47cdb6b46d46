/// Keeping and forgetting.
#include "sources/docs/kept_texts.hpp"

#include <utility>

namespace hondana::docs {

std::shared_ptr<const prose> kept_texts::find(const std::string& path, const disk::stamp& state,
                                              const std::string& charset_rule) {
  const std::lock_guard lock(mutex_);
  const auto known = by_path_.find(path);
  if (known == by_path_.end()) return nullptr;
  const auto& about = *known->second->text->about;
  if (about.state != state || about.charset_rule != charset_rule) {
    drop(known);
    return nullptr;
  }
  by_use_.splice(by_use_.begin(), by_use_, known->second);
  return known->second->text;
}

void kept_texts::keep(const std::string& path, std::shared_ptr<const prose> text) {
  const auto cost = text->cost() + path.size();
  const std::lock_guard lock(mutex_);
  if (const auto known = by_path_.find(path); known != by_path_.end()) drop(known);
  if (text->about->is_racy || cost > most_ / 4) return;
  by_use_.push_front({path, std::move(text), cost});
  by_path_.emplace(path, by_use_.begin());
  cost_ += cost;
  while (cost_ > most_) drop(by_path_.find(by_use_.back().path));
}

void kept_texts::drop(std::unordered_map<std::string, std::list<kept>::iterator>::iterator which) {
  cost_ -= which->second->cost;
  by_use_.erase(which->second);
  by_path_.erase(which);
}

std::size_t kept_texts::bytes() const {
  const std::lock_guard lock(mutex_);
  return cost_;
}

}  // namespace hondana::docs
