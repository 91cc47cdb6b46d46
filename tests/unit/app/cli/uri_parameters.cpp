/// Unknown parameters, bad values and repeated parameters get the same answer from every scheme.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/skill_provider.hpp>
#include <hondana/uri.hpp>

#include "search/index/search_query.hpp"
#include "sources/analyses/analysis_resources.hpp"
#include "sources/config_files/config_uri.hpp"
#include "sources/docs/document_entry.hpp"
#include "sources/docs/document_uri.hpp"
#include "sources/env/env_provider.hpp"
#include "sources/files/file_range.hpp"
#include "sources/gdrive/address.hpp"
#include "sources/gdrive/catalog_entries.hpp"
#include "sources/git/git_uri.hpp"
#include "sources/logs/catalog_entries.hpp"
#include "sources/metrics/catalog_entries.hpp"

namespace hondana::cli {
namespace {

template <class Value>
std::string answer_of(const result<Value>& parsed) {
  if (parsed) return "accepted";
  return parsed.error().code == errc::invalid_argument ? parsed.error().public_text : std::string(name_of(parsed.error().code));
}

std::string answer_of_provider(provider& source, const std::string& uri) {
  read_request request;
  request.uri = request.requested_uri = uri;
  return answer_of(source.read(request));
}

/// Parses a URI as the source of its scheme does.
std::string answer_to(const std::string& uri) {
  const auto parts = split_uri(uri);
  if (parts.scheme == "file") return answer_of(files::parse_range(parts.query.value_or(std::string_view())));
  if (parts.scheme == "git") return answer_of(git::parse_address(uri));
  if (parts.scheme == "config") return answer_of(config_files::parse_address("set", uri));
  if (parts.scheme == "docs") return answer_of(docs::parse_address("set", uri));
  if (parts.scheme == "log") return answer_of(logs::parse_address(uri, 0));
  if (parts.scheme == "metrics") return answer_of(metrics::parse_address(uri, 0));
  if (parts.scheme == "wallbounce") return answer_of(analyses_source::parse_address(uri));
  if (parts.scheme == "gdrive") return answer_of(gdrive::parse_address("gdrive", uri));
  if (parts.scheme == "search") return answer_of(search::parse_address(uri));
  if (parts.scheme == "env") {
    env::env_options options;
    options.allow = {"NAME"};
    options.process = std::vector<std::string>{"NAME=value"};
    return answer_of_provider(*env::env_provider::open(std::move(options)).value(), uri);
  }
  skill_provider skills("skills");
  EXPECT_TRUE(skills.add("tidy", {{"SKILL.md", "---\nname: tidy\ndescription: Tidies.\n---\n"}}));
  return answer_of_provider(skills, uri);
}

struct uri_and_answers {
  std::string uri;
  std::string known;    ///< What it answers about unknown parameters.
  std::string value;    ///< A parameter with a bad value; empty: the URI has no parameters.
  std::string why_bad;  ///< What it answers to that.
};

const std::vector<uri_and_answers>& uris_of_schemes() {
  const std::string range = ": expected FIRST-LAST, FIRST- or FIRST, counted from 1, both ends included, such as 10-40.";
  static const std::vector<uri_and_answers> all{
      {"file:///a.txt", "file:// knows: lines, bytes.", "lines=9-2", range},
      {"git://r/overview", "git://REPO/overview knows: format.", "format=xml", ": unknown value; known: markdown, json."},
      {"git://r/log", "git://REPO/log knows: ref, path, author, grep, since, until, limit, cursor, format.", "limit=0",
       ": expected a whole number from 1 to 1000."},
      {"config://set/file/a", "config://SET/file/PATH knows: key, format.", "format=xml", ": unknown value; known: json."},
      {"config://set/merged", "config://SET/merged knows: key.", "", ""},
      {"config://set/layers/a", "config://SET/layers/NAME knows none.", "", ""},
      {"docs://set/a.md", "docs://SET/PATH knows: section, pages, format.", "pages=0", range},
      {"docs://set/", "docs://SET/ knows: format.", "format=original", ": unknown value; known: outline, json."},
      {"log://a/", "log://NAME/ knows: since, until, level, grep, field, lines, cursor, format.", "lines=0",
       ": expected a whole number from 1 to 10000."},
      {"log://a/summary", "log://NAME/summary knows: since, until, format.", "since=soon",
       ": not a valid time. Write how long ago (15m, 2h, 1d), a day (2026-01-31), a date and time (2026-01-31T08:00:00Z) or "
       "seconds since 1970."},
      {"metrics://a/up",
       "metrics://NAME/METRIC knows: match, start, end, step, agg, format, above, below, absent, for, width, height.",
       "step=never", ": expected a duration: 15s, 5m, 1h30m, 1d or a number of seconds."},
      {"metrics://a/targets", "metrics://NAME/targets knows none.", "", ""},
      {"wallbounce://analyses", "wallbounce://analyses knows: session, task, tag, after, limit, format.", "task=big",
       ": unknown value; known: basic, premium, critical."},
      {"wallbounce://statistics", "wallbounce://statistics knows: format.", "format=xml",
       ": unknown value; known: markdown, json."},
      {"gdrive://my-drive/a", "gdrive://DRIVE/PATH knows: sheet, format.", "format=pdf", ": unknown value; known: original."},
      {"gdrive:///recent", "gdrive:/// knows none.", "", ""},
      {"search:///", "search:/// knows: q, limit, lang, scheme, uriPrefix, minPriority, audience, modifiedSince, owner, wait.",
       "audience=all", ": unknown value; known: user, assistant."},
      {"env:///NAME", "env:// knows none.", "", ""},
      {"env:///OTHER", "env:// knows none.", "", ""},
      {"skill://tidy/SKILL.md", "skill:// knows none.", "", ""},
      {"skill://tidy", "skill:// knows none.", "", ""},
  };
  return all;
}

TEST(uri_parameters, that_are_unknown_are_named_with_the_known_ones) {
  for (const auto& entry : uris_of_schemes()) {
    EXPECT_EQ(answer_to(entry.uri + "?linse=1"), "unknown parameter \"linse\"; " + entry.known) << entry.uri;
    EXPECT_EQ(answer_to(entry.uri + "?&"), "unknown parameter \"\"; " + entry.known) << entry.uri;
  }
}

TEST(uri_parameters, with_a_bad_value_are_named_with_it) {
  for (const auto& [uri, known, value, why_bad] : uris_of_schemes()) {
    if (!value.empty()) {
      EXPECT_EQ(answer_to(uri + "?" + value), value + why_bad) << uri;
    }
  }
}

TEST(uri_parameters, given_twice_or_with_a_broken_escape_are_named) {
  for (const auto& [uri, known, value, why_bad] : uris_of_schemes()) {
    if (value.empty()) continue;
    const auto name = value.substr(0, value.find('='));
    EXPECT_EQ(answer_to(uri + "?" + name + "=&" + name + "="), name + ": given more than once. Give it once.") << uri;
    EXPECT_EQ(answer_to(uri + "?" + name + "=%4"),
              name +
                  ": the value has a broken percent-escape. Write % and two hexadecimal digits, and a percent sign itself as "
                  "%25.")
        << uri;
  }
}

TEST(uri_parameters, without_a_value_do_not_count) {
  for (const auto& [uri, known, value, why_bad] : uris_of_schemes()) {
    const auto query = (uri == "search:///" ? "?q=x&" : "?") + value.substr(0, value.find('=') + 1);
    if (!value.empty()) {
      EXPECT_EQ(answer_to(uri + query), "accepted") << uri;
    }
  }
}

/// The names in `{?a,b}` at the end of a template.
std::vector<std::string> names_of_template(const std::string& form) {
  std::vector<std::string> names;
  const auto begin = form.find("{?");
  std::string name;
  for (const char c : begin == std::string::npos ? std::string() : form.substr(begin + 2)) {
    if (c != ',' && c != '}') {
      name += c;
    } else {
      names.push_back(std::exchange(name, {}));
    }
  }
  return names;
}

TEST(uri_parameters, of_every_template_are_known_to_its_source) {
  std::vector<std::string> forms{std::string(search::search_template), std::string(search::waiting_template)};
  const auto add = [&forms](const std::vector<resource_template>& templates) {
    for (const auto& entry : templates) forms.push_back(entry.uri_template);
  };
  add(git::address_templates());
  add(config_files::make_templates("set", true));
  add(docs::make_templates("set"));
  add(logs::make_templates("a"));
  add(metrics::make_templates("a", true));
  add(analyses_source::make_templates());
  add(gdrive::make_templates("gdrive", "drive"));
  const uri_template_values path{{"repo", "r"},         {"rev", "HEAD"},
                                 {"path", "a"},         {"from", "a"},
                                 {"to", "b"},           {"name", "up"},
                                 {"provider", "p"},     {"id", std::string(32, 'a')},
                                 {"drive", "my-drive"}, {"digest", std::string(64, 'a')}};
  for (const auto& form : forms) {
    auto uri = uri_template::compile(form).value().expand(path).value();
    uri.resize(std::min(uri.find('?'), uri.size()));
    const auto answer = answer_to(uri + "?linse=1");
    ASSERT_TRUE(answer.starts_with("unknown parameter \"linse\"; ")) << uri << ": " << answer;
    auto known = answer.substr(answer.find(" knows") + 6);
    for (char& c : known) c = c == ':' || c == '.' ? ',' : c;
    for (const auto& name : names_of_template(form)) EXPECT_NE((known + ',').find(' ' + name + ','), std::string::npos) << form;
  }
}

}  // namespace
}  // namespace hondana::cli
