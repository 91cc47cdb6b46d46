/// Going from folder to folder, with the ignore files in force.
#include "sources/docs/walker.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "os/disk/folder_stream.hpp"
#include "os/disk/read_at.hpp"
#include "os/disk/shortage.hpp"
#include "protocol/model/still_wanted.hpp"
#include "sources/docs/document_type.hpp"
#include "text/secrets/file_names.hpp"

namespace hondana::docs {
namespace {

constexpr std::size_t deepest = 32;
constexpr std::size_t most_files = 100'000;
constexpr std::size_t most_ignored_bytes = (1u << 20) + 1;
constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr int file_flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

/// Like git it follows no links; one that is there and cannot be read leaves out all that it could speak of. Throws
/// std::system_error when descriptors or memory are short.
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
  const disk::handle file(::openat(folder, name, file_flags));
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
  // A descriptor of its own, since its position is that of the walk.
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
    if (errno == ENOENT) return {};  // it has just gone
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
  if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return {};  // it has just been replaced
  if (errno == EACCES || errno == EPERM) return leave_out(std::move(path), "it cannot be opened: " + words_of(errno));
  return refused(errno, path);
}

result<void> walker::leave_out(std::string path, std::string why) {
  found_.left_out.push_back({std::move(path), std::move(why)});
  return {};
}

}  // namespace hondana::docs
