/// Lists the names in a folder, and walks everything below a root in the order of URIs.
#include "sources/files/folder_walk.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>

#include "base/uri/uri_syntax.hpp"
#include "os/disk/descriptor_limit.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/disk/opened_folder.hpp"

namespace hondana::files {
namespace {

constexpr const char* hidden_reason = "access rules hide it from the caller";

}  // namespace

folder_names folder_names::single(std::string_view name) {
  folder_names names;
  names.text_ = uri::escape_file_path(name);
  names.names_.push_back({0, static_cast<std::uint16_t>(names.text_.size())});
  return names;
}

tl::expected<folder_names, int> folder_names::read(int folder, std::size_t max_names) {
  // A separate descriptor, because the stream closes the one it gets.
  disk::dir_stream entries(disk::handle(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  constexpr std::size_t max_text_bytes = std::numeric_limits<std::uint32_t>::max() / 2;
  folder_names names;
  while (const auto* const entry = entries.next()) {
    if (names.names_.size() >= max_names || names.text_.size() > max_text_bytes) {
      names.is_cut_ = true;
      break;
    }
    const auto encoded_name = uri::escape_file_path(entry->d_name);
    names.names_.push_back({static_cast<std::uint32_t>(names.text_.size()), static_cast<std::uint16_t>(encoded_name.size())});
    names.text_ += encoded_name;
  }
  if (entries.error() != 0) return tl::unexpected(entries.error());
  std::sort(names.names_.begin(), names.names_.end(),
            [&names](const name& a, const name& b) { return names.encoded(a) < names.encoded(b); });
  return names;
}

std::string folder_names::at(std::size_t index) const {
  const auto escaped = encoded(names_[index]);
  if (escaped.find('%') == std::string_view::npos) return std::string(escaped);
  return percent_decode(escaped).value();
}

examined_entry examine(const served_root& root, int folder, const std::string& path, const char* name,
                       const ignore::stack& ignored_by, const request_context* context) {
  examined_entry examined;
  if (::fstatat(folder, name, &examined.attributes, AT_SYMLINK_NOFOLLOW) != 0) {
    disk::throw_if_exhausted(errno);
    examined.other_reason = errno == ENOENT ? "it has just disappeared" : std::strerror(errno);
    examined.is_system_error = disk::to_lookup_error(errno).kind == disk::lookup_error_kind::system_error;
    return examined;
  }
  const bool is_folder = S_ISDIR(examined.attributes.st_mode);
  examined.decision = root.rules().decide(path, is_folder, ignored_by);
  if (examined.decision.is_served() && root.rules().is_own_file(examined.attributes))
    examined.decision.reason = denial_reason::own_file;
  if (!examined.decision.is_served()) return examined;
  if (path.size() * 3 + root.uri().size() >= max_uri_bytes && root.uri_of(path).size() > max_uri_bytes) {
    examined.other_reason = "its URI would be longer than " + std::to_string(max_uri_bytes) + " bytes";
    return examined;
  }
  if (context != nullptr && context->caller.access_filter && !context->caller.access_filter->may_see(root.uri_of(path))) {
    examined.other_reason = hidden_reason;
    return examined;
  }
  if (S_ISLNK(examined.attributes.st_mode)) {
    const auto target = root.find(path, context);
    if (target && context != nullptr && !root.is_visible(path, *target, context->caller)) {
      examined.other_reason = hidden_reason;
      return examined;
    }
    if (!target) {
      const auto& rejection = target.error();
      disk::throw_if_exhausted(rejection.error);
      examined.is_system_error = rejection.kind == disk::lookup_error_kind::system_error;
      examined.other_reason = rejection.kind != disk::lookup_error_kind::missing ? rejection.reason
                              : rejection.error != 0                             ? "broken link"
                                                     : "link to something left out: " + rejection.reason;
      return examined;
    }
  } else if (is_folder) {
    const disk::handle inner(::openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!inner.is_open()) disk::throw_if_exhausted(errno);
    if (inner.is_open() && disk::is_bare_repository(inner.get()) && !root.rules().allows(path, true)) {
      examined.decision.reason = denial_reason::version_control;
      return examined;
    }
    if (inner.is_open() && root.dir()->is_kernel_data(inner.get(), examined.attributes)) {
      examined.other_reason = "kernel file system";
      return examined;
    }
  }
  examined.is_served = true;
  return examined;
}

namespace {

/// A folder, and how far it has been walked.
struct level {
  disk::handle folder;  // closed if descriptors run out, and reopened
  struct stat attributes;
  folder_names names;
  ignore::stack ignored_by;
  std::size_t path_size;
  std::size_t next = 0;
};

class walker {
 public:
  walker(const served_root& root, const walk_limits& limits, walk_listener& listener)
      : root_(root), limits_(limits), listener_(listener) {}

  bool run() {
    const auto dir = root_.dir();
    const bool obeys = root_.rules().obeys_ignore_files();
    // Before the root is opened, because this needs three descriptors itself.
    auto ignored_by = obeys ? root_.ignore_files().root_stack(dir->descriptor()) : ignore::stack();
    disk::handle folder(::openat(dir->descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat attributes{};
    if (!folder.is_open() || ::fstat(folder.get(), &attributes) != 0) {
      report_error("be opened", errno);
      return true;
    }
    if (!listener_.on_entry(root_, {}, attributes)) return false;
    enter_folder(std::move(folder), attributes, std::move(ignored_by));
    return walk_levels();
  }

  /// Begins at the last name of `path`, as if its folder contained nothing else.
  bool run_below(const std::string& path) {
    const auto slash = path.rfind('/');
    const auto parent = slash == std::string::npos ? std::string() : path.substr(0, slash);
    const auto folder = root_.find(parent);
    if (!folder) throw_if_system_error(folder.error());
    // A path through a link is not the real path of anything.
    if (!folder || folder->path != parent || !S_ISDIR(folder->attributes.st_mode)) return true;
    auto ignored_by = root_.ignore_stack_at(parent);
    if (!ignored_by) throw_if_system_error(ignored_by.error());
    auto opened = root_.dir()->open_folder(*folder);
    if (!opened) throw_if_system_error(make_rejection(opened.error()));
    if (!ignored_by || !opened) return true;
    path_ = parent;
    const auto name = std::string_view(path).substr(slash == std::string::npos ? 0 : slash + 1);
    levels_.push_back(
        {std::move(*opened), folder->attributes, folder_names::single(name), std::move(*ignored_by), path_.size()});
    return walk_levels();
  }

 private:
  bool walk_levels() {
    while (!levels_.empty()) {
      auto& current = levels_.back();
      path_.resize(current.path_size);
      if (!current.folder.is_open() && !reopen(current)) {
        levels_.pop_back();
      } else if (current.next == current.names.size()) {
        finish_folder(current);
        levels_.pop_back();
      } else if (!visit(current, current.names.at(current.next++))) {
        return false;
      }
    }
    return true;
  }

  /// Reports a folder that cannot be walked. Throws std::system_error when resources run out.
  void report_error(const char* operation, int error) {
    disk::throw_if_exhausted(error);
    listener_.on_problem(root_, path_, "cannot " + std::string(operation) + ": " + std::strerror(error));
    if (disk::to_lookup_error(error).kind == disk::lookup_error_kind::system_error) listener_.on_disk_failure();
  }

  /// Calls `operation`. If that throws because resources run out, closes the outer folders and calls it again. So three
  /// descriptors suffice for any depth. `min_open`: how many of the innermost folders must stay open.
  template <class Operation>
  auto with_fewer_descriptors(std::size_t min_open, Operation operation) -> decltype(operation()) {
    try {
      return operation();
    } catch (const std::system_error& error) {
      bool is_closed = false;
      for (std::size_t i = 0; i + min_open < levels_.size(); ++i) {
        is_closed = is_closed || levels_[i].folder.is_open();
        levels_[i].folder = {};
      }
      if (!is_closed || !disk::is_exhaustion_error(error.code().value())) throw;
    }
    return operation();
  }

  /// False if the folder no longer exists, or was replaced. The watcher reports such changes.
  bool reopen(level& current) {
    const auto resolved = root_.dir()->resolve(path_);
    if (!resolved) throw_if_system_error(make_rejection(resolved.error()));
    if (!resolved || resolved->attributes.st_dev != current.attributes.st_dev ||
        resolved->attributes.st_ino != current.attributes.st_ino)
      return false;
    auto opened = root_.dir()->open_folder(*resolved);
    if (!opened) throw_if_system_error(make_rejection(opened.error()));
    if (opened) current.folder = std::move(*opened);
    return opened.has_value();
  }

  void enter_folder(disk::handle folder, const struct stat& attributes, ignore::stack ignored_by) {
    auto names = with_fewer_descriptors(0, [&] {
      auto read = folder_names::read(folder.get(), limits_.max_names);
      if (!read) disk::throw_if_exhausted(read.error());
      return read;
    });
    if (!names) return report_error("be listed", names.error());
    if (names->is_cut())
      listener_.on_problem(root_, path_, "has more than " + std::to_string(limits_.max_names) + " names; the rest is left out");
    levels_.push_back({std::move(folder), attributes, std::move(*names), std::move(ignored_by), path_.size()});
  }

  void finish_folder(const level& current) {
    struct stat attributes{};
    if (::fstat(current.folder.get(), &attributes) == 0) listener_.on_folder_end(attributes);
  }

  bool visit(level& current, const std::string& name) {
    if (!path_.empty()) path_ += '/';
    path_ += name;
    const auto examined = with_fewer_descriptors(
        1, [&] { return examine(root_, current.folder.get(), path_, name.c_str(), current.ignored_by); });
    if (!examined.is_served) {
      if (examined.is_system_error) {
        listener_.on_disk_failure();
        listener_.on_problem(root_, path_, "cannot be accessed: " + examined.reason());
      }
      listener_.on_omitted(root_, path_, examined);
      return true;
    }
    if (!listener_.on_entry(root_, path_, examined.attributes)) return false;
    if (!S_ISDIR(examined.attributes.st_mode)) return true;
    if (levels_.size() >= limits_.max_depth) {
      listener_.on_problem(root_, path_, "is " + std::to_string(levels_.size()) + " folders deep; its contents are left out");
      return true;
    }
    auto inner = with_fewer_descriptors(1, [&] {
      disk::handle opened(::openat(current.folder.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!opened.is_open()) disk::throw_if_exhausted(errno);
      return opened;
    });
    if (!inner.is_open()) {
      report_error("be listed", errno);
      return true;
    }
    const bool obeys = root_.rules().obeys_ignore_files();
    auto ignored_by = with_fewer_descriptors(
        0, [&] { return obeys ? root_.ignore_files().child_stack(current.ignored_by, inner.get(), name) : ignore::stack(); });
    enter_folder(std::move(inner), examined.attributes, std::move(ignored_by));  // invalidates `current`
    return true;
  }

  const served_root& root_;
  const walk_limits& limits_;
  walk_listener& listener_;
  std::string path_;
  std::vector<level> levels_;
};

}  // namespace

bool walk(const served_root& root, const walk_limits& limits, walk_listener& listener) {
  return walker(root, limits, listener).run();
}

bool walk_below(const served_root& root, const std::string& path, const walk_limits& limits, walk_listener& listener) {
  return path.empty() ? walk(root, limits, listener) : walker(root, limits, listener).run_below(path);
}

}  // namespace hondana::files
