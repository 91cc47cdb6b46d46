/// Completing drives, paths, ids and sheets, without what the caller may not see.
#include <utility>

#include <hondana/completion.hpp>
#include <hondana/uri.hpp>

#include "base/match/ranking.hpp"
#include "sources/gdrive/naming.hpp"
#include "sources/gdrive/provider.hpp"
#include "text/language/language.hpp"

namespace hondana::gdrive {
namespace {

constexpr std::size_t most_values = 100;
constexpr std::size_t longest_typed = 1000;

/// A path of a URI as a value of `{+path}`: people's letters, and escapes where a character has a meaning in URIs.
std::string as_value(std::string_view path) {
  std::string out;
  while (true) {
    const auto end = path.find('/');
    const auto segment = percent_decode(path.substr(0, end)).value_or(std::string(path.substr(0, end)));
    for (const char c : segment) {
      const auto byte = static_cast<unsigned char>(c);
      const bool is_special = byte < 0x20 || byte == 0x7F || std::string_view("%?#[]/").find(c) != std::string_view::npos;
      out += is_special ? percent_encode(std::string_view(&c, 1)) : std::string(1, c);
    }
    if (end == std::string_view::npos) return out;
    out += '/';
    path.remove_prefix(end + 1);
  }
}

struct candidate_value {
  match::rank how{};
  std::string value{};

  bool operator<(const candidate_value& other) const noexcept {
    return how < other.how || (!(other.how < how) && value < other.value);
  }
};

complete_result answer_from(match::best<candidate_value> best) {
  complete_result answer;
  answer.total = best.count();
  for (auto& one : best.take()) answer.values.push_back(std::move(one.value));
  answer.has_more = *answer.total > answer.values.size();
  return answer;
}

}  // namespace

complete_result gdrive_provider::complete_paths(const scene& in, const complete_request& request) const {
  const auto drive = request.chosen("drive");
  const auto prefix = how_.scheme + "://" + (drive.empty() ? std::string(my_drive) : drive) + '/';
  const bool wants_sheets = request.uriTemplate.ends_with("{?sheet}");
  match::matcher fits(language::folded(percent_decode(request.value).value_or(request.value).substr(0, longest_typed)));
  match::best<candidate_value> best(most_values);
  const auto now = std::chrono::system_clock::now();
  for (auto at = in.entries().upper_bound(key_before(prefix)); at < in.entries().size(); ++at) {
    const auto entry = in.entries().at(at);
    if (!entry.uri.starts_with(prefix)) break;
    if (entry.kind == "sheet" || !is_shown(in, entry, request.who)) continue;
    auto value = as_value(std::string_view(entry.uri).substr(prefix.size()));
    const auto how = fits(language::folded(value));
    if (!how) continue;
    auto priority = entry.annotations.priority.value_or(0.5);
    if (wants_sheets && entry.kind == "spreadsheet") priority = 1;
    best.add({{*how, priority, match::recency_of(entry.annotations.lastModified, now)}, std::move(value)});
  }
  return answer_from(std::move(best));
}

complete_result gdrive_provider::complete_ids(const scene& in, const complete_request& request) const {
  match::matcher fits(language::folded(request.value.substr(0, longest_typed)));
  match::best<candidate_value> best(most_values);
  const auto now = std::chrono::system_clock::now();
  for (const auto* one : in.latest(in.files(), [](const item&) { return true; })) {
    const auto entry = in.entries().find(one->uri);
    if (!entry || !is_shown(in, *entry, request.who)) continue;
    // People know names, and programs ids.
    auto how = fits(language::folded(entry->name));
    if (one->what->id.starts_with(request.value)) how = match::fit();
    if (!how) continue;
    best.add({{*how, entry->annotations.priority.value_or(0.5), match::recency_of(entry->annotations.lastModified, now)},
              one->what->id});
  }
  return answer_from(std::move(best));
}

result<complete_result> gdrive_provider::complete(const complete_request& request) {
  if (request.argument == "format") return complete_from(request.value, {"original"});
  HONDANA_TRY(const auto now, ready(request));
  const auto& in = *now;
  if (request.argument == "drive") {
    std::vector<std::string> slugs;
    for (const auto& [slug, name] : in.drives()) {
      const auto entry = in.entries().find(how_.scheme + "://" + slug);
      if (entry && is_seen(request.who, *entry)) slugs.push_back(slug);
    }
    return complete_from(request.value, slugs);
  }
  if (request.argument == "path") return complete_paths(in, request);
  if (request.argument == "id") return complete_ids(in, request);
  if (request.argument != "sheet") return complete_result();
  const auto uri = canonical_uri(how_.scheme + "://" + request.chosen("drive") + '/' + request.chosen("path"));
  // As it is listed: everything else is escaped.
  const auto* one = uri ? in.at(listed_spelling(*uri)) : nullptr;
  if (one == nullptr) return complete_result();
  const auto entry = in.entries().find(one->uri);
  if (!entry || !is_readable(request.who, *entry)) return complete_result();
  return complete_from(request.value, one->sheets);
}

}  // namespace hondana::gdrive
