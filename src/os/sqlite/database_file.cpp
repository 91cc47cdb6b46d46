/// Opens and checks this program's own database files, and records which processes have them open.
#include "os/sqlite/database_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "os/disk/file_descriptor.hpp"
#include "os/disk/private_file.hpp"

namespace hondana::sqlite {
namespace {

constexpr const char* in_use_mark = "in use";

}  // namespace

bool is_in_use(const failure& error) noexcept { return error.subject == in_use_mark; }

/// Joins the users of a shared file, in this or another process, as long as the handle lives.
/// `is_sole_user`: set if no other user had it open. The caller must hold the lock for opening. Errors: source_unavailable.
[[nodiscard]] result<disk::handle> join_users(const std::string& path, const file_kind& kind, bool& is_sole_user);

/// Whether this process has the file open. It must then only be opened by SQLite: closing any other descriptor would release
/// SQLite's locks.
[[nodiscard]] bool is_open_in_process(const std::string& path);
/// Calls `work`, and prevents that this process opens the file meanwhile. Does nothing if the file is open or missing.
void run_unless_open(const std::string& path, const std::function<void()>& work);
/// Records that this process has the file open, until the result is destroyed, which must happen after its connections.
/// Null: there is no such file.
[[nodiscard]] std::shared_ptr<const void> register_open(const std::string& path);

namespace {

class open_files {
 public:
  using file_key = std::pair<dev_t, ino_t>;
  static open_files& instance() {
    static open_files registry;
    return registry;
  }
  [[nodiscard]] bool contains(const file_key& file) {
    const std::lock_guard lock(mutex_);
    return open_.contains(file);
  }
  void unless_open(const file_key& file, const std::function<void()>& work) {
    const std::lock_guard lock(mutex_);
    if (!open_.contains(file)) work();
  }
  [[nodiscard]] std::shared_ptr<const void> add(const file_key& file) {
    const std::lock_guard lock(mutex_);
    open_.insert(file);
    return {this, [file](const void*) { instance().remove(file); }};
  }

 private:
  void remove(const file_key& file) {
    const std::lock_guard lock(mutex_);
    open_.erase(open_.find(file));
  }
  std::mutex mutex_;
  std::multiset<file_key> open_;
};

}  // namespace

result<disk::handle> join_users(const std::string& path, const file_kind& kind, bool& is_sole_user) {
  disk::handle users(::open((path + ".users").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!users.is_open()) return file_failure(path, kind, "its .users file cannot be created", std::strerror(errno));
  is_sole_user = ::flock(users.get(), LOCK_EX | LOCK_NB) == 0;
  while (::flock(users.get(), LOCK_SH) != 0) {
    if (errno != EINTR) return file_failure(path, kind, "its .users file cannot be locked", std::strerror(errno));
  }
  return users;
}

bool is_open_in_process(const std::string& path) {
  const auto identity = identity_of(path);
  return identity && open_files::instance().contains({identity->device, identity->inode});
}

void run_unless_open(const std::string& path, const std::function<void()>& work) {
  const auto identity = identity_of(path);
  if (identity) open_files::instance().unless_open({identity->device, identity->inode}, work);
}

std::shared_ptr<const void> register_open(const std::string& path) {
  const auto identity = identity_of(path);
  return identity ? open_files::instance().add({identity->device, identity->inode}) : nullptr;
}

namespace {

constexpr std::uint64_t max_quick_check_bytes = 64u << 20;

/// Wait time for a store that this process is closing itself, such as after a configuration change.
constexpr std::chrono::milliseconds default_lock_timeout{1000};
/// Wait time for other users that open the same shared file and possibly check all of it.
constexpr std::chrono::milliseconds shared_lock_timeout{15'000};
/// Wait time for another process that creates and checks a new file.
constexpr std::chrono::milliseconds names_lock_timeout{20'000};

constexpr int inspection_flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

std::uint32_t read_big_endian(const char* bytes) noexcept {
  std::uint32_t out = 0;
  for (int i = 0; i < 4; ++i) out = out << 8 | static_cast<unsigned char>(bytes[i]);
  return out;
}

/// The version of the tables according to the first bytes of the file; 0: the file is new.
result<std::uint32_t> schema_version_in(int file, const std::string& path, const file_kind& kind) {
  struct stat attributes{};
  if (::fstat(file, &attributes) != 0) return file_failure(path, kind, std::strerror(errno));
  if (!S_ISREG(attributes.st_mode)) return file_failure(path, kind, "it is not a regular file; give the path of a file");
  char header[100]{};
  const auto count = disk::read_at(file, header, sizeof header, 0);
  if (!count) return file_failure(path, kind, std::strerror(count.error()));
  // Empty or all zeros: a new file, or one whose creation was interrupted by a power failure.
  static constexpr char zeros[100]{};
  if (std::memcmp(header, zeros, sizeof header) == 0) return 0u;
  const std::string advice = "; give another path, or move that file away";
  if (*count < sizeof header || std::memcmp(header, "SQLite format 3", 16) != 0)
    return file_failure(path, kind, "it is not an SQLite file" + advice);
  if (read_big_endian(header + 68) != kind.application_id)
    return file_failure(path, kind, "it is an SQLite file of another program" + advice);
  const auto version = read_big_endian(header + 60);
  if (version > kind.schema_version)
    return file_failure(path, kind,
                        "it was written by a newer version of this program (schema " + std::to_string(version) +
                            ", and this one supports " + std::to_string(kind.schema_version) + ")" + advice);
  return version;
}

/// Like `schema_version_in`, but creates a missing file. Must be called before SQLite opens the file.
/// Closing any descriptor of a file releases the locks that SQLite holds on it.
result<std::uint32_t> inspect_or_create(const std::string& path, const file_kind& kind) {
  const disk::handle file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600));
  if (!file.is_open()) return file_failure(path, kind, std::strerror(errno));
  auto version = schema_version_in(file.get(), path, kind);
  if (!version) return version;  // files of other programs keep their mode
  struct stat attributes{};
  if (::fstat(file.get(), &attributes) != 0) return file_failure(path, kind, std::strerror(errno));
  const bool is_to_be_private = attributes.st_uid == ::geteuid() && (attributes.st_mode & 0077) != 0;
  if (is_to_be_private && ::fchmod(file.get(), 0600) != 0) return file_failure(path, kind, std::strerror(errno));
  return version;
}

/// Creates the tables of a new file in one transaction. `kind.setup` has settings that cannot be changed later.
result<void> create_tables(connection& database, const file_kind& kind) {
  auto version = database.number("PRAGMA user_version");
  if (!version) return tl::unexpected(std::move(version.error()));
  if (*version == kind.schema_version) return {};
  if (*version > kind.schema_version)
    return fail(errc::source_unavailable, "it was written by a newer version of this program; give another path");
  const bool is_older = *version > 0 && !kind.upgrades.empty();
  HONDANA_TRY(is_older ? result<void>() : database.execute(kind.setup));
  auto changes = transaction::begin(database);
  if (!changes) return tl::unexpected(std::move(changes.error()));
  const auto version_pragmas = "PRAGMA application_id=" + std::to_string(kind.application_id) +
                               "; PRAGMA user_version=" + std::to_string(kind.schema_version);
  for (auto applied = *version; is_older && applied < kind.schema_version; ++applied) {
    HONDANA_TRY(database.execute(kind.upgrades[static_cast<std::size_t>(applied - 1)]));
  }
  HONDANA_TRY(is_older ? result<void>() : database.execute(kind.schema));
  HONDANA_TRY(database.execute(version_pragmas.c_str()));
  return changes->commit();
}

result<connection> connect(const std::string& path, const file_kind& kind) {
  auto out = connection::open(path, kind.name);
  if (!out) return out;
  HONDANA_TRY(create_tables(*out, kind));
  if (path.empty()) return out;
  HONDANA_TRY(out->execute(kind.settings));
  HONDANA_TRY(auto mode, out->text("PRAGMA journal_mode"));
  if (mode != "wal")
    return fail(errc::source_unavailable,
                "its file system does not support shared memory between connections; use a local file system",
                "journal_mode " + mode);
  return out;
}

std::string companion(const std::string& path, const char* suffix) { return path + suffix; }

result<void> check_pages(connection& database, const file_kind& kind) {
  HONDANA_TRY(auto report, database.text("PRAGMA quick_check(1)"));
  if (report != "ok") return tl::unexpected(corruption_failure("the " + std::string(kind.name) + " is damaged", report));
  return {};
}

/// The files that were moved aside, newest first.
std::vector<std::filesystem::path> find_quarantined(const std::string& path, std::string& problem) {
  const std::filesystem::path file(path);
  const auto begin = file.filename().string() + ".damaged-";
  std::error_code error;
  std::vector<std::pair<std::pair<std::uint64_t, std::uint64_t>, std::filesystem::path>> candidates;
  for (std::filesystem::directory_iterator entry(file.parent_path(), error), end; !error && entry != end;
       entry.increment(error)) {
    const auto name = entry->path().filename().string();
    if (!name.starts_with(begin)) continue;
    // SECONDS or SECONDS-COUNT, and nothing else.
    std::pair<std::uint64_t, std::uint64_t> age_key;
    const char* const last = name.data() + name.size();
    auto parsed = std::from_chars(name.data() + begin.size(), last, age_key.first);
    if (parsed.ec == std::errc() && parsed.ptr != last && *parsed.ptr == '-')
      parsed = std::from_chars(parsed.ptr + 1, last, age_key.second);
    if (parsed.ec == std::errc() && parsed.ptr == last) candidates.emplace_back(age_key, entry->path());
  }
  if (error) problem = error.message();
  std::sort(candidates.rbegin(), candidates.rend());
  std::vector<std::filesystem::path> out;
  out.reserve(candidates.size());
  for (auto& candidate : candidates) out.push_back(std::move(candidate.second));
  return out;
}

/// Deletes the files that were moved aside earlier, except `newest` and one more for inspection.
/// `newest` is retained even if the clock was changed. Returns why this failed; empty: it succeeded.
std::string remove_old_quarantined(const std::string& path, const std::string& newest) {
  std::string problem;
  auto files = find_quarantined(path, problem);
  std::erase(files, std::filesystem::path(newest));
  for (std::size_t i = 1; i < files.size(); ++i) {
    for (const auto* suffix : {"", "-wal", "-journal"}) {
      if (::unlink(companion(files[i].string(), suffix).c_str()) != 0 && errno != ENOENT) problem = std::strerror(errno);
    }
  }
  return problem;
}

}  // namespace

result<void> reject_foreign_file(const std::string& path, const file_kind& kind) {
  if (::access(companion(path, ".turns").c_str(), F_OK) == 0) return {};
  result<void> out{};
  // Closing a descriptor of a file releases the locks that SQLite holds on it.
  run_unless_open(path, [&] {
    const disk::handle file(::open(path.c_str(), inspection_flags));
    // If it cannot be opened here, the later opening reports the error.
    if (!file.is_open()) return;
    if (const auto version = schema_version_in(file.get(), path, kind); !version) out = tl::unexpected(version.error());
  });
  return out;
}

result<std::optional<std::uint32_t>> read_schema_version(const std::string& path, const file_kind& kind) {
  const disk::handle file(::open(path.c_str(), inspection_flags));
  if (!file.is_open()) {
    if (errno == ENOENT) return std::optional<std::uint32_t>();
    return file_failure(path, kind, std::strerror(errno));
  }
  return schema_version_in(file.get(), path, kind).map([](std::uint32_t version) { return std::optional(version); });
}

result<void> check_integrity(connection& database, const file_kind& kind) {
  auto checked = check_pages(database, kind);
  return checked && kind.check[0] != '\0' ? database.execute(kind.check) : checked;
}

tl::unexpected<failure> file_failure(const std::string& path, const file_kind& kind, const std::string& reason,
                                     std::string details) {
  return fail(errc::source_unavailable, "cannot " + std::string(kind.purpose) + " in " + path + ": " + reason,
              std::move(details));
}

std::uint64_t bytes_on_disk(const std::string& path) noexcept {
  std::uint64_t out = 0;
  for (const auto* suffix : {"", "-wal"}) {
    struct stat attributes{};
    if (::stat(companion(path, suffix).c_str(), &attributes) == 0) out += static_cast<std::uint64_t>(attributes.st_size);
  }
  return out;
}

std::optional<file_identity> identity_of(const std::string& path) noexcept {
  struct stat attributes{};
  if (::stat(path.c_str(), &attributes) != 0) return std::nullopt;
  return file_identity{attributes.st_dev, attributes.st_ino};
}

bool is_suspect(const std::string& path) noexcept { return ::access(companion(path, ".suspect").c_str(), F_OK) == 0; }

void mark_suspect(const std::string& path) noexcept {
  const disk::handle mark(::open(companion(path, ".suspect").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
}

void clear_suspect(const std::string& path) noexcept { ::unlink(companion(path, ".suspect").c_str()); }

result<void> quarantine(const std::string& path, const file_kind& kind, std::string_view reason,
                        const std::function<void(std::string_view)>& log) {
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  auto target = path + ".damaged-" + std::to_string(now);
  for (int i = 2; ::access(target.c_str(), F_OK) == 0; ++i)
    target = path + ".damaged-" + std::to_string(now) + '-' + std::to_string(i);
  for (const auto* suffix : {"-wal", "-journal", ""}) {
    const auto source = path + suffix;
    if (std::rename(source.c_str(), (target + suffix).c_str()) != 0 && errno != ENOENT)
      return file_failure(path, kind, "it is damaged and cannot be moved aside; move it away", std::strerror(errno));
  }
  ::unlink(companion(path, "-shm").c_str());
  clear_suspect(path);
  if (log)
    log("the " + std::string(kind.name) + ' ' + path + " is damaged (" + std::string(reason) + "): it was moved to " + target +
        ", and a new one was created");
  if (const auto problem = remove_old_quarantined(path, target); !problem.empty() && log)
    log("older damaged files that were moved aside cannot be removed (" + problem + "): " + path + ".damaged-*");
  return {};
}

result<void> remove_owned(const std::string& path, const file_kind& kind) {
  for (const auto* suffix : {"", "-wal", "-journal", "-shm"}) {
    if (::unlink(companion(path, suffix).c_str()) != 0 && errno != ENOENT)
      return file_failure(path, kind, "the old file cannot be removed", std::strerror(errno));
  }
  clear_suspect(path);
  return {};
}

result<std::optional<disk::handle>> acquire_file_lock(const std::string& path, const file_kind& kind,
                                                      std::chrono::milliseconds timeout) {
  auto lock = disk::acquire_lock(path, "store", timeout, {});
  if (lock) return std::optional(std::move(*lock));
  if (lock.error().code == errc::timed_out) return std::optional<disk::handle>();
  return file_failure(path, kind, lock.error().public_text, lock.error().private_text);
}

bool is_lock_of(const std::string& path, const disk::handle& lock) noexcept {
  struct stat locked{};
  struct stat current{};
  return ::fstat(lock.get(), &locked) == 0 && ::stat(companion(path, ".turns").c_str(), &current) == 0 &&
         locked.st_dev == current.st_dev && locked.st_ino == current.st_ino;
}

result<disk::handle> lock_file_names(const std::string& path, const file_kind& kind) {
  auto lock = disk::acquire_lock(path, "names", names_lock_timeout, {});
  if (lock) return lock;
  return file_failure(path, kind, lock.error().public_text, lock.error().private_text);
}

namespace {

/// How a file is opened.
struct open_options {
  disk::handle lock{};
  bool is_open_here = false;  ///< By a connection of this process.
  bool is_sole_user = true;   ///< No other process has it open for writing.
};

result<owned_file> open_checked(const std::string& path, const file_kind& kind, open_options options,
                                const std::function<void(std::string_view)>& log) {
  owned_file out;
  out.lock = std::move(options.lock);
  for (bool is_retry = false;; is_retry = true) {
    if (!options.is_open_here || is_retry) {
      auto version = inspect_or_create(path, kind);
      if (version && *version != 0 && *version < kind.schema_version && kind.replaces_older) {
        HONDANA_TRY(remove_owned(path, kind));
        version = inspect_or_create(path, kind);
        if (log)
          log("the " + std::string(kind.name) + ' ' + path + " is of an older version of this program: it was recreated");
      }
      if (!version) return tl::unexpected(std::move(version.error()));
    }
    if (kind.is_shared) out.open_registration = register_open(path);
    auto connected = connect(path, kind);
    result<void> checked{};
    const bool was_suspect = is_suspect(path);
    const auto bytes = bytes_on_disk(path);
    if (connected && (was_suspect || (options.is_sole_user && bytes <= max_quick_check_bytes)))
      checked =
          was_suspect || bytes <= max_full_check_bytes ? check_integrity(*connected, kind) : check_pages(*connected, kind);
    const failure* error = !connected ? &connected.error() : !checked ? &checked.error() : nullptr;
    if (error == nullptr) {
      out.was_suspect = was_suspect;
      out.writer = std::move(*connected);
      return out;
    }
    if (is_retry || !is_corruption(*error)) return file_failure(path, kind, error->public_text, error->private_text);
    const std::string reason = error->private_text;
    if (connected) *connected = connection();
    out.open_registration.reset();
    if (!options.is_sole_user)
      return file_failure(
          path, kind, "it is damaged, and another process has it open; stop that process, and the file is moved aside", reason);
    HONDANA_TRY(quarantine(path, kind, reason, log));
  }
}

}  // namespace

result<owned_file> open_owned(const std::string& path, const file_kind& kind,
                              const std::function<void(std::string_view)>& log) {
  owned_file out;
  if (path.empty()) {
    HONDANA_TRY(auto memory, connect({}, kind));
    out.writer = std::move(memory);
    return out;
  }
  if (path.front() != '/') return file_failure(path, kind, "the path must be absolute");
  HONDANA_TRY(reject_foreign_file(path, kind));
  HONDANA_TRY(auto lock, acquire_file_lock(path, kind, kind.is_shared ? shared_lock_timeout : default_lock_timeout));
  if (!lock) {
    auto in_use = file_failure(path, kind, std::string(kind.in_use_reason) + "; stop that process, or give another path");
    in_use.value().subject = in_use_mark;
    return in_use;
  }
  if (!kind.is_shared) return open_locked(path, kind, std::move(*lock), false, log);
  // For a shared file, the lock is only held while it is opened.
  bool is_sole_user = true;
  HONDANA_TRY(auto users, join_users(path, kind, is_sole_user));
  return open_checked(path, kind,
                      {.lock = std::move(users), .is_open_here = is_open_in_process(path), .is_sole_user = is_sole_user}, log);
}

result<owned_file> open_locked(const std::string& path, const file_kind& kind, disk::handle lock, bool is_open_here,
                               const std::function<void(std::string_view)>& log) {
  return open_checked(path, kind, {.lock = std::move(lock), .is_open_here = is_open_here}, log);
}

}  // namespace hondana::sqlite
