/// Asking once for many.
#include "catalog/lookups.hpp"

#include <utility>

namespace hondana::catalog {
namespace {

constexpr std::chrono::seconds patience{5};

}  // namespace

void lookups::use(std::shared_ptr<const catalog> from) {
  const std::lock_guard lock(mutex_);
  from_.swap(from);  // the former goes when the lock is free again
}

void lookups::ask(const std::string& uri, taker done) {
  {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = jobs_.try_emplace(uri);
    auto& one = place->second;
    if (is_new) next_.push_back(uri);
    // Not begun: what it will find is newer than whatever it is asked for.
    const bool has_begun = !is_new && one.asked.empty();
    (has_begun ? one.waiting : one.asked).push_back(std::move(done));
  }
  go_on();
}

void lookups::go_on() {
  std::unique_lock lock(mutex_);
  if (std::exchange(is_going_on_, true)) return;
  while (!next_.empty() && begun_ < at_once_) {
    ++begun_;
    const auto uri = std::move(next_.front());
    next_.pop_front();
    auto takers = std::make_shared<std::vector<taker>>(std::exchange(jobs_[uri].asked, {}));
    const auto from = from_;
    lock.unlock();
    const auto done = [self = shared_from_this(), uri, takers](const result<resource>& found) {
      const auto entry = found ? std::make_shared<const resource>(*found) : nullptr;
      for (const auto& one : *takers) one(entry);
      self->finish(uri);
    };
    if (from) {
      from->describe({{"hondana", {}, {}}, work::clock::now() + patience, {}, {}}, uri, done);
    } else {
      done(tl::unexpected(failure{}));
    }
    lock.lock();
  }
  is_going_on_ = false;
}

void lookups::finish(const std::string& uri) {
  {
    const std::lock_guard lock(mutex_);
    --begun_;
    const auto place = jobs_.find(uri);
    auto& one = place->second;
    if (one.waiting.empty()) {
      jobs_.erase(place);
    } else {
      one.asked = std::exchange(one.waiting, {});
      next_.push_back(uri);
    }
  }
  go_on();
}

std::size_t lookups::under_way() const {
  const std::lock_guard lock(mutex_);
  return jobs_.size();
}

}  // namespace hondana::catalog
