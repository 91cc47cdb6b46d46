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
constexpr std::string_view escape_characters = "abtnvfr\"\\";

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
    if (const auto index = escaped_bytes.find(c); index != std::string_view::npos) {
      out += escape_characters[index];
    } else {
      for (const unsigned shift : {6u, 3u, 0u}) out += static_cast<char>('0' + ((byte >> shift) & 7u));
    }
  }
  return has_escapes ? '"' + out + '"' : out;
}

namespace {

// More than file systems allow. A malicious tree can exceed both.
constexpr std::size_t max_tree_depth = 2048;
constexpr std::size_t max_path_bytes = 65'536;
// Examined entries. Trees that contain each other many times are small in the repository, and endless when walked.
constexpr std::uint64_t max_compared_entries = 10'000'000;
constexpr std::size_t max_total_path_bytes = std::size_t{256} << 20;

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
  explicit tree_position(const git_tree* tree) noexcept : tree_(tree), count_(tree != nullptr ? git_tree_entrycount(tree) : 0) {
    read();
  }

  [[nodiscard]] bool is_at_end() const noexcept { return index_ == count_; }
  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  [[nodiscard]] std::uint32_t mode() const noexcept { return mode_; }
  [[nodiscard]] bool is_folder() const noexcept { return mode_ == folder_kind; }
  [[nodiscard]] const git_oid& id() const noexcept { return *id_; }
  void next() noexcept {
    ++index_;
    read();
  }

 private:
  void read() noexcept {
    if (is_at_end()) return;
    const auto* entry = git_tree_entry_byindex(tree_, index_);
    name_ = git_tree_entry_name(entry);
    mode_ = mode_of(entry);
    id_ = git_tree_entry_id(entry);
  }

  const git_tree* tree_;
  std::size_t index_ = 0, count_;
  std::string_view name_;
  std::uint32_t mode_ = 0;
  const git_oid* id_ = nullptr;
};

/// The order of entries in trees: as if names of folders ended in a slash, so that paths come in bytewise order.
int compare_names(const tree_position& left, const tree_position& right) noexcept {
  const auto prefix_bytes = std::min(left.name().size(), right.name().size());
  if (const int order = std::memcmp(left.name().data(), right.name().data(), prefix_bytes); order != 0) return order;
  const auto byte_after = [&](const tree_position& position) -> int {
    if (position.name().size() > prefix_bytes) return static_cast<unsigned char>(position.name()[prefix_bytes]);
    return position.is_folder() ? '/' : 0;
  };
  return byte_after(left) - byte_after(right);
}

class tree_comparison {
 public:
  tree_comparison(git_repository* repo, const compare_options& options)
      : repo_(repo), options_(options), filter_(options.paths), cancellation_(options.is_stopped) {}

  result<void> run(const git_tree* old_tree, const git_tree* new_tree) {
    levels_.push_back({nullptr, nullptr, tree_position(old_tree), tree_position(new_tree), 0});
    while (!levels_.empty()) {
      auto& current = levels_.back();
      if (current.old_entry.is_at_end() && current.new_entry.is_at_end()) {
        levels_.pop_back();
        continue;
      }
      HONDANA_TRY(cancellation_.step());
      if (cancellation_.steps() > max_compared_entries)
        return too_large_error("More than ten million entries would have to be compared");
      const auto old_entry = current.old_entry, new_entry = current.new_entry;
      const int order = old_entry.is_at_end() ? 1 : new_entry.is_at_end() ? -1 : compare_names(old_entry, new_entry);
      if (order <= 0) current.old_entry.next();
      if (order >= 0) current.new_entry.next();
      if (order == 0 && old_entry.mode() == new_entry.mode() && git_oid_equal(&old_entry.id(), &new_entry.id()) != 0) continue;
      path_.resize(current.path_size);
      HONDANA_TRY(compare_entries(order <= 0 ? &old_entry : nullptr, order >= 0 ? &new_entry : nullptr));
    }
    return {};
  }

  std::vector<change>& changes() noexcept { return changes_; }

 private:
  /// Two trees that are being compared, and the positions in them.
  struct level {
    tree_pointer old_tree, new_tree;
    tree_position old_entry, new_entry;
    std::size_t path_size;  // of the folder's path including its slash
  };

  result<void> compare_entries(const tree_position* old_entry, const tree_position* new_entry) {
    const auto& present = old_entry != nullptr ? *old_entry : *new_entry;
    path_ += present.name();
    if (path_.size() > max_path_bytes) return too_large_error("A path has more than 65536 bytes");
    return present.is_folder() ? compare_folders(old_entry, new_entry) : add_change(old_entry, new_entry);
  }

  result<void> compare_folders(const tree_position* old_entry, const tree_position* new_entry) {
    if (levels_.size() > max_tree_depth) return too_large_error("Folders are nested more than 2048 levels deep");
    if (!filter_.may_match_below(path_)) return {};
    tree_pointer old_tree, new_tree;
    for (auto [position, tree] : {std::pair(old_entry, &old_tree), std::pair(new_entry, &new_tree)}) {
      if (position == nullptr) continue;
      git_tree* raw = nullptr;
      if (const int code = git_tree_lookup(&raw, repo_, &position->id()); code < 0) {
        return libgit2_failure("The tree " + to_hex(position->id()) + " cannot be read: it is missing from the repository or " +
                               "damaged. Run `git fsck` in the repository.");
      }
      tree->reset(raw);
    }
    path_ += '/';
    const tree_position old_position(old_tree.get()), new_position(new_tree.get());
    levels_.push_back({std::move(old_tree), std::move(new_tree), old_position, new_position, path_.size()});
    return {};
  }

  result<void> add_change(const tree_position* old_entry, const tree_position* new_entry) {
    if (!filter_.matches(path_)) return {};
    path_bytes_ += 2 * path_.size();
    if (changes_.size() == options_.max_changes || path_bytes_ > max_total_path_bytes) {
      return too_large_error("More than " + std::to_string(changes_.size()) + " files differ");
    }
    auto& item = changes_.emplace_back();
    item.old_side.path = item.new_side.path = path_;
    for (auto [position, side] : {std::pair(old_entry, &item.old_side), std::pair(new_entry, &item.new_side)}) {
      if (position == nullptr) continue;
      side->id = position->id();
      side->mode = position->mode();
    }
    item.status = old_entry == nullptr                                                   ? change::kind::added
                  : new_entry == nullptr                                                 ? change::kind::deleted
                  : (item.old_side.mode & kind_bits) != (item.new_side.mode & kind_bits) ? change::kind::type_changed
                                                                                         : change::kind::modified;
    return {};
  }

  static result<void> too_large_error(std::string reason) {
    return fail(errc::response_too_large,
                std::move(reason) + ". Request the changes of one path, or between closer revisions.");
  }

  git_repository* repo_;
  const compare_options& options_;
  path_filter filter_;
  cancellation_checker cancellation_;
  std::vector<level> levels_;
  std::string path_;
  std::size_t path_bytes_ = 0;
  std::vector<change> changes_;
};

}  // namespace

result<std::vector<change>> compare(git_repository* repo, git_tree* old_tree, git_tree* new_tree,
                                    const compare_options& options) {
  tree_comparison comparison(repo, options);
  HONDANA_TRY(comparison.run(old_tree, new_tree));
  auto& changes = comparison.changes();
  if (options.detects_renames) {
    side_contents contents(repo);
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

constexpr std::size_t max_context = std::size_t{1} << 30;

std::string octal(std::uint32_t mode) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), mode, 8).ptr;
  std::string text(digits.data(), end);
  return text.insert(0, 6 - std::min<std::size_t>(text.size(), 6), '0');
}

/// Git's paths never begin with a slash. For one in a broken tree, git shows the rest.
std::string strip_leading_slash(const std::string& path) { return path.starts_with('/') ? path.substr(1) : path; }

/// Both contents, and whether they are binary.
struct content_pair {
  side_content old_content, new_content;
  [[nodiscard]] bool is_binary() const noexcept { return old_content.is_binary || new_content.is_binary; }
};

tl::unexpected<failure> limit_error(const std::string& limit) {
  return fail(errc::response_too_large,
              "Files of more than " + limit + " are not compared. Read both of them instead, or compare them with git.");
}

/// Checks both sizes before either side is read.
result<void> check_sizes(const diff_side& old_side, const diff_side& new_side, side_contents& contents,
                         const patch_options& options) {
  for (const auto* side : {&old_side, &new_side}) {
    HONDANA_TRY(const auto size, contents.size_of(*side));
    if (size > options.max_compared_bytes && size <= options.max_file_bytes)
      return limit_error(std::to_string(options.max_compared_bytes) + " bytes");
  }
  return {};
}

result<content_pair> read_contents(const diff_side& old_side, const diff_side& new_side, side_contents& contents,
                                   const patch_options& options, const cancellation_checker& cancellation) {
  HONDANA_TRY(cancellation.check());
  HONDANA_TRY(check_sizes(old_side, new_side, contents, options));
  content_pair pair;
  for (auto [side, target] : {std::pair(&old_side, &pair.old_content), std::pair(&new_side, &pair.new_content)}) {
    HONDANA_TRY(auto content, contents.read(*side, options.max_file_bytes));
    // The text of a link is its target.
    const bool is_content = is_regular(side->mode) || (side->mode & kind_bits) == link_kind;
    if (options.mask && is_content && content.is_complete) {
      std::string masked(content.bytes());
      options.mask(side->path, masked);
      content.data = std::move(masked);
    }
    *target = std::move(content);
  }
  return pair;
}

result<std::vector<line_edit>> compute_edits(const content_pair& pair, const patch_options& options,
                                             cancellation_checker& cancellation) {
  const auto old_text = pair.old_content.bytes(), new_text = pair.new_content.bytes();
  if (!old_text.empty() && !new_text.empty() && count_lines(old_text) + count_lines(new_text) > options.max_lines)
    return limit_error(std::to_string(options.max_lines) + " lines, both together,");
  return diff_lines(old_text, new_text, cancellation);
}

class patch_writer {
 public:
  patch_writer(std::string& patch, git_repository* repo, const patch_options& options)
      : patch_(patch), contents_(repo), options_(options), cancellation_(options.is_stopped), begin_(patch.size()) {}

  result<void> write(const change& item) {
    if (item.old_side.exists() && item.new_side.exists() &&
        (item.old_side.mode & kind_bits) != (item.new_side.mode & kind_bits)) {
      // Contents of different kinds are not compared.
      HONDANA_TRY(write(item, item.old_side, {item.new_side.path}));
      outcome_.is_measured = false;
      return write(item, {item.old_side.path}, item.new_side);
    }
    return write(item, item.old_side, item.new_side);
  }

  /// The outcome so far, also after an error.
  [[nodiscard]] const patch_outcome& outcome() const noexcept { return outcome_; }

 private:
  result<void> write(const change& item, const diff_side& old_side, const diff_side& new_side) {
    const auto old_name = quoted_path("a/" + strip_leading_slash(old_side.path));
    const auto new_name = quoted_path("b/" + strip_leading_slash(new_side.path));
    patch_ += "diff --git " + old_name + ' ' + new_name + '\n';
    append_modes(old_side, new_side);
    if (item.status == change::kind::renamed) {
      patch_ += "similarity index " + std::to_string(item.similarity) + "%\nrename from " + quoted_path(old_side.path) +
                "\nrename to " + quoted_path(new_side.path) + '\n';
    }
    if (old_side.mode != 0 && new_side.mode != 0 && git_oid_equal(&old_side.id, &new_side.id) != 0) {
      outcome_.is_measured = true;
      return check_length();
    }
    patch_ += "index " + to_hex(old_side.id) + ".." + to_hex(new_side.id);
    if (old_side.mode == new_side.mode) patch_ += ' ' + octal(old_side.mode);
    patch_ += '\n';
    const auto pair = read_contents(old_side, new_side, contents_, options_, cancellation_);
    if (!pair) return not_compared_error(pair.error());
    const auto old_label = old_side.exists() ? old_name : "/dev/null", new_label = new_side.exists() ? new_name : "/dev/null";
    if (pair->is_binary()) {
      outcome_.is_binary = outcome_.is_measured = true;
      patch_ += "Binary files " + old_label + " and " + new_label + " differ\n";
      return check_length();
    }
    const auto edits = compute_edits(*pair, options_, cancellation_);
    if (!edits) return not_compared_error(edits.error());
    record_counts(*edits);
    if (edits->empty()) return check_length();
    append_name("--- ", old_label);
    append_name("+++ ", new_label);
    HONDANA_TRY(check_length());
    const hunk_options options{std::min(options_.context, max_context),
                               static_cast<std::size_t>(options_.max_bytes - length())};
    return append_hunks(patch_, pair->old_content.bytes(), pair->new_content.bytes(), *edits, options, cancellation_);
  }

  void append_modes(const diff_side& old_side, const diff_side& new_side) {
    if (!old_side.exists()) {
      patch_ += "new file mode " + octal(new_side.mode) + '\n';
    } else if (!new_side.exists()) {
      patch_ += "deleted file mode " + octal(old_side.mode) + '\n';
    } else if (old_side.mode != new_side.mode) {
      patch_ += "old mode " + octal(old_side.mode) + "\nnew mode " + octal(new_side.mode) + '\n';
    }
  }

  /// A tab ends a name with spaces, for programs that take the text after a space for a date.
  void append_name(std::string_view sign, const std::string& name) {
    (patch_ += sign) += name;
    if (name.find(' ') != std::string::npos) patch_ += '\t';
    patch_ += '\n';
  }

  void record_counts(const std::vector<line_edit>& edits) {
    outcome_.is_measured = true;
    for (const auto& edit : edits) {
      outcome_.deleted_lines += edit.old_lines;
      outcome_.added_lines += edit.new_lines;
    }
  }

  tl::unexpected<failure> not_compared_error(const failure& error) {
    if (error.code == errc::response_too_large) outcome_.status = patch_outcome::kind::not_compared;
    return tl::unexpected(error);
  }

  [[nodiscard]] std::uint64_t length() const noexcept { return patch_.size() - begin_; }
  result<void> check_length() const {
    if (length() > options_.max_bytes) return patch_too_long_error();
    return {};
  }

  std::string& patch_;
  side_contents contents_;
  const patch_options& options_;
  cancellation_checker cancellation_;
  std::size_t begin_;
  patch_outcome outcome_;
};

}  // namespace

result<void> append_patch(std::string& patch, git_repository* repo, const change& change, const patch_options& options) {
  const auto begin = patch.size();
  auto status = patch_writer(patch, repo, options).write(change);
  if (!status) patch.resize(begin);
  return status;
}

result<patch_outcome> try_patch(std::string& patch, git_repository* repo, const change& change, const patch_options& options) {
  const auto begin = patch.size();
  patch_writer writer(patch, repo, options);
  auto status = writer.write(change);
  auto outcome = writer.outcome();
  if (status) return outcome;
  patch.resize(begin);
  if (status.error().code != errc::response_too_large) return tl::unexpected(std::move(status.error()));
  if (outcome.status == patch_outcome::kind::written) outcome.status = patch_outcome::kind::too_long;
  return outcome;
}

result<void> measure(change& change, git_repository* repo, const patch_options& options) {
  side_contents contents(repo);
  cancellation_checker cancellation(options.is_stopped);
  HONDANA_TRY(const auto pair, read_contents(change.old_side, change.new_side, contents, options, cancellation));
  change.added_lines = change.deleted_lines = 0;
  change.is_binary = pair.is_binary();
  if (change.is_binary) return {};
  const auto edits = compute_edits(pair, options, cancellation);
  if (!edits) return tl::unexpected(edits.error());
  for (const auto& edit : *edits) {
    change.deleted_lines += edit.old_lines;
    change.added_lines += edit.new_lines;
  }
  return {};
}

}  // namespace hondana::git
