/// Which file and which lines are asked about, and whether that can be.
#include "sources/git/blame.hpp"

#include <algorithm>
#include <memory>
#include <string_view>

#include "sources/git/blame_search.hpp"
#include "sources/git/commit_store.hpp"
#include "sources/git/line_differences.hpp"
#include "sources/git/path_trail.hpp"

namespace hondana::git {
namespace {

// Of the front of a file, where a NUL makes it binary for git.
constexpr std::size_t looked_through = 8000;

tl::unexpected<failure> not_blamed(errc code, const blame_request& request, const std::string& why) {
  return fail(code, "the lines of `" + request.path + "` cannot be attributed: " + why);
}

result<path_trail> trail_of_file(const commit_store& store, const commit_node& at, const blame_request& request) {
  auto trail = path_steps(request.path).trail(store, at.tree, nullptr);
  if (!trail) return trail;
  if (!trail->entry.is_there())
    return not_blamed(errc::resource_not_found, request, "commit " + text_of(at.id) + " has no such file");
  if (trail->entry.is_folder())
    return not_blamed(errc::invalid_argument, request, "it is a folder; request one of the files in it");
  if (trail->entry.is_submodule())
    return not_blamed(errc::invalid_argument, request, "it is a submodule; request the file in the submodule's own repository");
  return trail;
}

/// Those asked for, as one run; none where a whole empty file is asked for.
result<std::vector<traced_lines>> lines_of(std::string_view text, const blame_request& request) {
  if (text.substr(0, looked_through).find('\0') != std::string_view::npos)
    return not_blamed(errc::invalid_argument, request, "it is a binary file, which has no lines");
  const auto count = count_lines(text);
  if (count > request.most_lines) {
    return not_blamed(errc::response_too_large, request,
                      "it has " + std::to_string(count) + " lines, but at most " + std::to_string(request.most_lines) +
                          " are compared; read its history for the commits that changed it");
  }
  const auto first = std::max<std::size_t>(request.first, 1);
  const auto last = request.last == 0 ? count : std::min(request.last, count);
  if (count == 0 && first == 1 && request.last == 0) return std::vector<traced_lines>{};
  if (request.last != 0 && request.last < first) {
    return not_blamed(errc::invalid_argument, request,
                      "line " + std::to_string(first) + " comes after line " + std::to_string(request.last) +
                          "; give the smaller number first");
  }
  if (first > count) {
    return not_blamed(errc::invalid_argument, request,
                      "line " + std::to_string(first) + " is requested, but the file has " + std::to_string(count) +
                          (count == 1 ? " line" : " lines"));
  }
  return std::vector<traced_lines>{{first - 1, first - 1, last - first + 1}};
}

}  // namespace

result<blamed> blame(git_repository* in, const blame_request& request) {
  HONDANA_TRY(const auto store, commit_store::open(in));
  HONDANA_TRY(auto from, store.read(request.commit));
  HONDANA_TRY(auto trail, trail_of_file(store, from, request));
  HONDANA_TRY(auto content, store.blob(trail.entry.id, request.largest_file));
  suspect file{request.path, std::move(trail), std::make_shared<const object_bytes>(std::move(content))};
  HONDANA_TRY(auto lines, lines_of(file.content->text(), request));
  file.lines = std::move(lines);
  return blame_search(in, store, request).run(std::move(from), std::move(file));
}

}  // namespace hondana::git
