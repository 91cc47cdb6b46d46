/// Opens a screened repository with libgit2: its configuration in memory, its object folders, and a safe reader of loose
/// objects.
#include "sources/git/repository_handle.hpp"

#include <fcntl.h>
#include <git2.h>
#include <git2/odb_backend.h>
#include <git2/sys/config.h>
#include <git2/sys/odb_backend.h>
#include <git2/sys/repository.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "os/disk/file_descriptor.hpp"
#include "sources/git/git_config.hpp"
#include "sources/git/libgit2.hpp"

namespace hondana::git {

/// A read-only configuration with all settings that libgit2 may see. Errors: source_unavailable.
[[nodiscard]] result<config_pointer> config_of(std::vector<setting> settings);

namespace {

using shared_settings = std::shared_ptr<const std::vector<setting>>;

struct known_settings : git_config_backend {
  shared_settings all;
};

/// One setting for libgit2. Its texts live as long as it does.
struct known_entry : git_config_entry {
  shared_settings all;
};

struct settings_iterator : git_config_iterator {
  shared_settings all;
  std::size_t at = 0;
  known_entry current;  // valid until the next call
};

void fill(known_entry& entry, const setting& from) {
  static_cast<git_config_entry&>(entry) = git_config_entry{};
  entry.name = from.name.c_str();
  entry.value = from.value ? from.value->c_str() : nullptr;
  entry.level = GIT_CONFIG_LEVEL_LOCAL;
}

known_settings& own(git_config_backend* of) { return *static_cast<known_settings*>(of); }

int open_known(git_config_backend*, git_config_level_t, const git_repository*) { return 0; }

int get_known(git_config_backend* of, const char* key, git_config_entry** out) {
  const auto& all = own(of).all;
  // The last one counts.
  for (auto one = all->rbegin(); one != all->rend(); ++one) {
    if (one->name != key) continue;
    auto entry = std::make_unique<known_entry>();
    fill(*entry, *one);
    entry->all = all;
    entry->free = [](git_config_entry* which) { delete static_cast<known_entry*>(which); };
    *out = entry.release();
    return 0;
  }
  return GIT_ENOTFOUND;
}

int next_known(git_config_entry** out, git_config_iterator* of) {
  auto& walk = *static_cast<settings_iterator*>(of);
  if (walk.at == walk.all->size()) return GIT_ITEROVER;
  fill(walk.current, (*walk.all)[walk.at++]);
  walk.current.free = [](git_config_entry*) {};
  *out = &walk.current;
  return 0;
}

int iterate_known(git_config_iterator** out, git_config_backend* of) {
  auto walk = std::make_unique<settings_iterator>();
  walk->backend = of;
  walk->next = next_known;
  walk->free = [](git_config_iterator* which) { delete static_cast<settings_iterator*>(which); };
  walk->all = own(of).all;
  *out = walk.release();
  return 0;
}

int snapshot_known(git_config_backend** out, git_config_backend* of);

int refuse_to_write() { return GIT_ERROR; }

std::unique_ptr<known_settings> backend_of(shared_settings all) {
  auto made = std::make_unique<known_settings>();
  git_config_init_backend(made.get(), GIT_CONFIG_BACKEND_VERSION);
  made->readonly = 1;
  made->open = open_known;
  made->get = get_known;
  made->set = [](git_config_backend*, const char*, const char*) { return refuse_to_write(); };
  made->set_multivar = [](git_config_backend*, const char*, const char*, const char*) { return refuse_to_write(); };
  made->del = [](git_config_backend*, const char*) { return refuse_to_write(); };
  made->del_multivar = [](git_config_backend*, const char*, const char*) { return refuse_to_write(); };
  made->iterator = iterate_known;
  made->snapshot = snapshot_known;
  made->lock = [](git_config_backend*) { return refuse_to_write(); };
  made->unlock = [](git_config_backend*, int) { return 0; };
  made->free = [](git_config_backend* which) { delete static_cast<known_settings*>(which); };
  made->all = std::move(all);
  return made;
}

int snapshot_known(git_config_backend** out, git_config_backend* of) {
  *out = backend_of(own(of).all).release();
  return 0;
}

}  // namespace

result<config_pointer> config_of(std::vector<setting> settings) {
  constexpr std::string_view said = "the repository's configuration cannot be held in memory";
  git_config* raw = nullptr;
  if (const int code = git_config_new(&raw); code < 0) return failed(std::string(said));
  config_pointer made(raw);
  auto backend = backend_of(std::make_shared<const std::vector<setting>>(std::move(settings)));
  const int code = git_config_add_backend(raw, backend.get(), GIT_CONFIG_LEVEL_LOCAL, nullptr, 0);
  if (code < 0) return failed(std::string(said));
  (void)backend.release();  // the configuration owns it now
  return made;
}

/// A read-only backend for the loose objects in `folder`. Only reading is done here; everything else is libgit2's. Many
/// versions of libgit2 (such as 1.5) have two bugs. If an object is longer than its header says, they write beyond the end of a
/// buffer (its issue 7177). For a truncated object, they never return. Here both are errors, and so are objects above 512 MiB.
/// Codes are libgit2's. The caller frees the result.
[[nodiscard]] int loose_objects(git_odb_backend** out, const std::string& folder);

namespace {

constexpr std::size_t largest_loose = std::size_t{512} << 20;
constexpr std::size_t read_at_once = std::size_t{32} << 10;
// For `commit 18446744073709551615` and its NUL, and more than git accepts.
constexpr std::size_t longest_header = 32;

int is_broken(const char* why) {
  git_error_set_str(GIT_ERROR_ODB, why);
  return GIT_ERROR;
}

/// A compressed file, read from front to end.
class inflated_file {
 public:
  explicit inflated_file(disk::handle file) noexcept : file_(std::move(file)) { is_ready_ = ::inflateInit(&stream_) == Z_OK; }
  ~inflated_file() {
    if (is_ready_) ::inflateEnd(&stream_);
  }
  inflated_file(const inflated_file&) = delete;
  inflated_file& operator=(const inflated_file&) = delete;

  /// Fills `to`, as far as there is data. Nothing: the file is damaged.
  std::optional<std::size_t> read(std::span<char> to) {
    std::size_t done = 0;
    while (is_ready_ && done < to.size() && !is_over_) {
      if (stream_.avail_in == 0 && !refill()) return std::nullopt;
      const auto room = std::min(to.size() - done, read_at_once);
      stream_.next_out = reinterpret_cast<Bytef*>(to.data() + done);
      stream_.avail_out = static_cast<uInt>(room);
      const int code = ::inflate(&stream_, Z_NO_FLUSH);
      done += room - stream_.avail_out;
      if (code != Z_OK && code != Z_STREAM_END) return std::nullopt;
      is_over_ = code == Z_STREAM_END;
    }
    return is_ready_ ? std::optional(done) : std::nullopt;
  }

  /// Whether everything was read, and nothing follows it.
  [[nodiscard]] bool has_ended() { return is_over_ && stream_.avail_in == 0 && !refill(); }

 private:
  /// False at the end of the file, or if it cannot be read.
  bool refill() {
    const auto count = disk::read_at(file_.get(), reinterpret_cast<char*>(in_.data()), in_.size(), offset_);
    if (!count || *count == 0) return false;
    offset_ += *count;
    stream_.next_in = in_.data();
    stream_.avail_in = static_cast<uInt>(*count);
    return true;
  }

  disk::handle file_;
  std::uint64_t offset_ = 0;
  z_stream stream_{};
  bool is_ready_ = false, is_over_ = false;
  std::array<Bytef, read_at_once> in_;
};

struct loose_header {
  git_object_t kind = GIT_OBJECT_INVALID;
  std::size_t size = 0;
  std::size_t length = 0;  ///< Of the header itself.
};

std::optional<loose_header> header_of(std::string_view front) {
  const auto end = front.find('\0');
  const auto space = front.find(' ');
  if (end == std::string_view::npos || space > end) return std::nullopt;
  loose_header header;
  for (const auto kind : {GIT_OBJECT_COMMIT, GIT_OBJECT_TREE, GIT_OBJECT_BLOB, GIT_OBJECT_TAG})
    if (front.substr(0, space) == git_object_type2string(kind)) header.kind = kind;
  const auto digits = front.substr(space + 1, end - space - 1);
  const auto [last, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), header.size);
  if (problem != std::errc() || last != digits.data() + digits.size()) return std::nullopt;
  header.length = end + 1;
  return header.kind == GIT_OBJECT_INVALID ? std::nullopt : std::optional(header);
}

struct loose_backend : git_odb_backend {
  git_odb_backend* theirs = nullptr;
  std::string folder;
};

loose_backend* ours(git_odb_backend* of) noexcept { return static_cast<loose_backend*>(of); }

/// Does not wait for the writer of a FIFO. Returns a code of libgit2.
int open_loose(disk::handle& file, git_odb_backend* from, const git_oid* id) {
  const auto digits = text_of(*id);
  const auto path = ours(from)->folder + '/' + digits.substr(0, 2) + '/' + digits.substr(2);
  file = disk::handle(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) {
    if (errno != ENOENT && errno != ENOTDIR) return is_broken(std::strerror(errno));
    git_error_set_str(GIT_ERROR_ODB, "no such loose object");
    return GIT_ENOTFOUND;
  }
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return is_broken("a loose object is not a regular file");
  return 0;
}

int read_loose_header(std::size_t* size, git_object_t* kind, git_odb_backend* from, const git_oid* id) {
  disk::handle file;
  if (const int code = open_loose(file, from, id); code < 0) return code;
  const auto unpacked = std::make_unique<inflated_file>(std::move(file));
  std::array<char, longest_header> front{};
  const auto begun = unpacked->read(front);
  const auto header = begun ? header_of({front.data(), *begun}) : std::nullopt;
  if (!header) return is_broken("a loose object has an invalid header");
  *size = header->size;
  *kind = header->kind;
  return 0;
}

int read_loose(void** bytes, std::size_t* size, git_object_t* kind, git_odb_backend* from, const git_oid* id) {
  disk::handle file;
  if (const int code = open_loose(file, from, id); code < 0) return code;
  const auto unpacked = std::make_unique<inflated_file>(std::move(file));
  std::array<char, longest_header> front{};
  const auto begun = unpacked->read(front);
  const auto header = begun ? header_of({front.data(), *begun}) : std::nullopt;
  if (!header) return is_broken("a loose object has an invalid header");
  if (header->size > largest_loose) return is_broken("a loose object is larger than 512 MiB");
  const auto taken = *begun - header->length;
  if (taken > header->size) return is_broken("a loose object is longer than its header says");

  const auto release = [from](void* of) { git_odb_backend_data_free(from, of); };
  // libgit2 expects a NUL after every object.
  const auto room = header->size + 1;
  std::unique_ptr<void, decltype(release)> buffer(git_odb_backend_data_alloc(from, room), release);
  if (!buffer) return GIT_ERROR;
  const std::span<char> all(static_cast<char*>(buffer.get()), room);
  std::copy_n(front.data() + header->length, taken, all.data());
  const auto rest = unpacked->read(all.subspan(taken));
  if (!rest || taken + *rest != header->size || !unpacked->has_ended())
    return is_broken("a loose object is damaged, or not as long as its header says");
  all.back() = '\0';
  *bytes = buffer.release();
  *size = header->size;
  *kind = header->kind;
  return 0;
}

int read_loose_prefix(git_oid* found, void** bytes, std::size_t* size, git_object_t* kind, git_odb_backend* from,
                      const git_oid* front, std::size_t digits) {
  if (const int code = from->exists_prefix(found, from, front, digits); code < 0) return code;
  return read_loose(bytes, size, kind, from, found);
}

void free_loose(git_odb_backend* of) {
  const std::unique_ptr<loose_backend> owner(ours(of));
  if (owner->theirs != nullptr) owner->theirs->free(owner->theirs);
}

}  // namespace

int loose_objects(git_odb_backend** out, const std::string& folder) {
  auto made = std::make_unique<loose_backend>();
  if (const int code = git_odb_init_backend(made.get(), GIT_ODB_BACKEND_VERSION); code < 0) return code;
  if (const int code = git_odb_backend_loose(&made->theirs, folder.c_str(), -1, 0, 0, 0); code < 0) return code;
  made->folder = folder;
  made->read = read_loose;
  made->read_prefix = read_loose_prefix;
  made->free = free_loose;
  made->read_header = read_loose_header;
  made->exists = [](git_odb_backend* from, const git_oid* id) {
    auto* const theirs = ours(from)->theirs;
    return theirs->exists(theirs, id);
  };
  made->exists_prefix = [](git_oid* found, git_odb_backend* from, const git_oid* front, std::size_t digits) {
    auto* const theirs = ours(from)->theirs;
    return theirs->exists_prefix(found, theirs, front, digits);
  };
  made->foreach = [](git_odb_backend* from, git_odb_foreach_cb visit, void* with) {
    auto* const theirs = ours(from)->theirs;
    return theirs->foreach (theirs, visit, with);
  };
  *out = made.release();
  return 0;
}

namespace {

constexpr std::string_view cannot_open =
    "the repository cannot be opened, though its files look right. Run `git fsck` for details";

/// Priorities as in git: packs before loose objects, and a repository's own objects before borrowed ones.
constexpr int of_packs = 2, of_loose = 1;

using backend_pointer = std::unique_ptr<git_odb_backend, void (*)(git_odb_backend*)>;

int add(git_odb* to, git_odb_backend* raw, int priority, bool is_own) {
  backend_pointer backend(raw, [](git_odb_backend* of) {
    if (of->free != nullptr) of->free(of);
  });
  // libgit2 searches its "alternates" last, and never writes to them.
  const int code = is_own ? git_odb_add_backend(to, raw, priority) : git_odb_add_alternate(to, raw, priority);
  if (code == 0) (void)backend.release();  // the database owns it now
  return code;
}

int add_folder(git_odb* to, const std::string& folder, bool is_own) {
  git_odb_backend* raw = nullptr;
  if (const int code = loose_objects(&raw, folder); code < 0) return code;
  if (const int code = add(to, raw, of_loose, is_own); code < 0) return code;
  if (const int code = git_odb_backend_pack(&raw, folder.c_str()); code < 0) return code;
  return add(to, raw, of_packs, is_own);
}

}  // namespace

result<repository_pointer> open_surveyed(const surveyed& what) {
  HONDANA_TRY(ready());
  HONDANA_TRY(auto config, config_of(what.settings));

  git_odb* raw_objects = nullptr;
  if (const int code = git_odb_new(&raw_objects); code < 0) return failed(std::string(cannot_open));
  const odb_pointer objects(raw_objects);
  bool is_own = true;
  for (const auto& one : what.where.object_folders)
    if (const int code = add_folder(raw_objects, one, std::exchange(is_own, false)); code < 0)
      return failed(std::string(cannot_open));

  git_repository* raw = nullptr;
  if (const int code = git_repository_open_bare(&raw, what.where.git_folder.c_str()); code < 0)
    return fail(errc::source_unavailable, std::string(cannot_open), last_words());
  repository_pointer opened(raw);
  if (const int code = git_repository_set_config(raw, config.get()); code < 0) return failed(std::string(cannot_open));
  if (const int code = git_repository_set_odb(raw, raw_objects); code < 0) return failed(std::string(cannot_open));
  if (!what.where.work_tree.empty()) {
    if (const int code = git_repository_set_workdir(raw, what.where.work_tree.c_str(), 0); code < 0)
      return failed(std::string(cannot_open));
    // libgit2 follows links, and the path may have become one since the survey.
    if (git_repository_workdir(raw) != what.where.work_tree + '/')
      return fail(errc::source_unavailable, std::string(cannot_open), "its work tree has become a link");
  }
  return opened;
}

}  // namespace hondana::git
