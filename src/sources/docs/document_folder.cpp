/// Lists and opens the files of a folder, without following links out of it.
#include "sources/docs/document_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <hondana/provider.hpp>

#include "base/ignore/gitignore.hpp"
#include "os/disk/confined_dir.hpp"
#include "os/disk/descriptor_limit.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/disk/opened_folder.hpp"
#include "os/disk/private_file.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/docs/document_rules.hpp"
#include "sources/docs/document_type.hpp"
#include "text/secrets/secret_file_names.hpp"

namespace hondana::docs {

/// Converts the error of a system call.
[[nodiscard]] tl::unexpected<failure> to_failure(int error, std::string_view path);
[[nodiscard]] std::string error_message(int error);

/// Walks the folder, and decides about each entry. Threads: one.
class walker {
 public:
  struct walk_options {
    const patterns& include;
    const patterns& exclude;
    const disk::own_files& own_files;
    bool uses_ignore_files = true;  ///< Whether ignore files apply.
  };
  walker(const request_context& request, const std::function<void(const std::string&, int)>& on_enter_folder,
         walk_options options)
      : request_(request), on_enter_folder_(on_enter_folder), options_(options) {}

  /// Errors: as `document_folder::walk`.
  [[nodiscard]] result<walk_result> walk(int root);

 private:
  /// Throws std::system_error if descriptors or memory are exhausted.
  [[nodiscard]] result<walk_result> walk_or_throw(int root);
  /// Walks a folder and takes ownership of it. `prefix`: its path with a final slash; empty for the root.
  result<void> enter(disk::handle folder, const std::string& prefix, const ignore::stack& ignored, std::size_t depth);
  result<void> inspect(int directory, const std::string& prefix, const char* name, const ignore::stack& ignored,
                       std::size_t depth);
  /// Why a name excludes an entry; empty: it does not.
  [[nodiscard]] std::string exclusion_reason(const std::string& path, bool is_folder, const ignore::stack& ignored) const;
  result<void> omit(std::string path, std::string reason);

  const request_context& request_;
  const std::function<void(const std::string&, int)>& on_enter_folder_;
  const walk_options options_;
  walk_result result_;
  bool is_full_ = false;
};

namespace {

constexpr std::size_t max_depth = 32;
constexpr std::size_t max_files = 100'000;
constexpr std::size_t max_ignore_file_bytes = (1u << 20) + 1;
constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr int ignore_file_flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

/// Loads an ignore file. Like git, does not follow links. An existing file that cannot be read excludes everything it could
/// apply to. Throws std::system_error if descriptors or memory are exhausted.
ignore::list_pointer load(int folder, const char* name, std::string source) {
  const auto unusable = [&source](const std::string& reason) {
    return std::make_shared<const ignore::pattern_list>(ignore::pattern_list::unusable(std::move(source), reason));
  };
  struct stat attributes{};
  if (::fstatat(folder, name, &attributes, AT_SYMLINK_NOFOLLOW) != 0) {
    disk::throw_if_exhausted(errno);
    return errno == ENOENT || errno == ENOTDIR ? nullptr : unusable("it cannot be accessed: " + error_message(errno));
  }
  if (S_ISLNK(attributes.st_mode)) return nullptr;
  const disk::handle file(::openat(folder, name, ignore_file_flags));
  if (!file.is_open()) disk::throw_if_exhausted(errno);
  if (!file.is_open() || ::fstat(file.get(), &attributes) != 0) return unusable("it cannot be read: " + error_message(errno));
  if (!S_ISREG(attributes.st_mode)) return unusable("it is not a regular file");
  std::string text(std::min<std::size_t>(static_cast<std::size_t>(attributes.st_size), max_ignore_file_bytes), '\0');
  const auto count = disk::read_at(file.get(), text.data(), text.size(), 0);
  if (!count) return unusable("it cannot be read: " + error_message(count.error()));
  text.resize(*count);
  return std::make_shared<const ignore::pattern_list>(ignore::pattern_list::parse(text, std::move(source)));
}

ignore::folder_rules load_rules(int folder, const std::string& prefix) {
  return {load(folder, ".gitignore", prefix + ".gitignore"), load(folder, ".hondanaignore", prefix + ".hondanaignore")};
}

}  // namespace

std::string error_message(int error) { return std::error_code(error, std::generic_category()).message(); }

tl::unexpected<failure> to_failure(int error, std::string_view path) {
  const auto detail = std::string(path) + ": " + error_message(error);
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case EXDEV:
      return fail(errc::resource_not_found, "Document not found.", detail);
    case EACCES:
    case EPERM:
      return fail(errc::access_denied, "The server has no permission to read the document.", detail);
    default:
      return fail(errc::source_unavailable, "The disk or network of the documents has failed. Retry later.", detail);
  }
}

result<walk_result> walker::walk(int root) {
  try {
    return walk_or_throw(root);
  } catch (const std::system_error& error) {
    return to_failure(error.code().value(), ".");
  }
}

result<walk_result> walker::walk_or_throw(int root) {
  // A separate descriptor, since the walk changes its position.
  disk::handle top(::openat(root, ".", folder_flags));
  if (!top.is_open()) return to_failure(errno, ".");
  ignore::stack ignored;
  if (options_.uses_ignore_files) {
    ignore::list_pointer info;
    const disk::handle info_dir(::openat(root, ".git/info", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!info_dir.is_open()) disk::throw_if_exhausted(errno);
    if (info_dir.is_open()) info = load(info_dir.get(), "exclude", ".git/info/exclude");
    ignored = ignore::stack(load_rules(root, {}), std::move(info));
  }
  HONDANA_TRY(enter(std::move(top), {}, ignored, 1));
  const auto by_path = [](const auto& a, const auto& b) { return a.path < b.path; };
  std::sort(result_.documents.begin(), result_.documents.end(), by_path);
  std::sort(result_.other_files.begin(), result_.other_files.end(), by_path);
  std::sort(result_.omitted.begin(), result_.omitted.end(), by_path);
  return std::move(result_);
}

result<void> walker::enter(disk::handle folder, const std::string& prefix, const ignore::stack& ignored, std::size_t depth) {
  const auto names = disk::open_folder_stream(std::move(folder));
  if (!names) return to_failure(errno, prefix.empty() ? "." : prefix);
  const int directory = ::dirfd(names.get());
  if (on_enter_folder_) on_enter_folder_(prefix.substr(0, prefix.size() - (prefix.empty() ? 0 : 1)), directory);
  for (;;) {
    HONDANA_TRY(check_cancellation(request_));
    errno = 0;
    const auto* entry = ::readdir(names.get());
    if (entry == nullptr && errno != 0) return to_failure(errno, prefix.empty() ? "." : prefix);
    if (entry == nullptr || is_full_) return {};
    if (entry->d_name[0] == '.') continue;
    HONDANA_TRY(inspect(directory, prefix, entry->d_name, ignored, depth));
  }
}

std::string walker::exclusion_reason(const std::string& path, bool is_folder, const ignore::stack& ignored) const {
  if (const auto* secret = secrets::find_secret(path, is_folder)) {
    return "secret: `" + std::string(secret->pattern) + "` (" + std::string(secret->reason) + ')';
  }
  if (is_folder ? options_.exclude.match_folder(path) : options_.exclude.match(path)) return "excluded by the configuration";
  const auto decision = ignored.decide(path, is_folder);
  if (!decision.is_ignored()) return {};
  if (!decision.error.empty()) return std::string(decision.source) + " cannot be applied: " + std::string(decision.error);
  return "ignored by " + std::string(decision.source) + ':' + std::to_string(decision.line) + " `" +
         std::string(decision.pattern) + '`';
}

result<void> walker::inspect(int directory, const std::string& prefix, const char* name, const ignore::stack& ignored,
                             std::size_t depth) {
  auto path = prefix + name;
  struct stat attributes{};
  if (::fstatat(directory, name, &attributes, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};  // it was just removed
    if (errno == EACCES || errno == EPERM) return omit(std::move(path), "it cannot be accessed: " + error_message(errno));
    return to_failure(errno, path);
  }
  if (S_ISLNK(attributes.st_mode)) return omit(std::move(path), "symbolic links are not followed");
  const bool is_folder = S_ISDIR(attributes.st_mode);
  if (!is_folder && result_.documents.size() + result_.other_files.size() + result_.omitted.size() >= max_files) {
    is_full_ = true;
    return omit(std::move(path), "this and all later entries are beyond the first " + std::to_string(max_files) + " files");
  }
  if (!is_folder && !S_ISREG(attributes.st_mode)) return omit(std::move(path), "it is neither a file nor a folder");
  if (auto reason = exclusion_reason(path, is_folder, ignored); !reason.empty())
    return omit(std::move(path), std::move(reason));
  if (!is_folder) {
    if (options_.own_files.has_name(path) || options_.own_files.is_hard_link(attributes)) {
      return omit(std::move(path), std::string(disk::own_files::reason));
    }
    scanned_file file{std::move(path), disk::stamp_of(attributes)};
    const bool is_document = options_.include.is_empty() ? type_of(file.path).has_value() : options_.include.match(file.path);
    (is_document ? result_.documents : result_.other_files).push_back(std::move(file));
    return {};
  }
  if (depth == max_depth) return omit(std::move(path), "it is deeper than " + std::to_string(max_depth) + " folders");
  disk::handle inner(::openat(directory, name, folder_flags));
  if (inner.is_open()) {
    if (!options_.uses_ignore_files) return enter(std::move(inner), path + '/', ignored, depth + 1);
    const auto deeper = ignored.child(name, load_rules(inner.get(), path + '/'));
    return enter(std::move(inner), path + '/', deeper, depth + 1);
  }
  if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return {};  // it was just replaced
  if (errno == EACCES || errno == EPERM) return omit(std::move(path), "it cannot be opened: " + error_message(errno));
  return to_failure(errno, path);
}

result<void> walker::omit(std::string path, std::string reason) {
  result_.omitted.push_back({std::move(path), std::move(reason)});
  return {};
}

namespace {

// O_NONBLOCK: the name may meanwhile be a pipe's, and opening must not wait for a writer.
constexpr int file_flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

/// Opens the folder as a path only (O_PATH). So a source that the sandbox would not let read can still be created, to report
/// what it needs.
disk::handle open_root(const std::string& path) {
  disk::handle root(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (root.is_open() && ::faccessat(root.get(), ".", R_OK | X_OK, AT_EACCESS) != 0) return {};
  return root;
}

/// Whether a path consists of names separated by slashes, without "", "." and "..".
bool is_normalized_path(std::string_view path) noexcept {
  while (true) {
    const auto slash = path.find('/');
    const auto name = path.substr(0, slash);
    if (name.empty() || name == "." || name == ".." || name.find('\0') != std::string_view::npos) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

result<std::size_t> read_bytes(const opened_file& file, std::string& buffer) {
  const auto count = disk::read_at(file.file.get(), buffer.data(), buffer.size(), 0);
  if (!count) return to_failure(count.error(), "reading");
  return *count;
}

}  // namespace

document_folder::document_folder(const set_options& options)
    : path_(options.path), own_files_(options.own_files), uses_ignore_files_(options.ignore_files) {}

std::shared_ptr<const document_folder::open_folder> document_folder::make_open_folder(disk::handle root) const {
  std::error_code problem;
  const auto real = std::filesystem::canonical(path_, problem);
  return std::make_shared<const open_folder>(open_folder{std::move(root), {own_files_, problem ? path_ : real.string()}});
}

result<std::unique_ptr<document_folder>> document_folder::open(const set_options& options) {
  std::unique_ptr<document_folder> folder(new document_folder(options));
  HONDANA_TRY(auto include, patterns::compile(options.include, "include"));
  folder->include_ = std::move(include);
  HONDANA_TRY(auto exclude, patterns::compile(options.exclude, "exclude"));
  folder->exclude_ = std::move(exclude);
  auto root = open_root(options.path);
  if (!root.is_open()) {
    return fail(errc::source_unavailable, "The folder of documents \"" + options.path + "\" cannot be opened: " +
                                              error_message(errno) + ". Check its path and permissions.");
  }
  folder->current_ = folder->make_open_folder(std::move(root));
  return folder;
}

result<std::shared_ptr<const document_folder::open_folder>> document_folder::root() const {
  const std::lock_guard lock(mutex_);
  if (disk::is_in_place(current_->handle.get(), path_)) return current_;
  auto reopened = open_root(path_);
  if (!reopened.is_open()) {
    return fail(errc::source_unavailable, "The folder of documents does not exist any more. Retry when it is back.",
                path_ + ": " + error_message(errno));
  }
  current_ = make_open_folder(std::move(reopened));
  return current_;
}

result<walk_result> document_folder::walk(const request_context& request,
                                          const std::function<void(const std::string&, int)>& on_enter_folder) const {
  HONDANA_TRY(const auto dir, root());
  walker tree_walker(request, on_enter_folder, {include_, exclude_, dir->own_files, uses_ignore_files_});
  auto walked = tree_walker.walk(dir->handle.get());
  if (walked) return walked;
  auto error = std::move(walked.error());
  // An error for one file is an error of the whole source here.
  if (error.code == errc::access_denied) error.public_text = "The server has no permission to read a folder of the documents.";
  if (error.code == errc::resource_not_found || error.code == errc::access_denied) error.code = errc::source_unavailable;
  return tl::unexpected(std::move(error));
}

result<opened_file> document_folder::open_file(std::string_view path) const {
  HONDANA_TRY(const auto dir, root());
  if (!is_normalized_path(path) || dir->own_files.has_name(path)) return to_failure(ENOENT, path);
  auto file = disk::open_without_links(dir->handle.get(), std::string(path), file_flags);
  if (!file.is_open()) return to_failure(errno == ENXIO ? ENOENT : errno, path);
  struct stat attributes{};
  if (::fstat(file.get(), &attributes) != 0) return to_failure(errno, path);
  if (!S_ISREG(attributes.st_mode) || dir->own_files.is_hard_link(attributes)) return to_failure(ENOENT, path);
  return opened_file{std::move(file), disk::stamp_of(attributes)};
}

bool document_folder::exists(std::string_view path) const {
  const auto dir = root();
  if (!dir) return true;
  if (!is_normalized_path(path)) return false;
  const auto opened = disk::open_without_links((*dir)->handle.get(), std::string(path), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  return opened.is_open() || (errno != ENOENT && errno != ENOTDIR && errno != ELOOP && errno != ENAMETOOLONG);
}

result<std::string> read_all(const opened_file& file) {
  std::string bytes(file.stamp.size, '\0');
  HONDANA_TRY(const auto count, read_bytes(file, bytes));
  struct stat attributes{};
  if (count < bytes.size() || ::fstat(file.file.get(), &attributes) != 0 || disk::stamp_of(attributes) != file.stamp) {
    return fail(errc::content_changed, "The document changed while it was being read. Read it again.");
  }
  return bytes;
}

result<std::string> read_front(const opened_file& file, std::size_t max_bytes) {
  std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(file.stamp.size, max_bytes)), '\0');
  HONDANA_TRY(const auto count, read_bytes(file, bytes));
  bytes.resize(count);
  return bytes;
}

}  // namespace hondana::docs
