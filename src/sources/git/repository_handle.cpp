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
[[nodiscard]] result<config_pointer> make_config(std::vector<setting> settings);

namespace {

using shared_settings = std::shared_ptr<const std::vector<setting>>;

struct settings_backend : git_config_backend {
  shared_settings settings;
};

/// One setting for libgit2. Its texts live as long as it does.
struct settings_entry : git_config_entry {
  shared_settings settings;
};

struct settings_iterator : git_config_iterator {
  shared_settings settings;
  std::size_t position = 0;
  settings_entry current;  // valid until the next call
};

void fill_entry(settings_entry& entry, const setting& source) {
  static_cast<git_config_entry&>(entry) = git_config_entry{};
  entry.name = source.name.c_str();
  entry.value = source.value ? source.value->c_str() : nullptr;
  entry.level = GIT_CONFIG_LEVEL_LOCAL;
}

settings_backend& as_settings_backend(git_config_backend* backend) { return *static_cast<settings_backend*>(backend); }

int open_settings(git_config_backend*, git_config_level_t, const git_repository*) { return 0; }

int get_setting(git_config_backend* backend, const char* key, git_config_entry** out) {
  const auto& settings = as_settings_backend(backend).settings;
  // The last one counts.
  for (auto it = settings->rbegin(); it != settings->rend(); ++it) {
    if (it->name != key) continue;
    auto entry = std::make_unique<settings_entry>();
    fill_entry(*entry, *it);
    entry->settings = settings;
    entry->free = [](git_config_entry* freed) { delete static_cast<settings_entry*>(freed); };
    *out = entry.release();
    return 0;
  }
  return GIT_ENOTFOUND;
}

int next_setting(git_config_entry** out, git_config_iterator* base) {
  auto& iterator = *static_cast<settings_iterator*>(base);
  if (iterator.position == iterator.settings->size()) return GIT_ITEROVER;
  fill_entry(iterator.current, (*iterator.settings)[iterator.position++]);
  iterator.current.free = [](git_config_entry*) {};
  *out = &iterator.current;
  return 0;
}

int iterate_settings(git_config_iterator** out, git_config_backend* backend) {
  auto iterator = std::make_unique<settings_iterator>();
  iterator->backend = backend;
  iterator->next = next_setting;
  iterator->free = [](git_config_iterator* freed) { delete static_cast<settings_iterator*>(freed); };
  iterator->settings = as_settings_backend(backend).settings;
  *out = iterator.release();
  return 0;
}

int snapshot_settings(git_config_backend** out, git_config_backend* backend);

int reject_write() { return GIT_ERROR; }

std::unique_ptr<settings_backend> make_backend(shared_settings settings) {
  auto backend = std::make_unique<settings_backend>();
  git_config_init_backend(backend.get(), GIT_CONFIG_BACKEND_VERSION);
  backend->readonly = 1;
  backend->open = open_settings;
  backend->get = get_setting;
  backend->set = [](git_config_backend*, const char*, const char*) { return reject_write(); };
  backend->set_multivar = [](git_config_backend*, const char*, const char*, const char*) { return reject_write(); };
  backend->del = [](git_config_backend*, const char*) { return reject_write(); };
  backend->del_multivar = [](git_config_backend*, const char*, const char*) { return reject_write(); };
  backend->iterator = iterate_settings;
  backend->snapshot = snapshot_settings;
  backend->lock = [](git_config_backend*) { return reject_write(); };
  backend->unlock = [](git_config_backend*, int) { return 0; };
  backend->free = [](git_config_backend* freed) { delete static_cast<settings_backend*>(freed); };
  backend->settings = std::move(settings);
  return backend;
}

int snapshot_settings(git_config_backend** out, git_config_backend* backend) {
  *out = make_backend(as_settings_backend(backend).settings).release();
  return 0;
}

}  // namespace

result<config_pointer> make_config(std::vector<setting> settings) {
  constexpr std::string_view message = "the repository's configuration cannot be held in memory";
  git_config* raw = nullptr;
  if (const int code = git_config_new(&raw); code < 0) return libgit2_failure(std::string(message));
  config_pointer config(raw);
  auto backend = make_backend(std::make_shared<const std::vector<setting>>(std::move(settings)));
  const int code = git_config_add_backend(raw, backend.get(), GIT_CONFIG_LEVEL_LOCAL, nullptr, 0);
  if (code < 0) return libgit2_failure(std::string(message));
  (void)backend.release();  // the configuration owns it now
  return config;
}

/// A read-only backend for the loose objects in `folder`. Only reading is done here; everything else is libgit2's. Many
/// versions of libgit2 (such as 1.5) have two bugs. If an object is longer than its header says, they write beyond the end of a
/// buffer (its issue 7177). For a truncated object, they never return. Here both are errors, and so are objects above 512 MiB.
/// Codes are libgit2's. The caller frees the result.
[[nodiscard]] int create_loose_backend(git_odb_backend** out, const std::string& folder);

namespace {

constexpr std::size_t max_loose_bytes = std::size_t{512} << 20;
constexpr std::size_t buffer_bytes = std::size_t{32} << 10;
// For `commit 18446744073709551615` and its NUL, and more than git accepts.
constexpr std::size_t max_header_bytes = 32;

int report_broken(const char* reason) {
  git_error_set_str(GIT_ERROR_ODB, reason);
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

  /// Fills `output`, as far as there is data. Nothing: the file is damaged.
  std::optional<std::size_t> read(std::span<char> output) {
    std::size_t count = 0;
    while (is_ready_ && count < output.size() && !is_at_end_) {
      if (stream_.avail_in == 0 && !refill()) return std::nullopt;
      const auto chunk_bytes = std::min(output.size() - count, buffer_bytes);
      stream_.next_out = reinterpret_cast<Bytef*>(output.data() + count);
      stream_.avail_out = static_cast<uInt>(chunk_bytes);
      const int code = ::inflate(&stream_, Z_NO_FLUSH);
      count += chunk_bytes - stream_.avail_out;
      if (code != Z_OK && code != Z_STREAM_END) return std::nullopt;
      is_at_end_ = code == Z_STREAM_END;
    }
    return is_ready_ ? std::optional(count) : std::nullopt;
  }

  /// Whether everything was read, and nothing follows it.
  [[nodiscard]] bool is_finished() { return is_at_end_ && stream_.avail_in == 0 && !refill(); }

 private:
  /// False at the end of the file, or if it cannot be read.
  bool refill() {
    const auto count = disk::read_at(file_.get(), reinterpret_cast<char*>(input_.data()), input_.size(), offset_);
    if (!count || *count == 0) return false;
    offset_ += *count;
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(*count);
    return true;
  }

  disk::handle file_;
  std::uint64_t offset_ = 0;
  z_stream stream_{};
  bool is_ready_ = false, is_at_end_ = false;
  std::array<Bytef, buffer_bytes> input_;
};

struct loose_header {
  git_object_t kind = GIT_OBJECT_INVALID;
  std::size_t size = 0;
  std::size_t length = 0;  ///< Of the header itself.
};

std::optional<loose_header> parse_header(std::string_view prefix) {
  const auto end = prefix.find('\0');
  const auto space = prefix.find(' ');
  if (end == std::string_view::npos || space > end) return std::nullopt;
  loose_header header;
  for (const auto kind : {GIT_OBJECT_COMMIT, GIT_OBJECT_TREE, GIT_OBJECT_BLOB, GIT_OBJECT_TAG})
    if (prefix.substr(0, space) == git_object_type2string(kind)) header.kind = kind;
  const auto digits = prefix.substr(space + 1, end - space - 1);
  const auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), header.size);
  if (error != std::errc() || last != digits.data() + digits.size()) return std::nullopt;
  header.length = end + 1;
  return header.kind == GIT_OBJECT_INVALID ? std::nullopt : std::optional(header);
}

struct loose_backend : git_odb_backend {
  git_odb_backend* builtin = nullptr;
  std::string folder;
};

loose_backend* as_loose_backend(git_odb_backend* backend) noexcept { return static_cast<loose_backend*>(backend); }

/// Does not wait for the writer of a FIFO. Returns a code of libgit2.
int open_loose(disk::handle& file, git_odb_backend* backend, const git_oid* id) {
  const auto hex = to_hex(*id);
  const auto path = as_loose_backend(backend)->folder + '/' + hex.substr(0, 2) + '/' + hex.substr(2);
  file = disk::handle(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) {
    if (errno != ENOENT && errno != ENOTDIR) return report_broken(std::strerror(errno));
    git_error_set_str(GIT_ERROR_ODB, "no such loose object");
    return GIT_ENOTFOUND;
  }
  struct stat attributes{};
  if (::fstat(file.get(), &attributes) != 0 || !S_ISREG(attributes.st_mode))
    return report_broken("a loose object is not a regular file");
  return 0;
}

int read_loose_header(std::size_t* size, git_object_t* kind, git_odb_backend* backend, const git_oid* id) {
  disk::handle file;
  if (const int code = open_loose(file, backend, id); code < 0) return code;
  const auto unpacked = std::make_unique<inflated_file>(std::move(file));
  std::array<char, max_header_bytes> prefix{};
  const auto header_bytes = unpacked->read(prefix);
  const auto header = header_bytes ? parse_header({prefix.data(), *header_bytes}) : std::nullopt;
  if (!header) return report_broken("a loose object has an invalid header");
  *size = header->size;
  *kind = header->kind;
  return 0;
}

int read_loose(void** bytes, std::size_t* size, git_object_t* kind, git_odb_backend* backend, const git_oid* id) {
  disk::handle file;
  if (const int code = open_loose(file, backend, id); code < 0) return code;
  const auto unpacked = std::make_unique<inflated_file>(std::move(file));
  std::array<char, max_header_bytes> prefix{};
  const auto header_bytes = unpacked->read(prefix);
  const auto header = header_bytes ? parse_header({prefix.data(), *header_bytes}) : std::nullopt;
  if (!header) return report_broken("a loose object has an invalid header");
  if (header->size > max_loose_bytes) return report_broken("a loose object is larger than 512 MiB");
  const auto copied = *header_bytes - header->length;
  if (copied > header->size) return report_broken("a loose object is longer than its header says");

  const auto release = [backend](void* data) { git_odb_backend_data_free(backend, data); };
  // libgit2 expects a NUL after every object.
  const auto capacity = header->size + 1;
  std::unique_ptr<void, decltype(release)> buffer(git_odb_backend_data_alloc(backend, capacity), release);
  if (!buffer) return GIT_ERROR;
  const std::span<char> content(static_cast<char*>(buffer.get()), capacity);
  std::copy_n(prefix.data() + header->length, copied, content.data());
  const auto remaining = unpacked->read(content.subspan(copied));
  if (!remaining || copied + *remaining != header->size || !unpacked->is_finished())
    return report_broken("a loose object is damaged, or not as long as its header says");
  content.back() = '\0';
  *bytes = buffer.release();
  *size = header->size;
  *kind = header->kind;
  return 0;
}

int read_loose_prefix(git_oid* id, void** bytes, std::size_t* size, git_object_t* kind, git_odb_backend* backend,
                      const git_oid* prefix, std::size_t prefix_digits) {
  if (const int code = backend->exists_prefix(id, backend, prefix, prefix_digits); code < 0) return code;
  return read_loose(bytes, size, kind, backend, id);
}

void free_loose(git_odb_backend* backend) {
  const std::unique_ptr<loose_backend> owner(as_loose_backend(backend));
  if (owner->builtin != nullptr) owner->builtin->free(owner->builtin);
}

}  // namespace

int create_loose_backend(git_odb_backend** out, const std::string& folder) {
  auto created = std::make_unique<loose_backend>();
  if (const int code = git_odb_init_backend(created.get(), GIT_ODB_BACKEND_VERSION); code < 0) return code;
  if (const int code = git_odb_backend_loose(&created->builtin, folder.c_str(), -1, 0, 0, 0); code < 0) return code;
  created->folder = folder;
  created->read = read_loose;
  created->read_prefix = read_loose_prefix;
  created->free = free_loose;
  created->read_header = read_loose_header;
  created->exists = [](git_odb_backend* backend, const git_oid* id) {
    auto* const builtin = as_loose_backend(backend)->builtin;
    return builtin->exists(builtin, id);
  };
  created->exists_prefix = [](git_oid* id, git_odb_backend* backend, const git_oid* prefix, std::size_t prefix_digits) {
    auto* const builtin = as_loose_backend(backend)->builtin;
    return builtin->exists_prefix(id, builtin, prefix, prefix_digits);
  };
  created->foreach = [](git_odb_backend* backend, git_odb_foreach_cb visit, void* payload) {
    auto* const builtin = as_loose_backend(backend)->builtin;
    return builtin->foreach (builtin, visit, payload);
  };
  *out = created.release();
  return 0;
}

namespace {

constexpr std::string_view open_failure =
    "the repository cannot be opened, though its files look right. Run `git fsck` for details";

/// Priorities as in git: packs before loose objects, and a repository's own objects before borrowed ones.
constexpr int pack_priority = 2, loose_priority = 1;

using backend_pointer = std::unique_ptr<git_odb_backend, void (*)(git_odb_backend*)>;

int add_backend(git_odb* database, git_odb_backend* raw, int priority, bool is_own) {
  backend_pointer backend(raw, [](git_odb_backend* owned) {
    if (owned->free != nullptr) owned->free(owned);
  });
  // libgit2 searches its "alternates" last, and never writes to them.
  const int code = is_own ? git_odb_add_backend(database, raw, priority) : git_odb_add_alternate(database, raw, priority);
  if (code == 0) (void)backend.release();  // the database owns it now
  return code;
}

int add_folder(git_odb* database, const std::string& folder, bool is_own) {
  git_odb_backend* raw = nullptr;
  if (const int code = create_loose_backend(&raw, folder); code < 0) return code;
  if (const int code = add_backend(database, raw, loose_priority, is_own); code < 0) return code;
  if (const int code = git_odb_backend_pack(&raw, folder.c_str()); code < 0) return code;
  return add_backend(database, raw, pack_priority, is_own);
}

}  // namespace

result<repository_pointer> open_screened(const screened_repository& screened) {
  HONDANA_TRY(initialize_libgit2());
  HONDANA_TRY(auto config, make_config(screened.settings));

  git_odb* raw_objects = nullptr;
  if (const int code = git_odb_new(&raw_objects); code < 0) return libgit2_failure(std::string(open_failure));
  const odb_pointer odb(raw_objects);
  bool is_own = true;
  for (const auto& folder : screened.location.object_folders)
    if (const int code = add_folder(raw_objects, folder, std::exchange(is_own, false)); code < 0)
      return libgit2_failure(std::string(open_failure));

  git_repository* raw = nullptr;
  if (const int code = git_repository_open_bare(&raw, screened.location.git_folder.c_str()); code < 0)
    return fail(errc::source_unavailable, std::string(open_failure), last_error_message());
  repository_pointer opened(raw);
  if (const int code = git_repository_set_config(raw, config.get()); code < 0)
    return libgit2_failure(std::string(open_failure));
  if (const int code = git_repository_set_odb(raw, raw_objects); code < 0) return libgit2_failure(std::string(open_failure));
  if (!screened.location.work_tree.empty()) {
    if (const int code = git_repository_set_workdir(raw, screened.location.work_tree.c_str(), 0); code < 0)
      return libgit2_failure(std::string(open_failure));
    // libgit2 follows links, and the path may have become one since the screening.
    if (git_repository_workdir(raw) != screened.location.work_tree + '/')
      return fail(errc::source_unavailable, std::string(open_failure), "its work tree has become a link");
  }
  return opened;
}

}  // namespace hondana::git
