/// Completes revisions, paths and authors in URI templates.
#include "sources/git/completion.hpp"

#include <algorithm>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <hondana/completion.hpp>
#include <hondana/uri.hpp>

#include "base/json/utf8.hpp"
#include "base/match/fuzzy_match.hpp"
#include "sources/git/cancellation.hpp"
#include "sources/git/commit_rendering.hpp"
#include "sources/git/commit_store.hpp"
#include "sources/git/commit_walk.hpp"
#include "sources/git/history.hpp"
#include "sources/git/object_parser.hpp"
#include "sources/git/reference_lookup.hpp"
#include "sources/git/revision.hpp"
#include "sources/git/tree_entries.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t max_names = 100'000;
constexpr std::size_t max_id_matches = 64;
constexpr std::size_t display_digits = 10;
constexpr std::size_t max_author_commits = 200'000;
constexpr std::size_t max_counted_authors = 100'000;
constexpr std::size_t max_author_lists = 16;
/// Entries of a folder that are all examined and ranked. In a larger folder, only names that begin with the input match, up to
/// the number that is sent.
constexpr std::size_t max_ranked = 5000;
constexpr std::size_t max_values = 100;
/// Matching names that are checked against the caller's access filter.
constexpr std::size_t max_checked = 1000;

/// Adds the names of references below a prefix, without the prefix.
result<void> add_names(std::vector<std::string>& names, git_repository* repo, const std::string& prefix,
                       cancellation_checker& cancellation) {
  HONDANA_TRY(cancellation.check());
  if (!check_references(repo, prefix)) return {};
  git_reference_iterator* raw = nullptr;
  if (git_reference_iterator_glob_new(&raw, repo, (prefix + '*').c_str()) < 0) return {};
  const reference_iterator_pointer iterator(raw);
  const char* name = nullptr;
  while (names.size() < max_names && git_reference_next_name(&name, raw) == 0) {
    HONDANA_TRY(cancellation.step());
    const auto short_name = std::string_view(name).substr(prefix.size());
    if (json::is_utf8(short_name)) names.emplace_back(short_name);
  }
  return {};
}

/// A name that matches the input. The best match comes first.
struct ranked_name {
  match::match_quality quality;
  std::size_t index;

  bool operator<(const ranked_name& other) const noexcept {
    return quality != other.quality ? quality < other.quality : index < other.index;
  }
};
std::vector<std::string> best_matches(std::string_view input, std::vector<std::string> names, std::size_t limit) {
  match::matcher matcher(input);
  match::top_k<ranked_name> top(limit);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (const auto quality = matcher(names[i])) top.add({*quality, i});
  std::vector<std::string> matches;
  for (const auto& entry : top.extract_sorted()) matches.push_back(std::move(names[entry.index]));
  return matches;
}

/// Adds commits whose ids begin with the input.
void add_ids(std::vector<std::string>& values, git_repository* repo, const std::string& input) {
  if (!is_abbreviation(input)) return;
  const auto odb = open_odb(repo);
  const auto ids = odb ? find_ids_by_prefix(odb->get(), input, max_id_matches) : tl::unexpected(failure{});
  if (!ids) return;  // a damaged repository has no values to offer
  const auto digits = ids->size() == 1 ? std::max(display_digits, input.size()) : std::size_t{GIT_OID_HEXSZ};
  for (const auto& id : *ids) {
    const auto peeled = peel_tags(odb->get(), id);
    if (peeled && peeled->kind == GIT_OBJECT_COMMIT) values.push_back(to_hex(id).substr(0, digits));
  }
}

/// A text as a pattern that matches it. A dot is not escaped, because it matches itself.
std::string escape_pattern(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view("\\^$|?*+()[]{}").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

/// A path as a value of `{+path}`. Escapes characters with a meaning in URIs, and invalid UTF-8.
std::string encode_path_value(std::string_view path) {
  std::string value;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_special = byte < 0x20 || byte == 0x7F || std::string_view("%?#[]").find(c) != std::string_view::npos;
    value += is_special ? percent_encode(std::string_view(&c, 1)) : std::string(1, c);
  }
  return json::is_utf8(value) ? value : encode_path(path);
}

/// The authors of a history, and how many commits each of them wrote.
struct author_list {
  std::map<std::pair<std::string, std::string>, std::size_t> commits_by_person;  // by name and email
  bool is_complete = false;                                                      // all commits were counted
};
using author_list_pointer = std::shared_ptr<const author_list>;

/// Lists of authors that were counted last, because each keystroke of a user requests them again.
struct author_lists {
  std::mutex mutex;
  std::list<std::pair<std::string, author_list_pointer>> by_use;  // most recently used first

  author_list_pointer find(const std::string& key) {
    const std::lock_guard lock(mutex);
    const auto match = std::find_if(by_use.begin(), by_use.end(), [&key](const auto& entry) { return entry.first == key; });
    if (match == by_use.end()) return nullptr;
    by_use.splice(by_use.begin(), by_use, match);
    return by_use.front().second;
  }
  void store(std::string key, author_list_pointer list) {
    const std::lock_guard lock(mutex);
    by_use.emplace_front(std::move(key), std::move(list));
    if (by_use.size() > max_author_lists) by_use.pop_back();
  }
};

/// Counts the commits of each author from `start` on. Errors: cancelled; those of `commit_store::open`.
result<author_list_pointer> list_authors(git_repository* repo, const git_oid& start, const std::function<bool()>& is_stopped) {
  static auto& cache = *new author_lists();  // abandoned calls may still use it when the process ends
  HONDANA_TRY(const auto store, commit_store::open(repo));
  auto key = std::string(git_repository_commondir(repo)) + ' ' + to_hex(start) + store.stamp();
  if (auto cached = cache.find(key)) return cached;
  auto list = std::make_shared<author_list>();
  commit_walk walk(store, start, {.since = std::nullopt, .is_stopped = is_stopped});
  auto status = walk.begin();
  for (std::size_t i = 0; status && i < max_author_commits && list->commits_by_person.size() < max_counted_authors; ++i) {
    const auto node = walk.next();
    if (!node) {
      status = tl::unexpected(node.error());
    } else if (!*node) {
      list->is_complete = true;
      break;
    } else if (const auto author = read_commit_author(store, (*node)->id)) {
      ++list->commits_by_person[{author->name, author->email}];
    }
  }
  if (!status && status.error().code == errc::cancelled) return tl::unexpected(std::move(status.error()));
  // In a damaged history, those before the damage are offered.
  author_list_pointer counted = std::move(list);
  if (status) cache.store(std::move(key), counted);
  return counted;
}

}  // namespace

complete_result completer::static_values() const {
  if (is_argument("format")) return complete_from(request_.value, {"markdown", "json"});
  return {{}, 0, false};
}

resource_kind completer::requested_kind() const {
  constexpr std::string_view prefix = "git://{repo}/";
  for (int i = 0; i <= static_cast<int>(resource_kind::changes); ++i) {
    const auto kind = static_cast<resource_kind>(i);
    const auto suffix = std::string_view(request_.uri_template).substr(std::min(prefix.size(), request_.uri_template.size()));
    if (suffix.starts_with(name_of(kind))) return kind;
  }
  return resource_kind::overview;
}

bool completer::may_see_below(const std::string& uri) const {
  if (!request_.caller.access_filter) return true;
  const auto compiled = uri_template::compile(uri + "{+rest}");
  return request_.caller.access_filter->may_see(uri) || (compiled && request_.caller.access_filter->may_see_any(*compiled));
}

result<complete_result> completer::values(git_repository* repo, const visibility_filter& visibility,
                                          const std::function<bool()>& is_stopped) const {
  if (is_argument("rev") || is_argument("ref") || is_argument("from") || is_argument("to")) return revisions(repo, is_stopped);
  if (is_argument("path")) return paths(repo, visibility, is_stopped);
  if (is_argument("author")) return authors(repo, visibility, is_stopped);
  return static_values();
}

result<complete_result> completer::revisions(git_repository* repo, const std::function<bool()>& is_stopped) const {
  cancellation_checker cancellation(is_stopped);
  std::vector<std::string> names{"HEAD"};
  for (const auto* prefix : {"refs/heads/", "refs/tags/", "refs/remotes/"})
    HONDANA_TRY(add_names(names, repo, prefix, cancellation));
  add_ids(names, repo, request_.value);
  if (!request_.caller.access_filter || is_argument("ref")) return complete_from(request_.value, names);
  // Access rules are expensive, so only names that could be sent are checked.
  const auto matches = best_matches(request_.value, std::move(names), max_checked + 1);
  const auto uri_prefix_text = uri_prefix(request_.context_value("repo")) + std::string(name_of(requested_kind())) + '/' +
                               (is_argument("to") ? percent_encode(request_.context_value("from")) + ".." : std::string());
  std::vector<std::string> visible;
  for (std::size_t i = 0; i < std::min(matches.size(), max_checked); ++i) {
    HONDANA_TRY(cancellation.check());
    if (may_see_below(uri_prefix_text + percent_encode(matches[i]))) visible.push_back(matches[i]);
  }
  auto completed = complete_from(request_.value, visible);
  if (matches.size() > max_checked) {
    completed.has_more = true;
    completed.total.reset();  // not counted
  }
  return completed;
}

result<complete_result> completer::paths(git_repository* repo, const visibility_filter& visibility,
                                         const std::function<bool()>& is_stopped) const {
  const auto kind = requested_kind();
  const bool is_parameter = kind == resource_kind::log || kind == resource_kind::diff || kind == resource_kind::changes;
  address target{.repo = request_.context_value("repo"), .kind = resource_kind::tree};
  for (const auto* variable : {"rev", "ref", "to"})
    if (target.rev.empty()) target.rev = request_.context_value(variable);
  if (target.rev.empty()) target.rev = "HEAD";
  const auto decoded = is_parameter ? result<std::string>(request_.value) : percent_decode(request_.value);
  const auto input = decoded ? *decoded : request_.value;
  if (const auto slash = input.rfind('/'); slash != std::string::npos) target.path = input.substr(0, slash);
  const auto folder = find_folder(repo, target, visibility);
  if (!folder) return complete_result{{}, 0, false};  // the next keystroke requests values again
  HONDANA_TRY(const auto listing, tree_listing::open(repo, folder->tree));
  const bool is_large = listing.size() > max_ranked;
  const auto name_prefix = std::string_view(input).substr(input.rfind('/') + 1);
  cancellation_checker cancellation(is_stopped);
  std::vector<std::string> values;
  for (std::size_t i = 0; i < listing.size() && !(is_large && values.size() > max_values); ++i) {
    HONDANA_TRY(cancellation.step());
    if (is_large && !listing.name(i).starts_with(name_prefix)) continue;
    if (!listing.is_valid(i) || (kind == resource_kind::tree && !listing.is_folder(i))) continue;
    const auto entry = listing.at(i);
    if (visibility_of(entry, target, visibility) != entry_visibility::visible) continue;
    auto child = entry_address(target, entry);
    if (!is_parameter && !entry.is_folder()) {
      child.kind = kind;
      if (!may_see_below(uri_of(child))) continue;
    }
    if (is_parameter && !json::is_utf8(child.path)) continue;
    values.push_back((is_parameter ? child.path : encode_path_value(child.path)) + (entry.is_folder() ? "/" : ""));
  }
  auto completed = complete_from(is_parameter ? input : encode_path_value(input), values);
  if (is_large && completed.has_more) completed.total.reset();  // not counted
  return completed;
}

result<complete_result> completer::authors(git_repository* repo, const visibility_filter& visibility,
                                           const std::function<bool()>& is_stopped) const {
  const auto ref = request_.context_value("ref");
  const auto start = resolve_revision(repo, ref.empty() ? "HEAD" : ref, "ref");
  if (!start) return complete_result{{}, 0, false};
  HONDANA_TRY(const auto listed, list_authors(repo, start->commit, is_stopped));
  std::map<std::string, std::size_t> counts;
  for (const auto& [person, count] : listed->commits_by_person)
    counts[masked_person(visibility, {.name = person.first, .email = person.second}).name] += count;
  std::vector<std::pair<std::string, std::size_t>> people(counts.begin(), counts.end());
  // People with equally many commits are sorted by name.
  std::sort(people.begin(), people.end(),
            [](const auto& a, const auto& b) { return a.second != b.second ? a.second > b.second : a.first < b.first; });
  std::vector<std::string> values;
  values.reserve(people.size());
  for (const auto& [name, count] : people) values.push_back(escape_pattern(name));
  auto completed = complete_from(request_.value, values);
  if (!listed->is_complete) {
    completed.has_more = true;
    completed.total.reset();  // not counted
  }
  return completed;
}

}  // namespace hondana::git
