/// Looking at a file before SQLite does, and making its tables.
#include "sqlite/owned_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "disk/private_file.hpp"
#include "disk/read_at.hpp"

namespace hondana::sqlite {
namespace {

constexpr std::uint64_t quickly_checked = 64u << 20;

/// For a store that this process itself is letting go of, as when its source is configured anew.
constexpr std::chrono::milliseconds patience{1000};
/// For others who open the same shared file, and perhaps check it whole.
constexpr std::chrono::milliseconds patience_with_openers{15'000};

std::uint32_t big_endian_at(const char* bytes) noexcept {
  std::uint32_t out = 0;
  for (int i = 0; i < 4; ++i) out = out << 8 | static_cast<unsigned char>(bytes[i]);
  return out;
}

/// Before SQLite has opened it: closing any descriptor of a file gives up the locks that SQLite holds of it.
result<void> look_at_head(const std::string& path, const file_kind& kind) {
  disk::handle file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600));
  if (!file.is_open()) return cannot_have(path, kind, std::strerror(errno));
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0) return cannot_have(path, kind, std::strerror(errno));
  if (!S_ISREG(facts.st_mode)) return cannot_have(path, kind, "it is no file; give the path of one");
  if (facts.st_uid == ::geteuid() && (facts.st_mode & 0077) != 0 && ::fchmod(file.get(), 0600) != 0)
    return cannot_have(path, kind, std::strerror(errno));
  char head[100]{};
  const auto got = disk::read_at(file.get(), head, sizeof head, 0);
  if (!got) return cannot_have(path, kind, std::strerror(got.error()));
  // Zeros, or fewer bytes than a head with a journal beside: it was being made when the power went.
  static constexpr char zeros[100]{};
  if (std::memcmp(head, zeros, sizeof head) == 0) return {};
  const std::string what_to_do = "; give another path, or move that file away";
  if (*got < sizeof head || std::memcmp(head, "SQLite format 3", 16) != 0)
    return cannot_have(path, kind, "it is a file of another kind" + what_to_do);
  if (big_endian_at(head + 68) != kind.application)
    return cannot_have(path, kind, "it is another program's SQLite file" + what_to_do);
  if (const auto version = big_endian_at(head + 60); version > kind.version)
    return cannot_have(path, kind,
                       "it was written by a newer version of this program (form " + std::to_string(version) +
                           ", and this one knows " + std::to_string(kind.version) + ")" + what_to_do);
  return {};
}

/// The tables of a new file come at once or not at all; what is set before them cannot be set later.
result<void> make_tables(connection& on, const file_kind& kind) {
  auto version = on.number("PRAGMA user_version");
  if (!version) return tl::unexpected(std::move(version.error()));
  if (*version == kind.version) return {};
  const bool is_older = *version > 0 && !kind.upgrades.empty();
  if (auto set = is_older ? result<void>() : on.run(kind.before); !set) return set;
  auto making = transaction::begin(on);
  if (!making) return tl::unexpected(std::move(making.error()));
  const auto marks =
      "PRAGMA application_id=" + std::to_string(kind.application) + "; PRAGMA user_version=" + std::to_string(kind.version);
  for (auto from = *version; is_older && from < kind.version; ++from) {
    if (auto made = on.run(kind.upgrades[static_cast<std::size_t>(from - 1)]); !made) return made;
  }
  if (auto made = is_older ? result<void>() : on.run(kind.schema); !made) return made;
  if (auto made = on.run(marks.c_str()); !made) return made;
  return making->commit();
}

result<connection> connect(const std::string& path, const file_kind& kind) {
  auto out = connection::open(path, kind.what);
  if (!out) return out;
  if (auto made = make_tables(*out, kind); !made) return tl::unexpected(std::move(made.error()));
  if (path.empty()) return out;
  if (auto set = out->run(kind.settings); !set) return tl::unexpected(std::move(set.error()));
  auto mode = out->text("PRAGMA journal_mode");
  if (!mode) return tl::unexpected(std::move(mode.error()));
  if (*mode != "wal")
    return fail(errc::source_unavailable, "its file system cannot share memory between connections; use a local one",
                "journal_mode " + *mode);
  return out;
}

result<void> check_whole(connection& on, const file_kind& kind) {
  auto said = on.text("PRAGMA quick_check(1)");
  if (!said) return tl::unexpected(std::move(said.error()));
  if (*said != "ok") return fail(errc::source_unavailable, "the " + std::string(kind.what) + " is damaged", *said);
  return {};
}

std::string beside(const std::string& path, const char* ending) { return path + ending; }

/// Which shared files this process has open. Such a file is not opened past SQLite: closing it would give up SQLite's locks.
class files_in_use {
 public:
  using file = std::pair<dev_t, ino_t>;
  static files_in_use& all() {
    static files_in_use one;
    return one;
  }
  [[nodiscard]] bool has(const std::string& path) {
    struct stat facts{};
    if (::stat(path.c_str(), &facts) != 0) return false;
    const std::lock_guard held(mutex_);
    return open_.contains({facts.st_dev, facts.st_ino});
  }
  [[nodiscard]] std::shared_ptr<const void> take(const std::string& path) {
    struct stat facts{};
    if (::stat(path.c_str(), &facts) != 0) return nullptr;
    const file which{facts.st_dev, facts.st_ino};
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

/// How the users of a shared file know of each other.
result<disk::handle> join_users(const std::string& path, const file_kind& kind, bool& is_alone) {
  disk::handle users(::open(beside(path, ".users").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!users.is_open()) return cannot_have(path, kind, "its file of users cannot be made", std::strerror(errno));
  is_alone = ::flock(users.get(), LOCK_EX | LOCK_NB) == 0;
  while (::flock(users.get(), LOCK_SH) != 0) {
    if (errno != EINTR) return cannot_have(path, kind, "its file of users cannot be locked", std::strerror(errno));
  }
  return users;
}

}  // namespace

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
    log("the " + std::string(kind.what) + ' ' + path + " is damaged (" + std::string(why) + "): it is now " + aside +
        ", and a new one is begun");
  return {};
}

result<owned_file> open_owned(const std::string& path, const file_kind& kind,
                              const std::function<void(std::string_view)>& log) {
  owned_file out;
  if (path.empty()) {
    auto memory = connect({}, kind);
    if (!memory) return tl::unexpected(std::move(memory.error()));
    out.writer = std::move(*memory);
    return out;
  }
  if (path.front() != '/') return cannot_have(path, kind, "the path must be absolute");
  auto lock = disk::lock_beside(path, "store", kind.is_shared ? patience_with_openers : patience, {});
  if (!lock && lock.error().code == errc::timed_out)
    return cannot_have(path, kind, std::string(kind.user) + "; end it, or give another path");
  if (!lock) return cannot_have(path, kind, lock.error().public_text, lock.error().private_text);
  // Of a shared file it is held while it is opened.
  bool is_alone = true;
  disk::handle opening;
  if (kind.is_shared) {
    opening = std::move(*lock);
    lock = join_users(path, kind, is_alone);
    if (!lock) return tl::unexpected(std::move(lock.error()));
  }
  out.lock = std::move(*lock);
  for (bool is_second = false;; is_second = true) {
    if (!kind.is_shared || !files_in_use::all().has(path)) {
      if (auto looked = look_at_head(path, kind); !looked) return tl::unexpected(std::move(looked.error()));
    }
    if (kind.is_shared) out.in_use = files_in_use::all().take(path);
    auto connected = connect(path, kind);
    result<void> checked{};
    const bool is_suspect = ::access(beside(path, ".suspect").c_str(), F_OK) == 0;
    if (connected && (is_suspect || (is_alone && bytes_on_disk(path) <= quickly_checked)))
      checked = check_whole(*connected, kind);
    const failure* wrong = !connected ? &connected.error() : !checked ? &checked.error() : nullptr;
    if (wrong == nullptr) {
      out.was_suspect = is_suspect;
      out.writer = std::move(*connected);
      return out;
    }
    if (is_second || !says_damaged(*wrong)) return cannot_have(path, kind, wrong->public_text, wrong->private_text);
    const std::string why = wrong->private_text;
    if (connected) *connected = connection();
    out.in_use.reset();
    if (!is_alone)
      return cannot_have(path, kind, "it is damaged, and another process has it open; end that, and it is moved aside", why);
    if (auto moved = move_aside(path, kind, why, log); !moved) return tl::unexpected(std::move(moved.error()));
  }
}

}  // namespace hondana::sqlite
