/// The walk, on an explicit stack of open folders.
#include "sources/files/walk.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "os/disk/shortage.hpp"

namespace hondana::files {
namespace {

/// A folder and how far it has been gone through.
struct level {
  disk::handle folder;  // closed where there were not enough descriptors, and opened again
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
    // Before the root is opened: it takes three descriptors itself.
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

  /// Begins at the last name of `path`, as if its folder held nothing else.
  bool run_below(const std::string& path) {
    const auto slash = path.rfind('/');
    const auto above = slash == std::string::npos ? std::string() : path.substr(0, slash);
    const auto folder = of_.find(above);
    if (!folder) throw_if_unsure(folder.error());
    // A path over a link is not where anything is.
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

  /// Tells the listener about a folder that cannot be walked; throws std::system_error for a shortage.
  void cannot(const char* what, int error) {
    disk::throw_if_short(error);
    listener_.trouble(of_, path_, "cannot " + std::string(what) + ": " + std::strerror(error));
    if (obstacle_of(error).why == obstacle::trouble) listener_.missed();
  }

  /// Calls `look`, and again with the folders above closed when it throws for a shortage, so that any depth can be walked with
  /// three descriptors. `needed`: how many of the innermost folders must stay open.
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

  /// False when there is no folder any more, or another one; the watch reports that.
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
    enter(std::move(inside), found.facts, std::move(ignored_by));  // `here` may move
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
