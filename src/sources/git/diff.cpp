/// Compares two trees, and writes patches as git does.
#include "sources/git/diff.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sources/git/cancellation.hpp"
#include "sources/git/diff_content.hpp"
#include "sources/git/line_diff.hpp"
#include "sources/git/rename_detection.hpp"

namespace hondana::git {
namespace {

constexpr std::string_view escaped_bytes = "\a\b\t\n\v\f\r\"\\";
constexpr std::string_view their_letters = "abtnvfr\"\\";

bool needs_escape(unsigned char byte) noexcept { return byte < 0x20 || byte >= 0x7f || byte == '"' || byte == '\\'; }

}  // namespace

std::string quoted_path(std::string_view path) {
  std::string out;
  out.reserve(path.size());
  bool has_escapes = false;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (!needs_escape(byte)) {
      out += c;
      continue;
    }
    has_escapes = true;
    out += '\\';
    if (const auto at = escaped_bytes.find(c); at != std::string_view::npos) {
      out += their_letters[at];
    } else {
      for (const unsigned shift : {6u, 3u, 0u}) out += static_cast<char>('0' + ((byte >> shift) & 7u));
    }
  }
  return has_escapes ? '"' + out + '"' : out;
}

namespace {

// More than file systems allow. A malicious tree can exceed both.
constexpr std::size_t most_depth = 2048;
constexpr std::size_t longest_path = 65'536;
// Examined entries. Trees that contain each other many times are small in the repository, and endless when walked.
constexpr std::uint64_t most_steps = 10'000'000;
constexpr std::size_t most_path_bytes = std::size_t{256} << 20;

/// Git knows five modes. Other values in old trees are mapped to one of them.
std::uint32_t mode_of(const git_tree_entry* entry) noexcept {
  const auto raw = static_cast<std::uint32_t>(git_tree_entry_filemode_raw(entry));
  switch (raw & kind_bits) {
    case regular_kind:
      return (raw & 0100) != 0 ? 0100755 : 0100644;
    case link_kind:
    case folder_kind:
      return raw & kind_bits;
    default:
      return submodule_kind;
  }
}

/// A position at an entry of a tree, or at its end.
class tree_position {
 public:
  explicit tree_position(const git_tree* of) noexcept : of_(of), count_(of != nullptr ? git_tree_entrycount(of) : 0) { read(); }

  [[nodiscard]] bool is_end() const noexcept { return at_ == count_; }
  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  [[nodiscard]] std::uint32_t mode() const noexcept { return mode_; }
  [[nodiscard]] bool is_folder() const noexcept { return mode_ == folder_kind; }
  [[nodiscard]] const git_oid& id() const noexcept { return *id_; }
  void next() noexcept {
    ++at_;
    read();
  }

 private:
  void read() noexcept {
    if (is_end()) return;
    const auto* entry = git_tree_entry_byindex(of_, at_);
    name_ = git_tree_entry_name(entry);
    mode_ = mode_of(entry);
    id_ = git_tree_entry_id(entry);
  }

  const git_tree* of_;
  std::size_t at_ = 0, count_;
  std::string_view name_;
  std::uint32_t mode_ = 0;
  const git_oid* id_ = nullptr;
};

/// The order of entries in trees: as if names of folders ended in a slash, so that paths come in bytewise order.
int order(const tree_position& one, const tree_position& other) noexcept {
  const auto shared = std::min(one.name().size(), other.name().size());
  if (const int order = std::memcmp(one.name().data(), other.name().data(), shared); order != 0) return order;
  const auto behind = [&](const tree_position& of) -> int {
    if (of.name().size() > shared) return static_cast<unsigned char>(of.name()[shared]);
    return of.is_folder() ? '/' : 0;
  };
  return behind(one) - behind(other);
}

class tree_comparison {
 public:
  tree_comparison(git_repository* in, const compare_options& options)
      : in_(in), options_(options), filter_(options.paths), stopping_(options.is_stopped) {}

  result<void> run(const git_tree* from, const git_tree* to) {
    levels_.push_back({nullptr, nullptr, tree_position(from), tree_position(to), 0});
    while (!levels_.empty()) {
      auto& here = levels_.back();
      if (here.before.is_end() && here.after.is_end()) {
        levels_.pop_back();
        continue;
      }
      HONDANA_TRY(stopping_.step());
      if (stopping_.steps() > most_steps) return too_much("More than ten million entries would have to be compared");
      const auto before = here.before, after = here.after;
      const int first = before.is_end() ? 1 : after.is_end() ? -1 : order(before, after);
      if (first <= 0) here.before.next();
      if (first >= 0) here.after.next();
      if (first == 0 && before.mode() == after.mode() && git_oid_equal(&before.id(), &after.id()) != 0) continue;
      path_.resize(here.path_size);
      HONDANA_TRY(entry(first <= 0 ? &before : nullptr, first >= 0 ? &after : nullptr));
    }
    return {};
  }

  std::vector<change>& changes() noexcept { return changes_; }

 private:
  /// Two trees that are being compared, and the positions in them.
  struct level {
    tree_pointer from, to;
    tree_position before, after;
    std::size_t path_size;  // of the folder's path including its slash
  };

  result<void> entry(const tree_position* before, const tree_position* after) {
    const auto& any = before != nullptr ? *before : *after;
    path_ += any.name();
    if (path_.size() > longest_path) return too_much("A path has more than 65536 bytes");
    return any.is_folder() ? below(before, after) : file(before, after);
  }

  result<void> below(const tree_position* before, const tree_position* after) {
    if (levels_.size() > most_depth) return too_much("Folders are nested more than 2048 levels deep");
    if (!filter_.enters(path_)) return {};
    tree_pointer from, to;
    for (auto [position, tree] : {std::pair(before, &from), std::pair(after, &to)}) {
      if (position == nullptr) continue;
      git_tree* raw = nullptr;
      if (const int code = git_tree_lookup(&raw, in_, &position->id()); code < 0) {
        return failed("The tree " + text_of(position->id()) + " cannot be read: it is missing from the repository or " +
                      "damaged. Run `git fsck` in the repository.");
      }
      tree->reset(raw);
    }
    path_ += '/';
    const tree_position was(from.get()), is(to.get());
    levels_.push_back({std::move(from), std::move(to), was, is, path_.size()});
    return {};
  }

  result<void> file(const tree_position* before, const tree_position* after) {
    if (!filter_.takes(path_)) return {};
    path_bytes_ += 2 * path_.size();
    if (changes_.size() == options_.most_changes || path_bytes_ > most_path_bytes) {
      return too_much("More than " + std::to_string(changes_.size()) + " files differ");
    }
    auto& one = changes_.emplace_back();
    one.before.path = one.after.path = path_;
    for (auto [position, of] : {std::pair(before, &one.before), std::pair(after, &one.after)}) {
      if (position == nullptr) continue;
      of->id = position->id();
      of->mode = position->mode();
    }
    one.what = before == nullptr                                               ? change::kind::added
               : after == nullptr                                              ? change::kind::deleted
               : (one.before.mode & kind_bits) != (one.after.mode & kind_bits) ? change::kind::type_changed
                                                                               : change::kind::modified;
    return {};
  }

  static result<void> too_much(std::string why) {
    return fail(errc::response_too_large, std::move(why) + ". Request the changes of one path, or between closer revisions.");
  }

  git_repository* in_;
  const compare_options& options_;
  path_filter filter_;
  stopping stopping_;
  std::vector<level> levels_;
  std::string path_;
  std::size_t path_bytes_ = 0;
  std::vector<change> changes_;
};

}  // namespace

result<std::vector<change>> compare(git_repository* in, git_tree* from, git_tree* to, const compare_options& options) {
  tree_comparison comparison(in, options);
  HONDANA_TRY(comparison.run(from, to));
  auto& changes = comparison.changes();
  if (options.finds_renames) {
    side_contents contents(in);
    HONDANA_TRY(find_renames(changes, contents, options));
  }
  return std::move(changes);
}

}  // namespace hondana::git

// Writes what `git diff-tree -p` writes, and counts what `--numstat` counts.
//
// Attributes are never read, neither those of the work tree, which diff-tree uses, nor those of the trees. A file is binary by
// its bytes. The text after a hunk's header follows git's default rule, as in a bare repository.

namespace hondana::git {
namespace {

constexpr std::size_t most_context = std::size_t{1} << 30;

std::string octal(std::uint32_t mode) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), mode, 8).ptr;
  std::string text(digits.data(), end);
  return text.insert(0, 6 - std::min<std::size_t>(text.size(), 6), '0');
}

/// Git's paths never begin with a slash. For one in a broken tree, git shows the rest.
std::string without_slash(const std::string& path) { return path.starts_with('/') ? path.substr(1) : path; }

/// Both contents, and whether they are binary.
struct two_contents {
  side_content before, after;
  [[nodiscard]] bool is_binary() const noexcept { return before.is_binary || after.is_binary; }
};

tl::unexpected<failure> beyond_limit(const std::string& what) {
  return fail(errc::response_too_large,
              "Files of more than " + what + " are not compared. Read both of them instead, or compare them with git.");
}

/// Checks both sizes before either side is read.
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
      // Contents of different kinds are not compared.
      HONDANA_TRY(write(of, of.before, {of.after.path}));
      outcome_.is_measured = false;
      return write(of, {of.before.path}, of.after);
    }
    return write(of, of.before, of.after);
  }

  /// The outcome so far, also after an error.
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

  /// A tab ends a name with spaces, for programs that take the text after a space for a date.
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
