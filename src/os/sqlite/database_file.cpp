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

/// Joins the users of a shared file, in this or another process, as long as the handle lives.
/// `is_alone`: set if no other user had it open. The caller must hold the lock for opening. Errors: source_unavailable.
[[nodiscard]] result<disk::handle> join_users(const std::string& path, const file_kind& kind, bool& is_alone);

/// Whether this process has the file open. It must then only be opened by SQLite: closing any other descriptor would release
/// SQLite's locks.
[[nodiscard]] bool has_open_here(const std::string& path);
/// Calls `work`, and prevents that this process opens the file meanwhile. Does nothing if the file is open or missing.
void while_not_open_here(const std::string& path, const std::function<void()>& work);
/// Records that this process has the file open, until the result is destroyed, which must happen after its connections.
/// Null: there is no such file.
[[nodiscard]] std::shared_ptr<const void> note_open_here(const std::string& path);

namespace {

class files_open_here {
 public:
  using file = std::pair<dev_t, ino_t>;
  static files_open_here& all() {
    static files_open_here one;
    return one;
  }
  [[nodiscard]] bool has(const file& which) {
    const std::lock_guard held(mutex_);
    return open_.contains(which);
  }
  void unless_open(const file& which, const std::function<void()>& work) {
    const std::lock_guard held(mutex_);
    if (!open_.contains(which)) work();
  }
  [[nodiscard]] std::shared_ptr<const void> take(const file& which) {
    const std::lock_guard held(mutex_);
    open_.insert(which);
    return {this, [which](const void*) { all().give_back(which); }};
  }

 private:
  void give_back(const file& which) {
    const std::lock_guard held(mutex_);
    open_.erase(open_.find(which));
  }
  std::mutex mutex_;
  std::multiset<file> open_;
};

}  // namespace

result<disk::handle> join_users(const std::string& path, const file_kind& kind, bool& is_alone) {
  disk::handle users(::open((path + ".users").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!users.is_open()) return cannot_have(path, kind, "its .users file cannot be created", std::strerror(errno));
  is_alone = ::flock(users.get(), LOCK_EX | LOCK_NB) == 0;
  while (::flock(users.get(), LOCK_SH) != 0) {
    if (errno != EINTR) return cannot_have(path, kind, "its .users file cannot be locked", std::strerror(errno));
  }
  return users;
}

bool has_open_here(const std::string& path) {
  const auto which = identity_of(path);
  return which && files_open_here::all().has({which->device, which->number});
}

void while_not_open_here(const std::string& path, const std::function<void()>& work) {
  const auto which = identity_of(path);
  if (which) files_open_here::all().unless_open({which->device, which->number}, work);
}

std::shared_ptr<const void> note_open_here(const std::string& path) {
  const auto which = identity_of(path);
  return which ? files_open_here::all().take({which->device, which->number}) : nullptr;
}

namespace {

constexpr std::uint64_t quickly_checked = 64u << 20;

/// Wait time for a store that this process is closing itself, such as after a configuration change.
constexpr std::chrono::milliseconds usual_patience{1000};
/// Wait time for other users that open the same shared file and possibly check all of it.
constexpr std::chrono::milliseconds patience_with_openers{15'000};
/// Wait time for another process that creates and checks a new file.
constexpr std::chrono::milliseconds patience_for_names{20'000};

constexpr int flags_for_looking = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

std::uint32_t big_endian_at(const char* bytes) noexcept {
  std::uint32_t out = 0;
  for (int i = 0; i < 4; ++i) out = out << 8 | static_cast<unsigned char>(bytes[i]);
  return out;
}

/// The version of the tables according to the first bytes of the file; 0: the file is new.
result<std::uint32_t> version_in(int file, const std::string& path, const file_kind& kind) {
  struct stat facts{};
  if (::fstat(file, &facts) != 0) return cannot_have(path, kind, std::strerror(errno));
  if (!S_ISREG(facts.st_mode)) return cannot_have(path, kind, "it is not a regular file; give the path of a file");
  char head[100]{};
  const auto got = disk::read_at(file, head, sizeof head, 0);
  if (!got) return cannot_have(path, kind, std::strerror(got.error()));
  // Empty or all zeros: a new file, or one whose creation was interrupted by a power failure.
  static constexpr char zeros[100]{};
  if (std::memcmp(head, zeros, sizeof head) == 0) return 0u;
  const std::string what_to_do = "; give another path, or move that file away";
  if (*got < sizeof head || std::memcmp(head, "SQLite format 3", 16) != 0)
    return cannot_have(path, kind, "it is not an SQLite file" + what_to_do);
  if (big_endian_at(head + 68) != kind.application)
    return cannot_have(path, kind, "it is an SQLite file of another program" + what_to_do);
  const auto version = big_endian_at(head + 60);
  if (version > kind.version)
    return cannot_have(path, kind,
                       "it was written by a newer version of this program (schema " + std::to_string(version) +
                           ", and this one supports " + std::to_string(kind.version) + ")" + what_to_do);
  return version;
}

/// Like `version_in`, but creates a missing file. Must be called before SQLite opens the file.
/// Closing any descriptor of a file releases the locks that SQLite holds on it.
result<std::uint32_t> look_at_head(const std::string& path, const file_kind& kind) {
  const disk::handle file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600));
  if (!file.is_open()) return cannot_have(path, kind, std::strerror(errno));
  auto version = version_in(file.get(), path, kind);
  if (!version) return version;  // files of other programs keep their mode
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0) return cannot_have(path, kind, std::strerror(errno));
  const bool is_to_be_private = facts.st_uid == ::geteuid() && (facts.st_mode & 0077) != 0;
  if (is_to_be_private && ::fchmod(file.get(), 0600) != 0) return cannot_have(path, kind, std::strerror(errno));
  return version;
}

/// Creates the tables of a new file in one transaction. `kind.before` has settings that cannot be changed later.
result<void> make_tables(connection& on, const file_kind& kind) {
  auto version = on.number("PRAGMA user_version");
  if (!version) return tl::unexpected(std::move(version.error()));
  if (*version == kind.version) return {};
  if (*version > kind.version)
    return fail(errc::source_unavailable, "it was written by a newer version of this program; give another path");
  const bool is_older = *version > 0 && !kind.upgrades.empty();
  HONDANA_TRY(is_older ? result<void>() : on.run(kind.before));
  auto making = transaction::begin(on);
  if (!making) return tl::unexpected(std::move(making.error()));
  const auto marks =
      "PRAGMA application_id=" + std::to_string(kind.application) + "; PRAGMA user_version=" + std::to_string(kind.version);
  for (auto from = *version; is_older && from < kind.version; ++from) {
    HONDANA_TRY(on.run(kind.upgrades[static_cast<std::size_t>(from - 1)]));
  }
  HONDANA_TRY(is_older ? result<void>() : on.run(kind.schema));
  HONDANA_TRY(on.run(marks.c_str()));
  return making->commit();
}

result<connection> connect(const std::string& path, const file_kind& kind) {
  auto out = connection::open(path, kind.what);
  if (!out) return out;
  HONDANA_TRY(make_tables(*out, kind));
  if (path.empty()) return out;
  HONDANA_TRY(out->run(kind.settings));
  HONDANA_TRY(auto mode, out->text("PRAGMA journal_mode"));
  if (mode != "wal")
    return fail(errc::source_unavailable,
                "its file system does not support shared memory between connections; use a local file system",
                "journal_mode " + mode);
  return out;
}

std::string beside(const std::string& path, const char* ending) { return path + ending; }

result<void> check_pages(connection& on, const file_kind& kind) {
  HONDANA_TRY(auto said, on.text("PRAGMA quick_check(1)"));
  if (said != "ok") return tl::unexpected(damaged("the " + std::string(kind.what) + " is damaged", said));
  return {};
}

/// The files that were moved aside, newest first.
std::vector<std::filesystem::path> moved_aside(const std::string& path, std::string& problem) {
  const std::filesystem::path of(path);
  const auto begin = of.filename().string() + ".damaged-";
  std::error_code why;
  std::vector<std::pair<std::pair<std::uint64_t, std::uint64_t>, std::filesystem::path>> found;
  for (std::filesystem::directory_iterator at(of.parent_path(), why), end; !why && at != end; at.increment(why)) {
    const auto name = at->path().filename().string();
    if (!name.starts_with(begin)) continue;
    // SECONDS or SECONDS-COUNT, and nothing else.
    std::pair<std::uint64_t, std::uint64_t> when;
    const char* const last = name.data() + name.size();
    auto read = std::from_chars(name.data() + begin.size(), last, when.first);
    if (read.ec == std::errc() && read.ptr != last && *read.ptr == '-') read = std::from_chars(read.ptr + 1, last, when.second);
    if (read.ec == std::errc() && read.ptr == last) found.emplace_back(when, at->path());
  }
  if (why) problem = why.message();
  std::sort(found.rbegin(), found.rend());
  std::vector<std::filesystem::path> out;
  out.reserve(found.size());
  for (auto& one : found) out.push_back(std::move(one.second));
  return out;
}

/// Deletes the files that were moved aside earlier, except `newest` and one more for inspection.
/// `newest` is retained even if the clock was changed. Returns why this failed; empty: it succeeded.
std::string forget_moved_aside(const std::string& path, const std::string& newest) {
  std::string problem;
  auto all = moved_aside(path, problem);
  std::erase(all, std::filesystem::path(newest));
  for (std::size_t i = 1; i < all.size(); ++i) {
    for (const auto* ending : {"", "-wal", "-journal"}) {
      if (::unlink(beside(all[i].string(), ending).c_str()) != 0 && errno != ENOENT) problem = std::strerror(errno);
    }
  }
  return problem;
}

}  // namespace

result<void> refuse_foreign(const std::string& path, const file_kind& kind) {
  if (::access(beside(path, ".turns").c_str(), F_OK) == 0) return {};
  result<void> out{};
  // Closing a descriptor of a file releases the locks that SQLite holds on it.
  while_not_open_here(path, [&] {
    const disk::handle file(::open(path.c_str(), flags_for_looking));
    // If it cannot be opened here, the later opening reports the error.
    if (!file.is_open()) return;
    if (const auto version = version_in(file.get(), path, kind); !version) out = tl::unexpected(version.error());
  });
  return out;
}

result<std::optional<std::uint32_t>> version_at(const std::string& path, const file_kind& kind) {
  const disk::handle file(::open(path.c_str(), flags_for_looking));
  if (!file.is_open()) {
    if (errno == ENOENT) return std::optional<std::uint32_t>();
    return cannot_have(path, kind, std::strerror(errno));
  }
  return version_in(file.get(), path, kind).map([](std::uint32_t version) { return std::optional(version); });
}

result<void> check_whole(connection& on, const file_kind& kind) {
  auto checked = check_pages(on, kind);
  return checked && kind.check[0] != '\0' ? on.run(kind.check) : checked;
}

tl::unexpected<failure> cannot_have(const std::string& path, const file_kind& kind, const std::string& why, std::string inner) {
  return fail(errc::source_unavailable, "cannot " + std::string(kind.purpose) + " in " + path + ": " + why, std::move(inner));
}

std::uint64_t bytes_on_disk(const std::string& path) noexcept {
  std::uint64_t out = 0;
  for (const auto* ending : {"", "-wal"}) {
    struct stat facts{};
    if (::stat(beside(path, ending).c_str(), &facts) == 0) out += static_cast<std::uint64_t>(facts.st_size);
  }
  return out;
}

std::optional<file_identity> identity_of(const std::string& path) noexcept {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
  return file_identity{facts.st_dev, facts.st_ino};
}

bool is_suspect(const std::string& path) noexcept { return ::access(beside(path, ".suspect").c_str(), F_OK) == 0; }

void suspect(const std::string& path) noexcept {
  const disk::handle mark(::open(beside(path, ".suspect").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
}

void trust(const std::string& path) noexcept { ::unlink(beside(path, ".suspect").c_str()); }

result<void> move_aside(const std::string& path, const file_kind& kind, std::string_view why,
                        const std::function<void(std::string_view)>& log) {
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  auto aside = path + ".damaged-" + std::to_string(now);
  for (int i = 2; ::access(aside.c_str(), F_OK) == 0; ++i)
    aside = path + ".damaged-" + std::to_string(now) + '-' + std::to_string(i);
  for (const auto* ending : {"-wal", "-journal", ""}) {
    const auto from = path + ending;
    if (std::rename(from.c_str(), (aside + ending).c_str()) != 0 && errno != ENOENT)
      return cannot_have(path, kind, "it is damaged and cannot be moved aside; move it away", std::strerror(errno));
  }
  ::unlink(beside(path, "-shm").c_str());
  trust(path);
  if (log)
    log("the " + std::string(kind.what) + ' ' + path + " is damaged (" + std::string(why) + "): it was moved to " + aside +
        ", and a new one was created");
  if (const auto problem = forget_moved_aside(path, aside); !problem.empty() && log)
    log("older damaged files that were moved aside cannot be removed (" + problem + "): " + path + ".damaged-*");
  return {};
}

result<void> remove_owned(const std::string& path, const file_kind& kind) {
  for (const auto* ending : {"", "-wal", "-journal", "-shm"}) {
    if (::unlink(beside(path, ending).c_str()) != 0 && errno != ENOENT)
      return cannot_have(path, kind, "the old file cannot be removed", std::strerror(errno));
  }
  trust(path);
  return {};
}

result<std::optional<disk::handle>> lock_owned(const std::string& path, const file_kind& kind,
                                               std::chrono::milliseconds patience) {
  auto lock = disk::lock_beside(path, "store", patience, {});
  if (lock) return std::optional(std::move(*lock));
  if (lock.error().code == errc::timed_out) return std::optional<disk::handle>();
  return cannot_have(path, kind, lock.error().public_text, lock.error().private_text);
}

bool is_lock_of(const std::string& path, const disk::handle& lock) noexcept {
  struct stat held{};
  struct stat named{};
  return ::fstat(lock.get(), &held) == 0 && ::stat(beside(path, ".turns").c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

result<disk::handle> hold_names(const std::string& path, const file_kind& kind) {
  auto held = disk::lock_beside(path, "names", patience_for_names, {});
  if (held) return held;
  return cannot_have(path, kind, held.error().public_text, held.error().private_text);
}

namespace {

/// How a file is opened.
struct opening {
  disk::handle lock{};
  bool is_open_here = false;  ///< By a connection of this process.
  bool is_alone = true;       ///< No other process has it open for writing.
};

result<owned_file> open_checked(const std::string& path, const file_kind& kind, opening how,
                                const std::function<void(std::string_view)>& log) {
  owned_file out;
  out.lock = std::move(how.lock);
  for (bool is_second = false;; is_second = true) {
    if (!how.is_open_here || is_second) {
      auto looked = look_at_head(path, kind);
      if (looked && *looked != 0 && *looked < kind.version && kind.replaces_older) {
        HONDANA_TRY(remove_owned(path, kind));
        looked = look_at_head(path, kind);
        if (log)
          log("the " + std::string(kind.what) + ' ' + path + " is of an older version of this program: it was recreated");
      }
      if (!looked) return tl::unexpected(std::move(looked.error()));
    }
    if (kind.is_shared) out.in_use = note_open_here(path);
    auto connected = connect(path, kind);
    result<void> checked{};
    const bool was_suspect = is_suspect(path);
    const auto bytes = bytes_on_disk(path);
    if (connected && (was_suspect || (how.is_alone && bytes <= quickly_checked)))
      checked = was_suspect || bytes <= checked_by_kind ? check_whole(*connected, kind) : check_pages(*connected, kind);
    const failure* wrong = !connected ? &connected.error() : !checked ? &checked.error() : nullptr;
    if (wrong == nullptr) {
      out.was_suspect = was_suspect;
      out.writer = std::move(*connected);
      return out;
    }
    if (is_second || !says_damaged(*wrong)) return cannot_have(path, kind, wrong->public_text, wrong->private_text);
    const std::string why = wrong->private_text;
    if (connected) *connected = connection();
    out.in_use.reset();
    if (!how.is_alone)
      return cannot_have(path, kind,
                         "it is damaged, and another process has it open; stop that process, and the file is moved aside", why);
    HONDANA_TRY(move_aside(path, kind, why, log));
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
  if (path.front() != '/') return cannot_have(path, kind, "the path must be absolute");
  HONDANA_TRY(refuse_foreign(path, kind));
  HONDANA_TRY(auto lock, lock_owned(path, kind, kind.is_shared ? patience_with_openers : usual_patience));
  if (!lock) return cannot_have(path, kind, std::string(kind.user) + "; stop that process, or give another path");
  if (!kind.is_shared) return open_locked(path, kind, std::move(*lock), false, log);
  // For a shared file, the lock is only held while it is opened.
  bool is_alone = true;
  HONDANA_TRY(auto user, join_users(path, kind, is_alone));
  return open_checked(path, kind, {.lock = std::move(user), .is_open_here = has_open_here(path), .is_alone = is_alone}, log);
}

result<owned_file> open_locked(const std::string& path, const file_kind& kind, disk::handle lock, bool is_open_here,
                               const std::function<void(std::string_view)>& log) {
  return open_checked(path, kind, {.lock = std::move(lock), .is_open_here = is_open_here}, log);
}

}  // namespace hondana::sqlite
