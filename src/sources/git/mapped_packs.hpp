/// Pack files that libgit2 has mapped into memory: detects changes, and turns truncation (SIGBUS) into an error.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "os/disk/file_stamp.hpp"

namespace hondana::git {

/// By path below a folder of objects.
using pack_stamps = std::map<std::string, disk::stamp>;

/// Of what lies in `pack` there, and of the commit graph; of more than 1000, of some. Nothing: it cannot be listed now. Cost:
/// an inode for each.
[[nodiscard]] std::optional<pack_stamps> stamps_of_packs(const std::string& objects);

/// Whether something has come since `before`, or was changed or put in the place of another. What has gone is no news: whoever
/// has it mapped keeps it.
[[nodiscard]] bool have_changed(const pack_stamps& before, const pack_stamps& now);

/// Has accesses to what a mapped file has lost any more (SIGBUS) answered with zeros on threads that are inside a
/// `torn_page_guard`, at the first call; elsewhere, and for other causes, the handler decides that was there before. Errors:
/// source_unavailable.
///
/// Mapping cannot be avoided: libgit2 reads packs, their indexes and multi-pack-indexes in no other way. Git itself never
/// shortens them, but puts others in their place; whoever copies over them or truncates them would end this process.
[[nodiscard]] result<void> catch_torn_pages();

/// What one handle may have mapped: all below its folders of objects. libgit2 maps a pack once for all handles of the process,
/// so that zeros that one has been given are zeros for all who have the folder. Threads: any.
class mapped_folders {
 public:
  /// Errors: source_unavailable while others still have mapped what was torn in one of them.
  [[nodiscard]] static result<std::shared_ptr<const mapped_folders>> of(const std::vector<std::string>& folders);

  /// Whether anything of this may have been made of zeros.
  [[nodiscard]] bool is_torn() const noexcept;
  /// Whether packs have come or changed since the first who has them mapped looked: what became shorter within its last page
  /// reads as zeros that nobody hears of. Cost: as `stamps_of_packs`.
  [[nodiscard]] bool is_outdated() const;
  /// Whether both have some folder.
  [[nodiscard]] bool shares_with(const mapped_folders& other) const noexcept;
  /// Only what a signal handler may do.
  void tear() const noexcept;

 private:
  struct mark {
    std::string folder;
    std::optional<pack_stamps> packs;  // as it was made; nothing: not known
    std::atomic<bool> is_torn{false};
  };
  static_assert(std::atomic<bool>::is_always_lock_free);

  std::vector<std::shared_ptr<mark>> marks_;  // shared by all who have the folder
};

/// What every call says that has read torn files.
[[nodiscard]] tl::unexpected<failure> torn();

/// While it lives, what this thread finds torn is so for `what`. Made and destroyed on one thread.
class torn_page_guard {
 public:
  explicit torn_page_guard(std::shared_ptr<const mapped_folders> what) noexcept;
  ~torn_page_guard();
  torn_page_guard(const torn_page_guard&) = delete;
  torn_page_guard& operator=(const torn_page_guard&) = delete;

  [[nodiscard]] const std::shared_ptr<const mapped_folders>& what() const noexcept { return what_; }
  [[nodiscard]] const torn_page_guard* outer() const noexcept { return outer_; }

 private:
  const std::shared_ptr<const mapped_folders> what_;
  torn_page_guard* outer_;
};

}  // namespace hondana::git
