/// Walks a folder and everything below it, without following links.
#include "os/disk/dir_walk.hpp"

#include <fcntl.h>

#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "os/disk/confined_dir.hpp"

namespace hondana::disk {
namespace {

/// A folder that is being read.
struct walk_level {
  dir_stream names;
  std::size_t path_size;  // of the folder's path
};

/// Whether an entry was deleted, or replaced by another kind of entry, since its name was read.
bool is_gone(int error) noexcept { return error == ENOENT || error == ENOTDIR || error == ELOOP; }

std::string denial_reason(const char* operation, int error) {
  return std::string("it cannot be ") + operation + ": " + std::generic_category().message(error);
}

}  // namespace

tl::expected<void, walk_error> walk(handle folder, dir_visitor& visitor) {
  std::string path;
  std::vector<walk_level> levels;
  const auto enter = [&](handle opened) {
    walk_level level{dir_stream(std::move(opened)), path.size()};
    if (!level.names.is_open()) return level.names.error();
    visitor.enter_folder(path, level.names.descriptor());
    levels.push_back(std::move(level));
    return 0;
  };
  if (const int error = enter(std::move(folder)); error != 0) return tl::unexpected(walk_error{error});
  bool is_stopped = false;
  while (!levels.empty()) {
    auto& names = levels.back().names;
    path.resize(levels.back().path_size);
    const auto* const entry = is_stopped ? nullptr : names.next();
    if (entry == nullptr) {
      if (names.error() != 0) return tl::unexpected(walk_error{names.error(), path});
      visitor.leave_folder(names.descriptor());
      levels.pop_back();
      continue;
    }
    auto action = visitor.select(*entry);
    is_stopped = action == walk_action::stop;
    if (action != walk_action::descend) continue;
    if (!path.empty()) path += '/';
    path += entry->d_name;

    // Returns 0 for errors after which the walk continues.
    const auto handle_error = [&](const char* operation, int error) {
      if (is_gone(error)) return 0;
      if (to_lookup_error(error).kind != lookup_error_kind::forbidden) return error;
      visitor.on_denied(path, denial_reason(operation, error));
      return 0;
    };
    struct stat attributes{};
    if (::fstatat(names.descriptor(), entry->d_name, &attributes, AT_SYMLINK_NOFOLLOW) != 0) {
      if (const int error = handle_error("accessed", errno); error != 0) return tl::unexpected(walk_error{error, path});
      continue;
    }
    action = visitor.visit({path, entry->d_name, names.descriptor(), levels.size(), attributes});
    is_stopped = action == walk_action::stop;
    if (action != walk_action::descend || !S_ISDIR(attributes.st_mode)) continue;
    handle inner(::openat(names.descriptor(), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    const int error = inner.is_open() ? enter(std::move(inner)) : handle_error("opened", errno);  // invalidates `names`
    if (error != 0) return tl::unexpected(walk_error{error, path});
  }
  return {};
}

}  // namespace hondana::disk
