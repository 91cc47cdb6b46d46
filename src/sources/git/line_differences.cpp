/// Asks libgit2 for nothing but the places that differ.
///
/// It finds equal lines by a hash that anybody can compute, and a few thousand lines with one hash hold it for minutes. So it
/// is never shown the lines: it is shown a name for each, the same for equal ones, all of whose hashes differ. Nothing else
/// about lines counts for which of them are taken for those that stayed.
#include "sources/git/line_differences.hpp"

#include <algorithm>

#include "sources/git/library.hpp"

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

/// A line with its line feed, where it has one, and which one it is of both texts.
struct text_line {
  std::string_view text;
  std::uint32_t place;
};

/// Any order will do that is soon found out.
bool is_sooner(const text_line& a, const text_line& b) noexcept {
  return a.text.size() != b.text.size() ? a.text.size() < b.text.size() : a.text < b.text;
}

void add_lines(std::vector<text_line>& to, std::string_view text) {
  while (!text.empty()) {
    const auto line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    to.push_back({line, static_cast<std::uint32_t>(to.size())});
    text.remove_prefix(line.size());
  }
}

/// With digits of five bits no two names have one hash: a step of it multiplies by 33 and flips what the next byte says.
constexpr std::size_t name_digits = 5;
constexpr unsigned digit_bits = 5;
constexpr std::size_t most_names_of_lines = std::size_t{1} << (name_digits * digit_bits);

void append_line_name(std::string& to, std::size_t number) {
  for (std::size_t i = 0; i < name_digits; ++i, number >>= digit_bits) to += static_cast<char>(0x40U | (number & 0x1FU));
  to += '\n';
}

/// Both texts with a name for each line.
struct named_lines {
  std::string before, after;
};

named_lines names_of_lines(std::string_view before, std::string_view after) {
  std::vector<text_line> lines;
  add_lines(lines, before);
  const auto of_before = lines.size();
  add_lines(lines, after);
  std::sort(lines.begin(), lines.end(), is_sooner);
  std::vector<std::uint32_t> numbers(lines.size());
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0 && lines[i].text != lines[i - 1].text) ++number;
    numbers[lines[i].place] = number;
  }
  named_lines names;
  names.before.reserve(of_before * (name_digits + 1));
  names.after.reserve((numbers.size() - of_before) * (name_digits + 1));
  for (std::size_t i = 0; i < numbers.size(); ++i) append_line_name(i < of_before ? names.before : names.after, numbers[i]);
  return names;
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
  HONDANA_TRY(when.ask());
  if (count_lines(before) + count_lines(after) > most_names_of_lines)
    return fail(errc::response_too_large, "The lines of two files cannot be compared: there are too many.");
  const auto names = names_of_lines(before, after);
  HONDANA_TRY(when.ask());
  // Buffers, not blobs: for blobs libgit2 would ask attributes and drivers.
  git_diff_options options{};
  if (const int code = git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION); code < 0)
    return failed("The lines of two files cannot be compared.");
  options.flags = GIT_DIFF_FORCE_TEXT;
  options.context_lines = 0;
  options.interhunk_lines = 0;
  options.max_size = -1;
  const int code = git_diff_buffers(names.before.data(), names.before.size(), nullptr, names.after.data(), names.after.size(),
                                    nullptr, &options, nullptr, nullptr, note_edit, nullptr, &edits);
  if (code < 0) return failed("The lines of two files cannot be compared.");
  return edits;
}

}  // namespace hondana::git
