/// `hondana analysis`: works on a store of analyses that a server may have open at the same time.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/client_flags.hpp"
#include "app/cli/flags/serving_flags.hpp"
#include "app/cli/output.hpp"
#include "app/cli/target.hpp"
#include "app/cli/terminal/columns.hpp"
#include "app/cli/terminal/quantities.hpp"
#include "app/cli/terminal/screen.hpp"
#include "app/cli/verbs/commands.hpp"
#include "os/disk/file_descriptor.hpp"
#include "protocol/model/iso_8601.hpp"
#include "sources/analyses/analysis_lookup.hpp"
#include "sources/analyses/analysis_rendering.hpp"
#include "sources/analyses/analysis_resources.hpp"
#include "sources/analyses/cache/analysis_json.hpp"
#include "sources/analyses/cache/cache.hpp"
#include "sources/analyses/provider_state.hpp"
#include "sources/analyses/settings.hpp"
#include "sources/config/settings.hpp"

namespace hondana::cli {
namespace {

namespace wb = analyses_source;
using cache_of_analyses = std::shared_ptr<analyses::cache>;

constexpr std::size_t analyses_at_once = 1'000;
constexpr std::size_t usual_count = 50;

int analysis_exit_code(const failure& why) {
  switch (why.code) {
    case errc::invalid_argument:
    case errc::response_too_large:
    case errc::content_changed:
      return exit_usage;
    case errc::resource_not_found:
    case errc::part_not_found:
      return exit_not_found;
    case errc::source_unavailable:
    case errc::timed_out:
    case errc::broken_protocol:
    case errc::overloaded:  // such as another process that computes the same analysis now; a later attempt may succeed
      return exit_unreachable;
    default:
      return exit_server;
  }
}

int analysis_failed(const failure& why) {
  complain(why);
  return analysis_exit_code(why);
}

/// The settings of the configuration's analyses source. Errors: invalid_argument.
result<wb::settings> configured_analyses(const command_line& line) {
  std::error_code problem;
  auto file = line.text(analysis_config_flag);
  if (file.empty()) {
    file = usual_config();
    if (file.empty() || !std::filesystem::exists(file, problem)) file.clear();
  }
  wb::settings out;
  if (file.empty()) {
    const auto usual = wb::usual_store();
    if (!usual) return fail(errc::invalid_argument, "HOME is not set, so the store cannot be found. Give --store FILE.");
    out.path = *usual;
    return out;
  }
  HONDANA_TRY(auto all, config::load(file));
  const auto found =
      std::find_if(all.sources.begin(), all.sources.end(), [](const auto& one) { return one.type == "analyses"; });
  if (found == all.sources.end())
    return fail(errc::invalid_argument,
                "The configuration file " + file + " has no [[source]] of type \"analyses\". Add one, or give --store FILE.");
  return wb::read_settings(found->options);
}

result<cache_of_analyses> open_analyses_of(const command_line& line, bool makes_it) {
  wb::settings how;
  if (line.has(analysis_store_flag)) {
    std::error_code problem;
    how.path = std::filesystem::absolute(line.text(analysis_store_flag), problem).lexically_normal().string();
    if (problem) return fail(errc::invalid_argument, "--store: cannot be made absolute: " + problem.message());
  } else {
    HONDANA_TRY(auto configured, configured_analyses(line));
    how = std::move(configured);
  }
  std::error_code problem;
  if (!how.redis && how.path.empty())
    return fail(
        errc::invalid_argument,
        "The configured store exists only in its server's memory. Read it with 'hondana read wallbounce://analyses --on …'.");
  if (!how.redis && !makes_it && !std::filesystem::exists(how.path, problem))
    return fail(errc::resource_not_found,
                "The store " + how.path + " does not exist yet. 'hondana analysis put' or a server creates it.");
  return wb::open_cache(how, [](std::string_view text) { say(text); });
}

result<std::string> whole_text_of(const std::string& path) {
  const bool is_input = path.empty() || path == "-";
  const auto name = is_input ? std::string("standard input") : path;
  const disk::handle file(is_input ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!is_input && file.get() < 0) return fail(errc::invalid_argument, "cannot open " + path + ": " + std::strerror(errno));
  std::string out;
  std::array<char, 65536> piece{};
  for (;;) {
    const auto count = ::read(is_input ? STDIN_FILENO : file.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(errc::invalid_argument, "cannot read " + name + ": " + std::strerror(errno));
    if (count == 0) return out;
    out.append(piece.data(), static_cast<std::size_t>(count));
    if (out.size() > analyses::most_bytes)
      return fail(errc::response_too_large, name + " is larger than 16 MiB, the limit for an analysis");
  }
}

/// The id for a word that is an id or the beginning of one. Errors: resource_not_found; invalid_argument if the word is
/// ambiguous or cannot be an id.
result<std::string> id_named(const analyses::cache& in, const std::string& word) {
  if (wb::is_id(word)) return word;
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (word.empty() || word.size() > wb::id_digits || !std::all_of(word.begin(), word.end(), is_hex))
    return fail(errc::invalid_argument, '"' + word +
                                            "\" is not an id (32 lower-case hexadecimal digits), the beginning of one, or a "
                                            "URI. 'hondana analysis ls' lists ids.");
  const auto all = in.in().names(analyses::store::naming::id, word, 2);
  if (!all) return tl::unexpected(all.error());
  if (all->empty()) return fail(errc::resource_not_found, "No analysis has an id that begins with " + word + ".");
  if (all->size() > 1)
    return fail(errc::invalid_argument,
                "Several ids begin with " + word + ", such as " + all->at(0) + " and " + all->at(1) + ". Give more digits.");
  return all->front();
}

/// The address for a word of the command line: an id, or a URI.
result<wb::address> address_named(const analyses::cache& in, const std::string& word) {
  if (word.starts_with("wallbounce:")) {
    return canonical_uri(word).and_then([](const std::string& uri) { return wb::parse_address(uri); });
  }
  return id_named(in, word).map([](const std::string& id) {
    wb::address out;
    out.of = wb::place::analysis;
    out.id = id;
    return out;
  });
}

result<std::string> id_by_prompt(analyses::cache& in, const std::string& prompt) {
  const auto on = std::make_shared<wb::ground>(wb::provider_options{});
  wb::follower nobody(on);
  return wb::find_by_prompt(*on, nobody, {}, prompt, in).map([](const wb::by_prompt& one) { return one.about.id; });
}

result<std::string> text_of_analysis(const wb::address& at, const analyses::entry& from, bool as_json) {
  const bool is_whole = at.of == wb::place::analysis || at.of == wb::place::by_prompt;
  if (as_json && is_whole) return from.to_json();
  if (as_json) {
    HONDANA_TRY(const auto whole, wb::parsed(from.to_json()));
    if (at.of == wb::place::flow) return wb::flow_in(whole).to_text();
    return wb::vote_in(whole, at.provider).map([](const value& vote) { return vote.to_text(); });
  }
  HONDANA_TRY(const auto whole, analyses::analysis_of(from));
  if (is_whole) return wb::markdown_of(from.about, whole, from.is_stale);
  if (at.of == wb::place::flow) return wb::markdown_of_flow(from.about, whole, from.is_stale);
  const auto vote =
      std::find_if(whole.votes.begin(), whole.votes.end(), [&](const auto& one) { return one.provider == at.provider; });
  if (vote == whole.votes.end()) return fail(errc::resource_not_found, "The analysis has no vote of " + at.provider + ".");
  return wb::markdown_of_vote(from.about, *vote);
}

std::string first_digits(const std::string& id) {
  constexpr std::size_t telling = 16;
  return id.substr(0, telling);
}

void print_analyses(const std::vector<analyses::summary>& all, const screen& shown) {
  const auto now = wb::about_now();
  std::vector<std::vector<std::string>> rows;
  for (const auto& one : all) {
    const bool is_stale = one.how == analyses::status::complete && one.expires <= now;
    const auto state = wb::state_of(one.how, is_stale);
    const auto task = std::string(analyses::name_of(one.task));
    if (shown.shows_output) {
      rows.push_back({first_digits(one.id), human_time(one.created), state, task, short_number(one.confidence),
                      std::to_string(one.providers), short_number(one.cost), visible_in_line(one.session),
                      visible_in_line(one.title)});
    } else {
      print(one.id + '\t' + iso_time(one.created) + '\t' + state + '\t' + task + '\t' + short_number(one.confidence) + '\t' +
            std::to_string(one.providers) + '\t' + short_number(one.cost) + '\t' + visible_in_line(one.session) + '\t' +
            visible_in_line(one.title) + '\n');
    }
  }
  if (rows.empty()) return;
  using align = column::alignment;
  using cut = column::cutting;
  print(fit_table({{"ID"},
                   {"CREATED"},
                   {"STATE"},
                   {"TASK"},
                   {"CONFIDENCE", align::right},
                   {"PROVIDERS", align::right},
                   {"COST", align::right},
                   {"SESSION", align::left, cut::at_end},
                   {"PROMPT", align::left, cut::at_end}},
                  rows, shown.width, shown.in_colour)
            .text);
}

std::size_t without_version(const analyses::question& asked) {
  return static_cast<std::size_t>(std::count_if(asked.context.begin(), asked.context.end(),
                                                [](const analyses::basis& one) { return one.version.empty(); }));
}

}  // namespace

int put_analysis(const command_line& line) {
  const auto text = whole_text_of(line.word(0));
  if (!text) return analysis_failed(text.error());
  auto whole = analyses::decode(*text);
  if (!whole) return analysis_failed(whole.error());
  const auto kept = open_analyses_of(line, true);
  if (!kept) return analysis_failed(kept.error());
  for (auto& one : whole->asked.context) {
    auto canonical = canonical_uri(one.uri);
    if (!canonical) return analysis_failed({errc::invalid_argument, "context: " + canonical.error().public_text, {}});
    one.uri = std::move(*canonical);
  }
  const auto put = (*kept)->put(*whole);
  if (!put) return analysis_failed(put.error());
  const auto& about = put->about;
  if (line.has(json_flag)) {
    value::object out{{"id", about.id},
                      {"uri", wb::analysis_uri(about.id)},
                      {"byPrompt", wb::by_prompt_uri(about.of.prompt)},
                      {"status", analyses::name_of(about.how)}};
    if (!put->why_not.empty()) out.emplace_back("whyNot", put->why_not);
    out.emplace_back("expires", model::iso_8601(about.expires));
    print_json(value(std::move(out)).to_text());
  } else {
    print(wb::analysis_uri(about.id) + '\n');
  }
  if (!put->why_not.empty()) say("stored, but not served as final: " + visible_in_line(put->why_not));
  if (const auto unknown = without_version(whole->asked); unknown > 0)
    say("the version is missing for " + wb::counted(unknown, "resource") +
        " that it depends on. Its prompt does not find it, and only later changes make it stale. 'hondana ls --json' prints "
        "versions; a server's tool analysis_put adds them");
  return exit_ok;
}

int get_analysis(const command_line& line) {
  const auto kept = open_analyses_of(line, false);
  if (!kept) return analysis_failed(kept.error());
  auto at = address_named(**kept, line.word(0));
  if (!at) return analysis_failed(at.error());
  if (at->of == wb::place::index || at->of == wb::place::statistics)
    return analysis_failed({errc::invalid_argument, "'hondana analysis ls' and 'hondana analysis stats' print that", {}});
  if (at->of == wb::place::by_prompt) {
    auto id = id_by_prompt(**kept, at->prompt);
    if (!id) return analysis_failed(id.error());
    at->id = std::move(*id);
  }
  const auto found = (*kept)->get(at->id);
  if (!found) return analysis_failed(found.error());
  if (!*found)
    return analysis_failed({errc::resource_not_found, "The analysis " + at->id + " does not exist, or expired.", {}});
  const bool as_json = line.has(json_flag) || at->as == wb::format::json;
  const auto text = text_of_analysis(*at, **found, as_json);
  if (!text) return analysis_failed(text.error());
  if (as_json) {
    print_json(*text);
  } else {
    print(present_screen().shows_output ? visible_lines(*text) : *text);
  }
  return exit_ok;
}

int list_analyses(const command_line& line) {
  const auto kept = open_analyses_of(line, false);
  if (!kept) return analysis_failed(kept.error());
  analyses::selection which;
  which.session = line.text(analysis_session_flag);
  which.tag = line.text(analysis_tag_flag);
  if (line.has(analysis_task_flag)) which.task = analyses::task_named(line.text(analysis_task_flag));
  std::string behind;
  if (line.has(analysis_after_flag)) {
    auto id = id_named(**kept, line.text(analysis_after_flag));
    if (!id) return analysis_failed(id.error());
    behind = std::move(*id);
  }
  const auto most = static_cast<std::size_t>(line.number(analysis_limit_flag).value_or(usual_count));
  std::vector<analyses::summary> all;
  for (bool is_last = false; !is_last && all.size() < most;) {
    auto page = (*kept)->in().list(which, behind, std::min(most - all.size(), analyses_at_once));
    if (!page) return analysis_failed(page.error());
    is_last = page->is_last;
    behind = page->next;
    std::move(page->all.begin(), page->all.end(), std::back_inserter(all));
  }
  if (line.has(json_flag)) {
    print_json(wb::value_of_index(all, wb::about_now(), {}).to_text());
    return exit_ok;
  }
  const auto shown = present_screen();
  if (all.empty() && shown.shows_output) say("no analyses match");
  print_analyses(all, shown);
  return exit_ok;
}

int remove_analyses(const command_line& line) {
  const std::array choices{&analysis_session_flag, &analysis_tag_flag, &analysis_context_flag, &analysis_all_flag};
  const auto given = std::count_if(choices.begin(), choices.end(), [&line](const flag* one) { return line.has(*one); }) +
                     (line.words().empty() ? 0 : 1);
  if (given != 1)
    return analysis_failed(
        {errc::invalid_argument, "give the analyses to delete: ids, or one of --session, --tag, --context and --all", {}});
  const auto kept = open_analyses_of(line, false);
  if (!kept) return analysis_failed(kept.error());
  std::vector<analyses::forgetting> all;
  for (const auto& word : line.words()) {
    const auto at = address_named(**kept, word);
    if (!at) return analysis_failed(at.error());
    if (at->of != wb::place::analysis)
      return analysis_failed({errc::invalid_argument, "expected the id or URI of a whole analysis, not " + word, {}});
    all.emplace_back().id = at->id;
  }
  if (line.words().empty()) {
    auto& one = all.emplace_back();
    one.session = line.text(analysis_session_flag);
    one.tag = line.text(analysis_tag_flag);
    one.everything = line.has(analysis_all_flag);
    if (line.has(analysis_context_flag)) {
      auto canonical = canonical_uri(line.text(analysis_context_flag));
      if (!canonical) return analysis_failed({errc::invalid_argument, "--context: " + canonical.error().public_text, {}});
      one.uri = std::move(*canonical);
    }
  }
  std::uint64_t count = 0;
  std::vector<std::string> missing;
  for (const auto& one : all) {
    const auto gone = (*kept)->forget(one);
    if (!gone) return analysis_failed(gone.error());
    if (*gone == 0 && !one.id.empty()) missing.push_back(one.id);
    count += *gone;
  }
  if (line.has(json_flag)) {
    print_json(value(value::object{{"forgotten", count}}).to_text());
  } else {
    print(std::to_string(count) + '\n');
  }
  for (const auto& one : missing) say("no such analysis: " + one);
  return missing.empty() ? exit_ok : exit_not_found;
}

int show_analysis_statistics(const command_line& line) {
  const auto kept = open_analyses_of(line, false);
  if (!kept) return analysis_failed(kept.error());
  const auto counted = (*kept)->counted();
  if (!counted) return analysis_failed(counted.error());
  const auto facts = (*kept)->in().facts();
  if (!facts) return analysis_failed(facts.error());
  if (line.has(json_flag)) {
    print_json(wb::value_of(*counted, *facts).to_text());
  } else {
    print(wb::markdown_of(*counted, *facts));
    say("stored in " + visible(facts->where));
  }
  return exit_ok;
}

}  // namespace hondana::cli
