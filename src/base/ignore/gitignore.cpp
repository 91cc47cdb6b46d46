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

void literal_table::seal() {
  std::sort(entries_.begin(), entries_.end(), [](const entry& a, const entry& b) {
    return std::make_tuple(a.text.size(), a.text) < std::make_tuple(b.text.size(), b.text);
  });
  std::size_t kept = 0;
  for (const entry& one : entries_) {
    if (kept == 0 || entries_[kept - 1].text != one.text) {
      entries_[kept++] = one;
      continue;
    }
    entry& same = entries_[kept - 1];
    same.last_for_all = std::max(same.last_for_all, one.last_for_all);
    same.last_for_folders = std::max(same.last_for_folders, one.last_for_folders);
  }
  entries_.resize(kept);
  entries_.shrink_to_fit();

  groups_.clear();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const std::size_t length = entries_[i].text.size();
    if (groups_.empty() || groups_.back().length != length) groups_.push_back({length, i, i});
    groups_.back().last = i + 1;
  }
}

std::uint32_t literal_table::find(std::string_view text, bool is_directory) const noexcept {
  const auto among = std::lower_bound(groups_.begin(), groups_.end(), text.size(),
                                      [](const group& one, std::size_t length) { return one.length < length; });
  if (among == groups_.end() || among->length != text.size()) return 0;
  return find_in(*among, text, is_directory);
}

std::uint32_t literal_table::find_ending(std::string_view text, bool is_directory) const noexcept {
  std::uint32_t last = 0;
  for (const group& among : groups_) {
    if (among.length > text.size()) break;
    last = std::max(last, find_in(among, text.substr(text.size() - among.length), is_directory));
  }
  return last;
}

std::uint32_t literal_table::find_in(const group& among, std::string_view text, bool is_directory) const noexcept {
  const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(among.first);
  const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(among.last);
  const auto at = std::lower_bound(begin, end, text, [](const entry& one, std::string_view key) { return one.text < key; });
  if (at == end || at->text != text) return 0;
  return is_directory ? std::max(at->last_for_all, at->last_for_folders) : at->last_for_all;
}

namespace {

constexpr std::size_t most_text = 1024 * 1024;
constexpr std::size_t most_line = 4096;
constexpr std::size_t most_patterns = 50'000;
constexpr std::size_t most_wildcard_bytes = 8 * 1024 * 1024;
constexpr std::size_t most_warnings = 100;

/// The line up to its first NUL, without trailing spaces that are not quoted by a backslash.
std::string_view trimmed(std::string_view line) {
  line = line.substr(0, line.find('\0'));
  std::size_t kept = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      // A lone backslash at the end is part of the pattern, so the spaces before it stay.
      i = std::min(i + 1, line.size() - 1);
      kept = i + 1;
    } else if (line[i] != ' ') {
      kept = i + 1;
    }
  }
  return line.substr(0, kept);
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
  if (text.size() > most_text) {
    // If there is no line end within the limit, no line is used.
    const std::size_t last_line_end = text.substr(0, most_text).rfind('\n');
    list.cut("the file has " + std::to_string(text.size()) + " bytes; lines beyond the first 1048576 bytes are not used");
    text = text.substr(0, last_line_end == std::string_view::npos ? 0 : last_line_end + 1);
  }
  list.text_.assign(text.begin(), text.end());
  std::string_view rest(list.text_.data(), list.text_.size());
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);

  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    if (line.size() > most_line) {
      list.cut("line " + std::to_string(number) + " has " + std::to_string(line.size()) +
               " bytes; lines of more than 4096 are not used");
      continue;
    }
    if (list.rules_.size() == most_patterns) {
      list.cut("line " + std::to_string(number) + " and all after it are not used: the limit is 50000 patterns");
      break;
    }
    if (list.wildcard_bytes_ > most_wildcard_bytes) {
      list.cut("line " + std::to_string(number) +
               " and all after it are not used: the patterns before it reach the limit of 8 MiB of memory");
      break;
    }
    list.add(trimmed(line), number);
  }

  list.names_.seal();
  list.paths_.seal();
  list.endings_.seal();
  if (list.unsaid_warnings_ > 0) {
    list.warnings_.push_back(list.source_ + ": and " + std::to_string(list.unsaid_warnings_) + " more");
  }
  return list;
}

void pattern_list::add(std::string_view written, std::size_t line) {
  std::string_view pattern = written;
  const bool negated = pattern.starts_with('!');
  if (negated) pattern.remove_prefix(1);
  const bool folders_only = pattern.ends_with('/');
  if (folders_only) pattern.remove_suffix(1);
  // A blank line, `!` or `/` matches nothing.
  if (pattern.empty()) return;

  rules_.push_back({written, static_cast<std::uint32_t>(line), negated});
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
    endings_.add(pattern.substr(1), ordinal, folders_only);
  } else {
    add_wildcard(name_only ? glob::for_name(pattern) : glob::for_path(pattern), ordinal, folders_only, name_only);
  }
}

void pattern_list::add_wildcard(glob pattern, std::uint32_t ordinal, bool folders_only, bool name_only) {
  if (!pattern.fault().empty()) {
    const rule& written = rules_[ordinal - 1];
    warn("line " + std::to_string(written.line) + " matches nothing: it has " + std::string(pattern.fault()));
    return;
  }
  wildcard_bytes_ += sizeof(wildcard_rule) + pattern.bytes();
  wildcards_.push_back({std::move(pattern), ordinal, folders_only, name_only});
}

pattern_list pattern_list::unusable(std::string source, std::string why) {
  pattern_list list;
  list.source_ = std::move(source);
  list.cut(std::move(why));
  return list;
}

std::size_t pattern_list::bytes() const noexcept {
  return sizeof(*this) + text_.capacity() + rules_.capacity() * sizeof(rule) + names_.bytes() + paths_.bytes() +
         endings_.bytes() + wildcard_bytes_;
}

void pattern_list::cut(std::string what) {
  if (fault_.empty()) fault_ = what;
  warn(std::move(what));
}

void pattern_list::warn(std::string what) {
  if (warnings_.size() == most_warnings)
    ++unsaid_warnings_;
  else
    warnings_.push_back(source_ + ": " + std::move(what));
}

found pattern_list::match(std::string_view path, bool is_directory, std::uint64_t most) const noexcept {
  found answer;
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (name.empty()) return answer;

  std::uint32_t last =
      std::max({names_.find(name, is_directory), paths_.find(path, is_directory), endings_.find_ending(name, is_directory)});
  for (auto one = wildcards_.rbegin(); one != wildcards_.rend() && one->ordinal > last; ++one) {
    ++answer.steps;
    if (one->folders_only && !is_directory) continue;
    const bool matches = one->pattern.matches(one->name_only ? name : path, answer.steps, most);
    if (answer.steps > most) {
      answer.outcome = decision::ignored;
      answer.gave_up = true;
      return answer;
    }
    if (matches) last = one->ordinal;
  }
  if (last == 0) return answer;
  const rule& deciding = rules_[last - 1];
  answer.outcome = deciding.negated ? decision::included : decision::ignored;
  answer.line = deciding.line;
  answer.pattern = deciding.written;
  return answer;
}

namespace {

/// `path` relative to `folder`; nothing when it is not below `folder`.
std::optional<std::string_view> seen_from(std::string_view folder, std::string_view path) {
  if (folder.empty()) return path;
  if (path.size() <= folder.size() || path[folder.size()] != '/' || !path.starts_with(folder)) return std::nullopt;
  return path.substr(folder.size() + 1);
}

}  // namespace

stack::stack(folder_rules rules, list_pointer info_exclude, const std::vector<outer_rules>& outer) {
  for (const outer_rules& one : outer) push({}, one.inner, {one.list, nullptr, nullptr});
  push({}, {}, {std::move(rules.hondana), std::move(rules.git), std::move(info_exclude)});
}

void stack::push(std::string folder, std::string inner, std::array<list_pointer, 3> lists) {
  std::size_t held = bytes();
  bool has_any = false;
  for (const list_pointer& list : lists) {
    if (!list) continue;
    has_any = true;
    held += list->bytes();
  }
  if (!has_any) return;
  deepest_ = std::make_shared<const level>(level{deepest_, std::move(folder), std::move(inner), std::move(lists), held});
}

stack stack::child(std::string_view folder_name, folder_rules rules) const {
  stack below;
  below.folder_.reserve(folder_.size() + 1 + folder_name.size());
  below.folder_ = folder_;
  if (!folder_.empty()) below.folder_ += '/';
  below.folder_ += folder_name;
  below.deepest_ = deepest_;
  below.push(below.folder_, {}, {std::move(rules.hondana), std::move(rules.git), nullptr});
  return below;
}

verdict stack::decide(std::string_view path, bool is_directory, std::uint64_t most) const {
  verdict said;
  said.decided_bytes = path.size();
  std::string joined;
  for (const level* at = deepest_.get(); at != nullptr; at = at->above.get()) {
    const auto seen = seen_from(at->folder, path);
    if (!seen || seen->empty()) continue;
    for (const list_pointer& list : at->lists) {
      if (!list || list->complete()) continue;
      said.outcome = decision::ignored;
      said.source = list->source();
      said.fault = list->fault();
      return said;
    }
    std::string_view asked = *seen;
    if (!at->inner.empty()) asked = ((joined = at->inner) += '/').append(path);
    for (const list_pointer& list : at->lists) {
      if (!list) continue;
      const found answer = list->match(asked, is_directory, most - said.steps);
      said.steps += answer.steps;
      if (answer.outcome == decision::none) continue;
      said.outcome = answer.outcome;
      said.source = list->source();
      said.line = answer.line;
      said.pattern = answer.pattern;
      if (answer.gave_up) said.fault = "its patterns take too long to match here";
      return said;
    }
  }
  said.decided_bytes = 0;
  return said;
}

verdict stack::decide_full(std::string_view path, bool is_directory) const {
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    const verdict ancestor = decide(path.substr(0, slash), true);
    if (ancestor.ignored()) return ancestor;
  }
  return decide(path, is_directory);
}

}  // namespace hondana::ignore
