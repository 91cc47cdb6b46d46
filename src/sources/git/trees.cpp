/// Comparing two trees folder by folder; what is the same on both sides is never opened.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sources/git/changes.hpp"
#include "sources/git/path_filter.hpp"
#include "sources/git/renames.hpp"
#include "sources/git/side_content.hpp"
#include "sources/git/stopping.hpp"

namespace hondana::git {
namespace {

// Deeper and longer than file systems allow; a tree made to harm can be both.
constexpr std::size_t most_depth = 2048;
constexpr std::size_t longest_path = 65'536;
// Entries looked at: trees that hold each other many times are small in the repository and endless when walked.
constexpr std::uint64_t most_steps = 10'000'000;
constexpr std::size_t most_path_bytes = std::size_t{256} << 20;

/// Git knows five modes; what else stands in old trees is read as one of them.
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

/// Stands at one entry of a tree, or at its end.
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

/// As entries of trees are sorted: as if folders' names ended in a slash, so that paths come in bytewise order.
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
  /// Two trees that are being compared; positions are in them.
  struct level {
    tree_pointer from, to;
    tree_position before, after;
    std::size_t path_size;  // of the folder's path with its slash
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
