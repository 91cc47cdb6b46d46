/// Writes what `git diff-tree -p` writes, and counts what `--numstat` counts.
///
/// Attributes are never asked, neither those of the work tree (as diff-tree does there), nor those of the trees: what is binary
/// is told by its bytes, and what stands behind a hunk's header by git's default rule, as in a bare repository.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sources/git/changes.hpp"
#include "sources/git/line_differences.hpp"
#include "sources/git/side_content.hpp"
#include "sources/git/stopping.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t most_context = std::size_t{1} << 30;

std::string octal(std::uint32_t mode) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), mode, 8).ptr;
  std::string text(digits.data(), end);
  return text.insert(0, 6 - std::min<std::size_t>(text.size(), 6), '0');
}

/// No path of git's begins with a slash; of one in a broken tree git shows the rest.
std::string without_slash(const std::string& path) { return path.starts_with('/') ? path.substr(1) : path; }

/// Both contents, and whether there is anything in them to be compared.
struct two_contents {
  side_content before, after;
  [[nodiscard]] bool is_binary() const noexcept { return before.is_binary || after.is_binary; }
};

tl::unexpected<failure> beyond_limit(const std::string& what) {
  return fail(errc::response_too_large,
              "Files of more than " + what + " are not compared. Read both of them instead, or compare them with git.");
}

/// Asked of both before either is read.
result<void> check_sizes(const side& before, const side& after, side_contents& from, const patch_options& with) {
  for (const auto* one : {&before, &after}) {
    HONDANA_TRY(const auto size, from.size_of(*one));
    if (size > with.largest_compared && size <= with.largest_file)
      return beyond_limit(std::to_string(with.largest_compared) + " bytes");
  }
  return {};
}

result<two_contents> contents_of(const side& before, const side& after, side_contents& from, const patch_options& with,
                                 const stopping& when) {
  HONDANA_TRY(when.ask());
  HONDANA_TRY(check_sizes(before, after, from, with));
  two_contents both;
  for (auto [side, into] : {std::pair(&before, &both.before), std::pair(&after, &both.after)}) {
    HONDANA_TRY(auto read, from.read(*side, with.largest_file));
    // The text of a link is its target.
    const bool is_content = is_regular(side->mode) || (side->mode & kind_bits) == link_kind;
    if (with.mask && is_content && read.is_whole) {
      std::string masked(read.bytes());
      with.mask(side->path, masked);
      read.held = std::move(masked);
    }
    *into = std::move(read);
  }
  return both;
}

result<std::vector<line_edit>> edits_of(const two_contents& both, const patch_options& with, stopping& when) {
  const auto before = both.before.bytes(), after = both.after.bytes();
  if (!before.empty() && !after.empty() && count_lines(before) + count_lines(after) > with.most_lines)
    return beyond_limit(std::to_string(with.most_lines) + " lines, both together,");
  return line_edits(before, after, when);
}

class patch_writer {
 public:
  patch_writer(std::string& to, git_repository* in, const patch_options& with)
      : to_(to), from_(in), with_(with), when_(with.is_stopped), begin_(to.size()) {}

  result<void> write(const change& of) {
    if (of.before.is_there() && of.after.is_there() && (of.before.mode & kind_bits) != (of.after.mode & kind_bits)) {
      // Contents of two kinds are not compared.
      HONDANA_TRY(write(of, of.before, {of.after.path}));
      outcome_.is_measured = false;
      return write(of, {of.before.path}, of.after);
    }
    return write(of, of.before, of.after);
  }

  /// What has come of it so far, also where that was an error.
  [[nodiscard]] const patch_outcome& outcome() const noexcept { return outcome_; }

 private:
  result<void> write(const change& of, const side& before, const side& after) {
    const auto before_name = quoted_path("a/" + without_slash(before.path));
    const auto after_name = quoted_path("b/" + without_slash(after.path));
    to_ += "diff --git " + before_name + ' ' + after_name + '\n';
    append_modes(before, after);
    if (of.what == change::kind::renamed) {
      to_ += "similarity index " + std::to_string(of.similarity) + "%\nrename from " + quoted_path(before.path) +
             "\nrename to " + quoted_path(after.path) + '\n';
    }
    if (before.mode != 0 && after.mode != 0 && git_oid_equal(&before.id, &after.id) != 0) {
      outcome_.is_measured = true;
      return check_length();
    }
    to_ += "index " + text_of(before.id) + ".." + text_of(after.id);
    if (before.mode == after.mode) to_ += ' ' + octal(before.mode);
    to_ += '\n';
    const auto both = contents_of(before, after, from_, with_, when_);
    if (!both) return without_comparison(both.error());
    const auto shown_before = before.is_there() ? before_name : "/dev/null",
               shown_after = after.is_there() ? after_name : "/dev/null";
    if (both->is_binary()) {
      outcome_.is_binary = outcome_.is_measured = true;
      to_ += "Binary files " + shown_before + " and " + shown_after + " differ\n";
      return check_length();
    }
    const auto edits = edits_of(*both, with_, when_);
    if (!edits) return without_comparison(edits.error());
    note(*edits);
    if (edits->empty()) return check_length();
    append_name("--- ", shown_before);
    append_name("+++ ", shown_after);
    HONDANA_TRY(check_length());
    const hunk_options how{std::min(with_.context, most_context), static_cast<std::size_t>(with_.most_bytes - length())};
    return append_hunks(to_, both->before.bytes(), both->after.bytes(), *edits, how, when_);
  }

  void append_modes(const side& before, const side& after) {
    if (!before.is_there()) {
      to_ += "new file mode " + octal(after.mode) + '\n';
    } else if (!after.is_there()) {
      to_ += "deleted file mode " + octal(before.mode) + '\n';
    } else if (before.mode != after.mode) {
      to_ += "old mode " + octal(before.mode) + "\nnew mode " + octal(after.mode) + '\n';
    }
  }

  /// A tab ends a name with spaces, for programs that take what stands behind a space for a date.
  void append_name(std::string_view sign, const std::string& name) {
    (to_ += sign) += name;
    if (name.find(' ') != std::string::npos) to_ += '\t';
    to_ += '\n';
  }

  void note(const std::vector<line_edit>& edits) {
    outcome_.is_measured = true;
    for (const auto& edit : edits) {
      outcome_.deleted_lines += edit.before_count;
      outcome_.added_lines += edit.after_count;
    }
  }

  tl::unexpected<failure> without_comparison(const failure& why) {
    if (why.code == errc::response_too_large) outcome_.what = patch_outcome::kind::not_compared;
    return tl::unexpected(why);
  }

  [[nodiscard]] std::uint64_t length() const noexcept { return to_.size() - begin_; }
  result<void> check_length() const {
    if (length() > with_.most_bytes) return patch_too_long();
    return {};
  }

  std::string& to_;
  side_contents from_;
  const patch_options& with_;
  stopping when_;
  std::size_t begin_;
  patch_outcome outcome_;
};

}  // namespace

result<void> append_patch(std::string& to, git_repository* in, const change& of, const patch_options& with) {
  const auto begin = to.size();
  auto done = patch_writer(to, in, with).write(of);
  if (!done) to.resize(begin);
  return done;
}

result<patch_outcome> try_patch(std::string& to, git_repository* in, const change& of, const patch_options& with) {
  const auto begin = to.size();
  patch_writer writer(to, in, with);
  auto done = writer.write(of);
  auto outcome = writer.outcome();
  if (done) return outcome;
  to.resize(begin);
  if (done.error().code != errc::response_too_large) return tl::unexpected(std::move(done.error()));
  if (outcome.what == patch_outcome::kind::written) outcome.what = patch_outcome::kind::too_long;
  return outcome;
}

result<void> measure(change& of, git_repository* in, const patch_options& with) {
  side_contents from(in);
  stopping when(with.is_stopped);
  HONDANA_TRY(const auto both, contents_of(of.before, of.after, from, with, when));
  of.added_lines = of.deleted_lines = 0;
  of.is_binary = both.is_binary();
  if (of.is_binary) return {};
  const auto edits = edits_of(both, with, when);
  if (!edits) return tl::unexpected(edits.error());
  for (const auto& edit : *edits) {
    of.deleted_lines += edit.before_count;
    of.added_lines += edit.after_count;
  }
  return {};
}

}  // namespace hondana::git
