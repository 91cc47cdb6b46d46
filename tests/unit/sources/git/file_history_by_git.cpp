/// Reads what git log --follow --name-only prints.
#include "unit/sources/git/file_history_by_git.hpp"

#include "sources/git/history.hpp"
#include "unit/sources/git/made_history.hpp"
#include "unit/sources/git/made_repository.hpp"

namespace hondana::git {

std::vector<std::string> followed_by_git(const std::string& folder, const std::string& path) {
  std::vector<std::string> steps;
  std::string commit;
  bool is_told = true;
  for (const auto& line : lines_of(run_git(folder, {"--literal-pathspecs", "-c", "core.quotePath=false", "log", "--follow",
                                                    "--full-history", "--format=commit %H", "--name-only", "--", path}))) {
    if (line.starts_with("commit ")) {
      commit = line.substr(7);
      is_told = false;
    } else if (!line.empty() && !is_told) {
      // Of a folder every changed file is told, and the folder's path is what we tell.
      steps.push_back(commit + ' ' + (line.starts_with(path + '/') ? path : line));
      is_told = true;
    }
  }
  return steps;
}

std::vector<std::string> followed_by_us(git_repository* in, const std::string& path, std::size_t limit) {
  std::vector<std::string> steps;
  log_request request;
  request.limit = limit;
  const auto from = id_at(in, "HEAD");
  for (;;) {
    const auto page = file_history(in, from, path, request);
    if (!page) {
      steps.push_back("failed: " + page.error().public_text);
      return steps;
    }
    for (const auto& one : page->steps) steps.push_back(to_hex(one.commit.id) + ' ' + one.path);
    if (!page->next) return steps;
    request.cursor = *page->next;
  }
}

}  // namespace hondana::git
