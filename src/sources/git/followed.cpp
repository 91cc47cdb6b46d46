/// Versions of what is followed, then and now.
#include "sources/git/followed.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

#include "protocol/model/still_wanted.hpp"
#include "sources/git/concealment.hpp"
#include "sources/git/entries.hpp"
#include "sources/git/ignored_paths.hpp"
#include "sources/git/reference_marks.hpp"
#include "sources/git/rendering.hpp"

namespace hondana::git {
namespace {

/// By the clock that file systems take their times from; it is behind others by a tick.
std::int64_t file_time_now() noexcept {
  struct timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

struct followed_resource {
  std::size_t repository;
  address at;
  std::int64_t since;                 // when it was attached
  std::optional<std::string> mark{};  // nothing: not looked at yet
};

/// The part of a state that a list of URIs depends on.
struct followed_list {
  std::int64_t since;
  std::optional<std::string> mark{};
};

/// What a read gives goes by this; the version of the resource, where it has one at hand.
result<std::string> mark_of(const address& at, const reference_marks& marks, git_repository* in, const repository& of,
                            bool redact, const std::function<bool()>& is_stopped) {
  switch (at.what) {
    case topic::overview:
      return marks.head + marks.index + marks.config;
    case topic::changes:
      return marks.head + marks.index;
    case topic::branches:
      return marks.head + marks.branches + marks.config;
    case topic::tags:
      return marks.tags;
    case topic::log:
      return marks.head + marks.branches + marks.tags;
    case topic::commit:
    case topic::tree:
    case topic::blob:
    case topic::diff:
    case topic::blame:
    case topic::history:
    case topic::worktrees:
    case topic::stashes:
      break;
  }
  const auto where = of.where();
  ignored_paths ignored(in, !where.work_tree.empty(), is_stopped);
  const concealment hides(redact, nullptr, at.repo, of.own(), ignored);
  const auto made = render({.in = in,
                            .at = at,
                            .hides = hides,
                            .max_bytes = read_request().max_bytes,
                            .is_stopped = is_stopped,
                            .roots = of.roots(),
                            .has_work_tree = !where.work_tree.empty(),
                            .is_description = true});
  if (const auto& why = ignored.trouble()) return tl::unexpected(*why);
  if (!made) return tl::unexpected(made.error());
  return made->version;
}

std::string refused_mark(const failure& why) { return "refused: " + why.public_text; }

/// Whether a mark is another than before; the first one, whether something has happened since it was attached.
template <class T>
bool is_news(T& one, const std::string& mark, std::int64_t latest) {
  const bool differs = one.mark ? *one.mark != mark : latest >= one.since;
  one.mark = mark;
  return differs;
}

}  // namespace

struct followed::state {
  std::vector<std::shared_ptr<repository>> all;
  bool redact = true;

  std::mutex mutex;
  std::shared_ptr<change_listener> listener;
  std::map<std::string, followed_resource, std::less<>> resources;  // by URI
  std::map<std::size_t, followed_list> lists;                       // by repository, all of them or none

  [[nodiscard]] std::map<std::string, followed_resource, std::less<>> resources_in(std::size_t which) {
    const std::lock_guard lock(mutex);
    std::map<std::string, followed_resource, std::less<>> found;
    for (const auto& [uri, one] : resources)
      if (one.repository == which) found.emplace(uri, one);
    return found;
  }
  [[nodiscard]] std::optional<std::size_t> number_of(std::string_view slug) const {
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one->slug() == slug; });
    if (found == all.end()) return std::nullopt;
    return static_cast<std::size_t>(found - all.begin());
  }

  bool look(const call& by, std::size_t which);
  struct found_marks {
    std::map<std::string, std::string> marks;  // by URI
    std::string list_mark;
    std::optional<failure> why;  // there are none, since the repository cannot be looked through
    bool is_outdated = false;    // to be looked for by another handle
  };
  [[nodiscard]] found_marks marks_in(std::size_t which, repository::lease& handle, const std::function<bool()>& is_stopped);
  void settle_refused(std::size_t which, const failure& why);
  void settle(std::size_t which, const std::map<std::string, std::string>& marks, const std::string& list_mark,
              std::int64_t latest);
};

bool followed::state::look(const call& by, std::size_t which) {
  const auto is_stopped = [&by] { return !still_wanted(by).has_value(); };
  for (bool is_again = false;; is_again = true) {
    // What is mapped stays so until all handles are closed: one at a time.
    auto handle = all[which]->take();
    if (!handle) {
      settle_refused(which, handle.error());
      return false;
    }
    const auto found = marks_in(which, *handle, is_stopped);
    // What was read of torn files says nothing; they are looked at again.
    if (is_stopped() || handle->is_torn()) return false;
    if (found.is_outdated && !is_again) continue;
    if (found.why) {
      settle_refused(which, *found.why);
      return false;
    }
    // After what was looked at, so that nothing lies between.
    settle(which, found.marks, found.list_mark, latest_change_in(all[which]->where()));
    return true;
  }
}

followed::state::found_marks followed::state::marks_in(std::size_t which, repository::lease& handle,
                                                       const std::function<bool()>& is_stopped) {
  const auto& of = *all[which];
  found_marks found;
  bool lacks_something = false, is_unreadable = false;
  if (const auto now = marks_of(handle.get(), of.where(), is_stopped); !now) {
    found.why = now.error();
    is_unreadable = now.error().code == errc::source_unavailable;
  } else {
    found.list_mark = now->has_commits ? "has commits" : "";
    for (const auto& [uri, one] : resources_in(which)) {
      if (is_stopped()) return found;
      const auto mark = mark_of(one.at, *now, handle.get(), of, redact, is_stopped);
      found.marks.emplace(uri, mark ? *mark : refused_mark(mark.error()));
      lacks_something = lacks_something || !mark;
      is_unreadable = is_unreadable || (!mark && mark.error().code == errc::source_unavailable);
    }
  }
  found.is_outdated = (lacks_something || is_unreadable) && handle.retire_if_outdated();
  // What does not exist is no reason: it would be one again at every look.
  if (is_unreadable && !found.is_outdated) handle.retire();
  return found;
}

void followed::state::settle_refused(std::size_t which, const failure& why) {
  // What cannot be served any more is a change of all that is followed in it, and so is its return.
  std::map<std::string, std::string> marks;
  for (const auto& [uri, one] : resources_in(which)) marks.emplace(uri, refused_mark(why));
  settle(which, marks, "refused", latest_change_in(all[which]->where()));
}

void followed::state::settle(std::size_t which, const std::map<std::string, std::string>& marks, const std::string& list_mark,
                             std::int64_t latest) {
  std::vector<std::pair<std::string, std::string>> changed;  // URI and title
  bool has_list_changed = false;
  std::shared_ptr<change_listener> to;
  {
    const std::lock_guard lock(mutex);
    to = listener;
    for (auto& [uri, one] : resources) {
      if (one.repository != which) continue;
      const auto found = marks.find(uri);
      // What was attached meanwhile is looked at next.
      if (found != marks.end() && is_news(one, found->second, latest)) changed.emplace_back(uri, entry_of(one.at).title);
    }
    if (const auto list = lists.find(which); list != lists.end()) has_list_changed = is_news(list->second, list_mark, latest);
  }
  if (!to) return;
  for (const auto& [uri, title] : changed) to->content_changed(uri, title);
  if (has_list_changed) to->list_changed();
}

followed::followed(std::vector<std::shared_ptr<repository>> in, bool redact, std::function<void(std::string_view)> log)
    : state_(std::make_shared<state>()) {
  state_->all = std::move(in);
  state_->redact = redact;
  std::vector<place> places;
  for (const auto& one : state_->all) places.push_back(one->where());
  notices_ = std::make_unique<notices>(
      places, [to = state_](const call& by, std::size_t which) { return to->look(by, which); }, std::move(log));
}

followed::~followed() { watch(nullptr); }

void followed::watch(std::shared_ptr<change_listener> to) {
  const std::lock_guard lock(state_->mutex);
  state_->listener = std::move(to);
}

void followed::attach(const std::string& uri) {
  auto at = parse_address(uri);
  const auto which = at ? state_->number_of(at->repo) : std::nullopt;
  if (!which) return;  // there never is anything
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->listener) return;
    state_->resources.insert_or_assign(uri, followed_resource{*which, std::move(*at), file_time_now()});
  }
  notices_->start();
  notices_->look_at(*which);
}

void followed::detach(const std::string& uri) {
  const std::lock_guard lock(state_->mutex);
  state_->resources.erase(uri);
}

void followed::attach_list() {
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->listener) return;
    for (std::size_t i = 0; i < state_->all.size(); ++i) state_->lists.insert_or_assign(i, followed_list{file_time_now()});
  }
  notices_->start();
  for (std::size_t i = 0; i < state_->all.size(); ++i) notices_->look_at(i);
}

void followed::detach_list() {
  const std::lock_guard lock(state_->mutex);
  state_->lists.clear();
}

}  // namespace hondana::git
