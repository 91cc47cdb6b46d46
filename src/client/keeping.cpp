/// Taking watches up again after they were lost.
#include <algorithm>
#include <random>
#include <utility>

#include "client/engine.hpp"
#include "client/watches.hpp"
#include "json/writer.hpp"

namespace hondana::outbound {
namespace {

constexpr std::chrono::milliseconds first_pause{100};
constexpr std::chrono::milliseconds longest_pause{30'000};
constexpr std::chrono::milliseconds between_pings{5'000};
constexpr std::size_t most_compared = 1'000;

/// Doubling, with up to half of it at random, so that the clients of a server that comes back do not all come at once.
std::chrono::milliseconds pause_after(unsigned failures) {
  thread_local std::minstd_rand chance(std::random_device{}());
  const auto whole = std::min(first_pause * (1u << std::min(failures, 10u)), longest_pause);
  return whole / 2 + std::chrono::milliseconds(chance() % static_cast<unsigned>(whole.count() / 2 + 1));
}

}  // namespace

void watches::down(const std::shared_ptr<watch_entry>& one, const std::string& why) {
  if (!one->is_up) return;
  one->is_up = false;
  one->was_up = true;
  one->next_attempt = clock::now() + pause_after(one->failures);
  change news;
  news.kind = change_kind::connection_lost;
  news.text = why;
  queue(one, std::move(news));
  changed_.notify_all();
}

void watches::ended(channel::call_id id, std::optional<failure> why) {
  const std::lock_guard lock(mutex_);
  for (const auto& one : all_) {
    if (one->stream != id) continue;
    one->stream = 0;
    if (!one->is_acknowledged) {
      one->refusal = why ? std::move(*why) : failure{errc::unsupported, "the server ended the subscription at once", {}};
      changed_.notify_all();
      return;
    }
    down(one, why ? why->public_text : "the server has ended the subscription");
    return;
  }
}

void watches::lost(const failure& why) {
  const std::lock_guard lock(mutex_);
  subscribed_.clear();
  for (const auto& one : all_) {
    // A stream of its own ends by itself.
    if (one->stream == 0) down(one, why.public_text);
  }
}

void watches::interrupted() {
  const std::lock_guard lock(mutex_);
  for (const auto& one : all_) one->may_have_missed = one->may_have_missed || (one->is_up && one->stream == 0);
  changed_.notify_all();
}

void watches::run() {
  std::unique_lock lock(mutex_);
  while (!is_closed_) {
    auto until = unwanted_.empty() ? clock::time_point::max() : clock::now();
    bool pings = false;
    for (const auto& one : all_) {
      if (!one->is_up && one->was_up) until = std::min(until, one->next_attempt);
      if (one->may_have_missed) until = clock::now();
      pings = pings || (one->is_up && one->stream == 0);
    }
    if (pings) {
      // Over HTTP nothing says that a session has ended until somebody asks.
      if (next_ping_ == clock::time_point{}) next_ping_ = clock::now() + between_pings;
      until = std::min(until, next_ping_);
    } else {
      next_ping_ = {};
    }
    if (until == clock::time_point::max()) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, until);
    }
    if (!is_closed_) look_after(lock);
  }
}

void watches::look_after(std::unique_lock<std::mutex>& lock) {
  if (!unwanted_.empty()) {
    auto [uris, entries] = std::move(unwanted_.front());
    unwanted_.pop_front();
    // Somebody may want it again by now.
    std::erase_if(uris, [this](const std::string& uri) { return subscribed_.contains(uri); });
    lock.unlock();
    if (!uris.empty()) unsubscribe(uris, entries);
    lock.lock();
    return;
  }
  if (next_ping_ != clock::time_point{} && clock::now() >= next_ping_) {
    next_ping_ = clock::now() + between_pings;
    lock.unlock();
    auto pinged = engine_.call({.asked = asking::ping()}, {.time = between_pings});
    if (!pinged && pinged.error().code != errc::unsupported && pinged.error().code != errc::cancelled) {
      engine_.lost(pinged.error());
    }
    lock.lock();
  }
  // Their own share each: nothing is locked while they are looked after.
  std::shared_ptr<watch_entry> unsure;
  std::shared_ptr<watch_entry> one;
  for (const auto& each : all_) {
    if (!unsure && each->may_have_missed) unsure = each;
    if (!one && !each->is_up && each->was_up && each->next_attempt <= clock::now()) one = each;
  }
  if (unsure) {
    unsure->may_have_missed = false;
    lock.unlock();
    make_up(unsure);
    lock.lock();
    return;
  }
  if (!one) return;
  lock.unlock();
  auto done = subscribe(one, {});
  lock.lock();
  if (one->is_gone) return;
  if (!done) {
    ++one->failures;
    one->next_attempt = clock::now() + pause_after(one->failures);
    // Once is news; that it goes on is none.
    if (one->failures == 1) engine_.noticed("what is watched cannot be taken up again yet: " + done.error().public_text);
    return;
  }
  change news;
  news.kind = change_kind::connection_back;
  queue(one, std::move(news));
  lock.unlock();
  make_up(one);
  lock.lock();
}

void watches::make_up(const std::shared_ptr<watch_entry>& one) {
  std::size_t compared = 0;
  for (const auto& uri : one->what.uris) {
    std::optional<bytes::digest> before;
    {
      const std::lock_guard lock(mutex_);
      if (one->is_gone || is_closed_) return;
      if (const auto found = seen_.find(uri); found != seen_.end()) before = found->second;
    }
    change news;
    news.uri = uri;
    news.was_missed = true;
    if (before && compared++ < most_compared) {
      const auto now = engine_.digest_of(uri, {.afresh = true});
      if (now && *now == *before) continue;
    }
    const std::lock_guard lock(mutex_);
    queue(one, std::move(news));
  }
  const std::lock_guard lock(mutex_);
  const auto tell = [&](bool is_wanted, change_kind kind) {
    if (!is_wanted) return;
    change news;
    news.kind = kind;
    news.was_missed = true;
    queue(one, std::move(news));
  };
  tell(one->honoured.resource_list, change_kind::resource_list);
  tell(one->honoured.tool_list, change_kind::tool_list);
  tell(one->honoured.prompt_list, change_kind::prompt_list);
}

}  // namespace hondana::outbound
