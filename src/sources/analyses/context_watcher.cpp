/// Watches the resources that analyses are based on, and deletes analyses when these resources change.
#include "sources/analyses/context_watcher.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "base/bytes/sha256.hpp"
#include "base/executor/thread_guards.hpp"
#include "sources/analyses/analysis_resources.hpp"

namespace hondana::analyses_source {
namespace {

/// Whether a resource, or the part of it that an analysis is based on, does not exist anymore.
bool is_gone(errc code) noexcept { return code == errc::resource_not_found || code == errc::part_not_found; }

std::string shown_uri(const std::string& uri) {
  constexpr std::size_t longest = 200;
  return uri.size() <= longest ? uri : uri.substr(0, longest) + "…";
}

failure explained(failure why, const std::string& at, const std::string& uri) {
  if (why.code == errc::resource_not_found || why.code == errc::access_denied) {
    why.public_text =
        at + ": resource " + shown_uri(uri) +
        " not found, or you may not read it. Name resources of this server; put other inputs of the analysis into "
        "options, which are also part of the key.";
  } else {
    why.public_text = at + ": " + why.public_text;
  }
  return why;
}

/// Prefix of versions of resources that differ by caller, such as a folder with hidden parts. The version has digests of the
/// caller's version and of the version of the whole.
constexpr std::string_view own_view = "view-";
constexpr std::size_t digest_digits = 64;

std::string digest_of_version(std::string_view version) { return bytes::to_hex(bytes::sha256_of(version)); }

std::string version_in_view(std::string_view given, std::string_view whole) {
  return std::string(own_view) + digest_of_version(given) + '-' + digest_of_version(whole);
}

/// The version that an analysis of this caller is based on.
result<std::string> version_for(const neighbourhood& there, const call& by, const std::string& uri) {
  auto given = there.version_of(by, uri);
  if (!given || (!by.who.view && !by.who.proof)) return given;
  auto whole = there.version_for_itself(by, uri);
  if (!whole || *whole == *given) return whole;
  // Read again, since the resource may have changed in between. A change from now on also changes the version of the whole.
  given = there.version_of(by, uri);
  if (!given || *given == *whole) return given;
  return version_in_view(*given, *whole);
}

}  // namespace

bool is_still(std::string_view known, std::string_view present) {
  if (known == present) return true;
  return known.size() == own_view.size() + 2 * digest_digits + 1 && known.starts_with(own_view) &&
         known.substr(own_view.size() + digest_digits + 1) == digest_of_version(present);
}

result<void> resolve(const ground& on, follower& with, const call& by, analyses::question& asked, std::string_view path) {
  const auto there = on.neighbours();
  if (!there) return tl::unexpected(there.error());
  std::vector<std::string> seen;
  for (std::size_t i = 0; i < asked.context.size(); ++i) {
    auto& one = asked.context[i];
    const auto at = std::string(path) + '[' + std::to_string(i) + ']';
    auto canonical = canonical_uri(one.uri);
    if (!canonical) return fail(errc::invalid_argument, at + ".uri: " + canonical.error().public_text);
    one.uri = std::move(*canonical);
    if (std::find(seen.begin(), seen.end(), one.uri) != seen.end())
      return fail(errc::invalid_argument, at + ".uri: " + shown_uri(one.uri) + " is in the context twice");
    seen.push_back(one.uri);
    if (!*there) continue;
    with.watch(one.uri);
    auto version = version_for(**there, by, one.uri);
    if (!version) return tl::unexpected(explained(std::move(version.error()), at, one.uri));
    if (!one.version.empty() && one.version != *version) {
      return fail(errc::content_changed, at + ": " + shown_uri(one.uri) +
                                             " has another version now than the one given, so the analysis is out of date. "
                                             "Claim again, and compute it from the current version.");
    }
    one.version = std::move(*version);
  }
  return {};
}

result<bool> hold(const ground& on, const follower& with, const call& by, const std::vector<analyses::basis>& all,
                  std::vector<std::string>& changed) {
  HONDANA_TRY(const auto there, on.neighbours());
  if (!there) return true;
  bool are_all_there = true;
  for (const auto& one : all) {
    // Analyses themselves are read on other threads. The periodic check covers them.
    if (one.uri.starts_with(std::string(scheme_name) + ':')) continue;
    const auto version = there->version_for_itself(by, one.uri);
    if (version) {
      if (one.version.empty() ? !with.may_rest_on(one.uri, *version) : !is_still(one.version, *version))
        changed.push_back(one.uri);
    } else if (is_gone(version.error().code)) {
      are_all_there = false;
    } else {
      auto why = version.error();
      why.public_text = "Cannot check whether the context of this analysis has changed: " + why.public_text;
      return tl::unexpected(std::move(why));
    }
  }
  return are_all_there && changed.empty();
}

namespace {

using follow_clock = monotonic_clock;

constexpr std::size_t most_events = 10'000;
constexpr std::size_t most_news = 10'000;
constexpr std::size_t most_attached = 100'000;
constexpr std::size_t bases_of_a_page = 500;
/// Resources with analyses based on an unknown version. Changes of further ones are not noticed.
constexpr std::size_t most_found = 10'000;
constexpr std::chrono::seconds longest_ask{10};
constexpr std::chrono::seconds until_opened_again{2};
/// Versions that could not be read are requested again in batches, with back-off.
constexpr std::size_t most_again = 32;
constexpr std::chrono::milliseconds first_pause{1'000};

const std::string no_version;

call own_call(const std::stop_token& stop) {
  call out;
  out.who.identity = "analyses";
  out.deadline = follow_clock::now() + longest_ask;
  out.stop = stop;
  return out;
}

std::string reason_of(const std::string& uri, bool is_there, bool has_changed, std::uint64_t count) {
  if (!is_there) return uri + " does not exist any more";
  if (has_changed) return uri + " has changed";
  return std::string(count == 1 ? "it" : "each") + " was stored with another version of " + uri + " than the current one";
}

}  // namespace

struct follower::work {
  std::vector<analyses::change> events;
  bool are_events_missing = false;
  std::set<std::string, std::less<>> news;
  bool has_to_look = false;
};

void follower::tell_to(std::shared_ptr<change_listener> to) {
  {
    const std::lock_guard lock(mutex_);
    to_.swap(to);
    if (!to_) return;
  }
  begin();
}

void follower::begin() {
  const std::lock_guard one_starter(starting_);
  if (thread_.joinable() || !on_->how.watch) return;
  const hondana::executor::signals_blocked blocked;
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void follower::settle(std::shared_ptr<neighbourhood> in) {
  const bool is_there = in != nullptr;
  on_->put_where(std::move(in));
  if (!is_there) end();
  {
    const std::lock_guard lock(mutex_);
    watched_.clear();
    is_look_wanted_ = is_there;
    changed_.notify_all();
  }
  if (is_there) begin();
}

void follower::attach(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  if (attached_.size() < most_attached) attached_.insert(uri);
}

void follower::detach(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  attached_.erase(uri);
}

bool follower::watches(const std::vector<analyses::basis>& all) const {
  const std::lock_guard lock(mutex_);
  return std::all_of(all.begin(), all.end(), [this](const analyses::basis& one) {
    const auto known = watched_.find(one.uri);
    return known != watched_.end() && known->second.is_heard;
  });
}

void follower::heard_of(std::string_view uri) {
  news_count_->fetch_add(1);
  const std::lock_guard lock(mutex_);
  // A change of a resource also changes its URIs with a query or a fragment.
  for (auto one = watched_.lower_bound(uri); one != watched_.end() && one->first.starts_with(uri); ++one) {
    const auto rest = std::string_view(one->first).substr(uri.size());
    if (!rest.empty() && rest.front() != '?' && rest.front() != '#') continue;
    if (news_.size() < most_news) {
      news_.insert(one->first);
    } else {
      is_look_wanted_ = true;
    }
  }
  changed_.notify_all();
}

bool follower::may_rest_on(std::string_view uri, std::string_view version) const {
  const std::lock_guard lock(mutex_);
  const auto known = found_.find(uri);
  return known == found_.end() || known->second.version == version;
}

bool follower::takes(const std::string& uri, const std::string& version) {
  const std::lock_guard lock(mutex_);
  const auto known = found_.find(uri);
  if (known != found_.end()) {
    // Analyses may have been added behind the position of the current check, which must not remove this entry as unused.
    known->second.look = look_;
    return known->second.version == version;
  }
  if (found_.size() < most_found) found_.emplace(uri, first_found{version, look_});
  return true;
}

result<std::vector<std::string>> follower::versions_still(const analyses::cache& in, const std::string& uri,
                                                          const std::string& present) {
  std::vector<std::string> out{present};
  // `bases` returns URIs after the given one, so pass the nearest URI before this one.
  auto before = uri;
  if (!before.empty()) --before.back(), before += '\x7f';
  const auto known = in.in().bases(before, 1);
  if (!known) return tl::unexpected(known.error());
  bool is_unknown_somewhere = false;
  for (const auto& one : *known) {
    if (one.uri != uri || one.version == present) continue;
    is_unknown_somewhere = is_unknown_somewhere || one.version.empty();
    if (one.version.empty() ? takes(uri, present) : is_still(one.version, present)) out.push_back(one.version);
  }
  if (is_unknown_somewhere) return out;
  // Analyses stored from now on may be based on the current version.
  out.emplace_back();
  const std::lock_guard lock(mutex_);
  found_.erase(uri);
  return out;
}

void follower::watch(const std::string& uri) {
  if (!on_->how.watch) return;
  const std::lock_guard one_at_a_time(watching_);
  const auto there = on_->where();
  if (!there) return;
  {
    const std::lock_guard lock(mutex_);
    const auto known = watched_.find(uri);
    if (known != watched_.end()) {
      known->second.look = look_ + 1;
      return;
    }
    if (watched_.size() >= on_->how.most_watched) return;
    // Registered before the source watches it, so that no change is lost.
    watched_.emplace(uri, watched{look_ + 1});
  }
  const bool is_heard = there->watch(uri);
  const std::lock_guard lock(mutex_);
  const auto known = watched_.find(uri);
  if (known == watched_.end()) return;
  if (is_heard) {
    known->second.is_heard = true;
  } else {
    watched_.erase(known);
  }
}

void follower::end() {
  const std::lock_guard one_at_a_time(starting_);
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
    thread_ = {};
  }
}

void follower::hear(const analyses::change* what) {
  const std::lock_guard lock(mutex_);
  if (what == nullptr || events_.size() >= most_events) {
    are_events_missing_ = true;
  } else {
    events_.push_back(*what);
  }
  changed_.notify_all();
}

follower::work follower::wait(const std::stop_token& stop, bool is_opened) {
  std::unique_lock lock(mutex_);
  auto due = is_opened ? (is_looking_ ? follow_clock::now() : next_look_) : follow_clock::now() + until_opened_again;
  if (is_opened && !again_.empty()) due = std::min(due, again_at_);
  monotonic_clock::wait_until(changed_, lock, stop, due, [&] {
    return is_opened && (!events_.empty() || are_events_missing_ || !news_.empty() || is_look_wanted_);
  });
  work out;
  out.events.swap(events_);
  out.are_events_missing = std::exchange(are_events_missing_, false);
  out.news.swap(news_);
  if (!again_.empty() && follow_clock::now() >= again_at_) {
    for (std::size_t i = 0; i < most_again && !again_.empty(); ++i) out.news.insert(again_.extract(again_.begin()));
    // The pause doubles until one version can be read.
    again_at_ = follow_clock::now() + pause_;
    pause_ = std::min(2 * pause_, std::max(first_pause, on_->how.check_every));
  }
  out.has_to_look = std::exchange(is_look_wanted_, false) || follow_clock::now() >= next_look_;
  return out;
}

void follower::run(const std::stop_token& stop) {
  std::shared_ptr<void> listening;
  std::shared_ptr<analyses::cache> in;
  is_looking_ = false;
  next_look_ = {};
  look_at_.clear();
  page_.clear();
  page_at_ = 0;
  unknown_.clear();
  news_at_.clear();
  again_.clear();
  pause_ = first_pause;
  on_->put_watched(true);
  while (!stop.stop_requested()) {
    if (!in) {
      if (auto opened = on_->kept()) {
        in = std::move(*opened);
        listening = in->listen([this](const analyses::change* what) { hear(what); });
        // Changes between the first subscription and this moment were not received.
        hear(nullptr);
      }
    }
    auto now = wait(stop, in != nullptr);
    if (stop.stop_requested() || !in) continue;
    if (!now.events.empty() || now.are_events_missing) {
      take_bases(now.events, *in);
      tell(now.events, now.are_events_missing, *in);
    }
    // A source may be slow, and callers that wait for an analysis must be notified before all versions are read.
    while (!unknown_.empty() && !stop.stop_requested()) {
      check(unknown_.extract(unknown_.begin()).value(), &no_version, by::look, *in, stop);
      if (has_news()) break;
    }
    while (!now.news.empty()) {
      auto next = now.news.upper_bound(news_at_);  // in turn, even if earlier ones change often
      if (next == now.news.end()) next = now.news.begin();
      news_at_ = *next;
      check(now.news.extract(next).value(), nullptr, by::news, *in, stop);
      const std::lock_guard lock(mutex_);
      if (events_.empty() && !are_events_missing_) continue;
      news_.merge(now.news);
      break;
    }
    if (now.has_to_look && !is_looking_) {
      is_looking_ = true;
      is_look_whole_ = look_at_.empty();
      next_look_ = follow_clock::now() + on_->how.check_every;
      const std::lock_guard lock(mutex_);
      ++look_;
    }
    if (is_looking_) look(*in, stop);
  }
  on_->put_watched(false);
}

void follower::tell(const std::vector<analyses::change>& all, bool are_some_missing, analyses::cache& in) {
  using what = analyses::change::kind;
  std::shared_ptr<change_listener> to;
  std::set<std::string, std::less<>> attached;
  {
    const std::lock_guard lock(mutex_);
    to = to_;
    if (!to) return;
    attached = attached_;
  }
  std::set<std::string, std::less<>> changed;
  const auto add_all = [&](std::string_view prefix) {
    for (auto one = attached.lower_bound(prefix); one != attached.end() && one->starts_with(prefix); ++one)
      changed.insert(*one);
  };
  bool has_list_changed = are_some_missing;
  if (are_some_missing) add_all("");
  for (const auto& one : all) {
    const auto uri = analysis_uri(one.id);
    add_all(uri);
    changed.insert(uri);
    changed.insert(flow_uri(one.id));
    has_list_changed = has_list_changed || one.what != what::part;
    if (one.what == what::put) {
      const auto about = in.in().about(one.id);
      if (about && *about) {
        changed.insert(by_prompt_uri((*about)->of.prompt));
      } else {
        add_all(by_prompt_prefix);
      }
    } else if (one.what == what::gone || one.what == what::failed) {
      // The prompt of a deleted analysis is unknown.
      add_all(by_prompt_prefix);
    }
  }
  if (has_list_changed) {
    if (attached.contains(index_uri)) changed.insert(std::string(index_uri));
    if (attached.contains(statistics_uri)) changed.insert(std::string(statistics_uri));
    to->list_changed();
  }
  for (const auto& one : changed) {
    // A caller that may see the URI of a prompt need not have access to its analysis.
    if (one.starts_with(by_prompt_prefix)) {
      to->alias_changed(one, {});
    } else {
      to->content_changed(one, {});
    }
  }
}

void follower::take_bases(const std::vector<analyses::change>& all, analyses::cache& in) {
  if (!on_->where()) return;
  for (const auto& one : all) {
    if (one.what != analyses::change::kind::put) continue;
    const auto found = in.get(one.id);
    if (!found || !*found) continue;
    const auto whole = analyses::analysis_of(**found);
    if (!whole) continue;
    for (const auto& basis : whole->asked.context) {
      watch(basis.uri);
      if (basis.version.empty() && unknown_.size() < most_found) unknown_.insert(basis.uri);
    }
  }
}

void follower::check(const std::string& uri, const std::string* known, by why, analyses::cache& in,
                     const std::stop_token& stop) {
  const auto there = on_->where();
  if (!there) return;
  auto version = there->version_for_itself(own_call(stop), uri);
  std::vector<std::string> holding;
  if (version) {
    if (known != nullptr && (known->empty() ? takes(uri, *version) : is_still(*known, *version))) return;
    auto still = versions_still(in, uri, *version);
    if (!still) return on_->say("cannot find the analyses based on " + uri + ": " + still.error().public_text);
    holding = std::move(*still);
  } else if (why != by::news) {
    return;
  } else if (!is_gone(version.error().code)) {
    if (again_.empty()) again_at_ = follow_clock::now() + pause_;
    if (again_.size() < most_news) {
      again_.insert(uri);
    } else {
      const std::lock_guard lock(mutex_);
      is_look_wanted_ = true;
    }
    return;
  }
  pause_ = first_pause;
  const bool has_changed = version && !may_rest_on(uri, *version);
  const auto forgotten = in.changed(uri, std::move(holding));
  if (!forgotten) return on_->say("cannot delete the analyses based on " + uri + ": " + forgotten.error().public_text);
  if (!version || has_changed) {
    // Analyses based on an unknown version are deleted. New ones are based on another version.
    const std::lock_guard lock(mutex_);
    found_.erase(uri);
  }
  if (*forgotten > 0)
    on_->say(std::to_string(*forgotten) + " deleted, because " + reason_of(uri, version.has_value(), has_changed, *forgotten));
}

bool follower::has_news() const {
  const std::lock_guard lock(mutex_);
  return !events_.empty() || are_events_missing_ || !news_.empty();
}

void follower::look(analyses::cache& in, const std::stop_token& stop) {
  const auto there = on_->where();
  const auto end_look = [this](bool is_whole) {
    is_looking_ = false;
    looked_ = 0;
    look_at_.clear();
    page_.clear();
    page_at_ = 0;
    if (!is_whole || !is_look_whole_) return;
    std::vector<std::string> gone;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [uri, one] : watched_)
        if (one.look < look_) gone.push_back(uri);
      std::erase_if(found_, [this](const auto& one) { return one.second.look < look_; });
    }
    stop_watching(gone);
  };
  if (!there) return end_look(false);
  if (page_at_ == page_.size()) {
    auto page = in.in().bases(look_at_, bases_of_a_page);
    if (!page) return end_look(false);
    page_ = std::move(*page);
    page_at_ = 0;
  }
  while (page_at_ < page_.size()) {
    if (stop.stop_requested()) return;
    const auto& one = page_[page_at_++];
    watch(one.uri);
    if (one.version.empty()) {
      const std::lock_guard lock(mutex_);
      if (const auto known = found_.find(one.uri); known != found_.end()) known->second.look = look_;
    }
    check(one.uri, &one.version, by::look, in, stop);
    look_at_ = one.uri;
    ++looked_;
    // As with changes, a source may be slow.
    if (page_at_ < page_.size() && has_news()) return;
  }
  if (page_.size() < bases_of_a_page) return end_look(true);
  // The next check covers the rest. An incomplete check does not know which resources are unused.
  if (looked_ >= on_->how.most_checked) is_looking_ = false, looked_ = 0;
}

void follower::stop_watching(const std::vector<std::string>& all) {
  const auto there = on_->where();
  for (const auto& uri : all) {
    const std::lock_guard one_at_a_time(watching_);
    {
      const std::lock_guard lock(mutex_);
      const auto known = watched_.find(uri);
      if (known == watched_.end() || known->second.look >= look_) continue;
      watched_.erase(known);
    }
    if (there) there->unwatch(uri);
  }
}

}  // namespace hondana::analyses_source
