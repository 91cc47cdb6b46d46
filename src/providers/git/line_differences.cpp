/// Asks libgit2 for nothing but the places that differ.
#include "providers/git/line_differences.hpp"

#include <algorithm>

#include "providers/git/library.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t at_line(int first, int count) noexcept {
  // Where there are no lines, libgit2 names the one before.
  return static_cast<std::size_t>(count == 0 ? first : first - 1);
}

int note_edit(const git_diff_delta* /*file*/, const git_diff_hunk* hunk, void* payload) {
  static_cast<std::vector<line_edit>*>(payload)->push_back(
      {at_line(hunk->old_start, hunk->old_lines), static_cast<std::size_t>(hunk->old_lines),
       at_line(hunk->new_start, hunk->new_lines), static_cast<std::size_t>(hunk->new_lines)});
  return 0;
}

}  // namespace

std::size_t count_lines(std::string_view text) noexcept {
  const auto ends = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  return ends + (text.empty() || text.ends_with('\n') ? 0 : 1);
}

result<std::vector<line_edit>> line_edits(std::string_view before, std::string_view after, const stopping& when) {
  std::vector<line_edit> edits;
  if (before == after) return edits;
  if (before.empty() || after.empty()) {
    edits.push_back({0, count_lines(before), 0, count_lines(after)});
    return edits;
  }
  if (auto go = when.ask(); !go) return tl::unexpected(std::move(go.error()));
  // Buffers, not blobs: for blobs libgit2 would ask attributes and drivers.
  git_diff_options options{};
  if (const int code = git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION); code < 0)
    return failed("The lines of two files cannot be compared.");
  options.flags = GIT_DIFF_FORCE_TEXT;
  options.context_lines = 0;
  options.interhunk_lines = 0;
  options.max_size = -1;
  const int code = git_diff_buffers(before.data(), before.size(), nullptr, after.data(), after.size(), nullptr, &options,
                                    nullptr, nullptr, note_edit, nullptr, &edits);
  if (code < 0) return failed("The lines of two files cannot be compared.");
  return edits;
}

}  // namespace hondana::git
