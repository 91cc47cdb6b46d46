/// The files of one audit log: opening, repair after a crash, rotation.
#include "server/audit/log_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "os/disk/file_descriptor.hpp"
#include "os/disk/private_file.hpp"

namespace hondana::audit {
namespace {

constexpr unsigned most_older_files = 100'000;

tl::unexpected<failure> cannot(const std::string& doing, const std::string& path, int error) {
  return fail(errc::source_unavailable, "audit log: cannot " + doing + ' ' + path + ": " + std::strerror(error));
}

tl::unexpected<failure> refuse(const std::string& path, const std::string& why) {
  return fail(errc::invalid_argument, "audit log: " + path + ' ' + why);
}

std::string folder_of(const std::string& path) { return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1)); }

/// A file name is durable once its folder is synced.
result<void> sync_folder(const std::string& path) {
  const disk::handle folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open() || (::fsync(folder.get()) != 0 && errno != EINVAL)) return cannot("sync the folder of", path, errno);
  return {};
}

result<std::string> read_range(int file, std::uint64_t from, std::uint64_t to, const std::string& path) {
  std::string out(static_cast<std::size_t>(to - from), '\0');
  std::size_t have = 0;
  while (have < out.size()) {
    const auto count = ::pread(file, out.data() + have, out.size() - have, static_cast<off_t>(from + have));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot("read", path, errno);
    if (count == 0) return refuse(path, "shrank while it was read; another process writes to it");
    have += static_cast<std::size_t>(count);
  }
  return out;
}

/// Finds the last whole record. Errors: none near the end of the file.
result<sound_end> find_sound_end(int file, std::uint64_t size, const std::string& path) {
  // A record, and what a crash may have left after it.
  const auto from = size > 2 * longest_record ? size - 2 * longest_record : 0;
  const auto tail = read_range(file, from, size, path);
  if (!tail) return tl::unexpected(tail.error());
  for (auto end = tail->rfind('\n'); end != std::string::npos;) {
    const auto before = end == 0 ? std::string::npos : tail->rfind('\n', end - 1);
    const auto begin = before == std::string::npos ? 0 : before + 1;
    if (const auto read = read_record(std::string_view(*tail).substr(begin, end - begin), nullptr)) {
      return sound_end{from + end + 1, *read};
    }
    end = before;
  }
  // Only a part of the first record reached the disk, or only zeros.
  constexpr std::string_view first_words = "{\"number\":";
  const bool is_begun = first_words.starts_with(std::string_view(*tail).substr(0, first_words.size()));
  const bool is_empty = tail->find_first_not_of('\0') == std::string::npos;
  if (from == 0 && (is_empty || (is_begun && tail->find('\n') == std::string::npos))) return sound_end{};
  return refuse(path,
                "is not an audit log, or it is damaged and ends without a whole record. Move it away to start a new one.");
}

/// The last record of an older file.
result<chain> end_of(const std::string& path) {
  const disk::handle file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) {
    if (errno == ENOENT) return chain{};
    return cannot("open", path, errno);
  }
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0) return cannot("look at", path, errno);
  if (!S_ISREG(facts.st_mode)) return refuse(path, "is not a file.");
  if (facts.st_size == 0) return chain{};
  auto found = find_sound_end(file.get(), static_cast<std::uint64_t>(facts.st_size), path);
  if (!found) return tl::unexpected(std::move(found.error()));
  return found->at;
}

}  // namespace

log_file::log_file(const audit_file_options& with, disk::handle lock)
    : path_(with.path), keep_(with.keep), lock_(std::move(lock)) {}

result<log_file> log_file::open(const audit_file_options& with) {
  if (!with.path.starts_with('/') || with.path.ends_with('/')) return refuse('"' + with.path + '"', "is not an absolute path.");
  if (auto made = disk::make_private_folder(folder_of(with.path)); !made) {
    made.error().public_text.insert(0, "audit log: ");
    return tl::unexpected(std::move(made.error()));
  }
  const auto beside = with.path + ".lock";
  disk::handle lock(::open(beside.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.is_open()) return cannot("open", beside, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return cannot("lock", beside, errno);
    return refuse(with.path, "is in use by another process; each server needs its own log.");
  }
  log_file made(with, std::move(lock));
  HONDANA_TRY(made.open_first());
  return made;
}

/// Opens a file that no other user can write, or creates it.
result<disk::handle> log_file::open_own(const std::string& path, std::uint64_t& size) {
  disk::handle file(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600));
  if (!file.is_open()) {
    if (errno == ELOOP) return refuse(path, "is a symbolic link, which is not followed. Give the path of the file itself.");
    return cannot("open", path, errno);
  }
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0) return cannot("look at", path, errno);
  if (!S_ISREG(facts.st_mode) || facts.st_nlink != 1)
    return refuse(path, "is not a plain file. It must not be a device or have other hard links.");
  if (facts.st_uid != ::geteuid() || (facts.st_mode & 0022) != 0) {
    return refuse(path, "can be written by other users. Fix it with chown and chmod 600.");
  }
  size = static_cast<std::uint64_t>(facts.st_size);
  return file;
}

/// As `open_own`, for a new file.
result<disk::handle> log_file::open_empty(const std::string& path) {
  std::uint64_t size = 0;
  auto file = open_own(path, size);
  if (file && size != 0) return refuse(path, "was created by another program and is not empty; it is left unchanged.");
  return file;
}

result<void> log_file::open_first() {
  std::uint64_t size = 0;
  auto file = open_own(path_, size);
  if (!file) return tl::unexpected(std::move(file.error()));
  sound_end from;
  if (size != 0) {
    HONDANA_TRY(auto mended, mend(file->get(), size));
    from = mended;
  }
  if (from.offset == 0) {
    // The server was stopped just after it renamed the file, or there is no file yet.
    HONDANA_TRY(auto before, end_of_older());
    from.at = before;
  }
  // Records of an earlier run may not be synced yet.
  if (size != 0 && ::fdatasync(file->get()) != 0) return cannot("sync", path_, errno);
  end_ = from.at;
  return take(std::move(*file), from.offset);
}

result<void> log_file::take(disk::handle file, std::uint64_t size) {
  HONDANA_TRY(sync_folder(path_));
  file_ = std::move(file);
  size_ = synced_ = size;
  return {};
}

/// The end of the youngest older file. That need not be `.1`, if other programs moved files.
result<chain> log_file::end_of_older() const {
  const auto stem = path_.substr(path_.rfind('/') + 1) + '.';
  unsigned youngest = 0;
  std::error_code problem;
  std::filesystem::directory_iterator at(folder_of(path_), problem);
  for (; !problem && at != std::filesystem::directory_iterator(); at.increment(problem)) {
    const auto name = at->path().filename().string();
    if (!name.starts_with(stem) || name[stem.size()] == '0') continue;
    unsigned age = 0;
    const auto* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + stem.size(), end, age);
    // Other programs may use dates as numbers.
    if (read.ec != std::errc() || read.ptr != end || age > most_older_files) continue;
    if (youngest == 0 || age < youngest) youngest = age;
  }
  if (problem) return cannot("list the folder of", path_, problem.value());
  return youngest == 0 ? chain{} : end_of(older(youngest));
}

/// Moves everything after the last whole record to a separate file.
result<sound_end> log_file::mend(int file, std::uint64_t size) {
  auto found = find_sound_end(file, size, path_);
  if (!found) return found;
  if (found->offset < size) {
    const auto torn = read_range(file, found->offset, size, path_);
    if (!torn) return tl::unexpected(torn.error());
    const auto aside = path_ + "-torn-" + std::to_string(found->at.number + 1);
    const disk::handle kept(::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!kept.is_open()) return cannot("make", aside, errno);
    if (const int error = disk::write_all(kept.get(), *torn); error != 0) return cannot("write", aside, error);
    if (::fsync(kept.get()) != 0) return cannot("sync", aside, errno);
    if (::ftruncate(file, static_cast<off_t>(found->offset)) != 0) return cannot("mend", path_, errno);
    torn_bytes_ = size - found->offset;
  }
  return found;
}

result<void> log_file::append(std::string& records) {
  std::size_t done = 0;
  int error = 0;
  while (done < records.size() && error == 0) {
    const auto count = ::write(file_.get(), records.data() + done, records.size() - done);
    if (count > 0) done += static_cast<std::size_t>(count);
    if (count == 0) error = ENOSPC;
    if (count < 0 && errno != EINTR) error = errno;
  }
  if (error != 0) {
    // The file must end with a whole record.
    const auto whole = done == 0 ? 0 : records.rfind('\n', done - 1) + 1;
    if (whole != done && ::ftruncate(file_.get(), static_cast<off_t>(size_ + whole)) == 0) done = whole;
  }
  unsynced_.append(records, 0, done);
  records.erase(0, done);
  size_ += done;
  if (error != 0) return cannot("write", path_, error);
  return {};
}

result<void> log_file::sync() {
  if (!is_named_) {
    HONDANA_TRY(sync_folder(path_));
    is_named_ = true;
  }
  if (::fdatasync(file_.get()) != 0) {
    is_doubtful_ = true;
    return cannot("sync", path_, errno);
  }
  synced_ = size_;
  unsynced_.clear();
  return {};
}

std::string log_file::older(unsigned age) const { return path_ + '.' + std::to_string(age); }

std::string log_file::next() const { return path_ + "-next"; }

/// Number of older files without a gap.
unsigned log_file::count_older() const {
  unsigned count = 0;
  struct stat facts{};
  while (count < most_older_files && ::lstat(older(count + 1).c_str(), &facts) == 0) ++count;
  return count;
}

/// Opens an empty file that will replace the current one.
result<disk::handle> log_file::open_next() const {
  const auto fresh = next();
  if (::unlink(fresh.c_str()) != 0 && errno != ENOENT) return cannot("delete", fresh, errno);
  return open_empty(fresh);
}

/// Renames the current file and the older ones by one number.
result<void> log_file::make_older() const {
  for (auto age = count_older(); age > 0; --age) {
    if (::rename(older(age).c_str(), older(age + 1).c_str()) != 0) return cannot("rename", older(age), errno);
  }
  if (::rename(path_.c_str(), older(1).c_str()) != 0) return cannot("rename", path_, errno);
  return {};
}

result<void> log_file::rotate() {
  // All steps that need space or descriptors come before the first rename.
  HONDANA_TRY(auto file, open_next());
  HONDANA_TRY(make_older());
  if (::rename(next().c_str(), path_.c_str()) != 0) return cannot("rename", next(), errno);
  return take(std::move(file), 0);
}

result<void> log_file::begin_anew(std::string& records) {
  auto file = open_next();
  if (!file) return tl::unexpected(std::move(file.error()));
  for (const auto* part : {&unsynced_, &records}) {
    if (const int error = disk::write_all(file->get(), *part); error != 0) return cannot("write", next(), error);
  }
  if (::fdatasync(file->get()) != 0) return cannot("sync", next(), errno);
  // The new file has these records, so they are removed here.
  if (::ftruncate(file_.get(), static_cast<off_t>(synced_)) != 0) return cannot("cut off", path_, errno);
  if (::fdatasync(file_.get()) != 0) return cannot("sync", path_, errno);
  if (!was_moved()) {
    HONDANA_TRY(make_older());
  } else if (const auto there = open_empty(path_); !there) {
    return tl::unexpected(there.error());
  }
  if (::rename(next().c_str(), path_.c_str()) != 0) return cannot("rename", next(), errno);
  file_ = std::move(*file);
  size_ = synced_ = unsynced_.size() + records.size();
  unsynced_.clear();
  records.clear();
  is_doubtful_ = is_named_ = false;
  return {};
}

result<void> log_file::drop_oldest() const {
  for (auto oldest = count_older(); keep_ != 0 && oldest > keep_; --oldest) {
    if (::unlink(older(oldest).c_str()) != 0 && errno != ENOENT) return cannot("delete", older(oldest), errno);
  }
  return {};
}

bool log_file::was_moved() const {
  struct stat there{};
  struct stat ours{};
  if (::fstat(file_.get(), &ours) != 0) return false;
  return ::lstat(path_.c_str(), &there) != 0 || there.st_dev != ours.st_dev || there.st_ino != ours.st_ino;
}

result<void> log_file::follow() {
  HONDANA_TRY(auto file, open_empty(path_));
  return take(std::move(file), 0);
}

}  // namespace hondana::audit
