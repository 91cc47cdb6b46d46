/// Completes revisions, paths and authors in URI templates.
#include "sources/git/completion.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include <hondana/completion.hpp>
#include <hondana/uri.hpp>

#include "base/json/utf8.hpp"
#include "base/match/fuzzy_match.hpp"
#include "sources/git/cancellation.hpp"
#include "sources/git/commit_rendering.hpp"
#include "sources/git/history.hpp"
#include "sources/git/object_parser.hpp"
#include "sources/git/reference_lookup.hpp"
#include "sources/git/revision.hpp"
#include "sources/git/tree_entries.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t most_names = 100'000;
constexpr std::size_t most_ids = 64;
constexpr std::size_t shown_digits = 10;
constexpr std::size_t most_commits = 5000;
/// Entries of a folder that are all examined and ranked. In a larger folder, only names that begin with the input match, up to
/// the number that is sent.
constexpr std::size_t most_ranked = 5000;
constexpr std::size_t most_values = 100;
/// Matching names that are checked against the caller's access filter.
constexpr std::size_t most_asked = 1000;

/// Adds the names of references below a prefix, without the prefix.
result<void> add_names(std::vector<std::string>& to, git_repository* in, const std::string& prefix, stopping& when) {
  HONDANA_TRY(when.ask());
  if (!check_references(in, prefix)) return {};
  git_reference_iterator* raw = nullptr;
  if (git_reference_iterator_glob_new(&raw, in, (prefix + '*').c_str()) < 0) return {};
  const reference_iterator_pointer all(raw);
  const char* name = nullptr;
  while (to.size() < most_names && git_reference_next_name(&name, raw) == 0) {
    HONDANA_TRY(when.step());
    const auto shown = std::string_view(name).substr(prefix.size());
    if (json::is_utf8(shown)) to.emplace_back(shown);
  }
  return {};
}

/// A name that matches the input. The best match comes first.
struct fitting_name {
  match::fit how;
  std::size_t place;

  bool operator<(const fitting_name& other) const noexcept { return how != other.how ? how < other.how : place < other.place; }
};
std::vector<std::string> best_fitting(std::string_view typed, std::vector<std::string> names, std::size_t most) {
  match::matcher fits(typed);
  match::best<fitting_name> found(most);
  for (std::size_t place = 0; place < names.size(); ++place)
    if (const auto how = fits(names[place])) found.add({*how, place});
  std::vector<std::string> kept;
  for (const auto& one : found.take()) kept.push_back(std::move(names[one.place]));
  return kept;
}

/// Adds commits whose ids begin with the input.
void add_ids(std::vector<std::string>& to, git_repository* in, const std::string& typed) {
  if (!is_abbreviation(typed)) return;
  const auto objects = objects_of(in);
  const auto ids = objects ? ids_beginning(objects->get(), typed, most_ids) : tl::unexpected(failure{});
  if (!ids) return;  // a damaged repository has no values to offer
  const auto digits = ids->size() == 1 ? std::max(shown_digits, typed.size()) : std::size_t{GIT_OID_HEXSZ};
  for (const auto& id : *ids) {
    const auto what = behind_tags(objects->get(), id);
    if (what && what->kind == GIT_OBJECT_COMMIT) to.push_back(text_of(id).substr(0, digits));
  }
}

/// A text as a pattern that matches it. A dot is not escaped, because it matches itself.
std::string pattern_of(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view("\\^$|?*+()[]{}").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

/// A path as a value of `{+path}`. Escapes characters with a meaning in URIs, and invalid UTF-8.
std::string path_value(std::string_view path) {
  std::string value;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_special = byte < 0x20 || byte == 0x7F || std::string_view("%?#[]").find(c) != std::string_view::npos;
    value += is_special ? percent_encode(std::string_view(&c, 1)) : std::string(1, c);
  }
  return json::is_utf8(value) ? value : written_path(path);
}

}  // namespace

complete_result completing::without_repository() const {
  if (is_about("format")) return complete_from(request_.value, {"markdown", "json"});
  return {{}, 0, false};
}

topic completing::what() const {
  constexpr std::string_view front = "git://{repo}/";
  for (int i = 0; i <= static_cast<int>(topic::changes); ++i) {
    const auto one = static_cast<topic>(i);
    const auto rest = std::string_view(request_.uriTemplate).substr(std::min(front.size(), request_.uriTemplate.size()));
    if (rest.starts_with(name_of(one))) return one;
  }
  return topic::overview;
}

bool completing::leads_somewhere(const std::string& uri) const {
  if (!request_.who.view) return true;
  const auto all = uri_template::compile(uri + "{+rest}");
  return request_.who.view->may_see(uri) || (all && request_.who.view->may_see_some(*all));
}

result<complete_result> completing::values(git_repository* in, const concealment& hides,
                                           const std::function<bool()>& is_stopped) const {
  if (is_about("rev") || is_about("ref") || is_about("from") || is_about("to")) return revisions(in, is_stopped);
  if (is_about("path")) return paths(in, hides, is_stopped);
  if (is_about("author")) return authors(in, hides, is_stopped);
  return without_repository();
}

result<complete_result> completing::revisions(git_repository* in, const std::function<bool()>& is_stopped) const {
  stopping when(is_stopped);
  std::vector<std::string> names{"HEAD"};
  for (const auto* prefix : {"refs/heads/", "refs/tags/", "refs/remotes/"}) HONDANA_TRY(add_names(names, in, prefix, when));
  add_ids(names, in, request_.value);
  if (!request_.who.view || is_about("ref")) return complete_from(request_.value, names);
  // Access rules are expensive, so only names that could be sent are checked.
  const auto best = best_fitting(request_.value, std::move(names), most_asked + 1);
  const auto front = prefix_of(request_.chosen("repo")) + std::string(name_of(what())) + '/' +
                     (is_about("to") ? percent_encode(request_.chosen("from")) + ".." : std::string());
  std::vector<std::string> seen;
  for (std::size_t i = 0; i < std::min(best.size(), most_asked); ++i) {
    HONDANA_TRY(when.ask());
    if (leads_somewhere(front + percent_encode(best[i]))) seen.push_back(best[i]);
  }
  auto found = complete_from(request_.value, seen);
  if (best.size() > most_asked) {
    found.has_more = true;
    found.total.reset();  // not counted
  }
  return found;
}

result<complete_result> completing::paths(git_repository* in, const concealment& hides,
                                          const std::function<bool()>& is_stopped) const {
  const auto about = what();
  const bool is_parameter = about == topic::log || about == topic::diff || about == topic::changes;
  address at{.repo = request_.chosen("repo"), .what = topic::tree};
  for (const auto* variable : {"rev", "ref", "to"})
    if (at.rev.empty()) at.rev = request_.chosen(variable);
  if (at.rev.empty()) at.rev = "HEAD";
  const auto decoded = is_parameter ? result<std::string>(request_.value) : percent_decode(request_.value);
  const auto typed = decoded ? *decoded : request_.value;
  if (const auto slash = typed.rfind('/'); slash != std::string::npos) at.path = typed.substr(0, slash);
  const auto folder = find_folder(in, at, hides);
  if (!folder) return complete_result{{}, 0, false};  // the next keystroke requests values again
  HONDANA_TRY(const auto listing, tree_listing::open(in, folder->tree));
  const bool is_large = listing.size() > most_ranked;
  const auto begun = std::string_view(typed).substr(typed.rfind('/') + 1);
  stopping when(is_stopped);
  std::vector<std::string> values;
  for (std::size_t place = 0; place < listing.size() && !(is_large && values.size() > most_values); ++place) {
    HONDANA_TRY(when.step());
    if (is_large && !listing.name(place).starts_with(begun)) continue;
    if (!listing.is_sound(place) || (about == topic::tree && !listing.is_folder(place))) continue;
    const auto one = listing.at(place);
    if (sight_of(one, at, hides) != entry_sight::shown) continue;
    auto there = address_of(at, one);
    if (!is_parameter && !one.is_folder()) {
      there.what = about;
      if (!leads_somewhere(uri_of(there))) continue;
    }
    if (is_parameter && !json::is_utf8(there.path)) continue;
    values.push_back((is_parameter ? there.path : path_value(there.path)) + (one.is_folder() ? "/" : ""));
  }
  auto found = complete_from(is_parameter ? typed : path_value(typed), values);
  if (is_large && found.has_more) found.total.reset();  // not counted
  return found;
}

result<complete_result> completing::authors(git_repository* in, const concealment& hides,
                                            const std::function<bool()>& is_stopped) const {
  const auto ref = request_.chosen("ref");
  const auto from = resolve(in, ref.empty() ? "HEAD" : ref, "ref");
  if (!from) return complete_result{{}, 0, false};
  std::map<std::string, std::size_t> counts;
  log_request request;
  request.from = from->commit;
  request.limit = most_commits;
  request.is_stopped = is_stopped;
  const auto page = log(in, request);
  if (!page) return tl::unexpected(page.error());
  for (const auto& one : page->commits) ++counts[shown_person(hides, one.author).name];
  std::vector<std::pair<std::string, std::size_t>> people(counts.begin(), counts.end());
  // People with equally many commits are sorted by name.
  std::sort(people.begin(), people.end(),
            [](const auto& a, const auto& b) { return a.second != b.second ? a.second > b.second : a.first < b.first; });
  std::vector<std::string> values;
  values.reserve(people.size());
  for (const auto& [name, count] : people) values.push_back(pattern_of(name));
  return complete_from(request_.value, values);
}

}  // namespace hondana::git
