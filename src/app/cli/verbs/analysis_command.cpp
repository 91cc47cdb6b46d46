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
#include "app/cli/terminal/terminal_info.hpp"
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
using cache_pointer = std::shared_ptr<analyses::cache>;

constexpr std::size_t page_size = 1'000;
constexpr std::size_t default_list_size = 50;

int analysis_exit_code(const failure& error) {
  switch (error.code) {
    case errc::invalid_argument:
    case errc::response_too_large:
    case errc::content_changed:
      return exit_usage;
    case errc::resource_not_found:
    case errc::part_not_found:
      return exit_not_found;
    case errc::source_unavailable:
    case errc::timed_out:
    case errc::protocol_error:
    case errc::overloaded:  // such as another process that computes the same analysis now; a later attempt may succeed
      return exit_unreachable;
    default:
      return exit_server;
  }
}

int report_failure(const failure& error) {
  print_error(error);
  return analysis_exit_code(error);
}

/// The settings of the configuration's analyses source. Errors: invalid_argument.
result<wb::settings> read_analysis_settings(const command_line& line) {
  std::error_code problem;
  auto file = line.text(analysis_config_flag);
  if (file.empty()) {
    file = default_config_file();
    if (file.empty() || !std::filesystem::exists(file, problem)) file.clear();
  }
  wb::settings out;
  if (file.empty()) {
    const auto default_path = wb::default_store_path();
    if (!default_path) return fail(errc::invalid_argument, "HOME is not set, so the store cannot be found. Give --store FILE.");
    out.path = *default_path;
    return out;
  }
  HONDANA_TRY(auto loaded, config::load(file));
  const auto source = std::find_if(loaded.sources.begin(), loaded.sources.end(),
                                   [](const auto& candidate) { return candidate.type == "analyses"; });
  if (source == loaded.sources.end())
    return fail(errc::invalid_argument,
                "The configuration file " + file + " has no [[source]] of type \"analyses\". Add one, or give --store FILE.");
  return wb::parse_settings(source->options);
}

result<cache_pointer> open_analysis_cache(const command_line& line, bool can_create) {
  wb::settings settings;
  if (line.has(analysis_store_flag)) {
    std::error_code problem;
    settings.path = std::filesystem::absolute(line.text(analysis_store_flag), problem).lexically_normal().string();
    if (problem) return fail(errc::invalid_argument, "--store: cannot be made absolute: " + problem.message());
  } else {
    HONDANA_TRY(auto configured, read_analysis_settings(line));
    settings = std::move(configured);
  }
  std::error_code problem;
  if (!settings.redis && settings.path.empty())
    return fail(
        errc::invalid_argument,
        "The configured store exists only in its server's memory. Read it with 'hondana read wallbounce://analyses --on …'.");
  if (!settings.redis && !can_create && !std::filesystem::exists(settings.path, problem))
    return fail(errc::resource_not_found,
                "The store " + settings.path + " does not exist yet. 'hondana analysis put' or a server creates it.");
  return wb::open_cache(settings, [](std::string_view text) { print_message(text); });
}

result<std::string> read_input(const std::string& path) {
  const bool is_input = path.empty() || path == "-";
  const auto name = is_input ? std::string("standard input") : path;
  const disk::handle file(is_input ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!is_input && file.get() < 0) return fail(errc::invalid_argument, "cannot open " + path + ": " + std::strerror(errno));
  std::string out;
  std::array<char, 65536> chunk{};
  for (;;) {
    const auto count = ::read(is_input ? STDIN_FILENO : file.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(errc::invalid_argument, "cannot read " + name + ": " + std::strerror(errno));
    if (count == 0) return out;
    out.append(chunk.data(), static_cast<std::size_t>(count));
    if (out.size() > analyses::max_analysis_bytes)
      return fail(errc::response_too_large, name + " is larger than 16 MiB, the limit for an analysis");
  }
}

/// The id for a word that is an id or the beginning of one. Errors: resource_not_found; invalid_argument if the word is
/// ambiguous or cannot be an id.
result<std::string> resolve_id(const analyses::cache& cache, const std::string& word) {
  if (wb::is_id(word)) return word;
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (word.empty() || word.size() > wb::id_digits || !std::all_of(word.begin(), word.end(), is_hex))
    return fail(errc::invalid_argument, '"' + word +
                                            "\" is not an id (32 lower-case hexadecimal digits), the beginning of one, or a "
                                            "URI. 'hondana analysis ls' lists ids.");
  const auto ids = cache.store().list_names(analyses::analysis_store::name_kind::id, word, 2);
  if (!ids) return tl::unexpected(ids.error());
  if (ids->empty()) return fail(errc::resource_not_found, "No analysis has an id that begins with " + word + ".");
  if (ids->size() > 1)
    return fail(errc::invalid_argument,
                "Several ids begin with " + word + ", such as " + ids->at(0) + " and " + ids->at(1) + ". Give more digits.");
  return ids->front();
}

/// The address for a word of the command line: an id, or a URI.
result<wb::address> resolve_address(const analyses::cache& cache, const std::string& word) {
  if (word.starts_with("wallbounce:")) {
    return canonical_uri(word).and_then([](const std::string& uri) { return wb::parse_address(uri); });
  }
  return resolve_id(cache, word).map([](const std::string& id) {
    wb::address out;
    out.kind = wb::resource_kind::analysis;
    out.id = id;
    return out;
  });
}

result<std::string> find_id_by_prompt(analyses::cache& cache, const std::string& prompt) {
  const auto state = std::make_shared<wb::provider_state>(wb::provider_options{});
  wb::context_watcher watcher(state);
  return wb::find_by_prompt(*state, watcher, {}, prompt, cache).map([](const wb::prompt_match& match) {
    return match.summary.id;
  });
}

result<std::string> format_analysis(const wb::address& address, const analyses::cache_entry& entry, bool as_json) {
  const bool is_whole = address.kind == wb::resource_kind::analysis || address.kind == wb::resource_kind::by_prompt;
  if (as_json && is_whole) return entry.to_json();
  if (as_json) {
    HONDANA_TRY(const auto document, wb::parse_stored(entry.to_json()));
    if (address.kind == wb::resource_kind::flow) return wb::extract_flow(document).to_text();
    return wb::extract_vote(document, address.provider).map([](const value& vote) { return vote.to_text(); });
  }
  HONDANA_TRY(const auto analysis, analyses::decode_analysis(entry));
  if (is_whole) return wb::to_markdown(entry.summary, analysis, entry.is_stale);
  if (address.kind == wb::resource_kind::flow) return wb::flow_to_markdown(entry.summary, analysis, entry.is_stale);
  const auto vote = std::find_if(analysis.votes.begin(), analysis.votes.end(),
                                 [&](const auto& candidate) { return candidate.provider == address.provider; });
  if (vote == analysis.votes.end())
    return fail(errc::resource_not_found, "The analysis has no vote of " + address.provider + ".");
  return wb::vote_to_markdown(entry.summary, *vote);
}

std::string short_id(const std::string& id) {
  constexpr std::size_t short_id_digits = 16;
  return id.substr(0, short_id_digits);
}

void print_analyses(const std::vector<analyses::analysis_summary>& summaries, const terminal_info& terminal) {
  const auto now = wb::approximate_now();
  std::vector<std::vector<std::string>> rows;
  for (const auto& summary : summaries) {
    const bool is_stale = summary.status == analyses::analysis_status::complete && summary.expires_at <= now;
    const auto state = wb::describe_status(summary.status, is_stale);
    const auto task = std::string(analyses::name_of(summary.task));
    if (terminal.is_stdout_tty) {
      rows.push_back({short_id(summary.id), human_time(summary.created_at), state, task, short_number(summary.confidence),
                      std::to_string(summary.providers), short_number(summary.cost), sanitize_line(summary.session),
                      sanitize_line(summary.title)});
    } else {
      print(summary.id + '\t' + iso_time(summary.created_at) + '\t' + state + '\t' + task + '\t' +
            short_number(summary.confidence) + '\t' + std::to_string(summary.providers) + '\t' + short_number(summary.cost) +
            '\t' + sanitize_line(summary.session) + '\t' + sanitize_line(summary.title) + '\n');
    }
  }
  if (rows.empty()) return;
  using align = column::alignment;
  using truncate = column::truncation;
  print(fit_table({{"ID"},
                   {"CREATED"},
                   {"STATE"},
                   {"TASK"},
                   {"CONFIDENCE", align::right},
                   {"PROVIDERS", align::right},
                   {"COST", align::right},
                   {"SESSION", align::left, truncate::at_end},
                   {"PROMPT", align::left, truncate::at_end}},
                  rows, terminal.width, terminal.has_colour)
            .text);
}

std::size_t count_unversioned(const analyses::model_question& question) {
  return static_cast<std::size_t>(
      std::count_if(question.context.begin(), question.context.end(),
                    [](const analyses::resource_version& resource) { return resource.version.empty(); }));
}

}  // namespace

int put_analysis(const command_line& line) {
  const auto text = read_input(line.word(0));
  if (!text) return report_failure(text.error());
  auto analysis = analyses::decode(*text);
  if (!analysis) return report_failure(analysis.error());
  const auto cache = open_analysis_cache(line, true);
  if (!cache) return report_failure(cache.error());
  for (auto& resource : analysis->question.context) {
    auto canonical = canonical_uri(resource.uri);
    if (!canonical) return report_failure({errc::invalid_argument, "context: " + canonical.error().public_text, {}});
    resource.uri = std::move(*canonical);
  }
  const auto put = (*cache)->put(*analysis);
  if (!put) return report_failure(put.error());
  const auto& summary = put->summary;
  if (line.has(json_flag)) {
    value::object out{{"id", summary.id},
                      {"uri", wb::analysis_uri(summary.id)},
                      {"byPrompt", wb::by_prompt_uri(summary.key.prompt_digest)},
                      {"status", analyses::name_of(summary.status)}};
    if (!put->not_final_reason.empty()) out.emplace_back("notFinalReason", put->not_final_reason);
    out.emplace_back("expires", model::format_iso_8601(summary.expires_at));
    print_json(value(std::move(out)).to_text());
  } else {
    print(wb::analysis_uri(summary.id) + '\n');
  }
  if (!put->not_final_reason.empty()) print_message("stored, but not served as final: " + sanitize_line(put->not_final_reason));
  if (const auto unknown = count_unversioned(analysis->question); unknown > 0)
    print_message(
        "the version is missing for " + wb::pluralize(unknown, "resource") +
        " that it depends on. Its prompt does not find it, and only later changes make it stale. 'hondana ls --json' prints "
        "versions; a server's tool analysis_put adds them");
  return exit_ok;
}

int get_analysis(const command_line& line) {
  const auto cache = open_analysis_cache(line, false);
  if (!cache) return report_failure(cache.error());
  auto address = resolve_address(**cache, line.word(0));
  if (!address) return report_failure(address.error());
  if (address->kind == wb::resource_kind::index || address->kind == wb::resource_kind::statistics)
    return report_failure({errc::invalid_argument, "'hondana analysis ls' and 'hondana analysis stats' print that", {}});
  if (address->kind == wb::resource_kind::by_prompt) {
    auto id = find_id_by_prompt(**cache, address->prompt_digest);
    if (!id) return report_failure(id.error());
    address->id = std::move(*id);
  }
  const auto entry = (*cache)->get(address->id);
  if (!entry) return report_failure(entry.error());
  if (!*entry)
    return report_failure({errc::resource_not_found, "The analysis " + address->id + " does not exist, or expired.", {}});
  const bool as_json = line.has(json_flag) || address->format == wb::output_format::json;
  const auto text = format_analysis(*address, **entry, as_json);
  if (!text) return report_failure(text.error());
  if (as_json) {
    print_json(*text);
  } else {
    print(detect_terminal().is_stdout_tty ? sanitize_lines(*text) : *text);
  }
  return exit_ok;
}

int list_analyses(const command_line& line) {
  const auto cache = open_analysis_cache(line, false);
  if (!cache) return report_failure(cache.error());
  analyses::list_filter filter;
  filter.session = line.text(analysis_session_flag);
  filter.tag = line.text(analysis_tag_flag);
  if (line.has(analysis_task_flag)) filter.task = analyses::parse_task_type(line.text(analysis_task_flag));
  std::string after_id;
  if (line.has(analysis_after_flag)) {
    auto id = resolve_id(**cache, line.text(analysis_after_flag));
    if (!id) return report_failure(id.error());
    after_id = std::move(*id);
  }
  const auto limit = static_cast<std::size_t>(line.number(analysis_limit_flag).value_or(default_list_size));
  std::vector<analyses::analysis_summary> summaries;
  for (bool is_last = false; !is_last && summaries.size() < limit;) {
    auto page = (*cache)->store().list(filter, after_id, std::min(limit - summaries.size(), page_size));
    if (!page) return report_failure(page.error());
    is_last = page->is_last;
    after_id = page->next;
    std::move(page->summaries.begin(), page->summaries.end(), std::back_inserter(summaries));
  }
  if (line.has(json_flag)) {
    print_json(wb::index_to_value(summaries, wb::approximate_now(), {}).to_text());
    return exit_ok;
  }
  const auto terminal = detect_terminal();
  if (summaries.empty() && terminal.is_stdout_tty) print_message("no analyses match");
  print_analyses(summaries, terminal);
  return exit_ok;
}

int remove_analyses(const command_line& line) {
  const std::array choices{&analysis_session_flag, &analysis_tag_flag, &analysis_context_flag, &analysis_all_flag};
  const auto selector_count =
      std::count_if(choices.begin(), choices.end(), [&line](const flag* flag) { return line.has(*flag); }) +
      (line.words().empty() ? 0 : 1);
  if (selector_count != 1)
    return report_failure(
        {errc::invalid_argument, "give the analyses to delete: ids, or one of --session, --tag, --context and --all", {}});
  const auto cache = open_analysis_cache(line, false);
  if (!cache) return report_failure(cache.error());
  std::vector<analyses::erase_filter> removals;
  for (const auto& word : line.words()) {
    const auto address = resolve_address(**cache, word);
    if (!address) return report_failure(address.error());
    if (address->kind != wb::resource_kind::analysis)
      return report_failure({errc::invalid_argument, "expected the id or URI of a whole analysis, not " + word, {}});
    removals.emplace_back().id = address->id;
  }
  if (line.words().empty()) {
    auto& removal = removals.emplace_back();
    removal.session = line.text(analysis_session_flag);
    removal.tag = line.text(analysis_tag_flag);
    removal.everything = line.has(analysis_all_flag);
    if (line.has(analysis_context_flag)) {
      auto canonical = canonical_uri(line.text(analysis_context_flag));
      if (!canonical) return report_failure({errc::invalid_argument, "--context: " + canonical.error().public_text, {}});
      removal.uri = std::move(*canonical);
    }
  }
  std::uint64_t count = 0;
  std::vector<std::string> missing;
  for (const auto& removal : removals) {
    const auto removed = (*cache)->erase(removal);
    if (!removed) return report_failure(removed.error());
    if (*removed == 0 && !removal.id.empty()) missing.push_back(removal.id);
    count += *removed;
  }
  if (line.has(json_flag)) {
    print_json(value(value::object{{"forgotten", count}}).to_text());
  } else {
    print(std::to_string(count) + '\n');
  }
  for (const auto& id : missing) print_message("no such analysis: " + id);
  return missing.empty() ? exit_ok : exit_not_found;
}

int show_analysis_statistics(const command_line& line) {
  const auto cache = open_analysis_cache(line, false);
  if (!cache) return report_failure(cache.error());
  const auto statistics = (*cache)->read_statistics();
  if (!statistics) return report_failure(statistics.error());
  const auto store_info = (*cache)->store().read_info();
  if (!store_info) return report_failure(store_info.error());
  if (line.has(json_flag)) {
    print_json(wb::to_value(*statistics, *store_info).to_text());
  } else {
    print(wb::to_markdown(*statistics, *store_info));
    print_message("stored in " + sanitize(store_info->location));
  }
  return exit_ok;
}

}  // namespace hondana::cli
