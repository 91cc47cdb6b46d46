/// Looks up the entries of changed resources, once for all listeners that need them.
#include "server/catalog/entry_lookups.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace hondana::catalog {
namespace {

constexpr std::chrono::seconds patience{5};
constexpr int most_tries = 3;
constexpr int most_patient_tries = 8;

/// The pause after this number of failures.
std::chrono::seconds pause_after(int failures) {
  constexpr int longest = 5;  // exponent of two: 32 s
  return std::chrono::seconds(1LL << std::min(failures - 1, longest));
}

/// Whether the failure is a final answer for this caller, so that a retry is useless. Busy and failing sources give no answer.
bool is_no(errc why) noexcept {
  return why == errc::resource_not_found || why == errc::access_denied || why == errc::scope_missing ||
         why == errc::invalid_argument || why == errc::part_not_found || why == errc::unreadable || why == errc::unsupported ||
         why == errc::response_too_large;
}

result<resource> not_there() { return fail(errc::resource_not_found, "Resource not found"); }

}  // namespace

void lookups::use(std::shared_ptr<const catalog> from) {
  const std::lock_guard lock(mutex_);
  from_.swap(from);  // the previous catalog is destroyed after the lock is released
}

void lookups::ask(const std::string& uri, std::shared_ptr<const view> through, taker done) {
  ask({uri, std::move(through), false}, std::move(done));
}

void lookups::ask_patiently(const std::string& uri, std::shared_ptr<const view> through, taker done) {
  ask({uri, std::move(through), true}, std::move(done));
}

void lookups::ask(key what, taker done) {
  std::uint64_t source = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = jobs_.try_emplace(std::move(what));
    auto& one = place->second;
    if (is_new) {
      const auto asked = from_ ? from_->source_of(place->first.uri) : nullptr;
      one.source = asked ? asked->id() : 0;
      lines_[one.source].next.push_back(place);
    }
    source = one.source;
    // A lookup that has not started will see the state after this change.
    const bool has_begun = !is_new && one.asked.empty();
    (has_begun ? one.waiting : one.asked).push_back({std::move(done)});
    if (!is_new) return;
  }
  if (!timers_) return go_on(source);
  timers_->at(executor::clock::now(), [self = shared_from_this(), source] { self->go_on(source); });
}

void lookups::wake(const key& which) {
  std::uint64_t source = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto place = jobs_.find(which);
    if (place == jobs_.end()) return;
    source = place->second.source;
    lines_[source].next.push_back(place);
  }
  go_on(source);
}

void lookups::go_on(std::uint64_t source) {
  std::unique_lock lock(mutex_);
  const auto place = lines_.find(source);
  if (place == lines_.end() || std::exchange(place->second.is_going_on, true)) return;
  auto& of_source = place->second;
  while (!of_source.next.empty() && of_source.begun < at_once_) {
    ++of_source.begun;
    const auto which = of_source.next.front();
    of_source.next.pop_front();
    const auto askers = std::make_shared<const std::vector<asker>>(std::exchange(which->second.asked, {}));
    const auto from = from_;
    call by{{"hondana", {}, which->first.through}, executor::clock::now() + patience, {}, {}};
    lock.unlock();
    const auto done = [self = shared_from_this(), which, askers](const result<resource>& found) {
      self->finish(which, *askers, found);
    };
    if (from) {
      from->describe(by, which->first.uri, done);
    } else {
      done(not_there());
    }
    lock.lock();
  }
  of_source.is_going_on = false;
  if (of_source.next.empty() && of_source.begun == 0) lines_.erase(place);
}

void lookups::finish(jobs::iterator which, const std::vector<asker>& askers, const result<resource>& found) {
  const bool is_patient = which->first.is_patient;
  const bool is_answer = found || is_no(found.error().code) || (!is_patient && found.error().code == errc::timed_out);
  std::unique_lock lock(mutex_);
  auto& one = which->second;
  // Each caller has its own number of tries, so a late caller does not delay those that have waited.
  const auto is_kept = [&](const asker& one_of) {
    return !is_answer && one_of.tries + 1 < (is_patient ? most_patient_tries : most_tries);
  };
  bool is_tried_again = false;
  for (const auto& each : askers) {
    if (!is_kept(each)) continue;
    is_tried_again = true;
    one.asked.push_back({each.done, each.tries + 1});
  }
  ++one.failures;
  lock.unlock();
  const auto entry = found ? std::make_shared<const resource>(*found) : nullptr;
  for (const auto& each : askers) {
    if (!is_kept(each)) each.done(entry);
  }
  lock.lock();
  const auto source = one.source;
  auto& of_source = lines_.at(source);
  --of_source.begun;
  std::move(one.waiting.begin(), one.waiting.end(), std::back_inserter(one.asked));
  one.waiting.clear();
  if (one.asked.empty()) {
    jobs_.erase(which);
    if (of_source.next.empty() && of_source.begun == 0 && !of_source.is_going_on) lines_.erase(source);
  } else {
    if (!is_tried_again) one.failures = 0;
    if (is_tried_again && is_patient && timers_) {
      timers_->at(executor::clock::now() + pause_after(one.failures), [late = weak_from_this(), key = which->first] {
        if (const auto self = late.lock()) self->wake(key);
      });
    } else {
      of_source.next.push_back(which);
    }
    if (of_source.next.empty() && of_source.begun == 0 && !of_source.is_going_on) lines_.erase(source);
  }
  lock.unlock();
  go_on(source);
}

std::size_t lookups::under_way() const {
  const std::lock_guard lock(mutex_);
  return jobs_.size();
}

}  // namespace hondana::catalog
