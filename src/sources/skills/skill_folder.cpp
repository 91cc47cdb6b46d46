/// Folders of skills on disk: scanning and opening their files, and the latest collection made from them.
#include "sources/skills/skill_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <hondana/clock.hpp>

#include "base/bytes/sha256.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/disk/opened_folder.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/skills/skill_paths.hpp"
#include "text/front_matter/front_matter.hpp"
#include "text/secrets/masking_reader.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::skills {
namespace {

constexpr std::size_t deepest = 32;
constexpr std::size_t most_files = 100'000;
constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
// O_NONBLOCK, so that opening does not wait for a writer if the name has become a FIFO.
constexpr int file_flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

std::string words_of(int error) { return std::error_code(error, std::generic_category()).message(); }

tl::unexpected<failure> refused(int error, std::string_view path) {
  const auto why = std::string(path) + ": " + words_of(error);
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
      return fail(errc::resource_not_found, "The file does not exist.", why);
    case EACCES:
    case EPERM:
      return fail(errc::access_denied, "The operating system does not allow this server to read the file.", words_of(error));
    default:
      return fail(errc::source_unavailable, "The disk or network behind the skills fails. Retry later.", why);
  }
}

/// Opens a folder with O_PATH, which works even if the sandbox forbids reading. Such a source can still be created and asked
/// for its `needs`.
disk::handle open_root(const std::string& path) {
  disk::handle at(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (at.is_open() && ::faccessat(at.get(), ".", R_OK | X_OK, AT_EACCESS) != 0) return {};
  return at;
}

/// A walk in progress.
class walker {
 public:
  walker(const call& by, const std::function<void(const std::string&, int)>& entering, const disk::own_files& own)
      : by_(by), entering_(entering), own_(own) {}

  /// Walks a folder, whose handle it takes over. `prefix` is the folder's path with a trailing slash; empty for the root.
  result<void> enter(disk::handle folder, const std::string& prefix, std::size_t depth) {
    const auto names = disk::stream_of(std::move(folder));
    if (!names) return refused(errno, prefix);
    const int at = ::dirfd(names.get());
    if (entering_) entering_(prefix.substr(0, prefix.size() - (prefix.empty() ? 0 : 1)), at);
    for (;;) {
      HONDANA_TRY(still_wanted(by_));
      errno = 0;
      const auto* one = ::readdir(names.get());
      if (one == nullptr && errno != 0) return refused(errno, prefix);
      if (one == nullptr || is_full_) {
        struct stat facts{};
        if (::fstat(at, &facts) == 0) found_.changed = std::max(found_.changed, disk::stamp_of(facts).changed);
        return {};
      }
      if (one->d_name[0] == '.') continue;
      HONDANA_TRY(look(at, prefix, one->d_name, depth));
    }
  }

  [[nodiscard]] walked take() && { return std::move(found_); }

 private:
  result<void> look(int at, const std::string& prefix, const char* name, std::size_t depth) {
    auto path = prefix + name;
    struct stat facts{};
    if (::fstatat(at, name, &facts, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return {};  // just deleted
      if (errno == EACCES || errno == EPERM) return leave_out(std::move(path), "it cannot be accessed: " + words_of(errno));
      return refused(errno, path);
    }
    if (!S_ISDIR(facts.st_mode) && found_.files.size() + found_.left_out.size() >= most_files) {
      is_full_ = true;
      return leave_out(std::move(path),
                       "this file and those after it are beyond the first " + std::to_string(most_files) + " files");
    }
    if (S_ISREG(facts.st_mode)) {
      if (own_.has_name(path) || own_.is_one(facts)) return leave_out(std::move(path), std::string(disk::own_files::reason));
      found_.files.push_back({std::move(path), disk::stamp_of(facts)});
      return {};
    }
    if (S_ISLNK(facts.st_mode)) return leave_out(std::move(path), "symbolic links are not followed");
    if (!S_ISDIR(facts.st_mode)) return leave_out(std::move(path), "it is neither a file nor a folder");
    if (depth == deepest) return leave_out(std::move(path), "it is nested deeper than " + std::to_string(deepest) + " folders");
    disk::handle inner(::openat(at, name, folder_flags));
    if (inner.is_open()) return enter(std::move(inner), path + '/', depth + 1);
    if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return {};  // just replaced
    if (errno == EACCES || errno == EPERM) return leave_out(std::move(path), "it cannot be opened: " + words_of(errno));
    return refused(errno, path);
  }

  result<void> leave_out(std::string path, std::string why) {
    found_.left_out.push_back({std::move(path), std::move(why), false});
    return {};
  }

  const call& by_;
  const std::function<void(const std::string&, int)>& entering_;
  const disk::own_files& own_;
  walked found_;
  bool is_full_ = false;
};

}  // namespace

folder::folder(std::string path, std::vector<std::string> kept_back, disk::handle root)
    : path_(std::move(path)), kept_back_(std::move(kept_back)), top_(std::make_unique<top>()) {
  top_->now = hold(std::move(root));
}

std::shared_ptr<const folder::place> folder::hold(disk::handle root) const {
  std::error_code problem;
  const auto real = std::filesystem::canonical(path_, problem);
  return std::make_shared<const place>(place{std::move(root), {kept_back_, problem ? path_ : real.string()}});
}

result<folder> folder::open(const std::string& path, std::vector<std::string> kept_back) {
  auto root = open_root(path);
  if (root.is_open()) return folder(path, std::move(kept_back), std::move(root));
  return fail(errc::source_unavailable, "The folder of skills \"" + path + "\" cannot be opened: " + words_of(errno) +
                                            ". Check its path and permissions.");
}

result<std::shared_ptr<const folder::place>> folder::root() const {
  const std::lock_guard lock(top_->mutex);
  if (disk::is_in_place(top_->now->at.get(), path_)) return top_->now;
  auto again = open_root(path_);
  if (!again.is_open()) {
    return fail(errc::source_unavailable, "A folder of skills is gone. Retry when it exists again.",
                path_ + ": " + words_of(errno));
  }
  top_->now = hold(std::move(again));
  return top_->now;
}

result<walked> folder::walk(const call& by, const std::function<void(const std::string&, int)>& entering) const {
  HONDANA_TRY(const auto held, root());
  // A separate descriptor, because the walk moves its read position.
  disk::handle again(::openat(held->at.get(), ".", folder_flags));
  if (!again.is_open()) {
    return fail(errc::source_unavailable, "A folder of skills cannot be read. Retry later.", path_ + ": " + words_of(errno));
  }
  walker one(by, entering, held->own);
  if (auto done = one.enter(std::move(again), {}, 1); !done) {
    auto why = std::move(done.error());
    // An error of the top folder is a failure of the source, not of a single file.
    if (why.code == errc::resource_not_found || why.code == errc::access_denied) why.code = errc::source_unavailable;
    return tl::unexpected(std::move(why));
  }
  return std::move(one).take();
}

result<disk::handle> folder::open_at(const place& in, std::string_view below, int flags) const {
  if (in.own.has_name(below)) return refused(ENOENT, below);
  disk::handle above;
  int at = in.at.get();
  for (std::string_view rest = below;;) {
    const auto slash = rest.find('/');
    const std::string name(rest.substr(0, slash));
    if (name.empty() || name == "." || name == "..") return refused(ENOENT, below);
    const bool is_last = slash == std::string_view::npos;
    disk::handle next(::openat(at, name.c_str(), is_last ? flags : folder_flags));
    if (!next.is_open()) return refused(errno == ENXIO ? ENOENT : errno, below);
    above = std::move(next);
    at = above.get();
    if (is_last) return above;
    rest.remove_prefix(slash + 1);
  }
}

result<opened_file> folder::open_file(std::string_view below) const {
  HONDANA_TRY(const auto held, root());
  HONDANA_TRY(auto file, open_at(*held, below, file_flags));
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0) return refused(errno, below);
  if (!S_ISREG(facts.st_mode) || held->own.is_one(facts)) return refused(ENOENT, below);
  return opened_file{std::move(file), disk::stamp_of(facts)};
}

bool folder::may_hold(std::string_view below) const {
  const auto held = root();
  if (!held) return held.error().code != errc::resource_not_found;
  const auto found = open_at(**held, below, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  return found || found.error().code != errc::resource_not_found;
}

result<std::size_t> read_at(int file, std::span<char> into, std::uint64_t offset) {
  const auto count = disk::read_at(file, into.data(), into.size(), offset);
  if (!count) return refused(count.error(), "reading");
  return *count;
}

namespace {

using clock = monotonic_clock;

std::string_view first_name(std::string_view path) noexcept { return path.substr(0, path.find('/')); }

std::chrono::sys_time<std::chrono::milliseconds> time_of(const disk::stamp& state) {
  return std::chrono::sys_time<std::chrono::milliseconds>(
      std::chrono::floor<std::chrono::milliseconds>(std::chrono::nanoseconds(state.modified)));
}

}  // namespace

shelf::shelf(std::string prefix, std::vector<folder> folders, std::function<void(std::string_view)> log, bool masks)
    : prefix_(std::move(prefix)),
      folders_(std::move(folders)),
      log_(std::move(log)),
      masks_(masks),
      is_out_of_reach_(folders_.size(), false) {}

void shelf::watch(std::shared_ptr<change_listener> to) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(to);
}

void shelf::attach_list() {
  const std::lock_guard lock(mutex_);
  if (!told_since_) told_since_ = disk::wall_clock();
}

std::shared_ptr<const collection> shelf::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

std::string shelf::with_prefix(std::string_view path) const {
  return prefix_.empty() ? std::string(path) : prefix_ + '/' + std::string(path);
}

void shelf::be_silent() {
  const std::lock_guard lock(log_mutex_);
  is_silent_ = true;
}

void shelf::say(const std::string& line) {
  const std::lock_guard lock(log_mutex_);
  if (log_ && !is_silent_) log_(line);
}

void shelf::tell_of(std::size_t place, const result<walked>& found) {
  if (!found && found.error().code != errc::source_unavailable) return;  // the caller cancelled or timed out
  if (is_out_of_reach_[place] == !found) return;
  is_out_of_reach_[place] = !found;
  const auto what = "the skills in " + folders_[place].path();
  say(found ? what + " can be read again" : what + " cannot be read: " + found.error().private_text);
}

result<shelf::snapshot> shelf::look(const call& by) {
  snapshot now;
  std::set<std::string> mentioned;
  for (std::size_t place = 0; place < folders_.size(); ++place) {
    auto found = folders_[place].walk(by, [this, place](const std::string& path, int descriptor) {
      if (entering_) entering_(place, path, descriptor);
    });
    tell_of(place, found);
    if (!found) return tl::unexpected(std::move(found.error()));
    folders_changed_ = std::max(folders_changed_, found->changed);
    const auto is_its_own = [&](std::string_view path) {
      const std::string name(first_name(path));
      const auto owner = now.owners.emplace(name, place).first->second;
      if (owner != place && mentioned.insert(std::to_string(place) + '/' + name).second) {
        now.left_out.push_back(
            {with_prefix(name),
             "it is in " + folders_[place].path() + " and in " + folders_[owner].path() + ", which takes precedence", false});
      }
      return owner == place;
    };
    for (auto& file : found->files) {
      if (is_its_own(file.path)) now.files.emplace(with_prefix(file.path), file.state);
    }
    for (auto& other : found->left_out) {
      if (is_its_own(other.path)) now.left_out.push_back({with_prefix(other.path), std::move(other.reason), other.is_skill});
    }
  }
  return now;
}

bool shelf::has_racy() const {
  return std::any_of(records_.begin(), records_.end(), [](const auto& one) { return one.second.is_racy; });
}

result<std::shared_ptr<const collection>> shelf::refreshed(const call& by) {
  const auto arrived = clock::now();
  std::unique_lock looking(looking_, std::defer_lock);
  // More than a day would overflow the clock that the system waits by.
  const auto until = std::min(by.deadline, arrived + std::chrono::hours(24));
  if (!monotonic_clock::try_lock_until(looking, until))
    return fail(errc::timed_out, "The skills are still being read. Retry later.");
  if (begun_ > arrived) {
    if (auto made = latest()) return made;  // another caller has scanned since
  }
  const auto begun = clock::now();
  auto now = look(by);
  if (!now) return tl::unexpected(std::move(now.error()));
  if (auto made = latest(); made && *now == seen_ && !has_racy()) {
    begun_ = begun;
    const std::lock_guard lock(mutex_);
    looked_at_ = clock::now();
    return made;
  }
  std::vector<found_file> files;
  files.reserve(now->files.size());
  for (const auto& [path, when] : now->files) files.push_back({path, when.size, time_of(when)});
  // `read_through` stores the stamps of this scan with its results, so that the next scan finds them valid.
  seen_ = std::move(*now);
  {
    const std::lock_guard lock(mutex_);
    owners_ = seen_.owners;
    std::erase_if(records_, [this](const auto& one) { return !seen_.files.contains(one.first); });
  }
  auto made = collection::arrange(
      prefix_, std::move(files), [this, &by](const found_file& file) { return read_through(file, by); }, seen_.left_out);
  if (!made) {
    seen_ = {};
    return made;
  }
  tell(**made);
  begun_ = begun;
  std::unique_lock lock(mutex_);
  const auto before = std::exchange(latest_, *made);
  looked_at_ = clock::now();
  const auto to = listener_;
  // The first scan has nothing to compare with. If a folder changed after clients began to watch, the list may have changed.
  const bool may_have_missed = !before && told_since_ && is_racy(disk::stamp{.changed = folders_changed_}, *told_since_);
  lock.unlock();
  if (before && to) (*made)->tell_changes_since(*before, *to);
  if (may_have_missed && to) to->list_changed();
  return made;
}

result<std::shared_ptr<const looked_at>> shelf::read_through(const found_file& file, const call& by) {
  const auto known = records_.find(file.path);
  if (known != records_.end() && !known->second.is_racy && known->second.state == seen_.files.at(file.path)) {
    return known->second.known;
  }
  HONDANA_TRY(auto opened, open_file(file.path));
  const auto begun = disk::wall_clock();
  auto read = look_at(opened, file.path, by);
  if (!read) return tl::unexpected(std::move(read.error()));
  struct stat after{};
  const bool is_same = ::fstat(opened.file.get(), &after) == 0 && disk::stamp_of(after) == opened.state;
  auto shared = std::make_shared<const looked_at>(std::move(*read));
  // A file that changed during the read, or may change without a new stamp, is read again at the next refresh.
  const std::lock_guard lock(mutex_);
  records_.insert_or_assign(file.path, record{opened.state, shared, !is_same || is_racy(opened.state, begun)});
  return std::shared_ptr<const looked_at>(std::move(shared));
}

void shelf::tell(const collection& made) {
  for (const auto& one : made.what_is_left_out()) {
    if (!one.is_skill || std::find(told_.begin(), told_.end(), one) != told_.end()) continue;
    say("the skill " + one.path + " is left out: " + one.reason);
  }
  told_ = made.what_is_left_out();
}

result<opened_file> shelf::open_file(std::string_view path) const {
  if (!prefix_.empty()) path.remove_prefix(prefix_.size() + 1);
  std::unique_lock lock(mutex_);
  const auto owner = owners_.find(first_name(path));
  const auto place = owner == owners_.end() ? 0 : owner->second;
  lock.unlock();
  auto opened = folders_[place].open_file(path);
  if (opened) opened->masks = masks_;
  return opened;
}

bool shelf::may_hold(std::string_view path) const {
  if (!prefix_.empty()) {
    if (path == prefix_) return true;
    if (!lies_in(path, prefix_)) return false;
    path.remove_prefix(prefix_.size() + 1);
  }
  if (path.empty()) return true;
  // A path cannot contain NUL, and hidden names are never served.
  if (path.find('\0') != std::string_view::npos || path.starts_with('.') || path.find("/.") != std::string_view::npos)
    return false;
  return std::any_of(folders_.begin(), folders_.end(), [path](const folder& one) { return one.may_hold(path); });
}

clock::time_point shelf::looked_at_last() const {
  const std::lock_guard lock(mutex_);
  return looked_at_;
}

std::string shelf::digest_of(const std::string& path, const disk::stamp& state) const {
  const std::lock_guard lock(mutex_);
  const auto known = records_.find(path);
  return known != records_.end() && !known->second.is_racy && known->second.state == state ? known->second.known->digest : "";
}

namespace {

/// Reads a file to its current end, even if it grows meanwhile.
class growing_reader final : public byte_reader {
 public:
  explicit growing_reader(const opened_file& file) noexcept : file_(file) {}

  [[nodiscard]] std::uint64_t size() const noexcept override { return file_.state.size; }
  [[nodiscard]] result<std::size_t> read(std::span<char> into) override {
    auto count = read_at(file_.file.get(), into, done_);
    if (count) done_ += *count;
    return count;
  }
  [[nodiscard]] result<void> rewind() override {
    done_ = 0;
    return {};
  }

 private:
  const opened_file& file_;
  std::uint64_t done_ = 0;
};

}  // namespace

result<looked_at> look_at(const opened_file& file, std::string_view path, const call& by) {
  constexpr std::size_t window_bytes = 256 * 1024;
  const auto window = std::make_unique_for_overwrite<char[]>(window_bytes);
  const bool is_skill = last_name(path) == skill_file_name;
  std::shared_ptr<byte_reader> from = std::make_shared<growing_reader>(file);
  if (file.masks) from = std::make_shared<secrets::masking_reader>(std::move(from), secrets::policy_of(path));
  bytes::sha256 digest;
  std::string front;
  looked_at found;
  // Reads no more than the size limit of a skill, in case the file grows meanwhile.
  while (found.size <= max_skill_bytes) {
    HONDANA_TRY(still_wanted(by));
    HONDANA_TRY(const auto count, from->read(std::span(window.get(), window_bytes)));
    const std::string_view piece(window.get(), count);
    digest.feed(piece);
    found.size += piece.size();
    if (is_skill && front.size() < front_matter::front_bytes)
      front += piece.substr(0, front_matter::front_bytes - front.size());
    if (piece.empty()) break;
  }
  found.digest = digest.finish();
  if (is_skill) {
    found.frontmatter = front_matter::parse_frontmatter(front).map_error([](failure why) { return why.public_text; });
  }
  return found;
}

}  // namespace hondana::skills
