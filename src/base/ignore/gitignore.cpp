/// Ignore files: compiled patterns, and the stack of files that apply to a folder.
#include "base/ignore/gitignore.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace hondana::ignore {

void literal_table::add(std::string_view text, std::uint32_t ordinal, bool folders_only) {
  entries_.push_back({text, folders_only ? 0 : ordinal, folders_only ? ordinal : 0});
}

void literal_table::build() {
  std::sort(entries_.begin(), entries_.end(), [](const entry& a, const entry& b) {
    return std::make_tuple(a.text.size(), a.text) < std::make_tuple(b.text.size(), b.text);
  });
  std::size_t unique_count = 0;
  for (const entry& item : entries_) {
    if (unique_count == 0 || entries_[unique_count - 1].text != item.text) {
      entries_[unique_count++] = item;
      continue;
    }
    entry& previous = entries_[unique_count - 1];
    previous.last_for_any = std::max(previous.last_for_any, item.last_for_any);
    previous.last_for_folders = std::max(previous.last_for_folders, item.last_for_folders);
  }
  entries_.resize(unique_count);
  entries_.shrink_to_fit();

  groups_.clear();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const std::size_t length = entries_[i].text.size();
    if (groups_.empty() || groups_.back().length != length) groups_.push_back({length, i, i});
    groups_.back().last = i + 1;
  }
}

std::uint32_t literal_table::find(std::string_view text, bool is_directory) const noexcept {
  const auto group_of_length =
      std::lower_bound(groups_.begin(), groups_.end(), text.size(),
                       [](const group& group_entry, std::size_t length) { return group_entry.length < length; });
  if (group_of_length == groups_.end() || group_of_length->length != text.size()) return 0;
  return find_in(*group_of_length, text, is_directory);
}

std::uint32_t literal_table::find_suffix(std::string_view text, bool is_directory) const noexcept {
  std::uint32_t last = 0;
  for (const group& same_length : groups_) {
    if (same_length.length > text.size()) break;
    last = std::max(last, find_in(same_length, text.substr(text.size() - same_length.length), is_directory));
  }
  return last;
}

std::uint32_t literal_table::find_in(const group& candidates, std::string_view text, bool is_directory) const noexcept {
  const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(candidates.first);
  const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(candidates.last);
  const auto match =
      std::lower_bound(begin, end, text, [](const entry& item, std::string_view key) { return item.text < key; });
  if (match == end || match->text != text) return 0;
  return is_directory ? std::max(match->last_for_any, match->last_for_folders) : match->last_for_any;
}

namespace {

constexpr std::size_t max_text_bytes = 1024 * 1024;
constexpr std::size_t max_line_bytes = 4096;
constexpr std::size_t max_patterns = 50'000;
constexpr std::size_t max_wildcard_bytes = 8 * 1024 * 1024;
constexpr std::size_t max_warnings = 100;

/// The line up to its first NUL, without trailing spaces that are not quoted by a backslash.
std::string_view trimmed(std::string_view line) {
  line = line.substr(0, line.find('\0'));
  std::size_t trimmed_size = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      // A lone backslash at the end is part of the pattern, so the spaces before it stay.
      i = std::min(i + 1, line.size() - 1);
      trimmed_size = i + 1;
    } else if (line[i] != ' ') {
      trimmed_size = i + 1;
    }
  }
  return line.substr(0, trimmed_size);
}

/// The pattern of the last segment, if everything before it means "in any folder": `**/name` means the same as `name`.
std::optional<std::string_view> name_in_any_folder(std::string_view pattern) {
  if (!pattern.starts_with("**/")) return std::nullopt;
  while (pattern.starts_with("**/")) pattern.remove_prefix(3);
  if (pattern.empty() || pattern.find('/') != std::string_view::npos) return std::nullopt;
  return pattern;
}

bool is_literal(std::string_view pattern) { return literal_start(pattern).size() == pattern.size(); }

}  // namespace

pattern_list pattern_list::parse(std::string_view text, std::string source) {
  pattern_list list;
  list.source_ = std::move(source);
  if (text.size() > max_text_bytes) {
    // If there is no line end within the limit, no line is used.
    const std::size_t last_line_end = text.substr(0, max_text_bytes).rfind('\n');
    list.mark_incomplete("the file has " + std::to_string(text.size()) +
                         " bytes; lines beyond the first 1048576 bytes are not used");
    text = text.substr(0, last_line_end == std::string_view::npos ? 0 : last_line_end + 1);
  }
  list.text_.assign(text.begin(), text.end());
  std::string_view remaining(list.text_.data(), list.text_.size());
  if (remaining.starts_with("\xEF\xBB\xBF")) remaining.remove_prefix(3);

  for (std::size_t number = 1; !remaining.empty(); ++number) {
    const std::size_t end = std::min(remaining.find('\n'), remaining.size());
    std::string_view line = remaining.substr(0, end);
    remaining.remove_prefix(std::min(end + 1, remaining.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    if (line.size() > max_line_bytes) {
      list.mark_incomplete("line " + std::to_string(number) + " has " + std::to_string(line.size()) +
                           " bytes; lines of more than 4096 are not used");
      continue;
    }
    if (list.rules_.size() == max_patterns) {
      list.mark_incomplete("line " + std::to_string(number) + " and all after it are not used: the limit is 50000 patterns");
      break;
    }
    if (list.wildcard_bytes_ > max_wildcard_bytes) {
      list.mark_incomplete("line " + std::to_string(number) +
                           " and all after it are not used: the patterns before it reach the limit of 8 MiB of memory");
      break;
    }
    list.add(trimmed(line), number);
  }

  list.names_.build();
  list.paths_.build();
  list.suffixes_.build();
  if (list.omitted_warnings_ > 0) {
    list.warnings_.push_back(list.source_ + ": and " + std::to_string(list.omitted_warnings_) + " more");
  }
  return list;
}

void pattern_list::add(std::string_view rule_text, std::size_t line) {
  std::string_view pattern = rule_text;
  const bool is_negated = pattern.starts_with('!');
  if (is_negated) pattern.remove_prefix(1);
  const bool folders_only = pattern.ends_with('/');
  if (folders_only) pattern.remove_suffix(1);
  // A blank line, `!` or `/` matches nothing.
  if (pattern.empty()) return;

  rules_.push_back({rule_text, static_cast<std::uint32_t>(line), is_negated});
  const auto ordinal = static_cast<std::uint32_t>(rules_.size());

  bool name_only = pattern.find('/') == std::string_view::npos;
  if (!name_only) {
    if (pattern.front() == '/') pattern.remove_prefix(1);
    if (const auto name = name_in_any_folder(pattern)) {
      pattern = *name;
      name_only = true;
    }
  }
  if (is_literal(pattern)) {
    (name_only ? names_ : paths_).add(pattern, ordinal, folders_only);
  } else if (name_only && pattern.front() == '*' && is_literal(pattern.substr(1))) {
    suffixes_.add(pattern.substr(1), ordinal, folders_only);
  } else {
    add_wildcard(name_only ? glob::for_name(pattern) : glob::for_path(pattern), ordinal, folders_only, name_only);
  }
}

void pattern_list::add_wildcard(glob pattern, std::uint32_t ordinal, bool folders_only, bool name_only) {
  if (!pattern.error().empty()) {
    const rule& source_rule = rules_[ordinal - 1];
    warn("line " + std::to_string(source_rule.line) + " matches nothing: it has " + std::string(pattern.error()));
    return;
  }
  wildcard_bytes_ += sizeof(wildcard_rule) + pattern.bytes();
  wildcards_.push_back({std::move(pattern), ordinal, folders_only, name_only});
}

pattern_list pattern_list::unusable(std::string source, std::string reason) {
  pattern_list list;
  list.source_ = std::move(source);
  list.mark_incomplete(std::move(reason));
  return list;
}

std::size_t pattern_list::bytes() const noexcept {
  return sizeof(*this) + text_.capacity() + rules_.capacity() * sizeof(rule) + names_.bytes() + paths_.bytes() +
         suffixes_.bytes() + wildcard_bytes_;
}

void pattern_list::mark_incomplete(std::string message) {
  if (error_.empty()) error_ = message;
  warn(std::move(message));
}

void pattern_list::warn(std::string message) {
  if (warnings_.size() == max_warnings)
    ++omitted_warnings_;
  else
    warnings_.push_back(source_ + ": " + std::move(message));
}

match_result pattern_list::match(std::string_view path, bool is_directory, std::uint64_t max_steps) const noexcept {
  match_result result;
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (name.empty()) return result;

  std::uint32_t last =
      std::max({names_.find(name, is_directory), paths_.find(path, is_directory), suffixes_.find_suffix(name, is_directory)});
  for (auto wildcard = wildcards_.rbegin(); wildcard != wildcards_.rend() && wildcard->ordinal > last; ++wildcard) {
    ++result.steps;
    if (wildcard->folders_only && !is_directory) continue;
    const bool matches = wildcard->pattern.matches(wildcard->name_only ? name : path, result.steps, max_steps);
    if (result.steps > max_steps) {
      result.outcome = decision::ignored;
      result.exceeded_limit = true;
      return result;
    }
    if (matches) last = wildcard->ordinal;
  }
  if (last == 0) return result;
  const rule& deciding = rules_[last - 1];
  result.outcome = deciding.is_negated ? decision::included : decision::ignored;
  result.line = deciding.line;
  result.pattern = deciding.text;
  return result;
}

namespace {

/// `path` relative to `folder`; nothing when it is not below `folder`.
std::optional<std::string_view> relative_path(std::string_view folder, std::string_view path) {
  if (folder.empty()) return path;
  if (path.size() <= folder.size() || path[folder.size()] != '/' || !path.starts_with(folder)) return std::nullopt;
  return path.substr(folder.size() + 1);
}

}  // namespace

stack::stack(folder_rules rules, list_pointer info_exclude, const std::vector<outer_rules>& outer) {
  for (const outer_rules& outer_file : outer) push({}, outer_file.root_path, {outer_file.list, nullptr, nullptr});
  push({}, {}, {std::move(rules.hondana), std::move(rules.git), std::move(info_exclude)});
}

void stack::push(std::string folder, std::string root_path, std::array<list_pointer, 3> lists) {
  std::size_t total_bytes = bytes();
  bool has_any = false;
  for (const list_pointer& list : lists) {
    if (!list) continue;
    has_any = true;
    total_bytes += list->bytes();
  }
  if (!has_any) return;
  innermost_ =
      std::make_shared<const level>(level{innermost_, std::move(folder), std::move(root_path), std::move(lists), total_bytes});
}

stack stack::child(std::string_view folder_name, folder_rules rules, list_pointer info_exclude) const {
  stack result;
  result.folder_.reserve(folder_.size() + 1 + folder_name.size());
  result.folder_ = folder_;
  if (!folder_.empty()) result.folder_ += '/';
  result.folder_ += folder_name;
  result.innermost_ = innermost_;
  result.push(result.folder_, {}, {std::move(rules.hondana), std::move(rules.git), std::move(info_exclude)});
  return result;
}

verdict stack::decide(std::string_view path, bool is_directory, std::uint64_t max_steps) const {
  verdict result;
  result.matched_bytes = path.size();
  std::string joined;
  for (const level* current = innermost_.get(); current != nullptr; current = current->parent.get()) {
    const auto relative = relative_path(current->folder, path);
    if (!relative || relative->empty()) continue;
    for (const list_pointer& list : current->lists) {
      if (!list || list->is_complete()) continue;
      result.outcome = decision::ignored;
      result.source = list->source();
      result.error = list->error();
      return result;
    }
    std::string_view subject = *relative;
    if (!current->root_path.empty()) subject = ((joined = current->root_path) += '/').append(path);
    for (const list_pointer& list : current->lists) {
      if (!list) continue;
      const match_result match = list->match(subject, is_directory, max_steps - result.steps);
      result.steps += match.steps;
      if (match.outcome == decision::none) continue;
      result.outcome = match.outcome;
      result.source = list->source();
      result.line = match.line;
      result.pattern = match.pattern;
      if (match.exceeded_limit) result.error = "its patterns take too long to match here";
      return result;
    }
  }
  result.matched_bytes = 0;
  return result;
}

verdict stack::decide_full(std::string_view path, bool is_directory) const {
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    const verdict ancestor = decide(path.substr(0, slash), true);
    if (ancestor.is_ignored()) return ancestor;
  }
  return decide(path, is_directory);
}

}  // namespace hondana::ignore
