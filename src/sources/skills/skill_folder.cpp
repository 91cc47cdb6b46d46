/// Folders of skills on disk: scanning and opening their files, and the latest collection made from them.
#include "sources/skills/skill_folder.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <set>
#include <system_error>
#include <utility>

#include <hondana/clock.hpp>

#include "base/bytes/sha256.hpp"
#include "os/disk/confined_dir.hpp"
#include "os/disk/dir_walk.hpp"
#include "os/disk/file_descriptor.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/skills/skill_paths.hpp"
#include "text/front_matter/front_matter.hpp"
#include "text/secrets/masking_reader.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::skills {
namespace {

constexpr std::size_t max_depth = 32;
constexpr std::size_t max_files = 100'000;

std::string error_message(int error) { return std::error_code(error, std::generic_category()).message(); }

tl::unexpected<failure> to_failure(const disk::lookup_error& error, std::string_view path) {
  const auto detail = std::string(path) + ": " + error_message(error.error);
  if (disk::is_absence(error.kind)) return fail(errc::resource_not_found, "The file does not exist.", detail);
  if (error.kind == disk::lookup_error_kind::forbidden)
    return fail(errc::access_denied, "The operating system does not allow this server to read the file.",
                error_message(error.error));
  return fail(errc::source_unavailable, "The disk or network behind the skills fails. Retry later.", detail);
}

/// Collects the files of a folder.
class file_collector final : public disk::dir_visitor {
 public:
  file_collector(const request_context& request, const std::function<void(const std::string&, int)>& on_enter_folder,
                 const disk::own_files& own_files)
      : request_(request), on_enter_folder_(on_enter_folder), own_files_(own_files) {}

  void enter_folder(const std::string& path, int descriptor) override {
    if (on_enter_folder_) on_enter_folder_(path, descriptor);
  }
  void leave_folder(int descriptor) override {
    struct stat attributes{};
    if (::fstat(descriptor, &attributes) == 0)
      result_.latest_ctime = std::max(result_.latest_ctime, disk::stamp_of(attributes).changed);
  }
  disk::walk_action select(const dirent& entry) override {
    interruption_ = check_cancellation(request_);
    if (!interruption_) return disk::walk_action::stop;
    return entry.d_name[0] == '.' ? disk::walk_action::skip : disk::walk_action::descend;
  }
  disk::walk_action visit(const disk::walk_entry& entry) override {
    const auto mode = entry.attributes.st_mode;
    if (S_ISDIR(mode)) {
      if (entry.depth < max_depth) return disk::walk_action::descend;
      return omit(entry.path, "it is nested deeper than " + std::to_string(max_depth) + " folders");
    }
    if (result_.files.size() + result_.omitted.size() >= max_files) {
      omit(entry.path, "this file and those after it are beyond the first " + std::to_string(max_files) + " files");
      return disk::walk_action::stop;
    }
    if (S_ISLNK(mode)) return omit(entry.path, "symbolic links are not followed");
    if (!S_ISREG(mode)) return omit(entry.path, "it is neither a file nor a folder");
    if (own_files_.has_name(entry.path) || own_files_.is_hard_link(entry.attributes))
      return omit(entry.path, std::string(disk::own_files::reason));
    result_.files.push_back({entry.path, disk::stamp_of(entry.attributes)});
    return disk::walk_action::skip;
  }
  void on_denied(const std::string& path, std::string reason) override { omit(path, std::move(reason)); }

  /// Errors: cancelled and timed_out, if that ended the walk.
  [[nodiscard]] result<walk_result> extract() && {
    return std::move(interruption_).map([this] { return std::move(result_); });
  }

 private:
  disk::walk_action omit(const std::string& path, std::string reason) {
    result_.omitted.push_back({path, std::move(reason), false});
    return disk::walk_action::skip;
  }

  const request_context& request_;
  const std::function<void(const std::string&, int)>& on_enter_folder_;
  const disk::own_files& own_files_;
  walk_result result_;
  result<void> interruption_;
};

}  // namespace

result<folder> folder::open(const std::string& path, std::vector<std::string> own_files) {
  auto dir = disk::served_dir::open(path, std::move(own_files));
  if (dir) return folder(std::move(*dir));
  return fail(errc::source_unavailable, "The folder of skills \"" + path + "\" cannot be opened: " +
                                            error_message(dir.error()) + ". Check its path and permissions.");
}

result<std::shared_ptr<const disk::served_dir::opened>> folder::current() const {
  return dir_.current().map_error([this](int error) {
    return failure{errc::source_unavailable, "A folder of skills is gone. Retry when it exists again.",
                   path() + ": " + error_message(error)};
  });
}

result<walk_result> folder::walk(const request_context& request,
                                 const std::function<void(const std::string&, int)>& on_enter_folder) const {
  HONDANA_TRY(const auto opened, current());
  file_collector collector(request, on_enter_folder, opened->own);
  const auto walked = disk::walk(opened->dir.open_folder(), collector);
  if (walked) return std::move(collector).extract();
  // An error of a single folder is a failure of the source.
  return fail(
      errc::source_unavailable, "A folder of skills cannot be read. Retry later.",
      path() + (walked.error().path.empty() ? "" : "/") + walked.error().path + ": " + error_message(walked.error().error));
}

result<opened_file> folder::open_file(std::string_view path) const {
  HONDANA_TRY(const auto opened, current());
  auto file = opened->open_file(path);
  if (!file) return to_failure(file.error(), path);
  return opened_file{std::move(file->file), disk::stamp_of(file->attributes)};
}

bool folder::may_contain(std::string_view path) const {
  const auto opened = current();
  return !opened || (!(*opened)->own.has_name(path) && (*opened)->dir.may_exist(path));
}

tl::unexpected<failure> read_failure(int error) { return to_failure(disk::to_lookup_error(error), "reading"); }

result<std::size_t> read_at(int file, std::span<char> buffer, std::uint64_t offset) {
  const auto count = disk::read_at(file, buffer.data(), buffer.size(), offset);
  if (!count) return read_failure(count.error());
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
