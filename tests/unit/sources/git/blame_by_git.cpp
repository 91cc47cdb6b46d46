/// Reads what git blame --line-porcelain prints.
#include "unit/sources/git/blame_by_git.hpp"

#include <algorithm>
#include <cstddef>

#include "unit/sources/git/made_history.hpp"
#include "unit/sources/git/made_repository.hpp"

namespace hondana::git {

std::vector<std::string> blamed_by_git(const std::string& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(),
                   {"-c", "diff.indentHeuristic=false", "-c", "core.quotePath=false", "blame", "--line-porcelain"});
  std::vector<std::string> runs;
  std::string head, path, boundary;
  for (const auto& line : lines_of(run_git(folder, arguments))) {
    if (head.empty()) {
      head = line;
      boundary.clear();
    } else if (line.starts_with('\t')) {
      // The first line of a run tells the run's length, too.
      if (std::count(head.begin(), head.end(), ' ') == 3) runs.push_back(head + ' ' + path + boundary);
      head.clear();
    } else if (line == "boundary") {
      boundary = " boundary";
    } else if (line.starts_with("filename ")) {
      path = line.substr(9);
    }
  }
  return runs;
}

std::vector<std::string> blamed_by_us(git_repository* in, const blame_request& request) {
  const auto found = blame(in, request);
  if (!found) return {"failed: " + found.error().public_text};
  std::vector<std::string> runs;
  for (const auto& one : found->runs) {
    runs.push_back(to_hex(one.commit) + ' ' + std::to_string(one.original_first) + ' ' + std::to_string(one.first) + ' ' +
                   std::to_string(one.count) + ' ' + one.path + (one.is_boundary ? " boundary" : ""));
  }
  if (!found->unresolved.empty()) runs.push_back("open");
  return runs;
}

}  // namespace hondana::git
