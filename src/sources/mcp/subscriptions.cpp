/// Subscriptions at the mounted server.
#include "sources/mcp/subscriptions.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "sources/mcp/sanitizer.hpp"

namespace hondana::mcp {
namespace {

// Each may use an event stream of its own.
constexpr std::size_t most_groups = 8;
constexpr std::size_t most_in_a_group = 5'000;

/// Whether the same call may succeed later without another change.
bool is_passing(const failure& why) {
  return why.code == errc::source_unavailable || why.code == errc::timed_out || why.code == errc::cancelled ||
         why.code == errc::overloaded || why.code == errc::unauthorized;
}

std::set<std::string> without(const std::set<std::string>& all, const std::set<std::string>& some) {
  std::set<std::string> rest;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::inserter(rest, rest.end()));
  return rest;
}

std::set<std::string> shared(const std::set<std::string>& a, const std::set<std::string>& b) {
  std::set<std::string> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
  return both;
}

}  // namespace

bool subscriptions::has_lists() const {
  return std::any_of(groups_.begin(), groups_.end(), [](const group& one) { return one.lists; });
}

std::set<std::string> subscriptions::missing(const wishes& wanted) const {
  auto rest = without(wanted.uris, refused_);
  for (const auto& one : groups_) rest = without(rest, one.uris);
  return rest;
}

result<void> subscriptions::fit(client& on, const wishes& wanted, const call_options& how) {
  if (wanted.asks_again) {
    refused_.clear();
    lists_refused_ = false;
    for (auto& one : groups_) look_again(one);
  }
  refused_ = shared(refused_, wanted.uris);
  std::erase_if(groups_,
                [&wanted](const group& one) { return shared(one.uris, wanted.uris).empty() && !(one.lists && wanted.lists); });
  const bool needs_lists = wanted.lists && !has_lists() && !lists_refused_;
  auto rest = missing(wanted);
  if (rest.empty() && !needs_lists) return {};
  // The old subscriptions end after the new one is active, so that no change is missed.
  std::vector<group> old;
  if (groups_.size() >= most_groups + wanted.uris.size() / (most_in_a_group / 2)) {
    const auto is_big = [](const group& one) { return one.uris.size() >= most_in_a_group / 2; };
    const auto small = std::partition(groups_.begin(), groups_.end(), is_big);
    std::move(small, groups_.end(), std::back_inserter(old));
    groups_.erase(small, groups_.end());
    rest = missing(wanted);
  }
  const bool lists = needs_lists || std::any_of(old.begin(), old.end(), [](const group& one) { return one.lists; });
  auto done = add(on, rest, lists && wanted.lists, how);
  if (!done) std::move(old.begin(), old.end(), std::back_inserter(groups_));
  return done;
}

result<subscriptions::group> subscriptions::watch(client& on, std::set<std::string> uris, bool lists,
                                                  const call_options& how) const {
  watch_request what;
  std::map<std::string, std::string> spelled;
  for (const auto& one : uris) {
    what.uris.push_back(around_.spelling(one));
    spelled.emplace(one, what.uris.back());
  }
  what.resource_list = lists;
  HONDANA_TRY(auto standing, on.watch(what, around_.tell, how));
  group made{std::move(uris), lists, std::move(standing), std::move(spelled)};
  look_again(made);
  return made;
}

/// Removes URIs that the server no longer watches. After a reconnect it may accept less than before.
void subscriptions::look_again(group& one) {
  const auto honoured = one.watching.honoured();
  const std::set<std::string> theirs(honoured.uris.begin(), honoured.uris.end());
  one.lists = one.lists && honoured.resource_list;
  std::erase_if(one.uris, [&](const std::string& ours) { return !theirs.contains(one.spelled.at(ours)); });
}

void subscriptions::take(group made, const std::set<std::string>& asked) {
  for (const auto& one : without(asked, made.uris)) refuse(one, "it rejected the subscription");
  for (const auto& one : made.uris) around_.begun(one);
  groups_.push_back(std::move(made));
}

void subscriptions::refuse(const std::string& uri, const std::string& why) {
  if (refused_.insert(uri).second)
    around_.log("clients are not notified of changes of " + clean(uri, longest_line) + ": " + clean_masked(why, longest_line));
}

result<void> subscriptions::add(client& on, const std::set<std::string>& uris, bool lists, const call_options& how) {
  const auto with = on.server();
  if (lists && !with.has_list_changes) {
    lists = false;
    lists_refused_ = true;
  }
  if (!with.has_subscriptions) {
    if (!uris.empty() && !std::exchange(said_there_are_none_, true))
      around_.log("it does not support subscriptions; clients are not notified of changed contents");
    refused_.insert(uris.begin(), uris.end());
  }
  const auto possible = with.has_subscriptions ? uris : std::set<std::string>();
  for (auto next = possible.begin(); next != possible.end() || lists;) {
    std::set<std::string> part;
    while (next != possible.end() && part.size() < most_in_a_group) part.insert(*next++);
    auto made = watch(on, part, lists, how);
    if (made) {
      lists_refused_ = lists_refused_ || (lists && !made->lists);
      take(std::move(*made), part);
    } else if (is_passing(made.error())) {
      return tl::unexpected(std::move(made.error()));
    } else {
      // A rejected URI must not prevent watching the others or the lists.
      if (lists && !part.empty()) {
        auto alone = watch(on, {}, true, how);
        if (alone) take(std::move(*alone), {});
        lists_refused_ = !alone;
      } else if (lists) {
        lists_refused_ = true;
        around_.log("clients are not notified of changed lists: " + clean_masked(made.error().public_text, longest_line));
      }
      HONDANA_TRY(add_one_by_one(on, part, how));
    }
    lists = false;
  }
  return {};
}

result<void> subscriptions::add_one_by_one(client& on, const std::set<std::string>& uris, const call_options& how) {
  std::set<std::string> good;
  std::vector<group> kept;
  for (const auto& one : uris) {
    auto made = watch(on, {one}, false, how);
    if (made) {
      good.insert(one);
      kept.push_back(std::move(*made));
    } else if (is_passing(made.error())) {
      return tl::unexpected(std::move(made.error()));
    } else {
      refuse(one, made.error().public_text);
    }
  }
  if (good.empty()) return {};
  if (good.size() == 1) {
    take(std::move(kept.front()), good);
    return {};
  }
  HONDANA_TRY(auto all, watch(on, good, false, how));
  take(std::move(all), good);
  return {};
}

}  // namespace hondana::mcp
