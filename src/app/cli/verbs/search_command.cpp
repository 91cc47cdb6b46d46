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
#include "app/cli/terminal/screen.hpp"
#include "app/cli/verbs/commands.hpp"
#include "app/cli/verbs/entry_output.hpp"
#include "app/cli/verbs/typed_words.hpp"

namespace hondana::cli {

/// Checks the URI prefix of `--under`. A word without a colon must be the beginning of a listed URI; a word with a colon is
/// always accepted. `spelled`: the result of `beginning_as_listed`. Errors: invalid_argument with suggestions; those of the
/// list.
[[nodiscard]] result<void> check_beginning(client& of, const std::string& typed, const std::string& spelled,
                                           const call_options& how);

namespace {

constexpr std::size_t most_told_roots = 5;
constexpr std::size_t most_listed_for_roots = 20'000;

/// The search index does not contain its own resources.
bool belongs_to_index(const resource& one) { return one.uri.starts_with("search:"); }

/// The common prefix of all URIs of a source. Without an authority, it is the URI itself, because folders are listed before
/// their contents.
std::string root_of(const std::string& uri) {
  const auto parts = split_uri(uri);
  if (!parts.authority || parts.authority->empty()) return uri;
  return std::string(parts.scheme) + "://" + std::string(*parts.authority) + '/';
}

/// The first few roots of the listed resources, comma-separated; empty: no resource is listed.
result<std::string> told_roots(client& of, const call_options& how) {
  std::vector<std::string> roots;
  std::size_t count = 0;
  bool are_more = false;
  for (const auto& one : of.resources({}, how)) {
    if (!one) return tl::unexpected(one.error());
    if (belongs_to_index(*one)) continue;
    const auto is_below = [&one](const std::string& root) { return covers(root, one->uri) || root == one->uri + '/'; };
    const bool is_new = std::none_of(roots.begin(), roots.end(), is_below);
    are_more = (is_new && roots.size() == most_told_roots) || ++count == most_listed_for_roots;
    if (are_more) break;
    if (is_new) roots.push_back(root_of(one->uri));
  }
  std::string out;
  for (const auto& one : roots) out += (out.empty() ? "" : ", ") + one;
  return are_more ? out + ", and more" : out;
}

}  // namespace

result<void> check_beginning(client& of, const std::string& typed, const std::string& spelled, const call_options& how) {
  if (spelled.find(':') != std::string::npos) return {};
  entry_filter wanted;
  wanted.uri_prefix = spelled;
  for (const auto& one : of.resources(wanted, how)) {
    // A server without lists may still support search.
    if (!one && one.error().code == errc::unsupported) return {};
    if (!one) return tl::unexpected(one.error());
    if (!belongs_to_index(*one)) return {};
  }
  const auto text = "no listed URI begins with \"" + typed + "\", so nothing can be found below it. ";
  if (const auto named = resource_named(of, typed, how)) {
    return fail(errc::invalid_argument,
                text + "Give a URI as `hondana ls` prints it. Did you mean --under " + shell_word(*named) + "?");
  }
  HONDANA_TRY(const auto roots, told_roots(of, how));
  return fail(
      errc::invalid_argument,
      text + (roots.empty() ? "The server lists no resources now."
                            : "Give a URI or its beginning, as `hondana ls` prints it. Listed URIs begin with " + roots + '.'));
}

namespace {

constexpr std::string_view tool_name = "search_resources";
/// Maximum lines of a passage on a terminal.
constexpr std::size_t most_lines = 6;

/// Whether the server has the search resource, which supports more conditions than the tool.
bool has_index(const task& what) {
  for (const auto& one : what.with.server().templates(what.with.how())) {
    if (!one) return false;
    if (one->uriTemplate.starts_with("search:///{?q")) return true;
  }
  return false;
}

struct asked_for {
  const flag* which;
  const char* name;
  bool needs_index;
};
const asked_for conditions[]{{&limit_flag, "limit", false},
                             {&lang_flag, "lang", true},
                             {&scheme_flag, "scheme", true},
                             {&under_flag, "uriPrefix", false},
                             {&min_priority_flag, "minPriority", false},
                             {&audience_flag, "audience", true},
                             {&since_flag, "modifiedSince", false},
                             {&owner_flag, "owner", true}};

/// The search words and the URI prefix.
struct question {
  std::string words;
  std::string under;  ///< Percent-encoded like URIs in lists; users may type any characters and spaces.
};

std::string said_by(const task& what, const flag& which, const question& asked) {
  return &which == &under_flag ? asked.under : what.line.text(which);
}

/// Default wait for a server that was started for this search only.
constexpr std::chrono::seconds usual_wait{60};
constexpr std::chrono::seconds between_news{5};
/// Time of one call. Servers end longer calls, so a long wait needs several.
constexpr std::chrono::seconds one_wait{20};

std::chrono::milliseconds longest_wait_for_index(const task& what) {
  if (const auto seconds = what.line.number(wait_flag)) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000));
  }
  return what.line.server().empty() ? std::chrono::milliseconds(0) : std::chrono::milliseconds(usual_wait);
}

/// Waits until everything is indexed, the time is over, or the server does not report the state. Prints progress meanwhile.
/// Errors: cancelled, and errors that end the connection.
result<void> wait_for_index(const task& what) {
  using clock = monotonic_clock;
  const auto end = clock::now() + longest_wait_for_index(what);
  auto next_news = clock::now() + between_news;
  const bool tells = !what.line.has(quiet_flag);
  for (auto now = clock::now(); now < end; now = clock::now()) {
    auto how = what.with.how();
    how.time = std::min<std::chrono::milliseconds>(std::chrono::ceil<std::chrono::milliseconds>(end - now), one_wait);
    how.afresh = true;
    how.report = [&next_news, tells](const progress& one) {
      if (!tells || clock::now() < next_news) return;
      next_news = clock::now() + between_news;
      say("the server is indexing" + (one.message.empty() ? std::string() : ": " + one.message));
    };
    const auto got = what.with.server().read("search:///?wait=complete", how);
    if (got) return {};
    const auto code = got.error().code;
    if (code == errc::cancelled || code == errc::source_unavailable) return tl::unexpected(got.error());
    // A fast error other than a timeout would only repeat.
    if (code != errc::timed_out && clock::now() - now < between_news) return {};
  }
  return {};
}

/// Turns the server's invalid-params error into a usage error.
failure about_what_was_typed(failure why) {
  constexpr std::int64_t invalid_params = -32602;
  if (!why.answer || why.answer->code != invalid_params) return why;
  return {errc::invalid_argument, "The server rejects the search: " + why.answer->message, why.private_text};
}

result<value> ask_index(const task& what, const question& asked) {
  auto uri = "search:///?q=" + percent_encode(asked.words);
  for (const auto& one : conditions) {
    if (what.line.has(*one.which)) uri += std::string("&") + one.name + '=' + percent_encode(said_by(what, *one.which, asked));
  }
  HONDANA_TRY(wait_for_index(what));
  auto got = what.with.server().read(uri, what.with.how());
  if (!got) return tl::unexpected(about_what_was_typed(std::move(got.error())));
  if (got->items.empty()) return fail(errc::broken_protocol, "the server returned an empty answer to the search");
  return value::parse(got->items.front().bytes);
}

/// Whether the call failed because the server has no search tool.
bool is_without_tool(const task& what, const failure& why) {
  if (why.code == errc::unsupported) return true;
  if (!why.answer) return false;
  const auto all = what.with.server().tools(what.with.how()).all();
  return all && std::none_of(all->begin(), all->end(), [](const tool& one) { return one.name == tool_name; });
}

result<value> ask_tool(const task& what, const question& asked) {
  value::object arguments{{"q", asked.words}};
  for (const auto& one : conditions) {
    if (!what.line.has(*one.which)) continue;
    if (one.needs_index)
      return fail(
          errc::invalid_argument,
          "--" + std::string(one.which->name) +
              " needs a search index, which this server does not have; add [search] to its configuration (docs/search.md).");
    const auto number = what.line.number(*one.which);
    if (one.which == &limit_flag) {
      arguments.emplace_back(one.name, static_cast<std::int64_t>(*number));
    } else if (number) {
      arguments.emplace_back(one.name, *number);
    } else {
      arguments.emplace_back(one.name, said_by(what, *one.which, asked));
    }
  }
  auto got = what.with.server().call_tool(tool_name, arguments, what.with.how());
  if (!got && is_without_tool(what, got.error()))
    return fail(errc::resource_not_found,
                "The server cannot be searched: it has no index and no tool " + std::string(tool_name) + '.');
  if (!got) return tl::unexpected(about_what_was_typed(std::move(got.error())));
  if (!got->isError && got->structuredContent) return *got->structuredContent;
  std::string why = "the server cannot be searched";
  for (const auto& one : got->content) {
    if (const auto* text = std::get_if<text_block>(&one)) why = text->text;
  }
  const auto is_about = [&why](std::string_view name) { return why.starts_with(std::string(name) + ':'); };
  const bool is_about_what_was_typed =
      is_about("q") || std::any_of(std::begin(conditions), std::end(conditions),
                                   [&is_about](const asked_for& one) { return is_about(one.name); });
  return fail(is_about_what_was_typed ? errc::invalid_argument : errc::refused, why);
}

std::string text_of(const value& of, std::string_view name) {
  const auto* found = of.find(name);
  const auto* text = found == nullptr ? nullptr : found->as_string();
  return text == nullptr ? std::string() : *text;
}

std::string lines_of(const value& of) {
  const auto range = text_of(of, "range");
  return range.starts_with("lines=") ? "lines " + range.substr(6) : range;
}

void print_for_people(const task& what, const std::vector<value>& results) {
  std::size_t rank = 0;
  for (const auto& one : results) {
    const auto in_bold = [&](const std::string& text) { return what.shown.in_colour ? "\x1b[1m" + text + "\x1b[0m" : text; };
    const auto heading = text_of(one, "heading");
    auto title = heading.empty() ? text_of(one, "title") : heading;
    if (title.empty()) title = text_of(one, "name");
    print(std::to_string(++rank) + ". " + in_bold(visible_in_line(title)) + '\n');
    const auto lines = lines_of(one);
    print("   " + visible(text_of(one, "uri")) + (lines.empty() ? "" : "  " + visible(lines)) + '\n');
    const auto why = text_of(one, "why");
    auto passage = visible_lines(text_of(one, "passage"));
    if (what.shown.in_colour) passage = highlighted(passage, quoted_words(why));
    std::size_t shown = 0;
    for (std::size_t begin = 0; begin < passage.size() && shown < most_lines;) {
      const auto end = std::min(passage.find('\n', begin), passage.size());
      if (end > begin) {
        print("   | " + passage.substr(begin, end - begin) + '\n');
        ++shown;
      }
      begin = end + 1;
    }
    print("   " + visible_in_line(why) + "\n\n");
  }
}

void print_for_programs(const std::vector<value>& results) {
  for (const auto& one : results) {
    const auto* score = one.find("score");
    char number[32];
    std::snprintf(number, sizeof number, "%.3f", score == nullptr ? 0.0 : score->as_number().value_or(0));
    print(std::string(number) + '\t' + visible(text_of(one, "uri")) + '\t' + visible(text_of(one, "range")) + '\t' +
          visible_in_line(text_of(one, "passage")) + '\n');
  }
}

/// Reports what was searched only partly or not at all.
void tell_remark(const task& what, const value& answer) {
  if (what.line.has(quiet_flag)) return;
  const auto* complete = answer.find("isComplete");
  const auto remark = visible_in_line(text_of(answer, "remark"));
  if (complete != nullptr && complete->as_boolean() == false) {
    say(remark.empty() ? "not everything could be searched" : "not everything could be searched: " + remark);
  } else if (!remark.empty()) {
    say(remark);
  }
}

}  // namespace

int search_resources(const task& what) {
  question asked;
  auto& words = asked.words;
  for (const auto& one : what.line.words()) words += (words.empty() ? "" : " ") + one;
  if (std::all_of(words.begin(), words.end(), [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); })) {
    return what.with.explain({errc::invalid_argument, "Give words to search for.", {}});
  }
  if (what.line.has(under_flag)) {
    auto under = beginning_as_listed(what.line.text(under_flag));
    if (!under) return what.with.explain({errc::invalid_argument, "--under: " + under.error().public_text, {}});
    asked.under = std::move(*under);
    auto begins = check_beginning(what.with.server(), what.line.text(under_flag), asked.under, what.with.how());
    if (!begins && begins.error().code == errc::invalid_argument) begins.error().public_text.insert(0, "--under: ");
    if (!begins) return what.with.explain(begins.error());
  }
  const auto answer = has_index(what) ? ask_index(what, asked) : ask_tool(what, asked);
  if (!answer) return what.with.explain(answer.error());
  if (what.line.has(json_flag)) {
    print_json(answer->to_text());
    tell_remark(what, *answer);
    return exit_ok;
  }
  const auto results = answer->array_at("results");
  if (!results) return what.with.explain(results.error());
  if (results->empty()) tell_none(what, "nothing was found");
  if (what.shown.shows_output) {
    print_for_people(what, *results);
  } else {
    print_for_programs(*results);
  }
  tell_remark(what, *answer);
  return exit_ok;
}

}  // namespace hondana::cli
