/// Watches the references of repositories, and notifies clients when a resource they subscribed to has changed.
#include "sources/git/repository_watcher.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes/digest.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/disk/file_stamp.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/git/access_filter.hpp"
#include "sources/git/cancellation.hpp"
#include "sources/git/ignored_paths.hpp"
#include "sources/git/reference_lookup.hpp"
#include "sources/git/references.hpp"
#include "sources/git/rendering.hpp"
#include "sources/git/resource_entries.hpp"

namespace hondana::git {
namespace {

// If there are more folders, references are polled every two seconds instead.
constexpr std::size_t most_folders = 10'000;
constexpr int deepest_walk = 65;  // as deep as screening allows

using visitor = std::function<void(const std::string& path, int descriptor)>;

/// Visits a folder and those below it, without following links.
class folder_walk {
 public:
  folder_walk(const visitor& visit, int levels) : visit_(visit), levels_(levels) {}

  /// Whether there were more folders, or deeper ones, than are visited.
  [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }

  void go(int above, const std::string& name, const std::string& path, int depth) {
    disk::handle folder(::openat(above, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder.is_open()) return;
    if (depth > levels_ || folders_ == most_folders) {
      is_cut_ = true;
      return;
    }
    ++folders_;
    visit_(path, folder.get());
    const auto list = disk::stream_of(std::move(folder));
    if (!list) return;
    while (const auto* entry = ::readdir(list.get())) {
      const std::string_view one = entry->d_name;
      if (folders_ == most_folders && is_cut_) return;
      if (one == "." || one == ".." || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)) continue;
      go(::dirfd(list.get()), entry->d_name, path + '/' + entry->d_name, depth + 1);
    }
  }

 private:
  const visitor& visit_;
  const int levels_;
  std::size_t folders_ = 0;
  bool is_cut_ = false;
};

/// The trees to watch: each repository's common git folder and, if it differs, its own git folder.
struct watched_tree {
  std::size_t repository;
  std::string path;
  bool has_references;
};

std::vector<watched_tree> trees_of(const std::vector<place>& of) {
  std::vector<watched_tree> out;
  for (std::size_t i = 0; i < of.size(); ++i) {
    out.push_back({i, of[i].common_folder, true});
    if (of[i].git_folder != of[i].common_folder) out.push_back({i, of[i].git_folder, false});
  }
  return out;
}

/// False if some folders of references were not visited.
bool visit_folders(const watched_tree& one, const visitor& visit) {
  const disk::handle top(::open(one.path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (top.get() < 0) return true;  // the check reports this
  visit("", top.get());
  if (!one.has_references) return true;
  folder_walk references(visit, deepest_walk);
  references.go(top.get(), "refs", "refs", 0);
  folder_walk(visit, 1).go(top.get(), "worktrees", "worktrees", 0);
  // Dropping a stash from the middle of the list changes only its log.
  const disk::handle logs(::openat(top.get(), "logs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  const disk::handle of_references(
      logs.get() < 0 ? -1 : ::openat(logs.get(), "refs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (of_references.get() >= 0) visit("logs/refs", of_references.get());
  return !references.is_cut();
}

}  // namespace

std::int64_t latest_change_in(const place& at) {
  std::int64_t latest = 0;
  for (const auto& one : trees_of({at})) {
    const bool are_all = visit_folders(one, [&](const std::string&, int descriptor) {
      struct stat facts{};
      if (::fstat(descriptor, &facts) == 0) latest = std::max(latest, disk::stamp_of(facts).changed);
    });
    // Folders that were not visited may have changed just now.
    if (!are_all) latest = std::max(latest, disk::wall_clock());
  }
  return latest;
}

notices::notices(const std::vector<place>& of, look with_each, std::function<void(std::string_view)> log) {
  auto trees = trees_of(of);
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    if (trees[i].repository == first_trees_.size()) first_trees_.push_back(i);
    paths.push_back(trees[i].path);
  }
  watch::lookout_options with;
  with.what = "the references";
  with.quiet = std::chrono::milliseconds(20);
  with.latest = std::chrono::milliseconds(100);
  with.is_whole = [](const watch::happening& what) {
    return what.what == watch::happening::kind::moved_in && !what.path.ends_with(".lock");
  };
  with.log = std::move(log);
  // Called by the watcher's own thread, and only while that exists.
  struct way_back {
    std::function<void(std::size_t, const std::string&, int)> cover;
    std::function<void(std::size_t, const std::string&)> give_up;
  };
  const auto back = std::make_shared<way_back>();
  lookout_ = std::make_unique<watch::lookout>(
      std::move(paths),
      [trees = std::move(trees), look_at_one = std::move(with_each), back](const call& by, const watch::lookout::trees& which) {
        bool has_looked = true;
        std::size_t last = SIZE_MAX;
        // Changes from here on cause events. Earlier ones are found by the check that follows.
        for (std::size_t i = 0; i < trees.size(); ++i) {
          if (!which.empty() && !which.contains(i)) continue;
          const auto cover = [&](const std::string& path, int descriptor) { back->cover(i, path, descriptor); };
          if (!visit_folders(trees[i], cover))
            back->give_up(i, "its references are in more than " + std::to_string(most_folders) +
                                 " folders, or nested deeper than " + std::to_string(deepest_walk));
        }
        for (std::size_t i = 0; i < trees.size(); ++i) {
          if ((!which.empty() && !which.contains(i)) || std::exchange(last, trees[i].repository) == trees[i].repository)
            continue;
          has_looked = look_at_one(by, trees[i].repository) && has_looked;
        }
        return has_looked;
      },
      std::move(with));
  back->cover = lookout_->coverer();
  back->give_up = lookout_->giver_up();
}

namespace {

void feed_text(bytes::digester& to, std::string_view text) {
  to.feed(std::to_string(text.size()) + ':');
  to.feed(text);
}

std::string mark_of_file(const std::string& path) {
  struct stat facts{};
  if (::lstat(path.c_str(), &facts) != 0) return "none";
  const auto state = disk::stamp_of(facts);
  return std::to_string(state.device) + ' ' + std::to_string(state.inode) + ' ' + std::to_string(state.size) + ' ' +
         std::to_string(state.modified) + ' ' + std::to_string(state.changed);
}

struct gone_through {
  bytes::digester branches, tags;

  bytes::digester* digest_for(std::string_view name) {
    if (name.starts_with("refs/heads/") || name.starts_with("refs/remotes/")) return &branches;
    return name.starts_with("refs/tags/") ? &tags : nullptr;
  }
  void add(const git_reference* one) {
    const std::string_view name = git_reference_name(one);
    auto* const targets = digest_for(name);
    if (targets == nullptr) return;
    feed_text(*targets, name);
    const auto* const id = git_reference_target(one);
    feed_text(*targets, id != nullptr ? text_of(*id) : std::string(git_reference_symbolic_target(one)));
  }
};

result<void> go_through(git_repository* in, gone_through& all, const std::function<bool()>& is_stopped) {
  constexpr std::string_view said = "the references cannot be listed; run `git fsck` for details";
  HONDANA_TRY(check_references(in, "refs"));
  git_reference_iterator* raw = nullptr;
  if (const int code = git_reference_iterator_new(&raw, in); code < 0) return failed(std::string(said));
  const reference_iterator_pointer walk(raw);
  stopping wanted(is_stopped);
  for (;;) {
    if (auto step = wanted.step(); !step) return step;
    git_reference* found = nullptr;
    const int code = git_reference_next(&found, raw);
    const reference_pointer one(found);
    if (code == GIT_ITEROVER) break;
    if (code < 0) return failed(std::string(said));
    all.add(found);
  }
  git_error_clear();
  return {};
}

}  // namespace

result<reference_marks> marks_of(git_repository* in, const place& at, const std::function<bool()>& is_stopped) {
  gone_through all;
  HONDANA_TRY(go_through(in, all, is_stopped));
  reference_marks marks;
  // A broken HEAD is a state, too.
  const auto head = head_of(in);
  marks.has_commits = head && head->commit;
  marks.head = head ? head->branch + '\n' + (head->commit ? text_of(*head->commit) : "") + '\n' + head->operation
                    : head.error().public_text;
  marks.branches = bytes::to_hex(all.branches.value());
  marks.tags = bytes::to_hex(all.tags.value());
  marks.index = mark_of_file(at.git_folder + "/index");
  marks.config = mark_of_file(at.common_folder + "/config") + mark_of_file(at.git_folder + "/config.worktree");
  return marks;
}

namespace {

/// By the clock that file systems take their times from. It lags behind others by up to a tick.
std::int64_t file_time_now() noexcept {
  struct timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

struct followed_resource {
  std::size_t repository;
  address at;
  std::int64_t since;                 // when it was attached
  std::optional<std::string> mark{};  // absent: not checked yet
};

/// The part of a state that a list of URIs depends on.
struct followed_list {
  std::int64_t since;
  std::optional<std::string> mark{};
};

/// A mark that differs if a read would return something else. It is the version of the resource, if that is cheap to compute.
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

/// Whether a mark differs from the one before. For the first mark: whether something has happened since the resource was
/// attached.
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
    std::optional<failure> why;  // set if there are no marks, because the repository cannot be read
    bool is_outdated = false;    // should be checked with another handle
  };
  [[nodiscard]] found_marks marks_in(std::size_t which, repository::lease& handle, const std::function<bool()>& is_stopped);
  void settle_refused(std::size_t which, const failure& why);
  void settle(std::size_t which, const std::map<std::string, std::string>& marks, const std::string& list_mark,
              std::int64_t latest);
};

bool followed::state::look(const call& by, std::size_t which) {
  const auto is_stopped = [&by] { return !still_wanted(by).has_value(); };
  for (bool is_again = false;; is_again = true) {
    // Files stay mapped until all handles are closed, so there is one handle at a time.
    auto handle = all[which]->take();
    if (!handle) {
      settle_refused(which, handle.error());
      return false;
    }
    const auto found = marks_in(which, *handle, is_stopped);
    // Content of torn files means nothing. They are checked again.
    if (is_stopped() || handle->is_torn()) return false;
    if (found.is_outdated && !is_again) continue;
    if (found.why) {
      settle_refused(which, *found.why);
      return false;
    }
    // After the check, so that no change in between is missed.
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
  // Missing objects are not a reason: they would be missing at every check.
  if (is_unreadable && !found.is_outdated) handle.retire();
  return found;
}

void followed::state::settle_refused(std::size_t which, const failure& why) {
  // A repository that can no longer be served is a change of all resources in it, and so is its return.
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
      // A resource that was attached meanwhile is checked next.
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
  if (!which) return;  // nothing can ever exist there
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
