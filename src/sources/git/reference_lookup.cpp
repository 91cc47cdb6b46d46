/// Finds references by name and lists their names, without opening special files in their place.
#include "sources/git/reference_lookup.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>

#include "os/disk/confined_dir.hpp"
#include "os/disk/dir_walk.hpp"
#include "os/disk/file_descriptor.hpp"
#include "sources/git/text_escaping.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t max_reference_depth = 64;
constexpr std::string_view packed_refs_name = "packed-refs";

/// True also if nothing exists there. libgit2 itself rejects folders, at once.
bool is_harmless(int folder, const char* name) noexcept {
  struct stat attributes{};
  return ::fstatat(folder, name, &attributes, 0) != 0 || S_ISREG(attributes.st_mode) || S_ISDIR(attributes.st_mode);
}

tl::unexpected<failure> list_error(std::string_view name, std::string_view reason) {
  return fail(errc::source_unavailable, "the references cannot be listed: " + quote(name) + ' ' + std::string(reason) +
                                            ". Run `git fsck` in the repository.");
}

/// Checks that a folder of references contains no special files.
class reference_checker final : public disk::dir_visitor {
 public:
  /// `name`: the path of the folder below the git folder.
  explicit reference_checker(const std::string& name) : name_(name) {}

  disk::walk_action select(const dirent& entry) override {
    return entry.d_type == DT_REG ? disk::walk_action::skip : disk::walk_action::descend;
  }
  disk::walk_action visit(const disk::walk_entry& entry) override {
    const bool is_folder = S_ISDIR(entry.attributes.st_mode);
    if (is_folder && entry.depth <= max_reference_depth) return disk::walk_action::descend;
    if (is_folder) {
      status = list_error(name_ + '/' + entry.path, "is nested too deeply");
    } else if (!is_harmless(entry.folder, entry.name)) {
      status = list_error(name_ + '/' + entry.path, "is not a regular file");
    }
    return status ? disk::walk_action::skip : disk::walk_action::stop;
  }
  void on_denied(const std::string& /*path*/, std::string /*reason*/) override {}

  result<void> status;

 private:
  const std::string& name_;
};

std::array<std::string, 2> reference_folders(git_repository* repo) {
  return {git_repository_commondir(repo), git_repository_path(repo)};
}

}  // namespace

bool may_look_up(git_repository* repo, const std::string& name) {
  const auto folders = reference_folders(repo);
  for (std::size_t i = 0; i < (folders[0] == folders[1] ? 1U : 2U); ++i)
    if (!is_harmless(AT_FDCWD, (folders[i] + name).c_str())) return false;
  return is_harmless(AT_FDCWD, (folders[0] + std::string(packed_refs_name)).c_str());
}

result<void> check_references(git_repository* repo, std::string folder) {
  while (folder.ends_with('/')) folder.pop_back();
  const auto folders = reference_folders(repo);
  if (!is_harmless(AT_FDCWD, (folders[0] + std::string(packed_refs_name)).c_str()))
    return list_error(packed_refs_name, "is not a regular file");
  for (std::size_t i = 0; i < (folders[0] == folders[1] ? 1U : 2U); ++i) {
    // Screening decides about a folder that is itself a link.
    disk::handle top(::open((folders[i] + folder).c_str(), O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC));
    if (!top.is_open() && disk::to_lookup_error(errno).kind != disk::lookup_error_kind::system_error) continue;
    reference_checker checker(folder);
    if (const auto walked = disk::walk(std::move(top), checker); !walked)
      return list_error(folder + (walked.error().path.empty() ? "" : "/") + walked.error().path, "cannot be listed");
    HONDANA_TRY(std::move(checker.status));
  }
  return {};
}

namespace {

constexpr std::string_view references_prefix = "refs/";
constexpr std::size_t max_symbolic_depth = 5;

}  // namespace

tl::expected<resolved_reference, reference_error> resolve_reference(git_repository* repo, std::string name) {
  if (name.find('\0') != std::string::npos) return tl::unexpected(reference_error::invalid);
  for (std::size_t depth = 0; depth <= max_symbolic_depth; ++depth) {
    if (name != "HEAD" && !name.starts_with(references_prefix)) return tl::unexpected(reference_error::invalid);
    int is_valid = 0;
    if (git_reference_name_is_valid(&is_valid, name.c_str()) < 0 || is_valid == 0)
      return tl::unexpected(depth == 0 ? reference_error::invalid : reference_error::broken);
    if (!may_look_up(repo, name)) return tl::unexpected(reference_error::broken);
    git_reference* raw = nullptr;
    const int code = git_reference_lookup(&raw, repo, name.c_str());
    const reference_pointer reference(raw);
    if (code == GIT_ENOTFOUND) return resolved_reference{std::move(name), std::nullopt};
    if (code == GIT_EINVALIDSPEC) return tl::unexpected(depth == 0 ? reference_error::invalid : reference_error::broken);
    if (code < 0) return tl::unexpected(reference_error::broken);
    if (const git_oid* const id = git_reference_target(raw); id != nullptr) return resolved_reference{std::move(name), *id};
    name = git_reference_symbolic_target(raw);
    if (!std::string_view(name).starts_with(references_prefix)) return tl::unexpected(reference_error::broken);
  }
  return tl::unexpected(reference_error::circular);
}

namespace {

/// Selects the smallest names of those that are shown to it. A heap, with the largest of them at the front.
class smallest_names {
 public:
  smallest_names(const std::string& start_after, std::size_t limit) : start_after_(start_after), limit_(limit) {}

  void add(std::string_view name) {
    if (name <= start_after_) return;
    if (names_.size() == limit_) {
      if (limit_ == 0 || name >= names_.front()) return;
      std::pop_heap(names_.begin(), names_.end());
      names_.pop_back();
    }
    names_.emplace_back(name);
    std::push_heap(names_.begin(), names_.end());
  }
  [[nodiscard]] std::vector<std::string> finish() {
    std::sort_heap(names_.begin(), names_.end());
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
    return std::move(names_);
  }

 private:
  const std::string_view start_after_;
  const std::size_t limit_;
  std::vector<std::string> names_;
};

}  // namespace

result<names_page> list_names(git_repository* repo, std::initializer_list<const char*> prefixes, const std::string& start_after,
                              std::size_t limit) {
  constexpr std::string_view message = "the references cannot be listed; run `git fsck` for details";
  smallest_names selected(start_after, limit + 1);
  for (const char* const prefix : prefixes) {
    HONDANA_TRY(check_references(repo, prefix));
    git_reference_iterator* raw = nullptr;
    if (const int code = git_reference_iterator_glob_new(&raw, repo, (std::string(prefix) + '*').c_str()); code < 0)
      return libgit2_failure(std::string(message));
    const reference_iterator_pointer iterator(raw);
    const char* name = nullptr;
    int code = 0;
    while ((code = git_reference_next_name(&name, raw)) == 0) selected.add(name);
    if (code != GIT_ITEROVER) return libgit2_failure(std::string(message));
  }
  names_page page{selected.finish()};
  page.is_last = page.names.size() <= limit;
  if (!page.is_last) page.names.resize(limit);
  return page;
}

}  // namespace hondana::git
