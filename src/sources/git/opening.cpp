/// A handle put together from its parts.
#include "sources/git/opening.hpp"

#include <git2/odb_backend.h>
#include <git2/sys/odb_backend.h>
#include <git2/sys/repository.h>

#include <string>
#include <string_view>
#include <utility>

#include "sources/git/known_settings.hpp"
#include "sources/git/loose_objects.hpp"

namespace hondana::git {
namespace {

constexpr std::string_view cannot_open =
    "the repository cannot be opened, though its files look right. Run `git fsck` for details";

/// As git weighs them: packs before loose objects, a repository's own before those it borrows.
constexpr int of_packs = 2, of_loose = 1;

using backend_pointer = std::unique_ptr<git_odb_backend, void (*)(git_odb_backend*)>;

int add(git_odb* to, git_odb_backend* raw, int priority, bool is_own) {
  backend_pointer backend(raw, [](git_odb_backend* of) {
    if (of->free != nullptr) of->free(of);
  });
  // "Alternates" of libgit2 are asked last, and never written to.
  const int code = is_own ? git_odb_add_backend(to, raw, priority) : git_odb_add_alternate(to, raw, priority);
  if (code == 0) (void)backend.release();  // it belongs to the database now
  return code;
}

int add_folder(git_odb* to, const std::string& folder, bool is_own) {
  git_odb_backend* raw = nullptr;
  if (const int code = loose_objects(&raw, folder); code < 0) return code;
  if (const int code = add(to, raw, of_loose, is_own); code < 0) return code;
  if (const int code = git_odb_backend_pack(&raw, folder.c_str()); code < 0) return code;
  return add(to, raw, of_packs, is_own);
}

}  // namespace

result<repository_pointer> open_surveyed(const surveyed& what) {
  HONDANA_TRY(ready());
  HONDANA_TRY(auto config, config_of(what.settings));

  git_odb* raw_objects = nullptr;
  if (const int code = git_odb_new(&raw_objects); code < 0) return failed(std::string(cannot_open));
  const odb_pointer objects(raw_objects);
  bool is_own = true;
  for (const auto& one : what.where.object_folders)
    if (const int code = add_folder(raw_objects, one, std::exchange(is_own, false)); code < 0)
      return failed(std::string(cannot_open));

  git_repository* raw = nullptr;
  if (const int code = git_repository_open_bare(&raw, what.where.git_folder.c_str()); code < 0)
    return fail(errc::source_unavailable, std::string(cannot_open), last_words());
  repository_pointer opened(raw);
  if (const int code = git_repository_set_config(raw, config.get()); code < 0) return failed(std::string(cannot_open));
  if (const int code = git_repository_set_odb(raw, raw_objects); code < 0) return failed(std::string(cannot_open));
  if (!what.where.work_tree.empty()) {
    if (const int code = git_repository_set_workdir(raw, what.where.work_tree.c_str(), 0); code < 0)
      return failed(std::string(cannot_open));
    // libgit2 follows links, and one may have come since the survey.
    if (git_repository_workdir(raw) != what.where.work_tree + '/')
      return fail(errc::source_unavailable, std::string(cannot_open), "its work tree has become a link");
  }
  return opened;
}

}  // namespace hondana::git
