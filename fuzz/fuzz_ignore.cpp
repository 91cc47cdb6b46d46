/// Fuzzes ignore files against paths: no crash, bounded work, and answers that agree with one another.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "base/ignore/gitignore.hpp"

namespace {

using namespace hondana::ignore;

void require(bool holds) {
  if (!holds) std::abort();
}

/// What the lines say one by one, from the last, each compiled as a file of its own: the slow way to the same answer.
match_result line_by_line(std::string_view text, std::string_view path, bool is_directory) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  match_result last;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    // A mark at the start of a later line is part of its pattern, but would be skipped at the start of a file.
    const pattern_list alone = pattern_list::parse("\n" + std::string(line));
    const match_result one = alone.match(path, is_directory);
    if (one.outcome == decision::none) continue;
    last = one;
    last.line = number;
    last.pattern = line.substr(0, one.pattern.size());
  }
  return last;
}

}  // namespace

/// The input: a byte of flags, a byte telling the path's length, the path, the `.gitignore`.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const bool is_directory = (data[0] & 1) != 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string_view path = rest.substr(0, data[1]);
  rest.remove_prefix(path.size());

  const auto list = std::make_shared<const pattern_list>(pattern_list::parse(rest, "f"));
  require(list->warnings().size() <= 101);
  const match_result answer = list->match(path, is_directory);
  // Each pattern may cost 3 * (its bytes + 1) * (path bytes + 1), and there is at most one for each byte of the text.
  require(answer.steps <= std::uint64_t{6} * (rest.size() + 1) * (path.size() + 1));
  require((answer.outcome == decision::none) == (answer.line == 0));
  require((answer.outcome == decision::included) == answer.pattern.starts_with('!'));

  if (rest.size() <= 2048) {
    const match_result slow = line_by_line(rest, path, is_directory);
    require(slow.outcome == answer.outcome && slow.line == answer.line && slow.pattern == answer.pattern);
  }

  const stack root(folder_rules{list, nullptr});
  const verdict alone = root.decide(path, is_directory);
  if (!list->is_complete() || answer.steps > max_match_steps) {
    require(alone.is_ignored() == !path.empty());
    return 0;
  }
  require(alone.outcome == answer.outcome && alone.line == answer.line);
  const verdict whole = root.decide_full(path, is_directory);
  bool ancestor_ignored = false;
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    ancestor_ignored = ancestor_ignored || root.decide(path.substr(0, slash), true).is_ignored();
  }
  require(whole.is_ignored() == (ancestor_ignored || alone.is_ignored()));
  require(whole.matched_bytes <= path.size());

  // The same file one folder deeper says the same about the same path seen from there.
  const stack below = stack().child("folder", {list, nullptr});
  require(below.decide("folder/" + std::string(path), is_directory).line == answer.line);
  require(!below.decide(path, is_directory).is_ignored() || path.starts_with("folder/"));
  return 0;
}
