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

constexpr unsigned max_old_file_number = 100'000;

tl::unexpected<failure> system_failure(const std::string& action, const std::string& path, int error) {
  return fail(errc::source_unavailable, "audit log: cannot " + action + ' ' + path + ": " + std::strerror(error));
}

tl::unexpected<failure> reject(const std::string& path, const std::string& reason) {
  return fail(errc::invalid_argument, "audit log: " + path + ' ' + reason);
}

std::string folder_path(const std::string& path) { return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1)); }

/// A file name is durable once its folder is synced.
result<void> sync_folder(const std::string& path) {
  const disk::handle folder(::open(folder_path(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open() || (::fsync(folder.get()) != 0 && errno != EINVAL))
    return system_failure("sync the folder of", path, errno);
  return {};
}

result<std::string> read_range(int file, std::uint64_t begin, std::uint64_t end, const std::string& path) {
  std::string out(static_cast<std::size_t>(end - begin), '\0');
  std::size_t filled = 0;
  while (filled < out.size()) {
    const auto count = ::pread(file, out.data() + filled, out.size() - filled, static_cast<off_t>(begin + filled));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_failure("read", path, errno);
    if (count == 0) return reject(path, "shrank while it was read; another process writes to it");
    filled += static_cast<std::size_t>(count);
  }
  return out;
}

/// Finds the last whole record. Errors: none near the end of the file.
result<intact_end> find_intact_end(int file, std::uint64_t size, const std::string& path) {
  // A record, and what a crash may have left after it.
  const auto start = size > 2 * max_record_bytes ? size - 2 * max_record_bytes : 0;
  const auto tail = read_range(file, start, size, path);
  if (!tail) return tl::unexpected(tail.error());
  for (auto end = tail->rfind('\n'); end != std::string::npos;) {
    const auto previous = end == 0 ? std::string::npos : tail->rfind('\n', end - 1);
    const auto begin = previous == std::string::npos ? 0 : previous + 1;
    if (const auto record = read_record(std::string_view(*tail).substr(begin, end - begin), nullptr)) {
      return intact_end{start + end + 1, *record};
    }
    end = previous;
  }
  // Only a part of the first record reached the disk, or only zeros.
  constexpr std::string_view record_start = "{\"number\":";
  const bool is_partial_record = record_start.starts_with(std::string_view(*tail).substr(0, record_start.size()));
  const bool is_empty = tail->find_first_not_of('\0') == std::string::npos;
  if (start == 0 && (is_empty || (is_partial_record && tail->find('\n') == std::string::npos))) return intact_end{};
  return reject(path,
                "is not an audit log, or it is damaged and ends without a whole record. Move it away to start a new one.");
}

/// The last record of an older file.
result<chain_position> last_position_in(const std::string& path) {
  const disk::handle file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) {
    if (errno == ENOENT) return chain_position{};
    return system_failure("open", path, errno);
  }
  struct stat attributes{};
  if (::fstat(file.get(), &attributes) != 0) return system_failure("look at", path, errno);
  if (!S_ISREG(attributes.st_mode)) return reject(path, "is not a file.");
  if (attributes.st_size == 0) return chain_position{};
  auto intact = find_intact_end(file.get(), static_cast<std::uint64_t>(attributes.st_size), path);
  if (!intact) return tl::unexpected(std::move(intact.error()));
  return intact->position;
}

}  // namespace

log_file::log_file(const audit_file_options& options, disk::handle lock)
    : path_(options.path), max_old_files_(options.max_old_files), lock_(std::move(lock)) {}

result<log_file> log_file::open(const audit_file_options& options) {
  if (!options.path.starts_with('/') || options.path.ends_with('/'))
    return reject('"' + options.path + '"', "is not an absolute path.");
  if (auto created = disk::make_private_folder(folder_path(options.path)); !created) {
    created.error().public_text.insert(0, "audit log: ");
    return tl::unexpected(std::move(created.error()));
  }
  const auto lock_path = options.path + ".lock";
  disk::handle lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.is_open()) return system_failure("open", lock_path, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_failure("lock", lock_path, errno);
    return reject(options.path, "is in use by another process; each server needs its own log.");
  }
  log_file log(options, std::move(lock));
  HONDANA_TRY(log.open_current());
  return log;
}

/// Opens a file that no other user can write, or creates it.
result<disk::handle> log_file::open_private(const std::string& path, std::uint64_t& size) {
  disk::handle file(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600));
  if (!file.is_open()) {
    if (errno == ELOOP) return reject(path, "is a symbolic link, which is not followed. Give the path of the file itself.");
    return system_failure("open", path, errno);
  }
  struct stat attributes{};
  if (::fstat(file.get(), &attributes) != 0) return system_failure("look at", path, errno);
  if (!S_ISREG(attributes.st_mode) || attributes.st_nlink != 1)
    return reject(path, "is not a plain file. It must not be a device or have other hard links.");
  if (attributes.st_uid != ::geteuid() || (attributes.st_mode & 0022) != 0) {
    return reject(path, "can be written by other users. Fix it with chown and chmod 600.");
  }
  size = static_cast<std::uint64_t>(attributes.st_size);
  return file;
}

/// As `open_private`, for a new file.
result<disk::handle> log_file::open_empty(const std::string& path) {
  std::uint64_t size = 0;
  auto file = open_private(path, size);
  if (file && size != 0) return reject(path, "was created by another program and is not empty; it is left unchanged.");
  return file;
}

result<void> log_file::open_current() {
  std::uint64_t size = 0;
  auto file = open_private(path_, size);
  if (!file) return tl::unexpected(std::move(file.error()));
  intact_end intact;
  if (size != 0) {
    HONDANA_TRY(auto repaired, repair(file->get(), size));
    intact = repaired;
  }
  if (intact.offset == 0) {
    // The server was stopped just after it renamed the file, or there is no file yet.
    HONDANA_TRY(auto previous, last_old_position());
    intact.position = previous;
  }
  // Records of an earlier run may not be synced yet.
  if (size != 0 && ::fdatasync(file->get()) != 0) return system_failure("sync", path_, errno);
  initial_position_ = intact.position;
  return adopt(std::move(*file), intact.offset);
}

result<void> log_file::adopt(disk::handle file, std::uint64_t size) {
  HONDANA_TRY(sync_folder(path_));
  file_ = std::move(file);
  size_ = synced_ = size;
  return {};
}

/// The end of the youngest older file. That need not be `.1`, if other programs moved files.
result<chain_position> log_file::last_old_position() const {
  const auto stem = path_.substr(path_.rfind('/') + 1) + '.';
  unsigned youngest = 0;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder_path(path_), error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const auto name = entry->path().filename().string();
    if (!name.starts_with(stem) || name[stem.size()] == '0') continue;
    unsigned age = 0;
    const auto* const end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + stem.size(), end, age);
    // Other programs may use dates as numbers.
    if (parsed.ec != std::errc() || parsed.ptr != end || age > max_old_file_number) continue;
    if (youngest == 0 || age < youngest) youngest = age;
  }
  if (error) return system_failure("list the folder of", path_, error.value());
  return youngest == 0 ? chain_position{} : last_position_in(old_path(youngest));
}

/// Moves everything after the last whole record to a separate file.
result<intact_end> log_file::repair(int file, std::uint64_t size) {
  auto intact = find_intact_end(file, size, path_);
  if (!intact) return intact;
  if (intact->offset < size) {
    const auto tail = read_range(file, intact->offset, size, path_);
    if (!tail) return tl::unexpected(tail.error());
    const auto backup_path = path_ + "-incomplete-" + std::to_string(intact->position.number + 1);
    const disk::handle backup(::open(backup_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!backup.is_open()) return system_failure("make", backup_path, errno);
    if (const int error = disk::write_all(backup.get(), *tail); error != 0) return system_failure("write", backup_path, error);
    if (::fsync(backup.get()) != 0) return system_failure("sync", backup_path, errno);
    if (::ftruncate(file, static_cast<off_t>(intact->offset)) != 0) return system_failure("mend", path_, errno);
    incomplete_bytes_ = size - intact->offset;
  }
  return intact;
}

result<void> log_file::append(std::string& records) {
  std::size_t written = 0;
  int error = 0;
  while (written < records.size() && error == 0) {
    const auto count = ::write(file_.get(), records.data() + written, records.size() - written);
    if (count > 0) written += static_cast<std::size_t>(count);
    if (count == 0) error = ENOSPC;
    if (count < 0 && errno != EINTR) error = errno;
  }
  if (error != 0) {
    // The file must end with a whole record.
    const auto intact_size = written == 0 ? 0 : records.rfind('\n', written - 1) + 1;
    if (intact_size != written && ::ftruncate(file_.get(), static_cast<off_t>(size_ + intact_size)) == 0) written = intact_size;
  }
  unsynced_.append(records, 0, written);
  records.erase(0, written);
  size_ += written;
  if (error != 0) return system_failure("write", path_, error);
  return {};
}

result<void> log_file::sync() {
  if (!is_name_durable_) {
    HONDANA_TRY(sync_folder(path_));
    is_name_durable_ = true;
  }
  if (::fdatasync(file_.get()) != 0) {
    has_sync_failed_ = true;
    return system_failure("sync", path_, errno);
  }
  synced_ = size_;
  unsynced_.clear();
  return {};
}

std::string log_file::old_path(unsigned age) const { return path_ + '.' + std::to_string(age); }

std::string log_file::next_path() const { return path_ + "-next"; }

/// Number of older files without a gap.
unsigned log_file::count_old_files() const {
  unsigned count = 0;
  struct stat attributes{};
  while (count < max_old_file_number && ::lstat(old_path(count + 1).c_str(), &attributes) == 0) ++count;
  return count;
}

/// Opens an empty file that will replace the current one.
result<disk::handle> log_file::open_next() const {
  const auto path = next_path();
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return system_failure("delete", path, errno);
  return open_empty(path);
}

/// Renames the current file and the older ones by one number.
result<void> log_file::shift_old_files() const {
  for (auto age = count_old_files(); age > 0; --age) {
    if (::rename(old_path(age).c_str(), old_path(age + 1).c_str()) != 0) return system_failure("rename", old_path(age), errno);
  }
  if (::rename(path_.c_str(), old_path(1).c_str()) != 0) return system_failure("rename", path_, errno);
  return {};
}

result<void> log_file::rotate() {
  // All steps that need space or descriptors come before the first rename.
  HONDANA_TRY(auto file, open_next());
  HONDANA_TRY(shift_old_files());
  if (::rename(next_path().c_str(), path_.c_str()) != 0) return system_failure("rename", next_path(), errno);
  return adopt(std::move(file), 0);
}

result<void> log_file::restart(std::string& records) {
  auto file = open_next();
  if (!file) return tl::unexpected(std::move(file.error()));
  for (const auto* text : {&unsynced_, &records}) {
    if (const int error = disk::write_all(file->get(), *text); error != 0) return system_failure("write", next_path(), error);
  }
  if (::fdatasync(file->get()) != 0) return system_failure("sync", next_path(), errno);
  // The new file has these records, so they are removed here.
  if (::ftruncate(file_.get(), static_cast<off_t>(synced_)) != 0) return system_failure("cut off", path_, errno);
  if (::fdatasync(file_.get()) != 0) return system_failure("sync", path_, errno);
  if (!was_moved()) {
    HONDANA_TRY(shift_old_files());
  } else if (const auto replacement = open_empty(path_); !replacement) {
    return tl::unexpected(replacement.error());
  }
  if (::rename(next_path().c_str(), path_.c_str()) != 0) return system_failure("rename", next_path(), errno);
  file_ = std::move(*file);
  size_ = synced_ = unsynced_.size() + records.size();
  unsynced_.clear();
  records.clear();
  has_sync_failed_ = is_name_durable_ = false;
  return {};
}

result<void> log_file::delete_oldest() const {
  for (auto oldest = count_old_files(); max_old_files_ && oldest > *max_old_files_; --oldest) {
    if (::unlink(old_path(oldest).c_str()) != 0 && errno != ENOENT) return system_failure("delete", old_path(oldest), errno);
  }
  return {};
}

bool log_file::was_moved() const {
  struct stat path_attributes{};
  struct stat file_attributes{};
  if (::fstat(file_.get(), &file_attributes) != 0) return false;
  return ::lstat(path_.c_str(), &path_attributes) != 0 || path_attributes.st_dev != file_attributes.st_dev ||
         path_attributes.st_ino != file_attributes.st_ino;
}

result<void> log_file::reopen() {
  HONDANA_TRY(auto file, open_empty(path_));
  return adopt(std::move(file), 0);
}

}  // namespace hondana::audit
