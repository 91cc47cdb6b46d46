/// Whose Drive it is, and which drives there are.
#include <algorithm>
#include <set>
#include <utility>

#include "sources/gdrive/follower.hpp"
#include "sources/gdrive/naming.hpp"

namespace hondana::gdrive {
namespace {

constexpr std::chrono::minutes between_looks_at_drives{10};
constexpr std::size_t most_drives = 10'000;

}  // namespace

drive::answer<void> follower::find_root(const std::stop_token& stop) {
  // Credentials are taken up while the server runs, and so each round looks whose Drive it is.
  const auto asking = who_asks();
  const auto found = options_.from->file("root", errand_of(stop, drive::lane::polling));
  if (!found) {
    if (asking != who_ && is_ours_) {
      say("the credentials have changed: cached files are not served until Drive confirms the same account");
      is_ours_ = false;
      const std::lock_guard lock(mutex_);
      latest_.reset();
      sure_at_.reset();
    }
    return tl::unexpected(found.error());
  }
  result<void> put;
  const bool is_other = !root_.empty() && root_ != found->id;
  if (root_ != found->id) put = options_.where->put_root(found->id);
  // What changed meanwhile is of nobody known.
  const auto who = who_asks() == asking ? asking : std::string();
  if (put && who != who_) put = options_.where->put_who(who);
  if (!put) {
    drive::refusal why;
    why.why = std::move(put.error());
    return tl::unexpected(std::move(why));
  }
  who_ = who;
  is_dirty_ = is_dirty_ || root_ != found->id || !is_ours_;
  root_ = found->id;
  is_ours_ = true;
  if (is_other) forget_all();
  return {};
}

void follower::forget_all() {
  say("the account has changed: the cache is cleared, and all files are listed again");
  for (const auto& [home, at] : positions_) channels_.forget(home);
  items_.clear();
  parents_.reset();
  positions_.clear();
  drives_.clear();
  looks_.clear();
  sheets_.clear();
  are_drives_due_ = true;
  {
    const std::lock_guard lock(mutex_);
    heard_.clear();
    problems_.clear();
    full_.clear();
    sure_at_.reset();
    is_ready_ = false;
  }
  keep_full();
  publish();
}

drive::answer<void> follower::find_drives(const std::stop_token& stop) {
  if (!options_.has_shared_drives) return {};
  if (!are_drives_due_ && clock::now() - drives_at_ < between_looks_at_drives) return {};
  std::vector<drive::shared_drive> all;
  std::string token;
  std::size_t pages = 0;
  do {
    if (++pages > most_pages) return tl::unexpected(endless("shared drives"));
    auto page = options_.from->drives(token, errand_of(stop, drive::lane::polling));
    if (!page && page.error().what == drive::trouble::scope_missing) {
      mind(std::string(list_of_drives), &page.error());
      return {};
    }
    if (!page) return tl::unexpected(std::move(page.error()));
    tell_odd(std::string(list_of_drives), page->odd);
    for (auto& one : page->drives) all.push_back(std::move(one));
    token = std::move(page->next);
  } while (!token.empty() && all.size() < most_drives);
  mind(std::string(list_of_drives), nullptr);
  are_drives_due_ = false;
  drives_at_ = clock::now();
  if (all == drives_) return {};
  std::vector<std::string> gone;
  std::vector<std::string> come;
  for (const auto& now : all) {
    const bool is_known = std::any_of(drives_.begin(), drives_.end(), [&now](const auto& one) { return one.id == now.id; });
    if (!is_known) come.push_back(now.id);
  }
  for (const auto& one : drives_) {
    const bool is_there = std::any_of(all.begin(), all.end(), [&one](const auto& now) { return now.id == one.id; });
    if (!is_there) gone.push_back(one.id);
  }
  // What was taken for shared by itself may lie in one that is not served: it goes with a new crawl. And what lay in one that
  // has gone may be shared by itself: it comes with a new crawl. Before the list counts, so that it is not forgotten.
  drives_.swap(all);
  const bool has_unserved = std::any_of(come.begin(), come.end(), [this](const auto& id) { return !is_served(id); });
  drives_.swap(all);
  are_drives_due_ = true;
  if (has_unserved || !gone.empty()) {
    batch again;
    list_anew({}, again);
    HONDANA_TRY(apply(std::move(again)));
  }
  auto put = options_.where->put_drives(all);
  for (const auto& id : gone) {
    if (put) put = options_.where->forget_home(id);
  }
  if (!put) {
    drive::refusal why;
    why.why = std::move(put.error());
    return tl::unexpected(std::move(why));
  }
  for (const auto& id : gone) {
    mind(id, nullptr);
    {
      const std::lock_guard lock(mutex_);
      full_.erase(id);
    }
    keep_full();
    channels_.forget(id);
    say(word_for_home(id) + " no longer exists");
    positions_.erase(id);
    std::erase_if(items_, [&id](const auto& one) { return one.second.what->home == id; });
  }
  parents_.reset();
  drives_ = std::move(all);
  are_drives_due_ = false;
  is_dirty_ = true;
  return {};
}

std::vector<std::string> follower::homes() const {
  const auto is_wanted = [this](std::string_view slug) {
    const auto& all = options_.wanted;
    return all.empty() || std::find(all.begin(), all.end(), slug) != all.end();
  };
  std::vector<std::string> out;
  if (is_wanted(my_drive) || is_wanted(shared_with_me)) out.emplace_back();
  if (!options_.has_shared_drives) return out;
  for (const auto& [id, slug] : slugs_of(drives_)) {
    if (is_wanted(slug)) out.push_back(id);
  }
  return out;
}

result<void> follower::forget_unfollowed() {
  const auto all = homes();
  std::set<std::string> others;
  const auto look = [&](const std::string& home) {
    if (std::find(all.begin(), all.end(), home) == all.end()) others.insert(home);
  };
  for (const auto& [home, at] : positions_) look(home);
  for (const auto& [id, one] : items_) look(one.what->home);
  for (const auto& home : others) {
    HONDANA_TRY(options_.where->forget_home(home));
    positions_.erase(home);
    std::erase_if(items_, [&home](const auto& one) { return one.second.what->home == home; });
  }
  return {};
}

}  // namespace hondana::gdrive
