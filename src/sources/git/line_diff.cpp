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

constexpr std::size_t first_line_index(int first, int count) noexcept {
  // For an empty range, libgit2 returns the line before it.
  return static_cast<std::size_t>(count == 0 ? first : first - 1);
}

int record_edit(const git_diff_delta* /*file*/, const git_diff_hunk* hunk, void* payload) {
  static_cast<std::vector<line_edit>*>(payload)->push_back(
      {first_line_index(hunk->old_start, hunk->old_lines), static_cast<std::size_t>(hunk->old_lines),
       first_line_index(hunk->new_start, hunk->new_lines), static_cast<std::size_t>(hunk->new_lines)});
  return 0;
}

/// A line with its line feed, if there is one, and its index in both texts together.
struct text_line {
  std::string_view text;
  std::uint32_t index;
};

/// Any order suffices that is fast to compute.
bool is_ordered_before(const text_line& a, const text_line& b) noexcept {
  return a.text.size() != b.text.size() ? a.text.size() < b.text.size() : a.text < b.text;
}

void add_lines(std::vector<text_line>& lines, std::string_view text) {
  while (!text.empty()) {
    const auto line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    lines.push_back({line, static_cast<std::uint32_t>(lines.size())});
    text.remove_prefix(line.size());
  }
}

/// With five such digits, the hashes of all names differ. A step of the hash multiplies by 33 and flips the bits of the next
/// byte.
constexpr std::size_t name_digits = 5;
constexpr unsigned digit_bits = 5;
constexpr std::size_t max_line_names = std::size_t{1} << (name_digits * digit_bits);

void append_line_name(std::string& names, std::size_t number) {
  for (std::size_t i = 0; i < name_digits; ++i, number >>= digit_bits) names += static_cast<char>(0x40U | (number & 0x1FU));
  names += '\n';
}

/// Both texts, with a name for each line.
struct named_lines {
  std::string old_text, new_text;
};

named_lines name_lines(std::string_view old_text, std::string_view new_text) {
  std::vector<text_line> lines;
  add_lines(lines, old_text);
  const auto old_count = lines.size();
  add_lines(lines, new_text);
  std::sort(lines.begin(), lines.end(), is_ordered_before);
  std::vector<std::uint32_t> numbers(lines.size());
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0 && lines[i].text != lines[i - 1].text) ++number;
    numbers[lines[i].index] = number;
  }
  named_lines names;
  names.old_text.reserve(old_count * (name_digits + 1));
  names.new_text.reserve((numbers.size() - old_count) * (name_digits + 1));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    append_line_name(i < old_count ? names.old_text : names.new_text, numbers[i]);
  return names;
}

}  // namespace

std::size_t count_lines(std::string_view text) noexcept {
  const auto ends = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  return ends + (text.empty() || text.ends_with('\n') ? 0 : 1);
}

result<std::vector<line_edit>> diff_lines(std::string_view old_text, std::string_view new_text,
                                          const cancellation_checker& cancellation) {
  std::vector<line_edit> edits;
  if (old_text == new_text) return edits;
  if (old_text.empty() || new_text.empty()) {
    edits.push_back({0, count_lines(old_text), 0, count_lines(new_text)});
    return edits;
  }
  HONDANA_TRY(cancellation.check());
  if (count_lines(old_text) + count_lines(new_text) > max_line_names)
    return fail(errc::response_too_large, "The lines of two files cannot be compared: there are too many.");
  const auto names = name_lines(old_text, new_text);
  HONDANA_TRY(cancellation.check());
  // Buffers, not blobs: for blobs libgit2 would read attributes and drivers.
  git_diff_options options{};
  if (const int code = git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION); code < 0)
    return libgit2_failure("The lines of two files cannot be compared.");
  options.flags = GIT_DIFF_FORCE_TEXT;
  options.context_lines = 0;
  options.interhunk_lines = 0;
  options.max_size = -1;
  const int code = git_diff_buffers(names.old_text.data(), names.old_text.size(), nullptr, names.new_text.data(),
                                    names.new_text.size(), nullptr, &options, nullptr, nullptr, record_edit, nullptr, &edits);
  if (code < 0) return libgit2_failure("The lines of two files cannot be compared.");
  return edits;
}

namespace {

constexpr std::size_t max_heading_bytes = 80;

/// Bytes of the code point that `text` begins with; 0 if it is not UTF-8. As in git, U+FFFE and U+FFFF are invalid.
std::size_t code_point_size(std::string_view text) noexcept {
  const auto byte_at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto is_continuation = [&](std::size_t i) { return (byte_at(i) & 0xc0) == 0x80; };
  const auto lead_byte = byte_at(0);
  if (lead_byte < 0x80) return 1;
  if (lead_byte >= 0xc2 && lead_byte < 0xe0) return is_continuation(1) ? 2 : 0;
  if (lead_byte >= 0xe0 && lead_byte < 0xf0) {
    if (!is_continuation(1) || !is_continuation(2)) return 0;
    const bool is_invalid = (lead_byte == 0xe0 && byte_at(1) < 0xa0) || (lead_byte == 0xed && byte_at(1) >= 0xa0) ||
                            (lead_byte == 0xef && byte_at(1) == 0xbf && byte_at(2) >= 0xbe);
    return is_invalid ? 0 : 3;
  }
  if (lead_byte >= 0xf0 && lead_byte < 0xf5) {
    if (!is_continuation(1) || !is_continuation(2) || !is_continuation(3)) return 0;
    return (lead_byte == 0xf0 && byte_at(1) < 0x90) || (lead_byte == 0xf4 && byte_at(1) >= 0x90) ? 0 : 4;
  }
  return 0;
}

/// What a hunk's header shows of a line.
std::string_view heading_of(std::string_view line) noexcept {
  line = line.substr(0, max_heading_bytes);
  while (!line.empty() && ascii::is_json_space(line.back())) line.remove_suffix(1);
  std::size_t valid_bytes = 0;
  while (valid_bytes < line.size()) {
    const auto size = code_point_size(line.substr(valid_bytes));
    if (size == 0) break;
    valid_bytes += size;
  }
  return line.substr(0, valid_bytes);
}

/// Reads a text line by line.
class line_reader {
 public:
  explicit line_reader(std::string_view text) noexcept : remaining_(text) {}

  [[nodiscard]] bool is_at_end() const noexcept { return remaining_.empty(); }
  [[nodiscard]] std::size_t line() const noexcept { return line_; }
  /// The line with its line feed, if there is one.
  std::string_view next() noexcept {
    const auto end = remaining_.find('\n');
    const auto line = remaining_.substr(0, end == std::string_view::npos ? end : end + 1);
    remaining_.remove_prefix(line.size());
    ++line_;
    return line;
  }

 private:
  std::string_view remaining_;
  std::size_t line_ = 0;
};

class hunk_writer {
 public:
  hunk_writer(std::string& patch, std::string_view old_text, std::string_view new_text, const hunk_options& options,
              cancellation_checker& cancellation)
      : patch_(patch),
        old_reader_(old_text),
        new_reader_(new_text),
        options_(options),
        cancellation_(cancellation),
        begin_(patch.size()) {}

  result<void> write(std::span<const line_edit> hunk) {
    const auto leading = std::min(options_.context, hunk.front().old_start);
    const auto old_start = hunk.front().old_start - leading, new_start = hunk.front().new_start - leading;
    while (old_reader_.line() < old_start) {
      HONDANA_TRY(skip_line());
    }
    const auto old_end = hunk.back().old_start + hunk.back().old_lines;
    const auto trailing = trailing_context(old_end);
    const auto new_end = hunk.back().new_start + hunk.back().new_lines;
    patch_ += "@@ -";
    append_range(old_start, old_end + trailing - old_start);
    patch_ += " +";
    append_range(new_start, new_end + trailing - new_start);
    patch_ += " @@";
    if (!heading_.empty()) (patch_ += ' ') += heading_;
    patch_ += '\n';
    for (const auto& edit : hunk) {
      HONDANA_TRY(append_context(edit.old_start));
      while (old_reader_.line() < edit.old_start + edit.old_lines) {
        HONDANA_TRY(append('-', next_old_line()));
      }
      while (new_reader_.line() < edit.new_start) {
        HONDANA_TRY(cancellation_.step());
        new_reader_.next();
      }
      while (new_reader_.line() < edit.new_start + edit.new_lines) {
        HONDANA_TRY(append('+', new_reader_.next()));
      }
    }
    return append_context(old_end + trailing);
  }

 private:
  std::string_view next_old_line() noexcept {
    const auto line = old_reader_.next();
    // Only a quick check, because every line may be the heading of a hunk.
    if (ascii::is_letter(line.front()) || line.front() == '_' || line.front() == '$') heading_ = heading_of(line);
    return line;
  }

  result<void> skip_line() {
    next_old_line();
    return cancellation_.step();
  }

  /// How many lines of context follow the line `end`, which has not been reached yet.
  std::size_t trailing_context(std::size_t end) const noexcept {
    auto ahead = old_reader_;
    while (ahead.line() < end) ahead.next();
    while (!ahead.is_at_end() && ahead.line() - end < options_.context) ahead.next();
    return ahead.line() - end;
  }

  result<void> append_context(std::size_t line) {
    while (old_reader_.line() < line) {
      HONDANA_TRY(append(' ', next_old_line()));
    }
    return {};
  }

  result<void> append(char sign, std::string_view line) {
    HONDANA_TRY(cancellation_.step());
    if (patch_.size() - begin_ + line.size() > options_.max_bytes) return patch_too_long_error();
    (patch_ += sign) += line;
    if (!line.ends_with('\n')) patch_ += "\n\\ No newline at end of file\n";
    return {};
  }

  void append_range(std::size_t first, std::size_t count) {
    patch_ += std::to_string(count == 0 ? first : first + 1);
    if (count != 1) (patch_ += ',') += std::to_string(count);
  }

  std::string& patch_;
  line_reader old_reader_, new_reader_;
  const hunk_options& options_;
  cancellation_checker& cancellation_;
  std::size_t begin_;
  std::string_view heading_;
};

}  // namespace

tl::unexpected<failure> patch_too_long_error() {
  return fail(errc::response_too_large, "The patch is too long. Request the patch of one path, or read the files themselves.");
}

result<void> append_hunks(std::string& patch, std::string_view old_text, std::string_view new_text,
                          const std::vector<line_edit>& edits, const hunk_options& options,
                          cancellation_checker& cancellation) {
  hunk_writer writer(patch, old_text, new_text, options, cancellation);
  for (std::size_t first = 0; first < edits.size();) {
    auto last = first;
    // Hunks whose contexts would meet are merged.
    while (last + 1 < edits.size() &&
           edits[last + 1].old_start - (edits[last].old_start + edits[last].old_lines) <= 2 * options.context)
      ++last;
    HONDANA_TRY(writer.write(std::span(edits).subspan(first, last + 1 - first)));
    first = last + 1;
  }
  return {};
}

}  // namespace hondana::git
