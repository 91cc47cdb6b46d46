/// Opening and reading, each name without following a link.
#include "sources/docs/ground.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "os/disk/in_place.hpp"
#include "os/disk/read_at.hpp"
#include "os/disk/resolve.hpp"
#include "sources/docs/walker.hpp"

namespace hondana::docs {
namespace {

// Not to wait for a writer, should the name be a pipe's by now.
constexpr int file_flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

/// A place only, so that a source that the sandbox would not let read can still be made, and be asked what it needs.
disk::handle open_root(const std::string& path) {
  disk::handle at(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (at.is_open() && ::faccessat(at.get(), ".", R_OK | X_OK, AT_EACCESS) != 0) return {};
  return at;
}

/// Names with slashes between, none of which leads up or nowhere.
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
  // Whatever it is for a file, for the whole it is that the source does not work.
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
