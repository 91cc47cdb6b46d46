/// Cuts runs where lines were edited.
#include "sources/git/blame_lines.hpp"

#include <algorithm>
#include <utility>

#include "sources/git/line_differences.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t block = 1024;

/// How much of both ends git leaves out of a comparison without context: equal blocks, but for the front of the last one up to
/// the end of a line. It decides which of several equal lines are taken for those that stayed.
std::size_t common_end(std::string_view a, std::string_view b) noexcept {
  std::size_t size = 0;
  while (std::min(a.size(), b.size()) >= size + block &&
         a.substr(a.size() - size - block, block) == b.substr(b.size() - size - block, block))
    size += block;
  const auto line_end = a.find('\n', a.size() - size);
  return line_end == std::string_view::npos ? 0 : a.size() - line_end - 1;
}

/// Lines of `after` from `begin` up to `end` are those of `before` from `there` on.
struct unchanged {
  std::size_t begin, end, there;
};

std::vector<unchanged> unchanged_between(const std::vector<line_edit>& edits, std::size_t end) {
  std::vector<unchanged> out;
  std::size_t after = 0, before = 0;
  for (const auto& one : edits) {
    if (one.after > after) out.push_back({after, one.after, before});
    after = one.after + one.after_count;
    before = one.before + one.before_count;
  }
  if (end > after) out.push_back({after, end, before});
  return out;
}

}  // namespace

void join(std::vector<traced_lines>& runs) {
  std::sort(runs.begin(), runs.end(), [](const traced_lines& a, const traced_lines& b) { return a.first < b.first; });
  std::vector<traced_lines> joined;
  for (const auto& one : runs) {
    if (!joined.empty() && joined.back().there + joined.back().count == one.there &&
        joined.back().first + joined.back().count == one.first)
      joined.back().count += one.count;
    else
      joined.push_back(one);
  }
  runs = std::move(joined);
}

result<std::vector<traced_lines>> take_older(std::vector<traced_lines>& runs, std::string_view before, std::string_view after,
                                             const stopping& when) {
  const auto end = common_end(before, after);
  HONDANA_TRY(const auto edits, line_edits(before.substr(0, before.size() - end), after.substr(0, after.size() - end), when));
  std::size_t last = 0;
  for (const auto& one : runs) last = std::max(last, one.there + one.count);
  const auto stretches = unchanged_between(edits, last);

  std::vector<traced_lines> older, newer;
  for (auto run : runs) {
    auto stretch =
        std::partition_point(stretches.begin(), stretches.end(), [&run](const unchanged& one) { return one.end <= run.there; });
    while (run.count > 0) {
      while (stretch != stretches.end() && stretch->end <= run.there) ++stretch;
      const bool has_stayed = stretch != stretches.end() && stretch->begin <= run.there;
      const auto stop = stretch == stretches.end() ? run.there + run.count : has_stayed ? stretch->end : stretch->begin;
      const auto count = std::min(run.count, stop - run.there);
      if (has_stayed)
        older.push_back({run.first, stretch->there + (run.there - stretch->begin), count});
      else
        newer.push_back({run.first, run.there, count});
      run.first += count;
      run.there += count;
      run.count -= count;
    }
  }
  runs = std::move(newer);
  return older;
}

}  // namespace hondana::git
