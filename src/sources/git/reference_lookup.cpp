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

#include "os/disk/file_descriptor.hpp"
#include "sources/git/text_escaping.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t deepest_reference = 64;
constexpr std::string_view list_name = "packed-refs";

/// True also if nothing exists there. libgit2 itself rejects folders, at once.
bool is_harmless(int folder, const char* name) noexcept {
  struct stat facts{};
  return ::fstatat(folder, name, &facts, 0) != 0 || S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode);
}

tl::unexpected<failure> unlistable(std::string_view name, std::string_view why) {
  return fail(errc::source_unavailable, "the references cannot be listed: " + in_quotes(name) + ' ' + std::string(why) +
                                            ". Run `git fsck` in the repository.");
}

/// `name`: the path of the folder below the git folder.
result<void> check_below(disk::handle folder, const std::string& name, std::size_t depth) {
  if (depth > deepest_reference) return unlistable(name, "is nested too deeply");
  const auto list = disk::stream_of(std::move(folder));
  if (!list) return unlistable(name, "cannot be listed");
  const int descriptor = ::dirfd(list.get());
  while (const dirent* const one = ::readdir(list.get())) {
    const std::string_view called = one->d_name;
    if (called == "." || called == ".." || one->d_type == DT_REG) continue;
    const auto inner_name = name + '/' + one->d_name;
    if (!is_harmless(descriptor, one->d_name)) return unlistable(inner_name, "is not a regular file");
    disk::handle inner(::openat(descriptor, one->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!inner.is_open() && (errno == EMFILE || errno == ENFILE)) return unlistable(inner_name, "cannot be listed");
    if (!inner.is_open()) continue;  // a link, or deleted meanwhile
    HONDANA_TRY(check_below(std::move(inner), inner_name, depth + 1));
  }
  return {};
}

std::array<std::string, 2> folders_of_references(git_repository* in) {
  return {git_repository_commondir(in), git_repository_path(in)};
}

}  // namespace

bool may_look_up(git_repository* in, const std::string& name) {
  const auto folders = folders_of_references(in);
  for (std::size_t i = 0; i < (folders[0] == folders[1] ? 1U : 2U); ++i)
    if (!is_harmless(AT_FDCWD, (folders[i] + name).c_str())) return false;
  return is_harmless(AT_FDCWD, (folders[0] + std::string(list_name)).c_str());
}

result<void> check_references(git_repository* in, std::string folder) {
  while (folder.ends_with('/')) folder.pop_back();
  const auto folders = folders_of_references(in);
  if (!is_harmless(AT_FDCWD, (folders[0] + std::string(list_name)).c_str()))
    return unlistable(list_name, "is not a regular file");
  for (std::size_t i = 0; i < (folders[0] == folders[1] ? 1U : 2U); ++i) {
    // Screening decides about a folder that is itself a link.
    disk::handle top(::open((folders[i] + folder).c_str(), O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC));
    if (!top.is_open() && (errno == EMFILE || errno == ENFILE)) return unlistable(folder, "cannot be listed");
    if (!top.is_open()) continue;
    HONDANA_TRY(check_below(std::move(top), folder, 0));
  }
  return {};
}

namespace {

constexpr std::string_view references_prefix = "refs/";
constexpr std::size_t most_symbolic = 5;

}  // namespace

tl::expected<followed_name, lost> follow_reference(git_repository* in, std::string name) {
  if (name.find('\0') != std::string::npos) return tl::unexpected(lost::invalid);
  for (std::size_t depth = 0; depth <= most_symbolic; ++depth) {
    if (name != "HEAD" && !name.starts_with(references_prefix)) return tl::unexpected(lost::invalid);
    int is_valid = 0;
    if (git_reference_name_is_valid(&is_valid, name.c_str()) < 0 || is_valid == 0)
      return tl::unexpected(depth == 0 ? lost::invalid : lost::broken);
    if (!may_look_up(in, name)) return tl::unexpected(lost::broken);
    git_reference* raw = nullptr;
    const int code = git_reference_lookup(&raw, in, name.c_str());
    const reference_pointer found(raw);
    if (code == GIT_ENOTFOUND) return followed_name{std::move(name), std::nullopt};
    if (code == GIT_EINVALIDSPEC) return tl::unexpected(depth == 0 ? lost::invalid : lost::broken);
    if (code < 0) return tl::unexpected(lost::broken);
    if (const git_oid* const id = git_reference_target(raw); id != nullptr) return followed_name{std::move(name), *id};
    name = git_reference_symbolic_target(raw);
    if (!std::string_view(name).starts_with(references_prefix)) return tl::unexpected(lost::broken);
  }
  return tl::unexpected(lost::circular);
}

namespace {

/// Selects the smallest names of those that are shown to it. A heap, with the largest of them at the front.
class least_names {
 public:
  least_names(const std::string& after, std::size_t most) : after_(after), most_(most) {}

  void show(std::string_view name) {
    if (name <= after_) return;
    if (kept_.size() == most_) {
      if (most_ == 0 || name >= kept_.front()) return;
      std::pop_heap(kept_.begin(), kept_.end());
      kept_.pop_back();
    }
    kept_.emplace_back(name);
    std::push_heap(kept_.begin(), kept_.end());
  }
  [[nodiscard]] std::vector<std::string> take() {
    std::sort_heap(kept_.begin(), kept_.end());
    kept_.erase(std::unique(kept_.begin(), kept_.end()), kept_.end());
    return std::move(kept_);
  }

 private:
  const std::string_view after_;
  const std::size_t most_;
  std::vector<std::string> kept_;
};

}  // namespace

result<names_page> names_behind(git_repository* in, std::initializer_list<const char*> prefixes, const std::string& after,
                                std::size_t limit) {
  constexpr std::string_view said = "the references cannot be listed; run `git fsck` for details";
  least_names least(after, limit + 1);
  for (const char* const prefix : prefixes) {
    HONDANA_TRY(check_references(in, prefix));
    git_reference_iterator* raw = nullptr;
    if (const int code = git_reference_iterator_glob_new(&raw, in, (std::string(prefix) + '*').c_str()); code < 0)
      return failed(std::string(said));
    const reference_iterator_pointer walk(raw);
    const char* name = nullptr;
    int code = 0;
    while ((code = git_reference_next_name(&name, raw)) == 0) least.show(name);
    if (code != GIT_ITEROVER) return failed(std::string(said));
  }
  names_page page{least.take()};
  page.is_last = page.names.size() <= limit;
  if (!page.is_last) page.names.resize(limit);
  return page;
}

}  // namespace hondana::git
