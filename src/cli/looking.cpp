/// The commands that look: check and schemes.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "cli/assembly.hpp"
#include "cli/callers/ways.hpp"
#include "cli/commands.hpp"
#include "cli/exit_codes.hpp"
#include "cli/log.hpp"
#include "cli/output.hpp"
#include "cli/visible.hpp"
#include "json/writer.hpp"
#include "providers/links/links.hpp"

namespace hondana::cli {
namespace {

void print_item(const survey_item& item, bool as_json) {
  if (!as_json) {
    print((item.is_served ? "  + " : "  - ") + visible(item.name) +
          (item.reason.empty() ? "" : "  (" + visible(item.reason) + ')') + '\n');
    return;
  }
  std::string line;
  json::writer to(line);
  to.begin_object().member("name", item.name).member_if("uri", item.uri).key("served").boolean(item.is_served);
  to.member_if("reason", item.reason).end_object();
  print_json(line);
}

/// How `serve` would tell callers apart; nothing where it would not.
void print_callers(const std::vector<std::string>& told, bool as_json) {
  if (told.empty()) return;
  if (!as_json) {
    for (const auto& one : told) print("callers over HTTP  by " + visible(one) + '\n');
    return;
  }
  std::string line;
  json::writer to(line);
  to.begin_object().key("callers").begin_array();
  for (const auto& one : told) to.string(one);
  to.end_array().end_object();
  print_json(line);
}

/// The schemes of all types of sources, and of the configured links.
std::vector<scheme_documentation> all_schemes() {
  std::vector<scheme_documentation> all;
  for (const auto& type : provider_types()) all.push_back(type.describe());
  all.push_back(links::links_provider({}).documentation());
  return all;
}

void write_schemes_json() {
  std::string text;
  json::writer to(text);
  to.begin_array();
  for (const auto& scheme : all_schemes()) {
    to.begin_object().member("scheme", scheme.scheme).member("summary", scheme.summary);
    to.key("forms").begin_array();
    for (const auto& form : scheme.forms) {
      to.begin_object().member("uriTemplate", form.uri_template).member("meaning", form.meaning).end_object();
    }
    to.end_array().key("kinds").begin_array();
    for (const auto& kind : scheme.kinds)
      to.begin_object().member("name", kind.name).member("meaning", kind.meaning).end_object();
    to.end_array().end_object();
  }
  to.end_array();
  print_json(text);
}

void write_schemes_text(bool as_markdown) {
  if (as_markdown) print("# URI schemes\n\nWritten by `hondana schemes --markdown`; do not edit.\n\n");
  const auto all = all_schemes();
  for (const auto& scheme : all) {
    const std::string code = as_markdown ? "`" : "";
    print((as_markdown ? "## " : "") + code + scheme.scheme + "://" + code + (as_markdown ? "\n\n" : "  ") + scheme.summary +
          '\n');
    print("\nURIs" + std::string(as_markdown ? "\n" : "") + '\n');
    for (const auto& form : scheme.forms) {
      print((as_markdown ? "* " : "  ") + code + form.uri_template + code + (as_markdown ? ": " : "\n      ") + form.meaning +
            '\n');
    }
    print("\nKinds" + std::string(as_markdown ? "\n" : "") + '\n');
    for (const auto& kind : scheme.kinds) {
      print((as_markdown ? "* " : "  ") + code + kind.name + code + ": " + kind.meaning + '\n');
    }
    if (&scheme != &all.back()) print("\n");
  }
}

}  // namespace

int run(const check_command& what) {
  assembly assembly(what.what, standard_log());
  auto whole = assembly.assemble();
  if (!whole) {
    complain(whole.error());
    return exit_usage;
  }
  // Checks what only shows when everything is put together, such as two sources that serve the same URIs.
  server server;
  if (auto arranged = server.replace(whole->options, whole->providers); !arranged) {
    complain(arranged.error());
    return exit_usage;
  }
  // A socket may still come from a flag or from whoever starts the server.
  const bool asks_for_certificates = !whole->settings.http.tls.client_authorities.empty();
  const auto callers = ways_from(whole->settings, {}, {asks_for_certificates, true}, standard_log());
  if (!callers) {
    complain(callers.error());
    return exit_usage;
  }
  print_callers(callers->told, what.as_json);
  int code = exit_ok;
  std::size_t served = 0;
  std::size_t left_out = 0;
  for (const auto& provider : whole->providers) {
    if (!what.as_json) {
      for (const auto& claim : provider->claims()) print(provider->name() + "  " + claim + '\n');
    }
    const auto outcome = provider->survey({}, [&](const survey_item& item) {
      ++(item.is_served ? served : left_out);
      print_item(item, what.as_json);
    });
    if (!outcome) {
      complain(outcome.error());
      code = exit_server;
    }
  }
  if (!what.as_json) print(std::to_string(served) + " served, " + std::to_string(left_out) + " left out\n");
  return finish_output(code);
}

int run(const schemes_command& what) {
  if (what.as_json) {
    write_schemes_json();
  } else {
    write_schemes_text(what.as_markdown);
  }
  return finish_output(exit_ok);
}

int run(const finished& what) {
  if (what.exit_code == 0) {
    print(what.text);
  } else {
    std::fputs(what.text.c_str(), stderr);
  }
  return finish_output(what.exit_code);
}

}  // namespace hondana::cli
