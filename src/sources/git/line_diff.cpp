/// Differences between two texts line by line, and the hunks that show them.
#include "sources/git/line_diff.hpp"

#include <algorithm>
#include <span>

#include "base/ascii/ascii.hpp"
#include "sources/git/libgit2.hpp"

// libgit2 is used only to find the places that differ.
//
// It finds equal lines by a hash that anyone can compute, and a few thousand lines with one hash keep it busy for minutes. So
// it never sees the lines, but a name for each. Equal lines have the same name, and the hashes of all names differ. Nothing
// else about a line influences which lines count as unchanged.

namespace hondana::git {
namespace {

constexpr std::size_t at_line(int first, int count) noexcept {
  // For an empty range, libgit2 returns the line before it.
  return static_cast<std::size_t>(count == 0 ? first : first - 1);
}

int note_edit(const git_diff_delta* /*file*/, const git_diff_hunk* hunk, void* payload) {
  static_cast<std::vector<line_edit>*>(payload)->push_back(
      {at_line(hunk->old_start, hunk->old_lines), static_cast<std::size_t>(hunk->old_lines),
       at_line(hunk->new_start, hunk->new_lines), static_cast<std::size_t>(hunk->new_lines)});
  return 0;
}

/// A line with its line feed, if there is one, and its index in both texts together.
struct text_line {
  std::string_view text;
  std::uint32_t place;
};

/// Any order suffices that is fast to compute.
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

/// With five such digits, the hashes of all names differ. A step of the hash multiplies by 33 and flips the bits of the next
/// byte.
constexpr std::size_t name_digits = 5;
constexpr unsigned digit_bits = 5;
constexpr std::size_t most_names_of_lines = std::size_t{1} << (name_digits * digit_bits);

void append_line_name(std::string& to, std::size_t number) {
  for (std::size_t i = 0; i < name_digits; ++i, number >>= digit_bits) to += static_cast<char>(0x40U | (number & 0x1FU));
  to += '\n';
}

/// Both texts, with a name for each line.
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
  // Buffers, not blobs: for blobs libgit2 would read attributes and drivers.
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

namespace {

constexpr std::size_t longest_heading = 80;

/// Bytes of the code point that `text` begins with; 0 if it is not UTF-8. As in git, U+FFFE and U+FFFF are invalid.
std::size_t code_point_size(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto goes_on = [&](std::size_t i) { return (at(i) & 0xc0) == 0x80; };
  const auto lead = at(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return goes_on(1) ? 2 : 0;
  if (lead >= 0xe0 && lead < 0xf0) {
    if (!goes_on(1) || !goes_on(2)) return 0;
    const bool is_none =
        (lead == 0xe0 && at(1) < 0xa0) || (lead == 0xed && at(1) >= 0xa0) || (lead == 0xef && at(1) == 0xbf && at(2) >= 0xbe);
    return is_none ? 0 : 3;
  }
  if (lead >= 0xf0 && lead < 0xf5) {
    if (!goes_on(1) || !goes_on(2) || !goes_on(3)) return 0;
    return (lead == 0xf0 && at(1) < 0x90) || (lead == 0xf4 && at(1) >= 0x90) ? 0 : 4;
  }
  return 0;
}

/// What a hunk's header shows of a line.
std::string_view heading_of(std::string_view line) noexcept {
  line = line.substr(0, longest_heading);
  while (!line.empty() && ascii::is_json_space(line.back())) line.remove_suffix(1);
  std::size_t sound = 0;
  while (sound < line.size()) {
    const auto size = code_point_size(line.substr(sound));
    if (size == 0) break;
    sound += size;
  }
  return line.substr(0, sound);
}

/// Reads a text line by line.
class line_reader {
 public:
  explicit line_reader(std::string_view text) noexcept : rest_(text) {}

  [[nodiscard]] bool is_end() const noexcept { return rest_.empty(); }
  [[nodiscard]] std::size_t line() const noexcept { return line_; }
  /// The line with its line feed, if there is one.
  std::string_view take() noexcept {
    const auto end = rest_.find('\n');
    const auto line = rest_.substr(0, end == std::string_view::npos ? end : end + 1);
    rest_.remove_prefix(line.size());
    ++line_;
    return line;
  }

 private:
  std::string_view rest_;
  std::size_t line_ = 0;
};

class hunk_writer {
 public:
  hunk_writer(std::string& to, std::string_view before, std::string_view after, const hunk_options& with, stopping& when)
      : to_(to), before_(before), after_(after), with_(with), when_(when), begin_(to.size()) {}

  result<void> write(std::span<const line_edit> hunk) {
    const auto lead = std::min(with_.context, hunk.front().before);
    const auto first_before = hunk.front().before - lead, first_after = hunk.front().after - lead;
    while (before_.line() < first_before) {
      HONDANA_TRY(pass());
    }
    const auto end_before = hunk.back().before + hunk.back().before_count;
    const auto trail = lines_behind(end_before);
    const auto end_after = hunk.back().after + hunk.back().after_count;
    to_ += "@@ -";
    append_range(first_before, end_before + trail - first_before);
    to_ += " +";
    append_range(first_after, end_after + trail - first_after);
    to_ += " @@";
    if (!heading_.empty()) (to_ += ' ') += heading_;
    to_ += '\n';
    for (const auto& edit : hunk) {
      HONDANA_TRY(context_up_to(edit.before));
      while (before_.line() < edit.before + edit.before_count) {
        HONDANA_TRY(append('-', take_before()));
      }
      while (after_.line() < edit.after) {
        HONDANA_TRY(when_.step());
        after_.take();
      }
      while (after_.line() < edit.after + edit.after_count) {
        HONDANA_TRY(append('+', after_.take()));
      }
    }
    return context_up_to(end_before + trail);
  }

 private:
  std::string_view take_before() noexcept {
    const auto line = before_.take();
    // Only a quick check, because every line may be the heading of a hunk.
    if (ascii::is_letter(line.front()) || line.front() == '_' || line.front() == '$') heading_ = heading_of(line);
    return line;
  }

  result<void> pass() {
    take_before();
    return when_.step();
  }

  /// How many lines of context follow the line `end`, which has not been reached yet.
  std::size_t lines_behind(std::size_t end) const noexcept {
    auto ahead = before_;
    while (ahead.line() < end) ahead.take();
    while (!ahead.is_end() && ahead.line() - end < with_.context) ahead.take();
    return ahead.line() - end;
  }

  result<void> context_up_to(std::size_t line) {
    while (before_.line() < line) {
      HONDANA_TRY(append(' ', take_before()));
    }
    return {};
  }

  result<void> append(char sign, std::string_view line) {
    HONDANA_TRY(when_.step());
    if (to_.size() - begin_ + line.size() > with_.most_bytes) return patch_too_long();
    (to_ += sign) += line;
    if (!line.ends_with('\n')) to_ += "\n\\ No newline at end of file\n";
    return {};
  }

  void append_range(std::size_t first, std::size_t count) {
    to_ += std::to_string(count == 0 ? first : first + 1);
    if (count != 1) (to_ += ',') += std::to_string(count);
  }

  std::string& to_;
  line_reader before_, after_;
  const hunk_options& with_;
  stopping& when_;
  std::size_t begin_;
  std::string_view heading_;
};

}  // namespace

tl::unexpected<failure> patch_too_long() {
  return fail(errc::response_too_large, "The patch is too long. Request the patch of one path, or read the files themselves.");
}

result<void> append_hunks(std::string& to, std::string_view before, std::string_view after, const std::vector<line_edit>& edits,
                          const hunk_options& with, stopping& when) {
  hunk_writer writer(to, before, after, with, when);
  for (std::size_t first = 0; first < edits.size();) {
    auto last = first;
    // Hunks whose contexts would meet are merged.
    while (last + 1 < edits.size() &&
           edits[last + 1].before - (edits[last].before + edits[last].before_count) <= 2 * with.context)
      ++last;
    HONDANA_TRY(writer.write(std::span(edits).subspan(first, last + 1 - first)));
    first = last + 1;
  }
  return {};
}

}  // namespace hondana::git
