/// The thread that hears of changes.
#include "providers/files/watching.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "disk/network.hpp"
#include "disk/stamp.hpp"
#include "providers/files/attached.hpp"
#include "providers/files/errand.hpp"
#include "providers/files/freshness.hpp"
#include "watch/folders.hpp"
#include "watch/settling.hpp"

namespace hondana::files {
namespace {

using clock = std::chrono::steady_clock;
using happening = watch::happening;

constexpr std::chrono::seconds farewell{1};
constexpr std::chrono::seconds longest_sleep{60};
constexpr std::chrono::milliseconds shortest_sleep{10};  // between two looks at all roots

/// Names of files that say which others are served.
constexpr std::array<std::string_view, 2> rule_files{".gitignore", ".hondanaignore"};

}  // namespace

struct watching::state : std::enable_shared_from_this<state> {
  state(root_list served, const options& all, watching::ears with)
      : roots(std::move(served)), configured(all), to(std::move(with)), polled(roots.size(), false), device(roots.size(), 0) {}
  ~state() {
    if (bell >= 0) ::close(bell);
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  const root_list roots;
  const options configured;
  const watching::ears to;
  int bell = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

  mutable std::mutex mutex;
  std::condition_variable left;
  std::shared_ptr<change_listener> listener;
  using errand_list = std::list<errand>;
  errand_list errands;
  // Those that nobody has begun to watch yet, so that who turns away again leaves nothing behind, however often.
  std::unordered_map<std::string, errand_list::iterator> begun;
  std::vector<bool> polled;   // roots that the kernel does not watch for us
  std::vector<dev_t> device;  // of each root
  std::size_t attached_count = 0;
  bool is_started = false;
  bool is_running = false;
  bool is_ending = false;
  bool is_silent = false;  // the log may be gone
  std::mutex log_mutex;

  // Set before the thread starts; shared with walks, and with readings that are still vouched for.
  std::shared_ptr<watch::folders> folders;
  std::shared_ptr<freshness> fresh;  // wherever there are `folders`
  stillness still{bell};
  // Of the thread alone.
  attached watched;
  watch::settling<watch::place_in_tree, watch::place_hash> settling;
  clock::time_point next_look = clock::time_point::max();
  clock::time_point next_follow = clock::now();

  void say(const std::string& line) {
    const std::lock_guard lock(log_mutex);
    if (configured.log && !is_silent) configured.log(line);
  }
  void ring() const noexcept { (void)::eventfd_write(bell, 1); }  // full: it rings already
  [[nodiscard]] std::optional<std::size_t> number_of(const root& of) const {
    const auto found = std::find_if(roots.begin(), roots.end(), [&of](const auto& one) { return one.get() == &of; });
    if (found == roots.end()) return std::nullopt;
    return static_cast<std::size_t>(found - roots.begin());
  }

  /// How asking the kernel to watch a folder went.
  struct outcome {
    enum class kind { watched, gone, remote, refused } what = kind::watched;
    int error = 0;  ///< An errno, where it was refused.
  };
  bool start(std::unique_lock<std::mutex>& lock);
  bool hears_of(std::size_t which);
  outcome add(std::size_t which, const std::string& path);
  void follow(std::size_t which);
  void follow_all();
  void look_from_now_on(std::size_t which, const std::string& why);
  void say_polled(std::size_t which, const std::string& why);
  void run();
  void turn();
  bool hear_some();
  bool take_some(std::vector<happening>& happened, bool& is_lost);
  void run_errands();
  void hear(happening what);
  void hear_changed(std::size_t tree, const std::string& path, bool below, bool may_be_names);
  void look_at(const std::vector<std::string>& uris, const root* around = nullptr, const std::string& path = {});
  void look_everywhere();
  void look_at_polled();
  void tell_content(const std::string& uri);
  [[nodiscard]] clock::time_point next_turn() const;
};

/// Under the lock, which it releases for a while. False when there is no thread.
bool watching::state::start(std::unique_lock<std::mutex>& lock) {
  if (is_started || !configured.watches) return is_running;
  is_started = true;
  std::vector<std::pair<std::size_t, std::string>> to_say;
  auto queue = watch::inotify::open();
  for (std::size_t i = 0; i < roots.size(); ++i) {
    struct stat facts{};
    if (::fstat(roots[i]->below()->descriptor(), &facts) == 0) device[i] = facts.st_dev;
    if (!queue) {
      to_say.emplace_back(i, queue.error().public_text);
    } else if (disk::is_on_network(roots[i]->below()->descriptor())) {
      to_say.emplace_back(i, "it is on a network file system, whose changes by others the kernel does not hear of");
    }
  }
  for (const auto& one : to_say) polled[one.first] = true;
  if (queue) {
    folders = std::make_shared<watch::folders>(std::move(*queue), configured.max_watched);
    fresh = std::make_shared<freshness>(folders);
  }
  try {
    std::thread([self = shared_from_this()] { self->run(); }).detach();
    is_running = true;
    if (folders && to_say.empty()) still.begin(*folders);
  } catch (const std::system_error&) {
    is_started = false;  // the next one tries again
    return false;
  }
  lock.unlock();
  for (const auto& [which, why] : to_say) say_polled(which, why);
  lock.lock();
  return true;
}

void watching::state::look_from_now_on(std::size_t which, const std::string& why) {
  {
    const std::lock_guard lock(mutex);
    if (polled[which]) return;
    polled[which] = true;
    still.end();
  }
  if (folders) folders->forget(which);
  say_polled(which, why);
  ring();
}

void watching::state::follow(std::size_t which) {
  const auto& of = roots[which];
  const auto what = of->look_again();
  if (what == top::news::none) return;
  say("the folder " + of->path() +
      (what == top::news::back ? " is there again, or another in its place"
       : what == top::news::gone
           ? " is gone; what is made in its place will be served"
           : " has another in its place, which this process may not open: a sandbox holds the one that was "
             "there at the start; restart the server, or let it read the folder around (docs/sandbox.md)"));
  std::shared_ptr<watch::folders> heard;
  {
    const std::lock_guard lock(mutex);
    heard = folders;
    if (attached_count != 0) errands.push_back({errand::kind::look_below, {}, of, {}, 0});
  }
  // The walk covers what it finds.
  if (heard) heard->forget(which);
  if (to.lost) to.lost();
  ring();
}

void watching::state::follow_all() {
  const auto now = clock::now();
  for (std::size_t i = 0; i < roots.size(); ++i) follow(i);
  still.looked(now);
}

void watching::state::say_polled(std::size_t which, const std::string& why) {
  say("changes of " + roots[which]->path() + " are looked for every " + std::to_string(configured.refresh_after.count()) +
      " ms: " + why);
}

void watching::state::run() {
  for (;;) {
    try {
      turn();
    } catch (const std::exception& error) {
      // What was taken from the queue and not passed on is lost; anything may have changed.
      if (fresh) freshness::hearing(*fresh).count_all();
      for (std::size_t i = 0; folders && i < roots.size(); ++i) folders->forget(i);
      if (to.lost) to.lost();
      still.end_hearing();
      say(std::string("watching files went on after: ") + error.what());
    }
    const std::lock_guard lock(mutex);
    if (!is_ending) continue;
    is_running = false;
    still.end();
    left.notify_all();
    return;
  }
}

clock::time_point watching::state::next_turn() const {
  auto when = std::min({clock::now() + longest_sleep, next_look, next_follow});
  if (const auto due = settling.next()) when = std::min(when, *due);
  return when;
}

/// Waits for something to happen, and works on what has.
void watching::state::turn() {
  std::array<pollfd, 2> sources{pollfd{bell, POLLIN, 0}, pollfd{folders ? folders->descriptor() : -1, POLLIN, 0}};
  const auto left_of = std::chrono::ceil<std::chrono::milliseconds>(next_turn() - clock::now()).count();
  (void)::poll(sources.data(), sources.size(), static_cast<int>(std::max<std::int64_t>(left_of, 0)));
  std::uint64_t rung = 0;
  (void)::eventfd_read(bell, &rung);
  constexpr int reads_a_turn = 16;
  for (int reads = 1; hear_some() && reads < reads_a_turn; ++reads) {
  }
  still.begin_hearing();
  for (const auto& [tree, path] : settling.due(clock::now())) hear_changed(tree, path, false, false);
  still.end_hearing();
  if (still.takes_look() || clock::now() >= next_follow) {
    follow_all();
    next_follow = clock::now() + std::max(configured.refresh_after, shortest_sleep);
  }
  if (clock::now() >= next_look) look_at_polled();
  const std::lock_guard lock(mutex);
  if (std::find(polled.begin(), polled.end(), true) == polled.end()) {
    next_look = clock::time_point::max();
  } else if (next_look == clock::time_point::max()) {
    next_look = clock::now() + configured.refresh_after;
  }
}

/// Takes some of what has happened, and counts it at once: what is vouched for must not wait for the rest of the work.
bool watching::state::take_some(std::vector<happening>& happened, bool& is_lost) {
  freshness::hearing counted(*fresh);
  const bool any =
      folders->read([&happened](happening what) { happened.push_back(std::move(what)); }, [&is_lost] { is_lost = true; });
  for (const auto& one : happened) counted.count(one.tree, one.path);
  if (is_lost) counted.count_all();
  return any;
}

/// Works on some of what has happened. False when that was nothing.
bool watching::state::hear_some() {
  still.begin_hearing();
  std::vector<happening> happened;
  bool is_lost = false;
  const bool any = folders && take_some(happened, is_lost);
  // Only then: who began or ceased to watch a file before something happened to it is known when that is told.
  run_errands();
  for (auto& one : happened) hear(std::move(one));
  if (is_lost) look_everywhere();
  still.end_hearing();
  return any;
}

void watching::state::run_errands() {
  errand_list all;
  {
    const std::lock_guard lock(mutex);
    all.swap(errands);
    begun.clear();
  }
  for (auto& one : all) {
    switch (one.what) {
      case errand::kind::attach:
        if (watched.add(one.uri, std::move(one.of), one.path, one.since)) tell_content(one.uri);
        break;
      case errand::kind::detach:
        watched.remove(one.uri);
        break;
      case errand::kind::look_below:
        look_at(watched.at(*one.of, one.path, true));
        break;
    }
  }
  if (all.empty()) return;
  const std::lock_guard lock(mutex);
  attached_count = watched.size() + begun.size();
}

void watching::state::hear(happening what) {
  using kind = happening::kind;
  const auto slash = what.path.rfind('/');
  const auto name = std::string_view(what.path).substr(slash == std::string::npos ? 0 : slash + 1);
  if (std::find(rule_files.begin(), rule_files.end(), name) != rule_files.end() && what.what != kind::modified) {
    hear_changed(what.tree, folder_of(what.path), true, true);
  }
  switch (what.what) {
    case kind::closed:
      settling.settle({what.tree, what.path});
      return hear_changed(what.tree, what.path, false, false);
    case kind::modified:
      // Of a folder it is its mode, which decides what of it can be seen.
      if (what.is_folder) return hear_changed(what.tree, what.path, true, true);
      if (to.stirred) to.stirred();
      return settling.touch({what.tree, what.path}, clock::now());
    case kind::appeared:
      to.changed(roots[what.tree], what.path, true);
      return settling.touch({what.tree, what.path}, clock::now());
    case kind::moved_in:
      settling.settle({what.tree, what.path});
      return hear_changed(what.tree, what.path, what.is_folder, true);
    case kind::gone:
      settling.settle({what.tree, what.path});
      if (what.is_folder && folders) folders->forget(what.tree, what.path);
      return hear_changed(what.tree, what.path, what.is_folder, true);
    case kind::tree_gone:
      follow(what.tree);
      // What has come back meanwhile is watched no more either: the next walk covers what is there.
      if (folders) folders->forget(what.tree);
      if (to.lost) to.lost();
      return hear_changed(what.tree, {}, true, true);
  }
}

void watching::state::hear_changed(std::size_t tree, const std::string& path, bool below, bool may_be_names) {
  look_at(watched.at(*roots[tree], path, below), roots[tree].get(), path);
  to.changed(roots[tree], path, may_be_names);
}

/// Tells those that are not what they were. A folder around what has changed is another reading, whatever its own stamp says.
void watching::state::look_at(const std::vector<std::string>& uris, const root* around, const std::string& path) {
  for (const auto& uri : uris) {
    const bool shows_it = around != nullptr && watched.shows(uri, *around, path);
    if (watched.has_changed(uri) || shows_it) tell_content(uri);
  }
}

void watching::state::look_everywhere() {
  for (const auto& one : roots) look_at(watched.of(*one));
  if (to.lost) to.lost();
}

void watching::state::look_at_polled() {
  std::vector<bool> which;
  {
    const std::lock_guard lock(mutex);
    which = polled;
  }
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (which[i]) look_at(watched.of(*roots[i]));
  }
  if (to.lost) to.lost();
  next_look = clock::now() + configured.refresh_after;
}

void watching::state::tell_content(const std::string& uri) {
  std::shared_ptr<change_listener> who;
  {
    const std::lock_guard lock(mutex);
    who = listener;
  }
  if (who) who->content_changed(uri, to.title_of ? to.title_of(uri) : std::string());
}

watching::watching(root_list roots, const options& all, ears to)
    : state_(std::make_shared<state>(std::move(roots), all, std::move(to))) {}

watching::~watching() {
  std::unique_lock lock(state_->mutex);
  state_->is_ending = true;
  state_->still.end();
  state_->listener = nullptr;
  state_->ring();
  const bool has_left = state_->left.wait_for(lock, farewell, [this] { return !state_->is_running; });
  lock.unlock();
  if (has_left) return;
  const std::lock_guard silencing(state_->log_mutex);
  state_->is_silent = true;
}

void watching::tell(std::shared_ptr<change_listener> to) {
  const std::lock_guard lock(state_->mutex);
  state_->listener = std::move(to);
}

void watching::attach(const std::string& uri, std::shared_ptr<const root> of, std::string path) {
  const auto since = disk::wall_clock();
  std::unique_lock lock(state_->mutex);
  state_->errands.push_back({errand::kind::attach, uri, std::move(of), std::move(path), since});
  state_->begun.insert_or_assign(uri, std::prev(state_->errands.end()));
  ++state_->attached_count;
  (void)state_->start(lock);  // without a thread the errand waits for the next one that needs it
  state_->ring();
}

void watching::detach(const std::string& uri) {
  const std::lock_guard lock(state_->mutex);
  if (const auto place = state_->begun.find(uri); place != state_->begun.end()) {
    state_->errands.erase(place->second);
    state_->begun.erase(place);
    --state_->attached_count;
    return;
  }
  state_->errands.push_back({errand::kind::detach, uri, nullptr, {}, 0});
  state_->ring();
}

/// Whether the kernel is asked to watch this root. From then on there are `folders`.
bool watching::state::hears_of(std::size_t which) {
  std::unique_lock lock(mutex);
  return start(lock) && !polled[which] && !is_ending;
}

/// Has the kernel watch one folder.
watching::state::outcome watching::state::add(std::size_t which, const std::string& path) {
  const auto& of = *roots[which];
  const auto found = of.below()->locate(path);
  // It has just gone, which is heard too.
  if (!found || found->path != path || !S_ISDIR(found->facts.st_mode)) return {outcome::kind::gone, 0};
  if (found->facts.st_dev != device[which] && disk::is_on_network(found->at.get())) return {outcome::kind::remote, 0};
  if (const int error = folders->add(which, path, found->at.get()); error != 0) return {outcome::kind::refused, error};
  // Another may have come in its place before it was watched: that is heard, but of a folder that is not watched yet.
  const auto again = of.below()->locate(path);
  if (!again || again->facts.st_dev != found->facts.st_dev || again->facts.st_ino != found->facts.st_ino) {
    folders->forget(which, path);
    return {outcome::kind::gone, 0};
  }
  const std::lock_guard lock(mutex);
  if (attached_count == 0) return {outcome::kind::watched, 0};
  // What was made in it before it was watched has made no sound.
  errands.push_back({errand::kind::look_below, {}, roots[which], path, 0});
  ring();
  return {outcome::kind::watched, 0};
}

void watching::cover(const root& of, const std::string& path) {
  auto& s = *state_;
  const auto which = s.number_of(of);
  if (!which || !s.hears_of(*which)) return;
  const auto how = s.add(*which, path);
  const auto where = [&] { return of.path() + "/" + path; };
  if (how.what == state::outcome::kind::remote) {
    s.look_from_now_on(*which, where() + " is on a network file system");
  } else if (how.error == ENOSPC) {
    s.look_from_now_on(*which, "this user watches as many folders as he may (" + std::to_string(s.folders->size()) +
                                   " of ours); raise fs.inotify.max_user_watches");
  } else if (how.error != 0) {
    s.look_from_now_on(*which, where() + " cannot be watched: " + std::strerror(how.error));
  }
}

std::shared_ptr<const validity> watching::vouch(const root& of, const std::string& path) const {
  const auto which = state_->number_of(of);
  std::shared_ptr<const freshness> by;
  {
    const std::lock_guard lock(state_->mutex);
    if (!which || !state_->is_running || state_->is_ending || state_->polled[*which]) return nullptr;
    by = state_->fresh;
  }
  return by ? by->vouch(*which, path) : nullptr;
}

/// Whoever only reads does not have everything walked and watched: it is these folders that matter. Those that cannot be
/// watched are nobody's loss, since each read then looks by itself.
void watching::watch_way_to(const root& of, const std::string& path) {
  auto& s = *state_;
  const auto which = s.number_of(of);
  if (!which || !freshness::can_vouch(path) || !s.hears_of(*which)) return;
  for (std::size_t end = 0; end != std::string::npos; end = path.find('/', end + 1)) {
    const auto folder = path.substr(0, end);
    if (!s.folders->reaches(*which, folder) && s.add(*which, folder).what != state::outcome::kind::watched) return;
  }
}

void watching::follow(const root& of) {
  if (const auto which = state_->number_of(of)) state_->follow(*which);
}

void watching::follow() { state_->follow_all(); }

std::shared_ptr<const stillness> watching::still() const { return {state_, &state_->still}; }

void watching::names_changed() {
  std::shared_ptr<change_listener> who;
  {
    const std::lock_guard lock(state_->mutex);
    who = state_->listener;
  }
  if (who) who->list_changed();
}

bool watching::is_complete() const {
  const std::lock_guard lock(state_->mutex);
  return state_->is_running && std::find(state_->polled.begin(), state_->polled.end(), true) == state_->polled.end() &&
         std::none_of(state_->roots.begin(), state_->roots.end(), [](const auto& one) { return one->is_gone(); });
}

}  // namespace hondana::files
