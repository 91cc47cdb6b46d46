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

constexpr std::size_t max_depth = 32;
constexpr std::size_t max_files = 100'000;
constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
// O_NONBLOCK, so that opening does not wait for a writer if the name has become a FIFO.
constexpr int file_flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

std::string error_message(int error) { return std::error_code(error, std::generic_category()).message(); }

tl::unexpected<failure> to_failure(int error, std::string_view path) {
  const auto detail = std::string(path) + ": " + error_message(error);
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
      return fail(errc::resource_not_found, "The file does not exist.", detail);
    case EACCES:
    case EPERM:
      return fail(errc::access_denied, "The operating system does not allow this server to read the file.",
                  error_message(error));
    default:
      return fail(errc::source_unavailable, "The disk or network behind the skills fails. Retry later.", detail);
  }
}

/// Opens a folder with O_PATH, which works even if the sandbox forbids reading. Such a source can still be created and asked
/// for its `requirements`.
disk::handle open_root(const std::string& path) {
  disk::handle root(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (root.is_open() && ::faccessat(root.get(), ".", R_OK | X_OK, AT_EACCESS) != 0) return {};
  return root;
}

/// A walk in progress.
class walker {
 public:
  walker(const request_context& request, const std::function<void(const std::string&, int)>& on_enter_folder,
         const disk::own_files& own_files)
      : request_(request), on_enter_folder_(on_enter_folder), own_files_(own_files) {}

  /// Walks a folder, whose handle it takes over. `prefix` is the folder's path with a trailing slash; empty for the root.
  result<void> enter(disk::handle folder, const std::string& prefix, std::size_t depth) {
    const auto names = disk::open_folder_stream(std::move(folder));
    if (!names) return to_failure(errno, prefix);
    const int directory = ::dirfd(names.get());
    if (on_enter_folder_) on_enter_folder_(prefix.substr(0, prefix.size() - (prefix.empty() ? 0 : 1)), directory);
    for (;;) {
      HONDANA_TRY(check_cancellation(request_));
      errno = 0;
      const auto* entry = ::readdir(names.get());
      if (entry == nullptr && errno != 0) return to_failure(errno, prefix);
      if (entry == nullptr || is_full_) {
        struct stat attributes{};
        if (::fstat(directory, &attributes) == 0)
          result_.latest_ctime = std::max(result_.latest_ctime, disk::stamp_of(attributes).changed);
        return {};
      }
      if (entry->d_name[0] == '.') continue;
      HONDANA_TRY(inspect(directory, prefix, entry->d_name, depth));
    }
  }

  [[nodiscard]] walk_result extract() && { return std::move(result_); }

 private:
  result<void> inspect(int directory, const std::string& prefix, const char* name, std::size_t depth) {
    auto path = prefix + name;
    struct stat attributes{};
    if (::fstatat(directory, name, &attributes, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return {};  // just deleted
      if (errno == EACCES || errno == EPERM) return omit(std::move(path), "it cannot be accessed: " + error_message(errno));
      return to_failure(errno, path);
    }
    if (!S_ISDIR(attributes.st_mode) && result_.files.size() + result_.omitted.size() >= max_files) {
      is_full_ = true;
      return omit(std::move(path), "this file and those after it are beyond the first " + std::to_string(max_files) + " files");
    }
    if (S_ISREG(attributes.st_mode)) {
      if (own_files_.has_name(path) || own_files_.is_hard_link(attributes))
        return omit(std::move(path), std::string(disk::own_files::reason));
      result_.files.push_back({std::move(path), disk::stamp_of(attributes)});
      return {};
    }
    if (S_ISLNK(attributes.st_mode)) return omit(std::move(path), "symbolic links are not followed");
    if (!S_ISDIR(attributes.st_mode)) return omit(std::move(path), "it is neither a file nor a folder");
    if (depth == max_depth) return omit(std::move(path), "it is nested deeper than " + std::to_string(max_depth) + " folders");
    disk::handle inner(::openat(directory, name, folder_flags));
    if (inner.is_open()) return enter(std::move(inner), path + '/', depth + 1);
    if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return {};  // just replaced
    if (errno == EACCES || errno == EPERM) return omit(std::move(path), "it cannot be opened: " + error_message(errno));
    return to_failure(errno, path);
  }

  result<void> omit(std::string path, std::string reason) {
    result_.omitted.push_back({std::move(path), std::move(reason), false});
    return {};
  }

  const request_context& request_;
  const std::function<void(const std::string&, int)>& on_enter_folder_;
  const disk::own_files& own_files_;
  walk_result result_;
  bool is_full_ = false;
};

}  // namespace

folder::folder(std::string path, std::vector<std::string> own_files, disk::handle root)
    : path_(std::move(path)), own_files_(std::move(own_files)), root_state_(std::make_unique<root_state>()) {
  root_state_->current = make_open_folder(std::move(root));
}

std::shared_ptr<const folder::open_folder> folder::make_open_folder(disk::handle root) const {
  std::error_code problem;
  const auto real = std::filesystem::canonical(path_, problem);
  return std::make_shared<const open_folder>(open_folder{std::move(root), {own_files_, problem ? path_ : real.string()}});
}

result<folder> folder::open(const std::string& path, std::vector<std::string> own_files) {
  auto root = open_root(path);
  if (root.is_open()) return folder(path, std::move(own_files), std::move(root));
  return fail(errc::source_unavailable, "The folder of skills \"" + path + "\" cannot be opened: " + error_message(errno) +
                                            ". Check its path and permissions.");
}

result<std::shared_ptr<const folder::open_folder>> folder::root() const {
  const std::lock_guard lock(root_state_->mutex);
  if (disk::is_in_place(root_state_->current->handle.get(), path_)) return root_state_->current;
  auto reopened = open_root(path_);
  if (!reopened.is_open()) {
    return fail(errc::source_unavailable, "A folder of skills is gone. Retry when it exists again.",
                path_ + ": " + error_message(errno));
  }
  root_state_->current = make_open_folder(std::move(reopened));
  return root_state_->current;
}

result<walk_result> folder::walk(const request_context& request,
                                 const std::function<void(const std::string&, int)>& on_enter_folder) const {
  HONDANA_TRY(const auto dir, root());
  // A separate descriptor, because the walk moves its read position.
  disk::handle top_handle(::openat(dir->handle.get(), ".", folder_flags));
  if (!top_handle.is_open()) {
    return fail(errc::source_unavailable, "A folder of skills cannot be read. Retry later.",
                path_ + ": " + error_message(errno));
  }
  walker tree_walker(request, on_enter_folder, dir->own_files);
  if (auto status = tree_walker.enter(std::move(top_handle), {}, 1); !status) {
    auto error = std::move(status.error());
    // An error of the top folder is a failure of the source, not of a single file.
    if (error.code == errc::resource_not_found || error.code == errc::access_denied) error.code = errc::source_unavailable;
    return tl::unexpected(std::move(error));
  }
  return std::move(tree_walker).extract();
}

result<disk::handle> folder::open_at(const open_folder& base, std::string_view path, int flags) const {
  if (base.own_files.has_name(path)) return to_failure(ENOENT, path);
  disk::handle above;
  int directory = base.handle.get();
  for (std::string_view remaining = path;;) {
    const auto slash = remaining.find('/');
    const std::string name(remaining.substr(0, slash));
    if (name.empty() || name == "." || name == "..") return to_failure(ENOENT, path);
    const bool is_last = slash == std::string_view::npos;
    disk::handle next(::openat(directory, name.c_str(), is_last ? flags : folder_flags));
    if (!next.is_open()) return to_failure(errno == ENXIO ? ENOENT : errno, path);
    above = std::move(next);
    directory = above.get();
    if (is_last) return above;
    remaining.remove_prefix(slash + 1);
  }
}

result<opened_file> folder::open_file(std::string_view path) const {
  HONDANA_TRY(const auto dir, root());
  HONDANA_TRY(auto file, open_at(*dir, path, file_flags));
  struct stat attributes{};
  if (::fstat(file.get(), &attributes) != 0) return to_failure(errno, path);
  if (!S_ISREG(attributes.st_mode) || dir->own_files.is_hard_link(attributes)) return to_failure(ENOENT, path);
  return opened_file{std::move(file), disk::stamp_of(attributes)};
}

bool folder::may_contain(std::string_view path) const {
  const auto dir = root();
  if (!dir) return dir.error().code != errc::resource_not_found;
  const auto opened = open_at(**dir, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  return opened || opened.error().code != errc::resource_not_found;
}

result<std::size_t> read_at(int file, std::span<char> buffer, std::uint64_t offset) {
  const auto count = disk::read_at(file, buffer.data(), buffer.size(), offset);
  if (!count) return to_failure(count.error(), "reading");
  return *count;
}

namespace {

using clock = monotonic_clock;

std::string_view first_name(std::string_view path) noexcept { return path.substr(0, path.find('/')); }

std::chrono::sys_time<std::chrono::milliseconds> modification_time(const disk::stamp& stamp) {
  return std::chrono::sys_time<std::chrono::milliseconds>(
      std::chrono::floor<std::chrono::milliseconds>(std::chrono::nanoseconds(stamp.modified)));
}

}  // namespace

collection_cache::collection_cache(std::string prefix, std::vector<folder> folders, std::function<void(std::string_view)> log,
                                   bool masks)
    : prefix_(std::move(prefix)),
      folders_(std::move(folders)),
      log_(std::move(log)),
      masks_(masks),
      is_unreachable_(folders_.size(), false) {}

void collection_cache::set_listener(std::shared_ptr<change_listener> listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

void collection_cache::watch_list() {
  const std::lock_guard lock(mutex_);
  if (!watched_since_) watched_since_ = disk::wall_clock();
}

std::shared_ptr<const collection> collection_cache::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

std::string collection_cache::with_prefix(std::string_view path) const {
  return prefix_.empty() ? std::string(path) : prefix_ + '/' + std::string(path);
}

void collection_cache::disable_log() {
  const std::lock_guard lock(log_mutex_);
  is_log_disabled_ = true;
}

void collection_cache::log_line(const std::string& line) {
  const std::lock_guard lock(log_mutex_);
  if (log_ && !is_log_disabled_) log_(line);
}

void collection_cache::report_folder(std::size_t index, const result<walk_result>& walked) {
  if (!walked && walked.error().code != errc::source_unavailable) return;  // the caller cancelled or timed out
  if (is_unreachable_[index] == !walked) return;
  is_unreachable_[index] = !walked;
  const auto subject = "the skills in " + folders_[index].path();
  log_line(walked ? subject + " can be read again" : subject + " cannot be read: " + walked.error().private_text);
}

result<collection_cache::snapshot> collection_cache::scan(const request_context& request) {
  snapshot current;
  std::set<std::string> mentioned;
  for (std::size_t index = 0; index < folders_.size(); ++index) {
    auto walked = folders_[index].walk(request, [this, index](const std::string& path, int descriptor) {
      if (on_enter_folder_) on_enter_folder_(index, path, descriptor);
    });
    report_folder(index, walked);
    if (!walked) return tl::unexpected(std::move(walked.error()));
    latest_ctime_ = std::max(latest_ctime_, walked->latest_ctime);
    const auto is_owner = [&](std::string_view path) {
      const std::string name(first_name(path));
      const auto owner = current.owners.emplace(name, index).first->second;
      if (owner != index && mentioned.insert(std::to_string(index) + '/' + name).second) {
        current.omitted.push_back(
            {with_prefix(name),
             "it is in " + folders_[index].path() + " and in " + folders_[owner].path() + ", which takes precedence", false});
      }
      return owner == index;
    };
    for (auto& file : walked->files) {
      if (is_owner(file.path)) current.files.emplace(with_prefix(file.path), file.stamp);
    }
    for (auto& other : walked->omitted) {
      if (is_owner(other.path)) current.omitted.push_back({with_prefix(other.path), std::move(other.reason), other.is_skill});
    }
  }
  return current;
}

bool collection_cache::has_racy() const {
  return std::any_of(records_.begin(), records_.end(), [](const auto& entry) { return entry.second.is_racy; });
}

result<std::shared_ptr<const collection>> collection_cache::refresh(const request_context& request) {
  const auto arrived = clock::now();
  std::unique_lock scan_lock(scan_mutex_, std::defer_lock);
  // More than a day would overflow the clock that the system waits by.
  const auto deadline = std::min(request.deadline, arrived + std::chrono::hours(24));
  if (!monotonic_clock::try_lock_until(scan_lock, deadline))
    return fail(errc::timed_out, "The skills are still being read. Retry later.");
  if (last_scan_start_ > arrived) {
    if (auto newest = latest()) return newest;  // another caller has scanned since
  }
  const auto start = clock::now();
  auto current = scan(request);
  if (!current) return tl::unexpected(std::move(current.error()));
  if (auto unchanged = latest(); unchanged && *current == last_scan_ && !has_racy()) {
    last_scan_start_ = start;
    const std::lock_guard lock(mutex_);
    checked_at_ = clock::now();
    return unchanged;
  }
  std::vector<candidate_file> files;
  files.reserve(current->files.size());
  for (const auto& [path, stamp] : current->files) files.push_back({path, stamp.size, modification_time(stamp)});
  // `summarize_file` stores the stamps of this scan with its results, so that the next scan finds them valid.
  last_scan_ = std::move(*current);
  {
    const std::lock_guard lock(mutex_);
    owners_ = last_scan_.owners;
    std::erase_if(records_, [this](const auto& entry) { return !last_scan_.files.contains(entry.first); });
  }
  auto updated = collection::build(
      prefix_, std::move(files), [this, &request](const candidate_file& file) { return summarize_file(file, request); },
      last_scan_.omitted);
  if (!updated) {
    last_scan_ = {};
    return updated;
  }
  log_omitted(**updated);
  last_scan_start_ = start;
  std::unique_lock lock(mutex_);
  const auto previous = std::exchange(latest_, *updated);
  checked_at_ = clock::now();
  const auto listener = listener_;
  // The first scan has nothing to compare with. If a folder changed after clients began to watch, the list may have changed.
  const bool may_have_missed = !previous && watched_since_ && is_racy(disk::stamp{.changed = latest_ctime_}, *watched_since_);
  lock.unlock();
  if (previous && listener) (*updated)->notify_changes_since(*previous, *listener);
  if (may_have_missed && listener) listener->list_changed();
  return updated;
}

result<std::shared_ptr<const file_summary>> collection_cache::summarize_file(const candidate_file& file,
                                                                             const request_context& request) {
  const auto known = records_.find(file.path);
  if (known != records_.end() && !known->second.is_racy && known->second.stamp == last_scan_.files.at(file.path)) {
    return known->second.summary;
  }
  HONDANA_TRY(auto opened, open_file(file.path));
  const auto start = disk::wall_clock();
  auto read = summarize(opened, file.path, request);
  if (!read) return tl::unexpected(std::move(read.error()));
  struct stat attributes{};
  const bool is_same = ::fstat(opened.file.get(), &attributes) == 0 && disk::stamp_of(attributes) == opened.stamp;
  auto summary = std::make_shared<const file_summary>(std::move(*read));
  // A file that changed during the read, or may change without a new stamp, is read again at the next refresh.
  const std::lock_guard lock(mutex_);
  records_.insert_or_assign(file.path, record{opened.stamp, summary, !is_same || is_racy(opened.stamp, start)});
  return std::shared_ptr<const file_summary>(std::move(summary));
}

void collection_cache::log_omitted(const collection& collection) {
  for (const auto& entry : collection.omitted()) {
    if (!entry.is_skill || std::find(logged_omitted_.begin(), logged_omitted_.end(), entry) != logged_omitted_.end()) continue;
    log_line("the skill " + entry.path + " is left out: " + entry.reason);
  }
  logged_omitted_ = collection.omitted();
}

result<opened_file> collection_cache::open_file(std::string_view path) const {
  if (!prefix_.empty()) path.remove_prefix(prefix_.size() + 1);
  std::unique_lock lock(mutex_);
  const auto owner = owners_.find(first_name(path));
  const auto index = owner == owners_.end() ? 0 : owner->second;
  lock.unlock();
  auto opened = folders_[index].open_file(path);
  if (opened) opened->masks = masks_;
  return opened;
}

bool collection_cache::may_contain(std::string_view path) const {
  if (!prefix_.empty()) {
    if (path == prefix_) return true;
    if (!is_below(path, prefix_)) return false;
    path.remove_prefix(prefix_.size() + 1);
  }
  if (path.empty()) return true;
  // A path cannot contain NUL, and hidden names are never served.
  if (path.find('\0') != std::string_view::npos || path.starts_with('.') || path.find("/.") != std::string_view::npos)
    return false;
  return std::any_of(folders_.begin(), folders_.end(), [path](const folder& folder) { return folder.may_contain(path); });
}

clock::time_point collection_cache::last_checked_at() const {
  const std::lock_guard lock(mutex_);
  return checked_at_;
}

std::string collection_cache::digest_of(const std::string& path, const disk::stamp& stamp) const {
  const std::lock_guard lock(mutex_);
  const auto known = records_.find(path);
  return known != records_.end() && !known->second.is_racy && known->second.stamp == stamp ? known->second.summary->digest : "";
}

namespace {

/// Reads a file to its current end, even if it grows meanwhile.
class growing_reader final : public byte_reader {
 public:
  explicit growing_reader(const opened_file& file) noexcept : file_(file) {}

  [[nodiscard]] std::uint64_t size() const noexcept override { return file_.stamp.size; }
  [[nodiscard]] result<std::size_t> read(std::span<char> buffer) override {
    auto count = read_at(file_.file.get(), buffer, offset_);
    if (count) offset_ += *count;
    return count;
  }
  [[nodiscard]] result<void> rewind() override {
    offset_ = 0;
    return {};
  }

 private:
  const opened_file& file_;
  std::uint64_t offset_ = 0;
};

}  // namespace

result<file_summary> summarize(const opened_file& file, std::string_view path, const request_context& request) {
  constexpr std::size_t window_bytes = 256 * 1024;
  const auto window = std::make_unique_for_overwrite<char[]>(window_bytes);
  const bool is_skill = last_name(path) == skill_file_name;
  std::shared_ptr<byte_reader> reader = std::make_shared<growing_reader>(file);
  if (file.masks) reader = std::make_shared<secrets::masking_reader>(std::move(reader), secrets::policy_of(path));
  bytes::sha256 digest;
  std::string front;
  file_summary summary;
  // Reads no more than the size limit of a skill, in case the file grows meanwhile.
  while (summary.size <= max_skill_bytes) {
    HONDANA_TRY(check_cancellation(request));
    HONDANA_TRY(const auto count, reader->read(std::span(window.get(), window_bytes)));
    const std::string_view piece(window.get(), count);
    digest.update(piece);
    summary.size += piece.size();
    if (is_skill && front.size() < front_matter::front_matter_prefix_bytes)
      front += piece.substr(0, front_matter::front_matter_prefix_bytes - front.size());
    if (piece.empty()) break;
  }
  summary.digest = digest.finish();
  if (is_skill) {
    summary.frontmatter = front_matter::parse_frontmatter(front).map_error([](failure error) { return error.public_text; });
  }
  return summary;
}

}  // namespace hondana::skills
