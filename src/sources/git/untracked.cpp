/// Walks the work tree, where it is not ignored.
#include "sources/git/untracked.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "sources/git/path_filter.hpp"
#include "sources/git/stopping.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t most_entries = 2'000'000;
constexpr std::ptrdiff_t most_nested = 512;
constexpr std::uint64_t most_ignore_bytes = std::uint64_t{1} << 20;
constexpr std::string_view ignore_file = ".gitignore";
constexpr std::uint32_t folder_mode = 0040000, file_mode = 0100644;

class untracked_search {
 public:
  untracked_search(const work_tree& files, const tracked_paths& tracked, ignore::list_pointer exclude,
                   const compare_options& options)
      : files_(files),
        tracked_(tracked),
        exclude_(std::move(exclude)),
        options_(options),
        filter_(options.paths),
        stopping_(options.is_stopped) {}

  /// `path` is empty or ends in a slash. With `is_for_any` it ends with the first that is found.
  result<void> folder(const std::string& path, const ignore::stack* above, bool is_for_any) {
    if (std::count(path.begin(), path.end(), '/') > most_nested) {
      return fail(errc::response_too_large, "The work tree has folders nested more than 512 levels deep.");
    }
    const auto entries = files_.list(path.empty() ? path : path.substr(0, path.size() - 1), entries_left_);
    if (!entries && entries.error().code == errc::access_denied) {
      found_.unreadable_folders.push_back(path.empty() ? "./" : path);
      return {};
    }
    if (!entries) return tl::unexpected(entries.error());
    entries_left_ -= entries->size();
    HONDANA_TRY(const auto rules, rules_at(path, *entries));
    const auto ignored = above == nullptr ? ignore::stack(rules, exclude_) : above->child(name_of(path), rules);
    for (const auto& one : *entries) {
      HONDANA_TRY(stopping_.step());
      HONDANA_TRY(entry(path + one.name, one, ignored, is_for_any));
      if (is_for_any && has_any_) return {};
    }
    return {};
  }

  untracked_paths& found() noexcept { return found_; }

 private:
  result<void> entry(const std::string& path, const work_entry& one, const ignore::stack& ignored, bool is_for_any) {
    if (one.name == ".git") {
      // Of the repository itself, or of another in a folder that nobody has added.
      has_any_ = has_any_ || is_for_any;
      return {};
    }
    const bool is_folder = one.mode == folder_mode;
    const auto& known = is_folder ? tracked_.submodules : tracked_.all;
    if (one.mode == 0 || std::binary_search(known.begin(), known.end(), std::string_view(path))) return {};
    if (is_folder ? !filter_.enters(path) : !filter_.takes(path)) return {};
    if (ignored.decide(path, is_folder).ignored()) return {};
    if (is_for_any) {
      if (is_folder) return folder(path + '/', &ignored, true);
      has_any_ = true;
      return {};
    }
    if (!is_folder) return add(path);
    if (has_tracked_below(path + '/') || !filter_.covers(path)) return folder(path + '/', &ignored, false);
    has_any_ = false;
    HONDANA_TRY(folder(path + '/', &ignored, true));
    if (has_any_) return add(path + '/');
    return {};
  }

  result<void> add(std::string path) {
    if (found_.all.size() == options_.most_changes) {
      return fail(errc::response_too_large, "More than " + std::to_string(options_.most_changes) +
                                                " files of the work tree are untracked. Request one folder.");
    }
    found_.all.push_back(std::move(path));
    return {};
  }

  [[nodiscard]] bool has_tracked_below(std::string_view folder) const noexcept {
    const auto first = std::lower_bound(tracked_.all.begin(), tracked_.all.end(), folder);
    return first != tracked_.all.end() && first->starts_with(folder);
  }

  result<ignore::folder_rules> rules_at(const std::string& folder, const std::vector<work_entry>& entries) const {
    ignore::folder_rules rules;
    const auto is_it = [](const work_entry& one) { return one.name == ignore_file && one.mode == file_mode; };
    if (std::none_of(entries.begin(), entries.end(), is_it)) return rules;
    auto path = folder + std::string(ignore_file);
    auto text = files_.read(path, most_ignore_bytes);
    if (!text && text.error().code == errc::content_changed) return rules;
    if (!text && text.error().code == errc::source_unavailable) return tl::unexpected(std::move(text.error()));
    // What cannot be obeyed hides what lies there.
    rules.git = std::make_shared<const ignore::pattern_list>(
        text ? ignore::pattern_list::parse(*text, std::move(path))
             : ignore::pattern_list::unusable(std::move(path), std::move(text.error().public_text)));
    return rules;
  }

  static std::string_view name_of(std::string_view folder) noexcept {
    folder.remove_suffix(1);
    return folder.substr(folder.rfind('/') + 1);
  }

  const work_tree& files_;
  const tracked_paths& tracked_;
  ignore::list_pointer exclude_;
  const compare_options& options_;
  path_filter filter_;
  stopping stopping_;
  std::size_t entries_left_ = most_entries;
  bool has_any_ = false;
  untracked_paths found_;
};

}  // namespace

result<untracked_paths> find_untracked(const work_tree& files, const tracked_paths& tracked, ignore::list_pointer exclude,
                                       const compare_options& options) {
  untracked_search search(files, tracked, std::move(exclude), options);
  HONDANA_TRY(search.folder({}, nullptr, false));
  return std::move(search.found());
}

}  // namespace hondana::git
