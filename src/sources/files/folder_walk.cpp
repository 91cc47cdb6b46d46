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

constexpr const char* not_shown = "access rules hide it from the caller";

bool is_dots(const char* name) noexcept { return std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0; }

}  // namespace

folder_names folder_names::of(std::string_view name) {
  folder_names one;
  one.text_ = uri::escaped_file_path(name);
  one.names_.push_back({0, static_cast<std::uint16_t>(one.text_.size())});
  return one;
}

tl::expected<folder_names, int> folder_names::read(int folder, std::size_t limit) {
  // A separate descriptor, because the stream closes the one it gets.
  const auto stream = disk::stream_of(disk::handle(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  if (!stream) return tl::unexpected(errno);

  constexpr std::size_t text_limit = std::numeric_limits<std::uint32_t>::max() / 2;
  folder_names found;
  for (;;) {
    errno = 0;
    const auto* entry = ::readdir(stream.get());
    if (entry == nullptr) {
      if (errno != 0) return tl::unexpected(errno);
      break;
    }
    if (is_dots(entry->d_name)) continue;
    if (found.names_.size() >= limit || found.text_.size() > text_limit) {
      found.is_cut_ = true;
      break;
    }
    const auto encoded_name = uri::escaped_file_path(entry->d_name);
    found.names_.push_back({static_cast<std::uint32_t>(found.text_.size()), static_cast<std::uint16_t>(encoded_name.size())});
    found.text_ += encoded_name;
  }
  std::sort(found.names_.begin(), found.names_.end(),
            [&found](const name& a, const name& b) { return found.encoded(a) < found.encoded(b); });
  return found;
}

std::string folder_names::at(std::size_t index) const {
  const auto escaped = encoded(names_[index]);
  if (escaped.find('%') == std::string_view::npos) return std::string(escaped);
  return percent_decode(escaped).value();
}

examined examine(const root& of, int folder, const std::string& path, const char* name, const ignore::stack& ignored_by,
                 const call* by) {
  examined found;
  if (::fstatat(folder, name, &found.facts, AT_SYMLINK_NOFOLLOW) != 0) {
    disk::throw_if_short(errno);
    found.other_reason = errno == ENOENT ? "it has just disappeared" : std::strerror(errno);
    found.is_unsure = obstacle_of(errno).why == obstacle::trouble;
    return found;
  }
  const bool is_folder = S_ISDIR(found.facts.st_mode);
  found.decision = of.decisions().decide(path, is_folder, ignored_by);
  if (found.decision.is_served() && of.decisions().is_kept_back(found.facts)) found.decision.why = denial::kept_back;
  if (!found.decision.is_served()) return found;
  if (path.size() * 3 + of.uri().size() >= max_uri_bytes && of.uri_of(path).size() > max_uri_bytes) {
    found.other_reason = "its URI would be longer than " + std::to_string(max_uri_bytes) + " bytes";
    return found;
  }
  if (by != nullptr && by->who.view && !by->who.view->may_see(of.uri_of(path))) {
    found.other_reason = not_shown;
    return found;
  }
  if (S_ISLNK(found.facts.st_mode)) {
    const auto target = of.find(path, by);
    if (target && by != nullptr && !of.is_visible(path, *target, by->who)) {
      found.other_reason = not_shown;
      return found;
    }
    if (!target) {
      const auto& why = target.error();
      disk::throw_if_short(why.error);
      found.is_unsure = why.why == obstacle::trouble;
      found.other_reason = why.why != obstacle::missing ? why.reason
                           : why.error != 0             ? "broken link"
                                                        : "link to something left out: " + why.reason;
      return found;
    }
  } else if (is_folder) {
    const disk::handle inside(::openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!inside.is_open()) disk::throw_if_short(errno);
    if (inside.is_open() && disk::is_bare_repository(inside.get()) && !of.decisions().allows(path, true)) {
      found.decision.why = denial::version_control;
      return found;
    }
    if (inside.is_open() && of.below()->is_kernel_data(inside.get(), found.facts)) {
      found.other_reason = "kernel file system";
      return found;
    }
  }
  found.is_served = true;
  return found;
}

namespace {

/// A folder, and how far it has been walked.
struct level {
  disk::handle folder;  // closed if descriptors run out, and reopened
  struct stat facts;
  folder_names names;
  ignore::stack ignored_by;
  std::size_t path_size;
  std::size_t next = 0;
};

class walker {
 public:
  walker(const root& of, const walk_bounds& bounds, walk_listener& listener) : of_(of), bounds_(bounds), listener_(listener) {}

  bool run() {
    const auto in = of_.below();
    const bool obey = of_.decisions().obey_ignore_files();
    // Before the root is opened, because this needs three descriptors itself.
    auto ignored_by = obey ? of_.ignored().at_root(in->descriptor()) : ignore::stack();
    disk::handle top(::openat(in->descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat facts{};
    if (!top.is_open() || ::fstat(top.get(), &facts) != 0) {
      cannot("be opened", errno);
      return true;
    }
    if (!listener_.served(of_, {}, facts)) return false;
    enter(std::move(top), facts, std::move(ignored_by));
    return go();
  }

  /// Begins at the last name of `path`, as if its folder contained nothing else.
  bool run_below(const std::string& path) {
    const auto slash = path.rfind('/');
    const auto above = slash == std::string::npos ? std::string() : path.substr(0, slash);
    const auto folder = of_.find(above);
    if (!folder) throw_if_unsure(folder.error());
    // A path through a link is not the real path of anything.
    if (!folder || folder->path != above || !S_ISDIR(folder->facts.st_mode)) return true;
    auto ignored_by = of_.stack_at(above);
    if (!ignored_by) throw_if_unsure(ignored_by.error());
    auto open = of_.below()->open_folder(*folder);
    if (!open) throw_if_unsure(refusal_of(open.error()));
    if (!ignored_by || !open) return true;
    path_ = above;
    const auto name = std::string_view(path).substr(slash == std::string::npos ? 0 : slash + 1);
    way_.push_back({std::move(*open), folder->facts, folder_names::of(name), std::move(*ignored_by), path_.size()});
    return go();
  }

 private:
  bool go() {
    while (!way_.empty()) {
      auto& here = way_.back();
      path_.resize(here.path_size);
      if (!here.folder.is_open() && !open_again(here)) {
        way_.pop_back();
      } else if (here.next == here.names.size()) {
        leave(here);
        way_.pop_back();
      } else if (!visit(here, here.names.at(here.next++))) {
        return false;
      }
    }
    return true;
  }

  /// Reports a folder that cannot be walked. Throws std::system_error when resources run out.
  void cannot(const char* what, int error) {
    disk::throw_if_short(error);
    listener_.trouble(of_, path_, "cannot " + std::string(what) + ": " + std::strerror(error));
    if (obstacle_of(error).why == obstacle::trouble) listener_.missed();
  }

  /// Calls `look`. If that throws because resources run out, closes the outer folders and calls it again. So three descriptors
  /// suffice for any depth. `needed`: how many of the innermost folders must stay open.
  template <class Look>
  auto with_few(std::size_t needed, Look look) -> decltype(look()) {
    try {
      return look();
    } catch (const std::system_error& why) {
      bool is_closed = false;
      for (std::size_t i = 0; i + needed < way_.size(); ++i) {
        is_closed = is_closed || way_[i].folder.is_open();
        way_[i].folder = {};
      }
      if (!is_closed || !disk::is_shortage(why.code().value())) throw;
    }
    return look();
  }

  /// False if the folder no longer exists, or was replaced. The watcher reports such changes.
  bool open_again(level& here) {
    const auto found = of_.below()->locate(path_);
    if (!found) throw_if_unsure(refusal_of(found.error()));
    if (!found || found->facts.st_dev != here.facts.st_dev || found->facts.st_ino != here.facts.st_ino) return false;
    auto opened = of_.below()->open_folder(*found);
    if (!opened) throw_if_unsure(refusal_of(opened.error()));
    if (opened) here.folder = std::move(*opened);
    return opened.has_value();
  }

  void enter(disk::handle folder, const struct stat& facts, ignore::stack ignored_by) {
    auto names = with_few(0, [&] {
      auto read = folder_names::read(folder.get(), bounds_.max_names);
      if (!read) disk::throw_if_short(read.error());
      return read;
    });
    if (!names) return cannot("be listed", names.error());
    if (names->is_cut())
      listener_.trouble(of_, path_, "has more than " + std::to_string(bounds_.max_names) + " names; the rest is left out");
    way_.push_back({std::move(folder), facts, std::move(*names), std::move(ignored_by), path_.size()});
  }

  void leave(const level& here) {
    struct stat facts{};
    if (::fstat(here.folder.get(), &facts) == 0) listener_.leaving(facts);
  }

  bool visit(level& here, const std::string& name) {
    if (!path_.empty()) path_ += '/';
    path_ += name;
    const auto found = with_few(1, [&] { return examine(of_, here.folder.get(), path_, name.c_str(), here.ignored_by); });
    if (!found.is_served) {
      if (found.is_unsure) {
        listener_.missed();
        listener_.trouble(of_, path_, "cannot be accessed: " + found.reason());
      }
      listener_.left_out(of_, path_, found);
      return true;
    }
    if (!listener_.served(of_, path_, found.facts)) return false;
    if (!S_ISDIR(found.facts.st_mode)) return true;
    if (way_.size() >= bounds_.max_depth) {
      listener_.trouble(of_, path_, "is " + std::to_string(way_.size()) + " folders deep; its contents are left out");
      return true;
    }
    auto inside = with_few(1, [&] {
      disk::handle opened(::openat(here.folder.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!opened.is_open()) disk::throw_if_short(errno);
      return opened;
    });
    if (!inside.is_open()) {
      cannot("be listed", errno);
      return true;
    }
    const bool obey = of_.decisions().obey_ignore_files();
    auto ignored_by =
        with_few(0, [&] { return obey ? of_.ignored().below(here.ignored_by, inside.get(), name) : ignore::stack(); });
    enter(std::move(inside), found.facts, std::move(ignored_by));  // invalidates `here`
    return true;
  }

  const root& of_;
  const walk_bounds& bounds_;
  walk_listener& listener_;
  std::string path_;
  std::vector<level> way_;
};

}  // namespace

bool walk(const root& of, const walk_bounds& bounds, walk_listener& listener) { return walker(of, bounds, listener).run(); }

bool walk_below(const root& of, const std::string& path, const walk_bounds& bounds, walk_listener& listener) {
  return path.empty() ? walk(of, bounds, listener) : walker(of, bounds, listener).run_below(path);
}

}  // namespace hondana::files
