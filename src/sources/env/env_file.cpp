/// Opening beneath a folder, and reading what does not change meanwhile.
#include "sources/env/env_file.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "os/disk/in_place.hpp"
#include "os/disk/own_files.hpp"
#include "os/disk/read_at.hpp"
#include "os/disk/resolve.hpp"

namespace hondana::env {
namespace {

constexpr int tries = 3;
// Not to wait for a writer, should the name be a pipe's.
constexpr int file_flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

using outcome = look_at_file::what;

std::string errno_text(int error) { return std::error_code(error, std::generic_category()).message(); }

disk::handle open_folder(const std::string& path) {
  return disk::handle(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

disk::handle open_beneath(int folder, const std::string& name) {
  const int descriptor = disk::open_resolved(folder, name, file_flags, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
  // Where the kernel does not know how, links are not followed at all.
  if (descriptor < 0 && (errno == ENOSYS || errno == EPERM)) return disk::open_without_links(folder, name, file_flags);
  return disk::handle(descriptor);
}

look_at_file unread(outcome came, std::string detail) {
  look_at_file out;
  out.came = came;
  out.detail = std::move(detail);
  return out;
}

look_at_file unopened(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return unread(outcome::missing, errno_text(error));
    case ELOOP:
    case EXDEV:
    case ENXIO:
      return unread(outcome::no_file, error == ENXIO ? "it is a socket" : "its link leads out of its folder");
    case EACCES:
    case EPERM:
      return unread(outcome::refused, errno_text(error));
    default:
      return unread(outcome::failing, errno_text(error));
  }
}

look_at_file read_whole(int file, const struct stat& first) {
  auto facts = first;
  for (int i = 0; i < tries; ++i) {
    look_at_file out;
    out.state = disk::stamp_of(facts);
    out.is_racy = disk::is_racy(out.state, disk::wall_clock());
    if (out.state.size > most_file_bytes) {
      out.came = outcome::too_large;
      return out;
    }
    // A byte more than there is, to see that nothing was appended.
    out.bytes.resize(static_cast<std::size_t>(out.state.size) + 1);
    const auto count = disk::read_at(file, out.bytes.data(), out.bytes.size(), 0);
    if (!count) return unread(outcome::failing, errno_text(count.error()));
    out.bytes.resize(*count);
    if (::fstat(file, &facts) != 0) return unread(outcome::failing, errno_text(errno));
    if (disk::stamp_of(facts) == out.state && *count == out.state.size) {
      out.came = outcome::taken;
      return out;
    }
  }
  return unread(outcome::changing, "it changed during every read");
}

}  // namespace

result<std::unique_ptr<env_file>> env_file::open(const std::string& path, std::vector<std::string> kept_back) {
  std::error_code problem;
  const auto whole = std::filesystem::absolute(path, problem).lexically_normal();
  const auto name = whole.filename().string();
  if (problem || name.empty() || name == "." || name == "..") {
    return fail(errc::invalid_argument,
                "\"" + path + "\" is not the path of a file. Name a file with variables, such as prod.env.");
  }
  const auto folder = whole.parent_path().string();
  auto at = open_folder(folder);
  if (!at.is_open()) {
    return fail(errc::source_unavailable,
                "The folder of \"" + path + "\" cannot be opened: " + errno_text(errno) + ". Check its path and permissions.");
  }
  return std::unique_ptr<env_file>(new env_file(folder, name, std::move(kept_back), std::move(at)));
}

bool env_file::is_beside(const env_file& other) const {
  const auto mine = held();
  const auto its = other.held();
  struct stat here{};
  struct stat there{};
  if (!mine || !its || ::fstat(mine->get(), &here) != 0 || ::fstat(its->get(), &there) != 0) return folder_ == other.folder_;
  return here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

std::shared_ptr<const disk::handle> env_file::held() const {
  const std::lock_guard lock(mutex_);
  if (disk::is_in_place(at_->get(), folder_)) return at_;
  auto again = open_folder(folder_);
  if (!again.is_open()) return nullptr;
  at_ = std::make_shared<disk::handle>(std::move(again));
  return at_;
}

bool env_file::is_kept_back(const struct stat& facts) const {
  return std::any_of(kept_back_.begin(), kept_back_.end(), [&facts](const std::string& one) {
    struct stat own{};
    return ::stat(one.c_str(), &own) == 0 && own.st_dev == facts.st_dev && own.st_ino == facts.st_ino;
  });
}

look_at_file env_file::look(const std::optional<disk::stamp>& known, const std::function<void(int)>& entering) const {
  const auto at = held();
  if (!at) {
    auto out = unread(outcome::failing, "its folder is gone");
    out.has_folder = false;
    return out;
  }
  if (entering) entering(at->get());
  std::error_code problem;
  const auto folder = std::filesystem::canonical(folder_, problem).string();
  if (!problem && disk::own_files(kept_back_, folder).has_name(name_))
    return unread(outcome::missing, "it is one of the server's own files");
  struct stat named{};
  const bool is_link = ::fstatat(at->get(), name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(named.st_mode);
  const auto done = [is_link](look_at_file out) {
    out.is_elsewhere = is_link;
    return out;
  };
  if (is_link && !problem) {
    // Copies and rotated ones of what is kept back are known by their names.
    const auto target = std::filesystem::canonical(std::filesystem::path(folder_) / name_, problem);
    const auto beside = target.parent_path().string();
    if (!problem && disk::own_files(kept_back_, beside).has_name(target.filename().string())) {
      return done(unread(outcome::missing, "it is one of the server's own files"));
    }
  }
  const auto file = open_beneath(at->get(), name_);
  if (!file.is_open()) return done(unopened(errno));
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0) return done(unread(outcome::failing, errno_text(errno)));
  if (!S_ISREG(facts.st_mode)) return done(unread(outcome::no_file, "it is not a regular file"));
  if (is_kept_back(facts)) return done(unread(outcome::missing, "it is one of the server's own files"));
  if (known && disk::stamp_of(facts) == *known) return done(unread(outcome::same, {}));
  return done(read_whole(file.get(), facts));
}

}  // namespace hondana::env
