/// search: passages with some words, the best first.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>

#include "cli/exit_codes.hpp"
#include "cli/flags/client_flags.hpp"
#include "cli/output.hpp"
#include "cli/terminal/highlighting.hpp"
#include "cli/verbs/entries.hpp"
#include "cli/verbs/verbs.hpp"
#include "cli/visible.hpp"

namespace hondana::cli {
namespace {

constexpr std::string_view tool_name = "search_resources";
/// Of a passage on a terminal.
constexpr std::size_t most_lines = 6;

/// Whether the server has an index, which can be asked for more than the tool.
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
                             {&since_flag, "modifiedSince", false}};

result<value> ask_index(const task& what, const std::string& words) {
  auto uri = "search:///?q=" + percent_encode(words);
  for (const auto& one : conditions) {
    if (what.line.has(*one.which)) uri += std::string("&") + one.name + '=' + percent_encode(what.line.text(*one.which));
  }
  auto got = what.with.server().read(uri, what.with.how());
  if (!got) return tl::unexpected(std::move(got.error()));
  if (got->items.empty()) return fail(errc::broken_protocol, "the server answered a search with nothing");
  return value::parse(got->items.front().bytes);
}

result<value> ask_tool(const task& what, const std::string& words) {
  value::object arguments{{"q", words}};
  for (const auto& one : conditions) {
    if (!what.line.has(*one.which)) continue;
    if (one.needs_index)
      return fail(errc::unsupported, "--" + std::string(one.which->name) +
                                         " needs an index, and this server has none; [search] in its "
                                         "configuration makes one (docs/search.md).");
    const auto number = what.line.number(*one.which);
    if (one.which == &limit_flag) {
      arguments.emplace_back(one.name, static_cast<std::int64_t>(*number));
    } else if (number) {
      arguments.emplace_back(one.name, *number);
    } else {
      arguments.emplace_back(one.name, what.line.text(*one.which));
    }
  }
  auto got = what.with.server().call_tool(tool_name, arguments, what.with.how());
  if (!got) return tl::unexpected(std::move(got.error()));
  if (!got->isError && got->structuredContent) return *got->structuredContent;
  std::string why = "the server cannot be searched";
  for (const auto& one : got->content) {
    if (const auto* text = std::get_if<text_block>(&one)) why = text->text;
  }
  return fail(errc::refused, why);
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

}  // namespace

int search_resources(const task& what) {
  std::string words;
  for (const auto& one : what.line.words()) words += (words.empty() ? "" : " ") + one;
  const auto answer = has_index(what) ? ask_index(what, words) : ask_tool(what, words);
  if (!answer) return what.with.explain(answer.error());
  if (what.line.has(json_flag)) {
    print_json(answer->to_text());
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
  const auto* complete = answer->find("isComplete");
  if (complete != nullptr && complete->as_boolean() == false && !what.line.has(quiet_flag)) {
    const auto remark = text_of(*answer, "remark");
    say(remark.empty() ? "not everything could be looked at" : "not everything could be looked at: " + remark);
  }
  return exit_ok;
}

}  // namespace hondana::cli
