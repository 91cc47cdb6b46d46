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

constexpr std::size_t max_values = 100;
constexpr std::size_t max_ranked_values = 1'000;  // how many of the best matches are also ranked by priority
constexpr std::size_t max_read_names = 1'000'000;
constexpr std::chrono::milliseconds max_listing_wait{100};
constexpr std::chrono::milliseconds folder_search_timeout{100};
constexpr std::chrono::milliseconds listing_search_timeout{400};
constexpr std::size_t records_per_check = 256;

/// A path that matches.
struct candidate {
  match::rank rank;
  std::string path;  // the real path below the root
  bool is_folder = false;
  bool is_link = false;

  bool operator<(const candidate& other) const noexcept {
    if (rank < other.rank) return true;
    return !(other.rank < rank) && path < other.path;
  }
};

/// The parsed input.
struct path_query {
  std::string folder;            ///< As typed, without the trailing slash.
  disk::resolved_path resolved;  ///< Its real location.
  std::string pattern;           ///< What to search for below it.
};

match::recency recency_of(std::int64_t modified, std::chrono::system_clock::time_point now) {
  if (modified == disk::time_out_of_range || modified == -disk::time_out_of_range) return match::recency::older;
  return match::recency_of(std::chrono::sys_time<std::chrono::milliseconds>(
                               std::chrono::floor<std::chrono::milliseconds>(std::chrono::nanoseconds(modified))),
                           now);
}

double priority_of(const served_root& root, const candidate& candidate) {
  annotations annotated;
  root.priorities().annotate(candidate.path, candidate.is_folder, annotated);
  return annotated.priority.value_or(0.5);
}

std::string decode_input(std::string_view input) {
  // The input may contain escapes, because it may begin with an earlier value. Anything that is not an escape is part of a
  // name.
  const auto decoded = percent_decode(input);
  return decoded ? *decoded : std::string(input);
}

/// The folder typed so far, if it exists and the caller may see it.
std::optional<disk::resolved_path> find_visible_folder(const served_root& root, std::string_view path,
                                                       const request_context& context) {
  auto folder = root.find(path, &context);
  if (!folder || !S_ISDIR(folder->attributes.st_mode) || !root.is_visible(path, *folder, context.caller)) return std::nullopt;
  return std::move(*folder);
}

/// The best matches, and the number of all matches.
struct search_result {
  std::vector<candidate> candidates;
  std::uint64_t count = 0;
  bool is_complete = true;
};

/// Searches a complete listing.
/// Whether a link leads to an entry that the caller may not see. The link is then hidden, too, as in lists.
bool has_hidden_target(const served_root& root, std::string_view link, const request_context& context) {
  if (!context.caller.access_filter) return false;
  const auto target = root.find(link, &context);
  return target && !root.is_visible(link, *target, context.caller);
}

result<search_result> search_listing(const served_root& root, const listing& listing, const path_query& query,
                                     const request_context& context) {
  const auto now = std::chrono::system_clock::now();
  match::matcher matcher(query.pattern, match::match_scope::last_segment);
  match::top_k<candidate> best(max_ranked_values);
  const auto begin = query.resolved.path.empty() ? 0 : query.resolved.path.size() + 1;
  std::size_t scanned = 0;
  result<void> status;
  // A long input makes each comparison expensive, and the source's threads are needed for reads, too.
  const auto deadline = clock::now() + listing_search_timeout;
  bool has_expired = false;
  listing.for_each_below(root, query.resolved.path, [&](const record_block& block, std::size_t index) {
    if (++scanned % records_per_check == 0) {
      status = check_cancellation(context);
      has_expired = clock::now() >= deadline;
      if (!status || has_expired) return false;
    }
    const auto path = block.path(index);
    const auto relative_path = path.substr(begin);
    // Without anything to search for, only direct children are offered.
    if (query.pattern.empty() && relative_path.find('/') != std::string_view::npos) return true;
    const auto quality = matcher(relative_path);
    if (!quality || (context.caller.access_filter && !context.caller.access_filter->may_see(block.uri(index)))) return true;
    const auto& record = block.at(index);
    if (S_ISLNK(record.mode) && has_hidden_target(root, path, context)) return true;
    best.add(
        {{*quality, 0.5, recency_of(record.modified, now)}, std::string(path), S_ISDIR(record.mode), S_ISLNK(record.mode)});
    return true;
  });
  if (!status) return tl::unexpected(std::move(status.error()));
  search_result matches;
  matches.count = best.count();
  matches.candidates = best.extract_sorted();
  matches.is_complete = !has_expired;
  return matches;
}

/// Searches the names in the folder itself.
result<search_result> search_folder(const served_root& root, const path_query& query, const request_context& context) {
  search_result matches;
  matches.is_complete = false;
  const auto opened = root.dir()->open_folder(query.resolved);
  if (!opened) throw_if_system_error(make_rejection(opened.error()));
  if (!opened) return matches;
  const auto ignored_by = root.ignore_stack_at(query.resolved.path);
  if (!ignored_by) throw_if_system_error(ignored_by.error());
  const auto names = folder_names::read(opened->get(), max_read_names);
  if (!names) throw_if_system_error(make_rejection(disk::to_lookup_error(names.error())));
  if (!ignored_by || !names) return matches;

  const auto now = std::chrono::system_clock::now();
  match::matcher matcher(query.pattern);
  std::vector<std::pair<match::match_quality, std::string>> matching;
  for (std::size_t i = 0; i < names->size(); ++i) {
    auto name = names->at(i);
    if (const auto quality = matcher(name)) matching.emplace_back(*quality, std::move(name));
  }
  std::sort(matching.begin(), matching.end());
  // Matches further down are not searched for.
  matches.is_complete = !names->is_cut() && query.pattern.empty();
  const std::string prefix = query.resolved.path.empty() ? std::string() : query.resolved.path + '/';
  const auto deadline = clock::now() + folder_search_timeout;
  match::top_k<candidate> best(max_ranked_values);
  for (const auto& [quality, name] : matching) {
    HONDANA_TRY(check_cancellation(context));
    if (clock::now() >= deadline) {
      matches.is_complete = false;
      break;
    }
    auto path = prefix + name;
    const auto examined = examine(root, opened->get(), path, name.c_str(), *ignored_by, &context);
    if (!examined.is_served) continue;
    const auto mode = examined.attributes.st_mode;
    if (S_ISLNK(mode) && has_hidden_target(root, path, context)) continue;
    best.add({{quality, 0.5, recency_of(disk::stamp_of(examined.attributes).modified, now)},
              std::move(path),
              S_ISDIR(mode),
              S_ISLNK(mode)});
  }
  matches.count = best.count();
  matches.candidates = best.extract_sorted();
  return matches;
}

bool leads_to_folder(const served_root& root, const candidate& candidate, const request_context& context) {
  if (!candidate.is_link) return candidate.is_folder;
  const auto target = root.find(candidate.path, &context);
  return target && S_ISDIR(target->attributes.st_mode);
}

complete_result make_completion(const served_root& root, const path_query& query, search_result matches,
                                const request_context& context) {
  for (auto& match : matches.candidates) match.rank.priority = priority_of(root, match);
  std::sort(matches.candidates.begin(), matches.candidates.end());
  if (matches.candidates.size() > max_values) matches.candidates.resize(max_values);
  const auto begin = query.resolved.path.empty() ? 0 : query.resolved.path.size() + 1;
  const std::string prefix = query.folder.empty() ? std::string() : query.folder + '/';
  complete_result response;
  for (const auto& candidate : matches.candidates) {
    response.values.push_back(encode_template_value(prefix + candidate.path.substr(begin)) +
                              (leads_to_folder(root, candidate, context) ? "/" : ""));
  }
  if (matches.is_complete) response.total = matches.count;
  response.has_more = !matches.is_complete || matches.count > response.values.size();
  return response;
}

}  // namespace

std::string encode_template_value(std::string_view path) {
  const auto is_escape = [path](std::size_t position) {
    return path.size() - position > 2 && std::isxdigit(static_cast<unsigned char>(path[position + 1])) != 0 &&
           std::isxdigit(static_cast<unsigned char>(path[position + 2])) != 0;
  };
  std::string value;
  for (std::size_t i = 0; i < path.size();) {
    const auto byte = static_cast<unsigned char>(path[i]);
    std::size_t size = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    const auto code_point = path.substr(i, size);
    const bool is_special = byte < 0x20 || byte == 0x7F || std::string_view("?#[]").find(path[i]) != std::string_view::npos ||
                            (path[i] == '%' && is_escape(i));
    if (!is_special && json::is_utf8(code_point)) {
      value += code_point;
    } else {
      size = 1;
      value += percent_encode(path.substr(i, 1));
    }
    i += size;
  }
  return value;
}

result<complete_result> complete_path(const served_root& root, const listing* listing, std::string_view input,
                                      const request_context& context) {
  const auto path = decode_input(input);
  const auto slash = path.rfind('/');
  path_query query;
  if (slash != std::string::npos) query.folder = path.substr(0, slash);
  auto folder = find_visible_folder(root, query.folder, context);
  query.pattern = path.substr(slash == std::string::npos ? 0 : slash + 1);
  const bool is_complete =
      listing != nullptr && listing->wait_until_complete(std::min(clock::now() + max_listing_wait, context.deadline), context);
  if (!folder) {
    // `s/m` for `src/main.cpp`: the folder `s` does not exist, but a path contains these letters.
    folder = is_complete && !query.folder.empty() ? find_visible_folder(root, {}, context) : std::nullopt;
    if (!folder && !is_complete) return complete_result{{}, std::nullopt, true};
    if (!folder) return complete_result{{}, 0, false};
    query.folder.clear();
    query.pattern = path;
  }
  query.resolved = std::move(*folder);
  HONDANA_TRY(auto matches, is_complete ? search_listing(root, *listing, query, context) : search_folder(root, query, context));
  HONDANA_TRY(check_cancellation(context));
  return make_completion(root, query, std::move(matches), context);
}

namespace {

constexpr std::size_t max_ranges = 100;
constexpr std::uint64_t max_counted_bytes = 8ull << 20;
constexpr std::uint64_t lines_per_page = 200;
constexpr std::uint64_t bytes_per_page = 64 * 1024;
constexpr std::uint64_t max_pages = 10'000;

/// The first and the last valid position.
struct value_range {
  std::uint64_t first;
  std::uint64_t last;
};

class range_collector {
 public:
  explicit range_collector(std::string_view input) : input_(input) {}

  void add(const std::string& value) {
    if (!value.starts_with(input_)) return;
    auto& values = response_.values;
    // Only the first few values can equal a page; all pages differ.
    const auto first_few = values.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(values.size(), 4));
    if (std::find(values.begin(), first_few, value) != first_few) return;
    ++count_;
    if (values.size() < max_ranges) values.push_back(value);
  }
  void add(std::uint64_t first, std::uint64_t last) { add(std::to_string(first) + '-' + std::to_string(last)); }

  complete_result finish(bool is_complete) {
    if (is_complete) response_.total = count_;
    response_.has_more = !is_complete || count_ > response_.values.size();
    return std::move(response_);
  }

 private:
  std::string_view input_;
  std::uint64_t count_ = 0;
  complete_result response_;
};

/// The number before an optional `-`; nothing for any other input.
std::optional<std::uint64_t> parse_first_number(std::string_view input) {
  std::uint64_t number = 0;
  const auto* end = input.data() + input.size();
  const auto [parsed_end, error] = std::from_chars(input.data(), end, number);
  if (error != std::errc() || (parsed_end != end && *parsed_end != '-')) return std::nullopt;
  return number;
}

complete_result make_ranges(const value_range& limits, std::uint64_t page_size, std::string_view input) {
  range_collector values(input);
  values.add(limits.first, limits.last);
  if (const auto first = parse_first_number(input); first && *first >= limits.first && *first <= limits.last) {
    values.add(*first, std::min(limits.last, *first + (page_size - 1)));
    values.add(*first, limits.last);
    values.add(std::to_string(*first));
  }
  std::uint64_t pages = 0;
  for (auto first = limits.first; first <= limits.last; first += page_size) {
    if (pages++ == max_pages) return values.finish(false);
    values.add(first, std::min(limits.last, first + (page_size - 1)));
  }
  return values.finish(true);
}

/// The range of lines of a text file. Nothing if the file is not text, is empty, or is too large to count.
result<std::optional<value_range>> count_lines(const open_file& file, std::uint64_t size, const request_context& context) {
  if (size > max_counted_bytes) return std::nullopt;
  bytes::content_kind_detector detector;
  std::uint64_t newlines = 0;
  char last = '\n';
  const auto status = for_each_window(file, size, context, [&](std::string_view part) {
    detector.feed(part);
    newlines += static_cast<std::uint64_t>(std::count(part.begin(), part.end(), '\n'));
    last = part.back();
    return true;
  });
  if (!status) return tl::unexpected(status.error());
  const auto lines = newlines + (last == '\n' ? 0 : 1);
  if (lines == 0 || detector.value() != content_kind::text) return std::nullopt;
  return value_range{1, lines};
}

}  // namespace

result<complete_result> complete_range(const served_root& root, std::string_view path, bool is_lines, std::string_view input,
                                       const request_context& context) {
  complete_result none{{}, 0, false};
  const auto decoded = percent_decode(path);
  const std::string requested_path = decoded ? *decoded : std::string(path);
  const auto resolved = root.find(requested_path, &context);
  HONDANA_TRY(check_cancellation(context));
  if (!resolved || !S_ISREG(resolved->attributes.st_mode) || !root.is_readable(requested_path, *resolved, context.caller))
    return none;
  auto opened = root.dir()->open_file(*resolved);
  if (!opened) return none;
  const open_file file(std::move(*opened));
  const auto state = file.state();
  if (!state || state->size == 0) return none;
  if (!is_lines) return make_ranges({0, state->size - 1}, bytes_per_page, input);
  const auto lines = count_lines(file, state->size, context);
  if (!lines) {
    const auto code = lines.error().code;
    if (code == errc::cancelled || code == errc::timed_out) return tl::unexpected(lines.error());
    return none;  // it changed meanwhile; the next keystroke requests values again
  }
  return *lines ? make_ranges(**lines, lines_per_page, input) : none;
}

}  // namespace hondana::files
