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
#include <vector>

#include "base/bytes/digest.hpp"
#include "os/disk/confined_dir.hpp"
#include "os/disk/dir_walk.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/disk/file_stamp.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/git/cancellation.hpp"
#include "sources/git/ignored_paths.hpp"
#include "sources/git/reference_lookup.hpp"
#include "sources/git/references.hpp"
#include "sources/git/rendering.hpp"
#include "sources/git/resource_entries.hpp"
#include "sources/git/visibility_filter.hpp"

namespace hondana::git {
namespace {

// If there are more folders, references are polled every two seconds instead.
constexpr std::size_t max_folders = 10'000;
constexpr std::size_t max_walk_depth = 65;  // as deep as screening allows

constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

using visitor = std::function<void(const std::string& path, int descriptor)>;

/// Visits a folder and those below it.
class folder_collector final : public disk::dir_visitor {
 public:
  /// `name`: of the folder that is walked, below the git folder.
  folder_collector(const visitor& visit, std::string name, std::size_t max_depth)
      : visit_(visit), name_(std::move(name)), max_depth_(max_depth) {}

  void enter_folder(const std::string& path, int descriptor) override {
    visit_(path.empty() ? name_ : name_ + '/' + path, descriptor);
  }
  disk::walk_action select(const dirent& entry) override {
    return entry.d_type == DT_DIR || entry.d_type == DT_UNKNOWN ? disk::walk_action::descend : disk::walk_action::skip;
  }
  disk::walk_action visit(const disk::walk_entry& entry) override {
    if (!S_ISDIR(entry.attributes.st_mode)) return disk::walk_action::skip;
    is_truncated = is_truncated || entry.depth > max_depth_ || folder_count_ == max_folders;
    if (folder_count_ == max_folders) return disk::walk_action::stop;
    if (entry.depth > max_depth_) return disk::walk_action::skip;
    ++folder_count_;
    return disk::walk_action::descend;
  }
  void on_denied(const std::string& /*path*/, std::string /*reason*/) override {}

  bool is_truncated = false;  ///< There were more folders, or deeper ones, than are visited.

 private:
  const visitor& visit_;
  const std::string name_;
  const std::size_t max_depth_;
  std::size_t folder_count_ = 1;  // with the one that is walked
};

/// Why the folders of a tree were not all visited.
enum class visit_error {
  too_many,  ///< There are too many folders of references, or they are nested too deeply.
  failed     ///< A failure of the disk, or a lack of descriptors or memory.
};

/// Visits a folder and those below it, if it exists and can be read.
tl::expected<void, visit_error> visit_subtree(int parent, const char* name, std::size_t max_depth, const visitor& visit) {
  folder_collector folders(visit, name, max_depth);
  const auto walked = disk::walk(disk::handle(::openat(parent, name, folder_flags)), folders);
  if (!walked && disk::to_lookup_error(walked.error().error).kind == disk::lookup_error_kind::system_error)
    return tl::unexpected(visit_error::failed);
  if (folders.is_truncated) return tl::unexpected(visit_error::too_many);
  return {};
}

/// The trees to watch: each repository's common git folder and, if it differs, its own git folder.
struct watched_tree {
  std::size_t repository;
  std::string path;
  bool has_references;
};

std::vector<watched_tree> list_trees(const std::vector<repository_location>& locations) {
  std::vector<watched_tree> out;
  for (std::size_t i = 0; i < locations.size(); ++i) {
    out.push_back({i, locations[i].common_folder, true});
    if (locations[i].git_folder != locations[i].common_folder) out.push_back({i, locations[i].git_folder, false});
  }
  return out;
}

tl::expected<void, visit_error> visit_folders(const watched_tree& tree, const visitor& visit) {
  const disk::handle top(::open(tree.path.c_str(), folder_flags));
  if (top.get() < 0) return {};  // the check reports this
  visit("", top.get());
  if (!tree.has_references) return {};
  const auto references = visit_subtree(top.get(), "refs", max_walk_depth, visit);
  // More work trees than are visited are no error.
  if (const auto work_trees = visit_subtree(top.get(), "worktrees", 1, visit);
      !work_trees && work_trees.error() == visit_error::failed)
    return work_trees;
  // Dropping a stash from the middle of the list changes only its log.
  const disk::handle logs(::openat(top.get(), "logs", folder_flags));
  const disk::handle reference_logs(logs.get() < 0 ? -1 : ::openat(logs.get(), "refs", folder_flags));
  if (reference_logs.get() >= 0) visit("logs/refs", reference_logs.get());
  return references;
}

}  // namespace

std::int64_t latest_change_time(const repository_location& location) {
  std::int64_t latest = 0;
  for (const auto& tree : list_trees({location})) {
    const auto visited = visit_folders(tree, [&](const std::string&, int descriptor) {
      struct stat attributes{};
      if (::fstat(descriptor, &attributes) == 0) latest = std::max(latest, disk::stamp_of(attributes).changed);
    });
    // Folders that were not visited may have changed just now.
    if (!visited) latest = std::max(latest, disk::wall_clock());
  }
  return latest;
}

reference_watcher::reference_watcher(const std::vector<repository_location>& locations, check_callback check,
                                     std::function<void(std::string_view)> log) {
  auto trees = list_trees(locations);
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    if (trees[i].repository == first_trees_.size()) first_trees_.push_back(i);
    paths.push_back(trees[i].path);
  }
  watch::watcher_options options;
  options.subject = "the references";
  options.quiet_time = std::chrono::milliseconds(20);
  options.max_delay = std::chrono::milliseconds(100);
  options.allows_immediate_rescan = [](const watch::folder_event& event) {
    return event.kind == watch::folder_event::event_kind::moved_in && !event.path.ends_with(".lock");
  };
  options.log = std::move(log);
  // Called by the watcher's own thread, and only while that exists.
  struct watcher_callbacks {
    std::function<void(std::size_t, const std::string&, int)> add_folder;
    std::function<void(std::size_t, const std::string&)> switch_to_polling;
  };
  const auto callbacks = std::make_shared<watcher_callbacks>();
  watcher_ = std::make_unique<watch::folder_watcher>(
      std::move(paths),
      [trees = std::move(trees), run_check = std::move(check), callbacks](const request_context& context,
                                                                          const watch::folder_watcher::trees& changed_trees) {
        bool has_succeeded = true;
        std::size_t last_repository = SIZE_MAX;
        // Changes from here on cause events. Earlier ones are found by the check that follows.
        for (std::size_t i = 0; i < trees.size(); ++i) {
          if (!changed_trees.empty() && !changed_trees.contains(i)) continue;
          const auto add_folder = [&](const std::string& path, int descriptor) { callbacks->add_folder(i, path, descriptor); };
          const auto visited = visit_folders(trees[i], add_folder);
          has_succeeded = has_succeeded && (visited || visited.error() == visit_error::too_many);
          if (!visited && visited.error() == visit_error::too_many)
            callbacks->switch_to_polling(i, "its references are in more than " + std::to_string(max_folders) +
                                                " folders, or nested deeper than " + std::to_string(max_walk_depth));
        }
        for (std::size_t i = 0; i < trees.size(); ++i) {
          if ((!changed_trees.empty() && !changed_trees.contains(i)) ||
              std::exchange(last_repository, trees[i].repository) == trees[i].repository)
            continue;
          has_succeeded = run_check(context, trees[i].repository) && has_succeeded;
        }
        return has_succeeded;
      },
      std::move(options));
  callbacks->add_folder = watcher_->folder_adder();
  callbacks->switch_to_polling = watcher_->polling_switch();
}

namespace {

void update_with_text(bytes::digester& digester, std::string_view text) {
  digester.update(std::to_string(text.size()) + ':');
  digester.update(text);
}

std::string file_etag(const std::string& path) {
  struct stat attributes{};
  if (::lstat(path.c_str(), &attributes) != 0) return "none";
  const auto state = disk::stamp_of(attributes);
  return std::to_string(state.device) + ' ' + std::to_string(state.inode) + ' ' + std::to_string(state.size) + ' ' +
         std::to_string(state.modified) + ' ' + std::to_string(state.changed);
}

/// References with their targets. libgit2 lists packed references after loose ones, so they are sorted before they are
/// digested: `git pack-refs` changes nothing.
struct reference_digests {
  std::vector<std::pair<std::string, std::string>> branches, tags;

  std::vector<std::pair<std::string, std::string>>* group_of(std::string_view name) {
    // Replaced commits change what is shown of a branch.
    if (name.starts_with("refs/heads/") || name.starts_with("refs/remotes/") || name.starts_with("refs/replace/"))
      return &branches;
    return name.starts_with("refs/tags/") ? &tags : nullptr;
  }
  void add(const git_reference* reference) {
    const std::string_view name = git_reference_name(reference);
    auto* const group = group_of(name);
    if (group == nullptr) return;
    const auto* const id = git_reference_target(reference);
    group->emplace_back(name, id != nullptr ? to_hex(*id) : std::string(git_reference_symbolic_target(reference)));
  }
  static std::string digest(std::vector<std::pair<std::string, std::string>>& group) {
    std::sort(group.begin(), group.end());
    bytes::digester digester;
    for (const auto& [name, target] : group) {
      update_with_text(digester, name);
      update_with_text(digester, target);
    }
    return bytes::to_hex(digester.value());
  }
};

result<void> digest_references(git_repository* repo, reference_digests& digests, const std::function<bool()>& is_stopped) {
  constexpr std::string_view message = "the references cannot be listed; run `git fsck` for details";
  HONDANA_TRY(check_references(repo, "refs"));
  git_reference_iterator* raw = nullptr;
  if (const int code = git_reference_iterator_new(&raw, repo); code < 0) return libgit2_failure(std::string(message));
  const reference_iterator_pointer iterator(raw);
  cancellation_checker cancellation(is_stopped);
  for (;;) {
    if (auto status = cancellation.step(); !status) return status;
    git_reference* raw_reference = nullptr;
    const int code = git_reference_next(&raw_reference, raw);
    const reference_pointer owner(raw_reference);
    if (code == GIT_ITEROVER) break;
    if (code < 0) return libgit2_failure(std::string(message));
    digests.add(raw_reference);
  }
  git_error_clear();
  return {};
}

}  // namespace

result<reference_etags> read_reference_etags(git_repository* repo, const repository_location& location,
                                             const std::function<bool()>& is_stopped) {
  reference_digests digests;
  HONDANA_TRY(digest_references(repo, digests, is_stopped));
  reference_etags etags;
  // A broken HEAD is a state, too.
  const auto head = head_of(repo);
  etags.has_commits = head && head->commit;
  etags.head = head ? head->branch + '\n' + (head->commit ? to_hex(*head->commit) : "") + '\n' + head->operation
                    : head.error().public_text;
  etags.branches = reference_digests::digest(digests.branches);
  etags.tags = reference_digests::digest(digests.tags);
  etags.index = file_etag(location.git_folder + "/index");
  etags.config = file_etag(location.common_folder + "/config") + file_etag(location.git_folder + "/config.worktree");
  return etags;
}

namespace {

/// By the clock that file systems take their times from. It lags behind others by up to a tick.
std::int64_t file_time_now() noexcept {
  struct timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

struct watched_resource {
  std::size_t repository;
  address target;
  std::int64_t watched_since;
  std::optional<std::string> etag{};  // absent: not checked yet
};

/// The part of a state that a list of URIs depends on.
struct watched_list {
  std::int64_t watched_since;
  std::optional<std::string> etag{};
};

/// An etag that differs if a read would return something else. It is the version of the resource, if that is cheap to compute.
result<std::string> etag_of(const address& target, const reference_etags& etags, git_repository* repo, const repository& served,
                            bool redact, const std::function<bool()>& is_stopped) {
  switch (target.kind) {
    case resource_kind::overview:
      return etags.head + etags.index + etags.config;
    case resource_kind::changes:
      return etags.head + etags.index;
    case resource_kind::branches:
      return etags.head + etags.branches + etags.config;
    case resource_kind::tags:
      return etags.tags;
    case resource_kind::log:
      return etags.head + etags.branches + etags.tags;
    case resource_kind::commit:
    case resource_kind::tree:
    case resource_kind::blob:
    case resource_kind::diff:
    case resource_kind::blame:
    case resource_kind::history:
    case resource_kind::worktrees:
    case resource_kind::stashes:
      break;
  }
  const auto location = served.location();
  ignored_paths ignored(repo, !location.work_tree.empty(), is_stopped);
  const visibility_filter visibility(redact, nullptr, target.repo, served.own_files(), ignored);
  const auto rendered = render({.repo = repo,
                                .target = target,
                                .visibility = visibility,
                                .max_bytes = read_request().max_bytes,
                                .is_stopped = is_stopped,
                                .roots = served.roots(),
                                .has_work_tree = !location.work_tree.empty(),
                                .is_description = true});
  if (const auto& error = ignored.error()) return tl::unexpected(*error);
  if (!rendered) return tl::unexpected(rendered.error());
  return rendered->version;
}

std::string error_etag(const failure& error) { return "refused: " + error.public_text; }

/// Whether an etag differs from the one before. For the first etag: whether something has happened since the watch began.
template <class T>
bool is_change(T& watched, const std::string& etag, std::int64_t latest) {
  const bool has_changed = watched.etag ? *watched.etag != etag : latest >= watched.watched_since;
  watched.etag = etag;
  return has_changed;
}

}  // namespace

struct repository_watcher::state {
  std::vector<std::shared_ptr<repository>> repositories;
  bool redact = true;

  std::mutex mutex;
  std::shared_ptr<change_listener> listener;
  std::map<std::string, watched_resource, std::less<>> resources;  // by URI
  std::map<std::size_t, watched_list> lists;                       // by repository, all of them or none

  [[nodiscard]] std::map<std::string, watched_resource, std::less<>> resources_in(std::size_t index) {
    const std::lock_guard lock(mutex);
    std::map<std::string, watched_resource, std::less<>> matches;
    for (const auto& [uri, watched] : resources)
      if (watched.repository == index) matches.emplace(uri, watched);
    return matches;
  }
  [[nodiscard]] std::optional<std::size_t> find_index(std::string_view slug) const {
    const auto match =
        std::find_if(repositories.begin(), repositories.end(), [&](const auto& served) { return served->slug() == slug; });
    if (match == repositories.end()) return std::nullopt;
    return static_cast<std::size_t>(match - repositories.begin());
  }

  bool check(const request_context& context, std::size_t index);
  struct check_outcome {
    std::map<std::string, std::string> etags;  // by URI
    std::string list_etag;
    std::optional<failure> error;  // set if there are no etags, because the repository cannot be read
    bool is_outdated = false;      // should be checked with another handle
  };
  [[nodiscard]] check_outcome collect_etags(std::size_t index, repository::lease& handle,
                                            const std::function<bool()>& is_stopped);
  void notify_unreadable(std::size_t index, const failure& error);
  void notify_changes(std::size_t index, const std::map<std::string, std::string>& etags, const std::string& list_etag,
                      std::int64_t latest);
};

bool repository_watcher::state::check(const request_context& context, std::size_t index) {
  const auto is_stopped = [&context] { return !check_cancellation(context).has_value(); };
  for (bool is_retry = false;; is_retry = true) {
    // Files stay mapped until all handles are closed, so there is one handle at a time.
    auto handle = repositories[index]->acquire();
    if (!handle) {
      notify_unreadable(index, handle.error());
      return false;
    }
    const auto outcome = collect_etags(index, *handle, is_stopped);
    // Content of truncated files means nothing. They are checked again.
    if (is_stopped() || handle->is_truncated()) return false;
    if (outcome.is_outdated && !is_retry) continue;
    if (outcome.error) {
      notify_unreadable(index, *outcome.error);
      return false;
    }
    // After the check, so that no change in between is missed.
    notify_changes(index, outcome.etags, outcome.list_etag, latest_change_time(repositories[index]->location()));
    return true;
  }
}

repository_watcher::state::check_outcome repository_watcher::state::collect_etags(std::size_t index, repository::lease& handle,
                                                                                  const std::function<bool()>& is_stopped) {
  const auto& served = *repositories[index];
  check_outcome outcome;
  bool has_failures = false, is_unreadable = false;
  if (const auto etags = read_reference_etags(handle.get(), served.location(), is_stopped); !etags) {
    outcome.error = etags.error();
    is_unreadable = etags.error().code == errc::source_unavailable;
  } else {
    outcome.list_etag = etags->has_commits ? "has commits" : "";
    for (const auto& [uri, watched] : resources_in(index)) {
      if (is_stopped()) return outcome;
      const auto etag = etag_of(watched.target, *etags, handle.get(), served, redact, is_stopped);
      outcome.etags.emplace(uri, etag ? *etag : error_etag(etag.error()));
      has_failures = has_failures || !etag;
      is_unreadable = is_unreadable || (!etag && etag.error().code == errc::source_unavailable);
    }
  }
  outcome.is_outdated = (has_failures || is_unreadable) && handle.retire_if_outdated();
  // Missing objects are not a reason: they would be missing at every check.
  if (is_unreadable && !outcome.is_outdated) handle.retire();
  return outcome;
}

void repository_watcher::state::notify_unreadable(std::size_t index, const failure& error) {
  // A repository that can no longer be served is a change of all resources in it, and so is its return.
  std::map<std::string, std::string> etags;
  for (const auto& [uri, watched] : resources_in(index)) etags.emplace(uri, error_etag(error));
  notify_changes(index, etags, "refused", latest_change_time(repositories[index]->location()));
}

void repository_watcher::state::notify_changes(std::size_t index, const std::map<std::string, std::string>& etags,
                                               const std::string& list_etag, std::int64_t latest) {
  std::vector<std::pair<std::string, std::string>> changed;  // URI and title
  bool has_list_changed = false;
  std::shared_ptr<change_listener> target_listener;
  {
    const std::lock_guard lock(mutex);
    target_listener = listener;
    for (auto& [uri, watched] : resources) {
      if (watched.repository != index) continue;
      const auto match = etags.find(uri);
      // A resource that was added meanwhile is checked next.
      if (match != etags.end() && is_change(watched, match->second, latest))
        changed.emplace_back(uri, make_resource(watched.target).title);
    }
    if (const auto list = lists.find(index); list != lists.end()) has_list_changed = is_change(list->second, list_etag, latest);
  }
  if (!target_listener) return;
  for (const auto& [uri, title] : changed) target_listener->content_changed(uri, title);
  if (has_list_changed) target_listener->list_changed();
}

repository_watcher::repository_watcher(std::vector<std::shared_ptr<repository>> repositories, bool redact,
                                       std::function<void(std::string_view)> log)
    : state_(std::make_shared<state>()) {
  state_->repositories = std::move(repositories);
  state_->redact = redact;
  std::vector<repository_location> locations;
  for (const auto& served : state_->repositories) locations.push_back(served->location());
  reference_watcher_ = std::make_unique<reference_watcher>(
      locations,
      [shared_state = state_](const request_context& context, std::size_t index) {
        return shared_state->check(context, index);
      },
      std::move(log));
}

repository_watcher::~repository_watcher() { set_listener(nullptr); }

void repository_watcher::set_listener(std::shared_ptr<change_listener> listener) {
  const std::lock_guard lock(state_->mutex);
  state_->listener = std::move(listener);
}

void repository_watcher::watch(const std::string& uri) {
  auto target = parse_address(uri);
  const auto index = target ? state_->find_index(target->repo) : std::nullopt;
  if (!index) return;  // nothing can ever exist there
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->listener) return;
    state_->resources.insert_or_assign(uri, watched_resource{*index, std::move(*target), file_time_now()});
  }
  reference_watcher_->start();
  reference_watcher_->request_rescan(*index);
}

void repository_watcher::unwatch(const std::string& uri) {
  const std::lock_guard lock(state_->mutex);
  state_->resources.erase(uri);
}

void repository_watcher::watch_list() {
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->listener) return;
    for (std::size_t i = 0; i < state_->repositories.size(); ++i)
      state_->lists.insert_or_assign(i, watched_list{file_time_now()});
  }
  reference_watcher_->start();
  for (std::size_t i = 0; i < state_->repositories.size(); ++i) reference_watcher_->request_rescan(i);
}

void repository_watcher::unwatch_list() {
  const std::lock_guard lock(state_->mutex);
  state_->lists.clear();
}

}  // namespace hondana::git
