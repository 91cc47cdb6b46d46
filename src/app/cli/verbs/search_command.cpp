/// `hondana search`.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hondana/client.hpp>
#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/client_flags.hpp"
#include "app/cli/output.hpp"
#include "app/cli/terminal/terminal_info.hpp"
#include "app/cli/verbs/commands.hpp"
#include "app/cli/verbs/entry_output.hpp"
#include "app/cli/verbs/typed_words.hpp"

namespace hondana::cli {

/// Checks the URI prefix of `--under`. It must be the beginning of a listed URI, or, with a colon, a URI that a source can
/// have. `prefix`: the result of `to_listed_prefix`. Errors: invalid_argument with suggestions; those of the lists.
[[nodiscard]] result<void> check_uri_prefix(client& client, const std::string& typed, const std::string& prefix,
                                            const call_options& options);

namespace {

constexpr std::size_t max_listed_roots = 5;
constexpr std::size_t max_scanned_entries = 20'000;

/// The search index does not contain its own resources.
bool belongs_to_index(const resource& entry) { return entry.uri.starts_with("search:"); }

/// The common prefix of all URIs of a source. Without an authority, it is the URI itself, because folders are listed before
/// their contents.
std::string root_of(const std::string& uri) {
  const auto parts = split_uri(uri);
  if (!parts.authority || parts.authority->empty()) return uri;
  return std::string(parts.scheme) + "://" + std::string(*parts.authority) + '/';
}

/// The first few roots of the listed resources, comma-separated; empty: no resource is listed.
result<std::string> list_roots(client& client, const call_options& options) {
  std::vector<std::string> roots;
  std::size_t count = 0;
  bool has_more = false;
  for (const auto& entry : client.resources({}, options)) {
    if (!entry) return tl::unexpected(entry.error());
    if (belongs_to_index(*entry)) continue;
    const auto is_below = [&entry](const std::string& root) {
      return uri_covers(root, entry->uri) || root == entry->uri + '/';
    };
    const bool is_new = std::none_of(roots.begin(), roots.end(), is_below);
    has_more = (is_new && roots.size() == max_listed_roots) || ++count == max_scanned_entries;
    if (has_more) break;
    if (is_new) roots.push_back(root_of(entry->uri));
  }
  std::string out;
  for (const auto& root : roots) out += (out.empty() ? "" : ", ") + root;
  return has_more ? out + ", and more" : out;
}

/// Whether a source can have URIs that begin with `prefix`: it lists URIs above, or offers a template that can match. True if
/// there are too many entries to know.
result<bool> is_covered(client& client, const std::string& prefix, const call_options& options) {
  for (const auto& entry : client.templates(options)) {
    if (!entry && entry.error().code == errc::unsupported) break;
    if (!entry) return tl::unexpected(entry.error());
    const auto compiled = uri_template::compile(entry->uri_template);
    if (!compiled || entry->uri_template.starts_with("search:")) continue;
    const auto literal = compiled->literal_prefix();
    if (prefix.starts_with(literal) || literal.starts_with(prefix)) return true;
  }
  std::size_t count = 0;
  for (const auto& entry : client.resources({}, options)) {
    if (!entry) return tl::unexpected(entry.error());
    if (uri_covers(root_of(entry->uri), prefix) || ++count == max_scanned_entries) return true;
  }
  return false;
}

}  // namespace

result<void> check_uri_prefix(client& client, const std::string& typed, const std::string& prefix,
                              const call_options& options) {
  entry_filter filter;
  if (!prefix.empty()) filter.uri_prefix = prefix;
  for (const auto& entry : client.resources(filter, options)) {
    // A server without lists may still support search.
    if (!entry && entry.error().code == errc::unsupported) return {};
    if (!entry) return tl::unexpected(entry.error());
    if (!belongs_to_index(*entry)) return {};
  }
  const bool is_uri = prefix.find(':') != std::string::npos;
  if (is_uri) {
    HONDANA_TRY(const bool is_known, is_covered(client, prefix, options));
    if (is_known) return {};
  }
  const auto text = (is_uri ? "no source has URIs that begin with \"" : "no listed URI begins with \"") + typed +
                    "\", so nothing can be found below it. ";
  if (const auto named = find_resource(client, typed, options)) {
    return fail(errc::invalid_argument,
                text + "Give a URI as `hondana ls` prints it. Did you mean --under " + shell_quote(*named) + "?");
  }
  HONDANA_TRY(const auto roots, list_roots(client, options));
  return fail(
      errc::invalid_argument,
      text + (roots.empty() ? "The server lists no resources now."
                            : "Give a URI or its beginning, as `hondana ls` prints it. Listed URIs begin with " + roots + '.'));
}

namespace {

constexpr std::string_view tool_name = "search_resources";
/// Maximum lines of a passage on a terminal.
constexpr std::size_t max_lines = 6;

/// Whether the server has the search resource, which supports more conditions than the tool.
bool has_index(const command_context& context) {
  for (const auto& entry : context.connection.mcp_client().templates(context.connection.make_call_options())) {
    if (!entry) return false;
    if (entry->uri_template.starts_with("search:///{?q")) return true;
  }
  return false;
}

struct search_condition {
  const flag* option;
  const char* name;
  bool needs_index;
};
const search_condition conditions[]{{&limit_flag, "limit", false},
                                    {&lang_flag, "lang", true},
                                    {&scheme_flag, "scheme", true},
                                    {&under_flag, "uriPrefix", false},
                                    {&min_priority_flag, "minPriority", false},
                                    {&audience_flag, "audience", true},
                                    {&since_flag, "modifiedSince", false},
                                    {&owner_flag, "owner", true}};

/// The search words and the URI prefix.
struct search_query {
  std::string words;
  std::string uri_prefix;  ///< Percent-encoded like URIs in lists; users may type any characters and spaces.
};

std::string condition_value(const command_context& context, const flag& flag, const search_query& query) {
  return &flag == &under_flag ? query.uri_prefix : context.line.text(flag);
}

/// Default wait for a server that was started for this search only.
constexpr std::chrono::seconds default_wait{60};
constexpr std::chrono::seconds message_interval{5};
/// Time of one call. Servers end longer calls, so a long wait needs several.
constexpr std::chrono::seconds max_call_time{20};

std::chrono::milliseconds max_index_wait(const command_context& context) {
  if (const auto seconds = context.line.number(wait_flag)) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000));
  }
  return context.line.server_command().empty() ? std::chrono::milliseconds(0) : std::chrono::milliseconds(default_wait);
}

/// Waits until everything is indexed, the time is over, or the server does not report the state. Prints progress meanwhile.
/// Errors: cancelled, and errors that end the connection.
result<void> wait_for_index(const command_context& context) {
  using clock = monotonic_clock;
  const auto end = clock::now() + max_index_wait(context);
  auto next_message = clock::now() + message_interval;
  const bool reports = !context.line.has(quiet_flag);
  for (auto now = clock::now(); now < end; now = clock::now()) {
    auto options = context.connection.make_call_options();
    options.timeout =
        std::min<std::chrono::milliseconds>(std::chrono::ceil<std::chrono::milliseconds>(end - now), max_call_time);
    options.bypass_cache = true;
    options.on_progress = [&next_message, reports](const progress& progress) {
      if (!reports || clock::now() < next_message) return;
      next_message = clock::now() + message_interval;
      print_message("the server is indexing" + (progress.message.empty() ? std::string() : ": " + progress.message));
    };
    const auto response = context.connection.mcp_client().read("search:///?wait=complete", options);
    if (response) return {};
    const auto code = response.error().code;
    if (code == errc::cancelled || code == errc::source_unavailable) return tl::unexpected(response.error());
    // A fast error other than a timeout would only repeat.
    if (code != errc::timed_out && clock::now() - now < message_interval) return {};
  }
  return {};
}

/// Turns the server's invalid-params error into a usage error.
failure as_usage_error(failure error) {
  constexpr std::int64_t invalid_params = -32602;
  if (!error.server_error || error.server_error->code != invalid_params) return error;
  return {errc::invalid_argument, "The server rejects the search: " + error.server_error->message, error.private_text};
}

result<value> query_index(const command_context& context, const search_query& query) {
  auto uri = "search:///?q=" + percent_encode(query.words);
  for (const auto& condition : conditions) {
    if (context.line.has(*condition.option))
      uri += std::string("&") + condition.name + '=' + percent_encode(condition_value(context, *condition.option, query));
  }
  HONDANA_TRY(wait_for_index(context));
  auto response = context.connection.mcp_client().read(uri, context.connection.make_call_options());
  if (!response) return tl::unexpected(as_usage_error(std::move(response.error())));
  if (response->contents.empty()) return fail(errc::protocol_error, "the server returned an empty answer to the search");
  return value::parse(response->contents.front().bytes);
}

/// Whether the call failed because the server has no search tool.
bool lacks_search_tool(const command_context& context, const failure& error) {
  if (error.code == errc::unsupported) return true;
  if (!error.server_error) return false;
  const auto tools = context.connection.mcp_client().tools(context.connection.make_call_options()).collect();
  return tools && std::none_of(tools->begin(), tools->end(), [](const tool& tool) { return tool.name == tool_name; });
}

result<value> query_tool(const command_context& context, const search_query& query) {
  value::object arguments{{"q", query.words}};
  for (const auto& condition : conditions) {
    if (!context.line.has(*condition.option)) continue;
    if (condition.needs_index)
      return fail(
          errc::invalid_argument,
          "--" + std::string(condition.option->name) +
              " needs a search index, which this server does not have; add [search] to its configuration (docs/search.md).");
    const auto number = context.line.number(*condition.option);
    if (condition.option == &limit_flag) {
      arguments.emplace_back(condition.name, static_cast<std::int64_t>(*number));
    } else if (number) {
      arguments.emplace_back(condition.name, *number);
    } else {
      arguments.emplace_back(condition.name, condition_value(context, *condition.option, query));
    }
  }
  auto response = context.connection.mcp_client().call_tool(tool_name, arguments, context.connection.make_call_options());
  if (!response && lacks_search_tool(context, response.error()))
    return fail(errc::resource_not_found,
                "The server cannot be searched: it has no index and no tool " + std::string(tool_name) + '.');
  if (!response) return tl::unexpected(as_usage_error(std::move(response.error())));
  if (!response->is_error && response->structured_content) return *response->structured_content;
  std::string message = "the server cannot be searched";
  for (const auto& block : response->content) {
    if (const auto* text = std::get_if<text_block>(&block)) message = text->text;
  }
  const auto names_argument = [&message](std::string_view name) { return message.starts_with(std::string(name) + ':'); };
  const bool is_usage_error = names_argument("q") || std::any_of(std::begin(conditions), std::end(conditions),
                                                                 [&names_argument](const search_condition& candidate) {
                                                                   return names_argument(candidate.name);
                                                                 });
  return fail(is_usage_error ? errc::invalid_argument : errc::server_error, message);
}

std::string member_text(const value& object, std::string_view name) {
  const auto* member = object.find(name);
  const auto* text = member == nullptr ? nullptr : member->as_string();
  return text == nullptr ? std::string() : *text;
}

std::string format_lines(const value& entry) {
  const auto range = member_text(entry, "range");
  return range.starts_with("lines=") ? "lines " + range.substr(6) : range;
}

void print_as_text(const command_context& context, const std::vector<value>& results) {
  std::size_t rank = 0;
  for (const auto& entry : results) {
    const auto in_bold = [&](const std::string& text) {
      return context.terminal.has_colour ? "\x1b[1m" + text + "\x1b[0m" : text;
    };
    const auto heading = member_text(entry, "heading");
    auto title = heading.empty() ? member_text(entry, "title") : heading;
    if (title.empty()) title = member_text(entry, "name");
    print(std::to_string(++rank) + ". " + in_bold(sanitize_line(title)) + '\n');
    const auto lines = format_lines(entry);
    print("   " + sanitize(member_text(entry, "uri")) + (lines.empty() ? "" : "  " + sanitize(lines)) + '\n');
    const auto reason = member_text(entry, "explanation");
    auto passage = sanitize_lines(member_text(entry, "passage"));
    if (context.terminal.has_colour) passage = highlight(passage, extract_quoted(reason));
    std::size_t line_count = 0;
    for (std::size_t begin = 0; begin < passage.size() && line_count < max_lines;) {
      const auto end = std::min(passage.find('\n', begin), passage.size());
      if (end > begin) {
        print("   | " + passage.substr(begin, end - begin) + '\n');
        ++line_count;
      }
      begin = end + 1;
    }
    print("   " + sanitize_line(reason) + "\n\n");
  }
}

void print_as_lines(const std::vector<value>& results) {
  for (const auto& entry : results) {
    const auto* score = entry.find("score");
    char number[32];
    std::snprintf(number, sizeof number, "%.3f", score == nullptr ? 0.0 : score->as_number().value_or(0));
    print(std::string(number) + '\t' + sanitize(member_text(entry, "uri")) + '\t' + sanitize(member_text(entry, "range")) +
          '\t' + sanitize_line(member_text(entry, "passage")) + '\n');
  }
}

/// Reports what was searched only partly or not at all.
void report_note(const command_context& context, const value& response) {
  if (context.line.has(quiet_flag)) return;
  const auto* complete = response.find("isComplete");
  const auto note = sanitize_line(member_text(response, "warning"));
  if (complete != nullptr && complete->as_boolean() == false) {
    print_message(note.empty() ? "not everything could be searched" : "not everything could be searched: " + note);
  } else if (!note.empty()) {
    print_message(note);
  }
}

}  // namespace

int search_resources(const command_context& context) {
  search_query query;
  auto& words = query.words;
  for (const auto& word : context.line.words()) words += (words.empty() ? "" : " ") + word;
  if (std::all_of(words.begin(), words.end(), [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); })) {
    return context.connection.report_failure({errc::invalid_argument, "Give words to search for.", {}});
  }
  if (context.line.has(under_flag)) {
    auto prefix = to_listed_prefix(context.line.text(under_flag));
    if (!prefix)
      return context.connection.report_failure({errc::invalid_argument, "--under: " + prefix.error().public_text, {}});
    query.uri_prefix = std::move(*prefix);
    auto checked = check_uri_prefix(context.connection.mcp_client(), context.line.text(under_flag), query.uri_prefix,
                                    context.connection.make_call_options());
    if (!checked && checked.error().code == errc::invalid_argument) checked.error().public_text.insert(0, "--under: ");
    if (!checked) return context.connection.report_failure(checked.error());
  }
  const auto response = has_index(context) ? query_index(context, query) : query_tool(context, query);
  if (!response) return context.connection.report_failure(response.error());
  if (context.line.has(json_flag)) {
    print_json(response->to_text());
    report_note(context, *response);
    return exit_ok;
  }
  const auto results = response->array_at("results");
  if (!results) return context.connection.report_failure(results.error());
  if (results->empty()) report_empty(context, "nothing was found");
  if (context.terminal.is_stdout_tty) {
    print_as_text(context, *results);
  } else {
    print_as_lines(*results);
  }
  report_note(context, *response);
  return exit_ok;
}

}  // namespace hondana::cli
