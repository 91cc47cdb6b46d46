/// Completes paths, lines and bytes in the URI templates of a root.
#include "sources/files/completion.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "base/bytes/prepared_content.hpp"
#include "base/json/utf8.hpp"
#include "base/match/fuzzy_match.hpp"
#include "os/disk/file_stamp.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/files/folder_walk.hpp"
#include "sources/files/open_file.hpp"

namespace hondana::files {
namespace {

using clock = monotonic_clock;

constexpr std::size_t value_limit = 100;
constexpr std::size_t compared_limit = 1'000;  // how many of the best matches are also ranked by priority
constexpr std::size_t names_read = 1'000'000;
constexpr std::chrono::milliseconds longest_wait{100};
constexpr std::chrono::milliseconds longest_look{100};
constexpr std::chrono::milliseconds longest_listed_look{400};
constexpr std::size_t looks_between_checks = 256;

/// A path that matches.
struct candidate {
  match::rank how;
  std::string path;  // the real path below the root
  bool is_folder = false;
  bool is_link = false;

  bool operator<(const candidate& other) const noexcept {
    if (how < other.how) return true;
    return !(other.how < how) && path < other.path;
  }
};

/// The parsed input.
struct question {
  std::string folder;  ///< As typed, without the trailing slash.
  located at;          ///< Its real location.
  std::string wanted;  ///< What to search for below it.
};

match::recency recency_of(std::int64_t modified, std::chrono::system_clock::time_point now) {
  if (modified == disk::time_beyond_count || modified == -disk::time_beyond_count) return match::recency::older;
  return match::recency_of(std::chrono::sys_time<std::chrono::milliseconds>(
                               std::chrono::floor<std::chrono::milliseconds>(std::chrono::nanoseconds(modified))),
                           now);
}

double priority_of(const root& of, const candidate& one) {
  annotations weighed;
  of.weights().weigh(one.path, one.is_folder, weighed);
  return weighed.priority.value_or(0.5);
}

std::string typed_path(std::string_view typed) {
  // The input may contain escapes, because it may begin with an earlier value. Anything that is not an escape is part of a
  // name.
  const auto decoded = percent_decode(typed);
  return decoded ? *decoded : std::string(typed);
}

/// The folder typed so far, if it exists and the caller may see it.
std::optional<located> shown_folder(const root& of, std::string_view path, const call& by) {
  auto folder = of.find(path, &by);
  if (!folder || !S_ISDIR(folder->facts.st_mode) || !of.is_visible(path, *folder, by.who)) return std::nullopt;
  return std::move(*folder);
}

/// The best matches, and the number of all matches.
struct gathered {
  std::vector<candidate> best;
  std::uint64_t count = 0;
  bool is_all = true;
};

/// Searches a complete listing.
result<gathered> gather_listed(const root& of, const listing& listed, const question& asked, const call& by) {
  const auto now = std::chrono::system_clock::now();
  match::matcher fits(asked.wanted, match::reach::last_segment);
  match::best<candidate> best(compared_limit);
  const auto begin = asked.at.path.empty() ? 0 : asked.at.path.size() + 1;
  std::size_t looks = 0;
  result<void> wanted;
  // A long input makes each comparison expensive, and the source's threads are needed for reads, too.
  const auto until = clock::now() + longest_listed_look;
  bool is_late = false;
  listed.for_each_below(of, asked.at.path, [&](const block& in, std::size_t index) {
    if (++looks % looks_between_checks == 0) {
      wanted = still_wanted(by);
      is_late = clock::now() >= until;
      if (!wanted || is_late) return false;
    }
    const auto path = in.path(index);
    const auto below = path.substr(begin);
    // Without anything to search for, only direct children are offered.
    if (asked.wanted.empty() && below.find('/') != std::string_view::npos) return true;
    const auto how = fits(below);
    if (!how || (by.who.view && !by.who.view->may_see(in.uri(index)))) return true;
    const auto& facts = in.at(index);
    best.add({{*how, 0.5, recency_of(facts.modified, now)}, std::string(path), S_ISDIR(facts.mode), S_ISLNK(facts.mode)});
    return true;
  });
  if (!wanted) return tl::unexpected(std::move(wanted.error()));
  gathered found;
  found.count = best.count();
  found.best = best.take();
  found.is_all = !is_late;
  return found;
}

/// Searches the names in the folder itself.
result<gathered> gather_names(const root& of, const question& asked, const call& by) {
  gathered found;
  found.is_all = false;
  const auto open = of.below()->open_folder(asked.at);
  if (!open) throw_if_unsure(refusal_of(open.error()));
  if (!open) return found;
  const auto ignored_by = of.stack_at(asked.at.path);
  if (!ignored_by) throw_if_unsure(ignored_by.error());
  const auto names = folder_names::read(open->get(), names_read);
  if (!names) throw_if_unsure(refusal_of(obstacle_of(names.error())));
  if (!ignored_by || !names) return found;

  const auto now = std::chrono::system_clock::now();
  match::matcher fits(asked.wanted);
  std::vector<std::pair<match::fit, std::string>> fitting;
  for (std::size_t i = 0; i < names->size(); ++i) {
    auto name = names->at(i);
    if (const auto how = fits(name)) fitting.emplace_back(*how, std::move(name));
  }
  std::sort(fitting.begin(), fitting.end());
  // Matches further down are not searched for.
  found.is_all = !names->is_cut() && asked.wanted.empty();
  const std::string real = asked.at.path.empty() ? std::string() : asked.at.path + '/';
  const auto until = clock::now() + longest_look;
  match::best<candidate> best(compared_limit);
  for (const auto& [how, name] : fitting) {
    HONDANA_TRY(still_wanted(by));
    if (clock::now() >= until) {
      found.is_all = false;
      break;
    }
    auto path = real + name;
    const auto about = examine(of, open->get(), path, name.c_str(), *ignored_by, &by);
    if (!about.is_served) continue;
    const auto mode = about.facts.st_mode;
    best.add(
        {{how, 0.5, recency_of(disk::stamp_of(about.facts).modified, now)}, std::move(path), S_ISDIR(mode), S_ISLNK(mode)});
  }
  found.count = best.count();
  found.best = best.take();
  return found;
}

bool leads_to_folder(const root& of, const candidate& one, const call& by) {
  if (!one.is_link) return one.is_folder;
  const auto target = of.find(one.path, &by);
  return target && S_ISDIR(target->facts.st_mode) && of.is_visible(one.path, *target, by.who);
}

complete_result answer_of(const root& of, const question& asked, gathered found, const call& by) {
  for (auto& one : found.best) one.how.priority = priority_of(of, one);
  std::sort(found.best.begin(), found.best.end());
  if (found.best.size() > value_limit) found.best.resize(value_limit);
  const auto begin = asked.at.path.empty() ? 0 : asked.at.path.size() + 1;
  const std::string shown = asked.folder.empty() ? std::string() : asked.folder + '/';
  complete_result answer;
  for (const auto& one : found.best) {
    answer.values.push_back(template_value(shown + one.path.substr(begin)) + (leads_to_folder(of, one, by) ? "/" : ""));
  }
  if (found.is_all) answer.total = found.count;
  answer.has_more = !found.is_all || found.count > answer.values.size();
  return answer;
}

}  // namespace

std::string template_value(std::string_view path) {
  const auto is_escape = [path](std::size_t at) {
    return path.size() - at > 2 && std::isxdigit(static_cast<unsigned char>(path[at + 1])) != 0 &&
           std::isxdigit(static_cast<unsigned char>(path[at + 2])) != 0;
  };
  std::string value;
  for (std::size_t i = 0; i < path.size();) {
    const auto byte = static_cast<unsigned char>(path[i]);
    std::size_t size = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    const auto point = path.substr(i, size);
    const bool is_special = byte < 0x20 || byte == 0x7F || std::string_view("?#[]").find(path[i]) != std::string_view::npos ||
                            (path[i] == '%' && is_escape(i));
    if (!is_special && json::is_utf8(point)) {
      value += point;
    } else {
      size = 1;
      value += percent_encode(path.substr(i, 1));
    }
    i += size;
  }
  return value;
}

result<complete_result> complete_path(const root& of, const listing* listed, std::string_view typed, const call& by) {
  const auto path = typed_path(typed);
  const auto slash = path.rfind('/');
  question asked;
  if (slash != std::string::npos) asked.folder = path.substr(0, slash);
  auto folder = shown_folder(of, asked.folder, by);
  asked.wanted = path.substr(slash == std::string::npos ? 0 : slash + 1);
  const bool is_whole = listed != nullptr && listed->await_whole(std::min(clock::now() + longest_wait, by.deadline), by);
  if (!folder) {
    // `s/m` for `src/main.cpp`: the folder `s` does not exist, but a path contains these letters.
    folder = is_whole && !asked.folder.empty() ? shown_folder(of, {}, by) : std::nullopt;
    if (!folder && !is_whole) return complete_result{{}, std::nullopt, true};
    if (!folder) return complete_result{{}, 0, false};
    asked.folder.clear();
    asked.wanted = path;
  }
  asked.at = std::move(*folder);
  HONDANA_TRY(auto found, is_whole ? gather_listed(of, *listed, asked, by) : gather_names(of, asked, by));
  HONDANA_TRY(still_wanted(by));
  return answer_of(of, asked, std::move(found), by);
}

namespace {

constexpr std::size_t ranges_offered = 100;
constexpr std::uint64_t counted_bytes = 8ull << 20;
constexpr std::uint64_t lines_a_page = 200;
constexpr std::uint64_t bytes_a_page = 64 * 1024;
constexpr std::uint64_t page_limit = 10'000;

/// The first and the last valid position.
struct extremes {
  std::uint64_t first;
  std::uint64_t last;
};

class offer {
 public:
  explicit offer(std::string_view typed) : typed_(typed) {}

  void add(const std::string& value) {
    if (!value.starts_with(typed_)) return;
    auto& values = answer_.values;
    // Only the first few values can equal a page; all pages differ.
    const auto first_few = values.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(values.size(), 4));
    if (std::find(values.begin(), first_few, value) != first_few) return;
    ++count_;
    if (values.size() < ranges_offered) values.push_back(value);
  }
  void add(std::uint64_t first, std::uint64_t last) { add(std::to_string(first) + '-' + std::to_string(last)); }

  complete_result take(bool is_all) {
    if (is_all) answer_.total = count_;
    answer_.has_more = !is_all || count_ > answer_.values.size();
    return std::move(answer_);
  }

 private:
  std::string_view typed_;
  std::uint64_t count_ = 0;
  complete_result answer_;
};

/// The number before an optional `-`; nothing for any other input.
std::optional<std::uint64_t> first_number(std::string_view typed) {
  std::uint64_t number = 0;
  const auto* end = typed.data() + typed.size();
  const auto [stopped, error] = std::from_chars(typed.data(), end, number);
  if (error != std::errc() || (stopped != end && *stopped != '-')) return std::nullopt;
  return number;
}

complete_result offered_ranges(const extremes& of, std::uint64_t a_page, std::string_view typed) {
  offer values(typed);
  values.add(of.first, of.last);
  if (const auto first = first_number(typed); first && *first >= of.first && *first <= of.last) {
    values.add(*first, std::min(of.last, *first + (a_page - 1)));
    values.add(*first, of.last);
    values.add(std::to_string(*first));
  }
  std::uint64_t pages = 0;
  for (auto first = of.first; first <= of.last; first += a_page) {
    if (pages++ == page_limit) return values.take(false);
    values.add(first, std::min(of.last, first + (a_page - 1)));
  }
  return values.take(true);
}

/// The range of lines of a text file. Nothing if the file is not text, is empty, or is too large to count.
result<std::optional<extremes>> lines_of(const open_file& file, std::uint64_t size, const call& by) {
  if (size > counted_bytes) return std::nullopt;
  bytes::form_detector form;
  std::uint64_t ends = 0;
  char last = '\n';
  const auto counted = for_each_window(file, size, by, [&](std::string_view part) {
    form.feed(part);
    ends += static_cast<std::uint64_t>(std::count(part.begin(), part.end(), '\n'));
    last = part.back();
    return true;
  });
  if (!counted) return tl::unexpected(counted.error());
  const auto lines = ends + (last == '\n' ? 0 : 1);
  if (lines == 0 || form.value() != content_form::text) return std::nullopt;
  return extremes{1, lines};
}

}  // namespace

result<complete_result> complete_range(const root& of, std::string_view path, bool is_lines, std::string_view typed,
                                       const call& by) {
  complete_result none{{}, 0, false};
  const auto decoded = percent_decode(path);
  const std::string asked = decoded ? *decoded : std::string(path);
  const auto found = of.find(asked, &by);
  HONDANA_TRY(still_wanted(by));
  if (!found || !S_ISREG(found->facts.st_mode) || !of.is_readable(asked, *found, by.who)) return none;
  auto opened = of.below()->open_file(*found);
  if (!opened) return none;
  const open_file file(std::move(*opened));
  const auto state = file.state();
  if (!state || state->size == 0) return none;
  if (!is_lines) return offered_ranges({0, state->size - 1}, bytes_a_page, typed);
  const auto lines = lines_of(file, state->size, by);
  if (!lines) {
    const auto why = lines.error().code;
    if (why == errc::cancelled || why == errc::timed_out) return tl::unexpected(lines.error());
    return none;  // it changed meanwhile; the next keystroke requests values again
  }
  return *lines ? offered_ranges(**lines, lines_a_page, typed) : none;
}

}  // namespace hondana::files
