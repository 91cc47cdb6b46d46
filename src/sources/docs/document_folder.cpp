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
[[nodiscard]] tl::unexpected<failure> refused(int error, std::string_view path);
[[nodiscard]] std::string words_of(int error);

/// Walks the folder, and decides about each entry. Threads: one.
class walker {
 public:
  struct choice {
    const patterns& include;
    const patterns& exclude;
    const disk::own_files& own;
    bool obeys = true;  ///< Whether ignore files apply.
  };
  walker(const call& by, const std::function<void(const std::string&, int)>& entering, choice how)
      : by_(by), entering_(entering), how_(how) {}

  /// Errors: as `ground::walk`.
  [[nodiscard]] result<walked> walk(int root);

 private:
  /// Throws std::system_error if descriptors or memory are exhausted.
  [[nodiscard]] result<walked> walk_or_throw(int root);
  /// Walks a folder and takes ownership of it. `prefix`: its path with a final slash; empty for the root.
  result<void> enter(disk::handle folder, const std::string& prefix, const ignore::stack& ignored, std::size_t depth);
  result<void> look(int at, const std::string& prefix, const char* name, const ignore::stack& ignored, std::size_t depth);
  /// Why a name excludes an entry; empty: it does not.
  [[nodiscard]] std::string denied(const std::string& path, bool is_folder, const ignore::stack& ignored) const;
  result<void> leave_out(std::string path, std::string why);

  const call& by_;
  const std::function<void(const std::string&, int)>& entering_;
  const choice how_;
  walked found_;
  bool is_full_ = false;
};

namespace {

constexpr std::size_t deepest = 32;
constexpr std::size_t most_files = 100'000;
constexpr std::size_t most_ignored_bytes = (1u << 20) + 1;
constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr int ignore_file_flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

/// Loads an ignore file. Like git, does not follow links. An existing file that cannot be read excludes everything it could
/// apply to. Throws std::system_error if descriptors or memory are exhausted.
ignore::list_pointer load(int folder, const char* name, std::string source) {
  const auto unusable = [&source](const std::string& why) {
    return std::make_shared<const ignore::pattern_list>(ignore::pattern_list::unusable(std::move(source), why));
  };
  struct stat facts{};
  if (::fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) != 0) {
    disk::throw_if_short(errno);
    return errno == ENOENT || errno == ENOTDIR ? nullptr : unusable("it cannot be accessed: " + words_of(errno));
  }
  if (S_ISLNK(facts.st_mode)) return nullptr;
  const disk::handle file(::openat(folder, name, ignore_file_flags));
  if (!file.is_open()) disk::throw_if_short(errno);
  if (!file.is_open() || ::fstat(file.get(), &facts) != 0) return unusable("it cannot be read: " + words_of(errno));
  if (!S_ISREG(facts.st_mode)) return unusable("it is not a regular file");
  std::string text(std::min<std::size_t>(static_cast<std::size_t>(facts.st_size), most_ignored_bytes), '\0');
  const auto count = disk::read_at(file.get(), text.data(), text.size(), 0);
  if (!count) return unusable("it cannot be read: " + words_of(count.error()));
  text.resize(*count);
  return std::make_shared<const ignore::pattern_list>(ignore::pattern_list::parse(text, std::move(source)));
}

ignore::folder_rules rules_in(int folder, const std::string& prefix) {
  return {load(folder, ".gitignore", prefix + ".gitignore"), load(folder, ".hondanaignore", prefix + ".hondanaignore")};
}

}  // namespace

std::string words_of(int error) { return std::error_code(error, std::generic_category()).message(); }

tl::unexpected<failure> refused(int error, std::string_view path) {
  const auto why = std::string(path) + ": " + words_of(error);
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case EXDEV:
      return fail(errc::resource_not_found, "Document not found.", why);
    case EACCES:
    case EPERM:
      return fail(errc::access_denied, "The server has no permission to read the document.", why);
    default:
      return fail(errc::source_unavailable, "The disk or network of the documents has failed. Retry later.", why);
  }
}

result<walked> walker::walk(int root) {
  try {
    return walk_or_throw(root);
  } catch (const std::system_error& why) {
    return refused(why.code().value(), ".");
  }
}

result<walked> walker::walk_or_throw(int root) {
  // A separate descriptor, since the walk changes its position.
  disk::handle top(::openat(root, ".", folder_flags));
  if (!top.is_open()) return refused(errno, ".");
  ignore::stack ignored;
  if (how_.obeys) {
    ignore::list_pointer info;
    const disk::handle at(::openat(root, ".git/info", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!at.is_open()) disk::throw_if_short(errno);
    if (at.is_open()) info = load(at.get(), "exclude", ".git/info/exclude");
    ignored = ignore::stack(rules_in(root, {}), std::move(info));
  }
  HONDANA_TRY(enter(std::move(top), {}, ignored, 1));
  const auto by_path = [](const auto& a, const auto& b) { return a.path < b.path; };
  std::sort(found_.documents.begin(), found_.documents.end(), by_path);
  std::sort(found_.others.begin(), found_.others.end(), by_path);
  std::sort(found_.left_out.begin(), found_.left_out.end(), by_path);
  return std::move(found_);
}

result<void> walker::enter(disk::handle folder, const std::string& prefix, const ignore::stack& ignored, std::size_t depth) {
  const auto names = disk::stream_of(std::move(folder));
  if (!names) return refused(errno, prefix.empty() ? "." : prefix);
  const int at = ::dirfd(names.get());
  if (entering_) entering_(prefix.substr(0, prefix.size() - (prefix.empty() ? 0 : 1)), at);
  for (;;) {
    HONDANA_TRY(still_wanted(by_));
    errno = 0;
    const auto* one = ::readdir(names.get());
    if (one == nullptr && errno != 0) return refused(errno, prefix.empty() ? "." : prefix);
    if (one == nullptr || is_full_) return {};
    if (one->d_name[0] == '.') continue;
    HONDANA_TRY(look(at, prefix, one->d_name, ignored, depth));
  }
}

std::string walker::denied(const std::string& path, bool is_folder, const ignore::stack& ignored) const {
  if (const auto* secret = secrets::find_secret(path, is_folder)) {
    return "secret: `" + std::string(secret->pattern) + "` (" + std::string(secret->reason) + ')';
  }
  if (is_folder ? how_.exclude.match_folder(path) : how_.exclude.match(path)) return "excluded by the configuration";
  const auto said = ignored.decide(path, is_folder);
  if (!said.ignored()) return {};
  if (!said.fault.empty()) return std::string(said.source) + " cannot be applied: " + std::string(said.fault);
  return "ignored by " + std::string(said.source) + ':' + std::to_string(said.line) + " `" + std::string(said.pattern) + '`';
}

result<void> walker::look(int at, const std::string& prefix, const char* name, const ignore::stack& ignored,
                          std::size_t depth) {
  auto path = prefix + name;
  struct stat facts{};
  if (::fstatat(at, name, &facts, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};  // it was just removed
    if (errno == EACCES || errno == EPERM) return leave_out(std::move(path), "it cannot be accessed: " + words_of(errno));
    return refused(errno, path);
  }
  if (S_ISLNK(facts.st_mode)) return leave_out(std::move(path), "symbolic links are not followed");
  const bool is_folder = S_ISDIR(facts.st_mode);
  if (!is_folder && found_.documents.size() + found_.others.size() + found_.left_out.size() >= most_files) {
    is_full_ = true;
    return leave_out(std::move(path),
                     "this and all later entries are beyond the first " + std::to_string(most_files) + " files");
  }
  if (!is_folder && !S_ISREG(facts.st_mode)) return leave_out(std::move(path), "it is neither a file nor a folder");
  if (auto why = denied(path, is_folder, ignored); !why.empty()) return leave_out(std::move(path), std::move(why));
  if (!is_folder) {
    if (how_.own.has_name(path) || how_.own.is_one(facts)) {
      return leave_out(std::move(path), std::string(disk::own_files::reason));
    }
    seen_file file{std::move(path), disk::stamp_of(facts)};
    const bool is_document = how_.include.is_empty() ? type_of(file.path).has_value() : how_.include.match(file.path);
    (is_document ? found_.documents : found_.others).push_back(std::move(file));
    return {};
  }
  if (depth == deepest) return leave_out(std::move(path), "it is deeper than " + std::to_string(deepest) + " folders");
  disk::handle inner(::openat(at, name, folder_flags));
  if (inner.is_open()) {
    if (!how_.obeys) return enter(std::move(inner), path + '/', ignored, depth + 1);
    const auto deeper = ignored.child(name, rules_in(inner.get(), path + '/'));
    return enter(std::move(inner), path + '/', deeper, depth + 1);
  }
  if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return {};  // it was just replaced
  if (errno == EACCES || errno == EPERM) return leave_out(std::move(path), "it cannot be opened: " + words_of(errno));
  return refused(errno, path);
}

result<void> walker::leave_out(std::string path, std::string why) {
  found_.left_out.push_back({std::move(path), std::move(why)});
  return {};
}

namespace {

// O_NONBLOCK: the name may meanwhile be a pipe's, and opening must not wait for a writer.
constexpr int file_flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

/// Opens the folder as a path only (O_PATH). So a source that the sandbox would not let read can still be created, to report
/// what it needs.
disk::handle open_root(const std::string& path) {
  disk::handle at(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (at.is_open() && ::faccessat(at.get(), ".", R_OK | X_OK, AT_EACCESS) != 0) return {};
  return at;
}

/// Whether a path consists of names separated by slashes, without "", "." and "..".
bool is_plain(std::string_view path) noexcept {
  while (true) {
    const auto slash = path.find('/');
    const auto name = path.substr(0, slash);
    if (name.empty() || name == "." || name == ".." || name.find('\0') != std::string_view::npos) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

result<std::size_t> read_into(const opened_file& file, std::string& into) {
  const auto count = disk::read_at(file.file.get(), into.data(), into.size(), 0);
  if (!count) return refused(count.error(), "reading");
  return *count;
}

}  // namespace

ground::ground(const options& from) : path_(from.path), kept_back_(from.kept_back), obeys_(from.ignore_files) {}

std::shared_ptr<const ground::place> ground::hold(disk::handle root) const {
  std::error_code problem;
  const auto real = std::filesystem::canonical(path_, problem);
  return std::make_shared<const place>(place{std::move(root), {kept_back_, problem ? path_ : real.string()}});
}

result<std::unique_ptr<ground>> ground::open(const options& from) {
  std::unique_ptr<ground> made(new ground(from));
  HONDANA_TRY(auto include, patterns::compile(from.include, "include"));
  made->include_ = std::move(include);
  HONDANA_TRY(auto exclude, patterns::compile(from.exclude, "exclude"));
  made->exclude_ = std::move(exclude);
  auto root = open_root(from.path);
  if (!root.is_open()) {
    return fail(errc::source_unavailable, "The folder of documents \"" + from.path + "\" cannot be opened: " + words_of(errno) +
                                              ". Check its path and permissions.");
  }
  made->now_ = made->hold(std::move(root));
  return made;
}

result<std::shared_ptr<const ground::place>> ground::root() const {
  const std::lock_guard lock(mutex_);
  if (disk::is_in_place(now_->at.get(), path_)) return now_;
  auto again = open_root(path_);
  if (!again.is_open()) {
    return fail(errc::source_unavailable, "The folder of documents does not exist any more. Retry when it is back.",
                path_ + ": " + words_of(errno));
  }
  now_ = hold(std::move(again));
  return now_;
}

result<walked> ground::walk(const call& by, const std::function<void(const std::string&, int)>& entering) const {
  HONDANA_TRY(const auto held, root());
  walker one(by, entering, {include_, exclude_, held->own, obeys_});
  auto found = one.walk(held->at.get());
  if (found) return found;
  auto why = std::move(found.error());
  // An error for one file is an error of the whole source here.
  if (why.code == errc::access_denied) why.public_text = "The server has no permission to read a folder of the documents.";
  if (why.code == errc::resource_not_found || why.code == errc::access_denied) why.code = errc::source_unavailable;
  return tl::unexpected(std::move(why));
}

result<opened_file> ground::open_file(std::string_view below) const {
  HONDANA_TRY(const auto held, root());
  if (!is_plain(below) || held->own.has_name(below)) return refused(ENOENT, below);
  auto file = disk::open_without_links(held->at.get(), std::string(below), file_flags);
  if (!file.is_open()) return refused(errno == ENXIO ? ENOENT : errno, below);
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0) return refused(errno, below);
  if (!S_ISREG(facts.st_mode) || held->own.is_one(facts)) return refused(ENOENT, below);
  return opened_file{std::move(file), disk::stamp_of(facts)};
}

bool ground::has(std::string_view below) const {
  const auto held = root();
  if (!held) return true;
  if (!is_plain(below)) return false;
  const auto at = disk::open_without_links((*held)->at.get(), std::string(below), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  return at.is_open() || (errno != ENOENT && errno != ENOTDIR && errno != ELOOP && errno != ENAMETOOLONG);
}

result<std::string> read_whole(const opened_file& file) {
  std::string bytes(file.state.size, '\0');
  HONDANA_TRY(const auto count, read_into(file, bytes));
  struct stat after{};
  if (count < bytes.size() || ::fstat(file.file.get(), &after) != 0 || disk::stamp_of(after) != file.state) {
    return fail(errc::content_changed, "The document changed while it was being read. Read it again.");
  }
  return bytes;
}

result<std::string> read_front(const opened_file& file, std::size_t most) {
  std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(file.state.size, most)), '\0');
  HONDANA_TRY(const auto count, read_into(file, bytes));
  bytes.resize(count);
  return bytes;
}

}  // namespace hondana::docs
