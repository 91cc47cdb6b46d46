/// The walk, on an explicit stack of open folders.
#include "providers/files/walk.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace hondana::files {
namespace {

/// An open folder and how far it has been gone through.
struct level {
  disk::handle folder;
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
    disk::handle top(::openat(in->descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat facts{};
    if (!top.is_open() || ::fstat(top.get(), &facts) != 0) {
      listener_.trouble(of_, {}, std::string("cannot be opened: ") + std::strerror(errno));
      return true;
    }
    if (!listener_.served(of_, {}, facts)) return false;
    const bool obey = of_.decisions().obey_ignore_files();
    enter(std::move(top), obey ? of_.ignored().at_root(in->descriptor()) : ignore::stack());
    return go();
  }

  /// Begins at the last name of `path`, as if its folder held nothing else.
  bool run_below(const std::string& path) {
    const auto slash = path.rfind('/');
    const auto above = slash == std::string::npos ? std::string() : path.substr(0, slash);
    const auto folder = of_.find(above);
    // A path over a link is not where anything is.
    if (!folder || folder->path != above || !S_ISDIR(folder->facts.st_mode)) return true;
    auto ignored_by = of_.stack_at(above);
    auto open = of_.below()->open_folder(*folder);
    if (!ignored_by || !open) return true;
    path_ = above;
    const auto name = std::string_view(path).substr(slash == std::string::npos ? 0 : slash + 1);
    way_.push_back({std::move(*open), folder_names::of(name), std::move(*ignored_by), path_.size()});
    return go();
  }

 private:
  bool go() {
    while (!way_.empty()) {
      auto& here = way_.back();
      path_.resize(here.path_size);
      if (here.next == here.names.size()) {
        leave(here);
        way_.pop_back();
      } else if (!visit(here, here.names.at(here.next++))) {
        return false;
      }
    }
    return true;
  }

  void enter(disk::handle folder, ignore::stack ignored_by) {
    auto names = folder_names::read(folder.get(), bounds_.max_names);
    if (!names) {
      listener_.trouble(of_, path_, std::string("cannot be listed: ") + std::strerror(names.error()));
      return;
    }
    if (names->is_cut())
      listener_.trouble(of_, path_, "has more than " + std::to_string(bounds_.max_names) + " names; the rest is left out");
    way_.push_back({std::move(folder), std::move(*names), std::move(ignored_by), path_.size()});
  }

  void leave(const level& here) {
    struct stat facts{};
    if (::fstat(here.folder.get(), &facts) == 0) listener_.leaving(facts);
  }

  bool visit(level& here, const std::string& name) {
    if (!path_.empty()) path_ += '/';
    path_ += name;
    const auto found = examine(of_, here.folder.get(), path_, name.c_str(), here.ignored_by);
    if (!found.is_served) {
      listener_.left_out(of_, path_, found);
      return true;
    }
    if (!listener_.served(of_, path_, found.facts)) return false;
    if (!S_ISDIR(found.facts.st_mode)) return true;
    if (way_.size() >= bounds_.max_depth) {
      listener_.trouble(of_, path_, "is " + std::to_string(way_.size()) + " folders deep; what is in it is left out");
      return true;
    }
    disk::handle inside(::openat(here.folder.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!inside.is_open()) {
      listener_.trouble(of_, path_, std::string("cannot be listed: ") + std::strerror(errno));
      return true;
    }
    auto ignored_by =
        of_.decisions().obey_ignore_files() ? of_.ignored().below(here.ignored_by, inside.get(), name) : ignore::stack();
    enter(std::move(inside), std::move(ignored_by));  // `here` may move
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
