/// `hondana check` and `hondana schemes`.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "app/cli/access_explanation.hpp"
#include "app/cli/arguments.hpp"
#include "app/cli/assembly.hpp"
#include "app/cli/callers/authenticators.hpp"
#include "app/cli/callers/rule_checks.hpp"
#include "app/cli/exit_codes.hpp"
#include "app/cli/listening.hpp"
#include "app/cli/log.hpp"
#include "app/cli/output.hpp"
#include "app/cli/sandbox/permissions.hpp"
#include "app/cli/sandbox/server_sandbox.hpp"
#include "app/cli/search_checks.hpp"
#include "app/cli/terminal/quantities.hpp"
#include "base/json/writer.hpp"
#include "protocol/model/caller_checks.hpp"
#include "search/index/index_location.hpp"
#include "search/index/search_provider.hpp"
#include "sources/config/settings.hpp"
#include "sources/links/links_provider.hpp"

namespace hondana::cli {

/// Prints the size of the index and the progress of indexing, for people or as a JSON line. Prints nothing if no index is
/// configured or if it is in memory. Returns false if the index cannot be opened, and prints the error.
[[nodiscard]] bool print_index(const config::settings& of, bool as_json);

namespace {

std::string counted(std::uint64_t number, const char* what) {
  return std::to_string(number) + ' ' + what + (number == 1 ? "" : "s");
}

std::string words_for(const search::kept_index& what, bool has_vectors) {
  const auto& counts = what.counts;
  auto out =
      counted(counts.documents, "resource") + ", " + counted(counts.passages, "passage") + ", " + human_size(counts.bytes);
  if (has_vectors) out += ", " + counted(counts.vectors, "vector");
  if (counts.without_text > 0) out += ", " + std::to_string(counts.without_text) + " without text";
  if (!what.how) return out;
  const auto& how = *what.how;
  out += how.is_complete ? "; complete" : how.waiting > 0 ? "; " + std::to_string(how.waiting) + " waiting" : "; not complete";
  return out + " since " + human_time(how.at);
}

void print_line(const std::optional<search::kept_index>& what, const std::string& problem) {
  std::string line;
  json::writer to(line);
  to.begin_object().key("index").begin_object().key("exists").boolean(what.has_value());
  to.member_if("problem", problem);
  if (what) {
    const auto& counts = what->counts;
    to.key("resources").unsigned_integer(counts.documents).key("passages").unsigned_integer(counts.passages);
    to.key("withoutText")
        .unsigned_integer(counts.without_text)
        .key("vectors")
        .unsigned_integer(counts.vectors)
        .key("bytes")
        .unsigned_integer(counts.bytes);
    if (const auto& how = what->how) {
      to.key("waiting")
          .unsigned_integer(how->waiting)
          .key("isComplete")
          .boolean(how->is_complete)
          .member("asOf", iso_time(how->at));
      to.member_if("indexingProblem", how->problem);
    }
  }
  to.end_object().end_object();
  print_json(line);
}

}  // namespace

bool print_index(const config::settings& of, bool as_json) {
  if (!of.search || (of.search->path.empty() && of.search->postgres.empty())) return true;
  const auto looked = search::look_at_kept(*of.search);
  if (as_json) {
    print_line(looked ? *looked : std::nullopt, looked ? std::string() : looked.error().public_text);
  } else if (!looked) {
    complain(looked.error());
  } else if (!*looked) {
    print("  does not exist yet: the server creates it\n");
  } else {
    print("  has " + words_for(**looked, of.search->embeddings.has_value()) + '\n');
    if ((*looked)->how && !(*looked)->how->problem.empty()) print("  " + visible((*looked)->how->problem) + '\n');
  }
  return looked.has_value();
}

namespace {

using model::joined;

void write_words(json::writer& to, std::string_view key, const std::vector<std::string>& words) {
  if (words.empty()) return;
  to.key(key).begin_array();
  for (const auto& one : words) to.string(one);
  to.end_array();
}

/// `scopes`: the scopes that reading the item needs.
void print_item(const survey_item& item, const std::vector<std::string>& scopes, bool as_json) {
  if (!as_json) {
    print((item.is_served ? "  + " : "  - ") + visible(item.name) +
          (item.reason.empty() ? "" : "  (" + visible(item.reason) + ')') +
          (scopes.empty() ? "" : "  (reading needs " + joined(scopes) + ')') + '\n');
    return;
  }
  std::string line;
  json::writer to(line);
  to.begin_object().member("name", item.name).member_if("uri", item.uri).key("served").boolean(item.is_served);
  to.member_if("reason", item.reason);
  write_words(to, "scopes", scopes);
  to.end_object();
  print_json(line);
}

/// Suppresses duplicates between a log and error messages: the second report of the same failure is dropped. Threads: any.
class told_once {
 public:
  explicit told_once(log_function to) : all_(std::make_shared<state>()) { all_->to = std::move(to); }
  [[nodiscard]] log_function log() const {
    return [all = all_](std::string_view line) {
      const std::lock_guard lock(all->mutex);
      const auto is_told = [line](const std::string& one) { return line.find(one) != std::string_view::npos; };
      if (std::any_of(all->complained.begin(), all->complained.end(), is_told)) return;
      if (all->said.size() < most_remembered) all->said.emplace_back(line);
      all->to(line);
    };
  }
  /// Prints an error. `where`: "FILE:LINE: " or empty; the log never contains it.
  void complain(failure why, const std::string& where) const {
    const std::lock_guard lock(all_->mutex);
    const auto tells = [&why](const std::string& line) { return line.find(why.public_text) != std::string::npos; };
    if (!why.public_text.empty()) {
      if (std::any_of(all_->said.begin(), all_->said.end(), tells)) return;
      all_->complained.push_back(why.public_text);
    }
    why.public_text.insert(0, where);
    cli::complain(why);
  }

 private:
  static constexpr std::size_t most_remembered = 1000;
  struct state {
    std::mutex mutex;
    std::vector<std::string> said;
    std::vector<std::string> complained;
    log_function to;
  };
  std::shared_ptr<state> all_;
};

/// Prints the scopes that rules require of callers with a token or a certificate.
void print_rules(const scope_rules& all, bool as_json) {
  if (!as_json) {
    if (!all.always.empty()) print("every request needs the scopes  " + joined(all.always) + '\n');
    for (const auto& rule : all.rules) {
      print((rule.methods.empty() ? "every request" : joined(rule.methods)) +
            (rule.uris.empty() ? "" : " of " + visible(joined(rule.uris))) +
            (rule.names.empty() ? "" : " by the name " + visible(joined(rule.names))) + " needs the scopes  " +
            joined(rule.scopes) + '\n');
    }
    return;
  }
  const auto print_rule = [](const scope_rule& rule) {
    std::string line;
    json::writer to(line);
    to.begin_object().key("rule").begin_object();
    write_words(to, "methods", rule.methods);
    write_words(to, "uris", rule.uris);
    write_words(to, "names", rule.names);
    write_words(to, "scopes", rule.scopes);
    to.end_object().end_object();
    print_json(line);
  };
  if (!all.always.empty()) print_rule({{}, {}, {}, all.always});
  std::for_each(all.rules.begin(), all.rules.end(), print_rule);
}

/// Prints lines with the prefix `front`, or one JSON array of them.
void print_words(std::string_view key, const std::vector<std::string>& told, bool as_json, const std::string& front = {}) {
  if (told.empty()) return;
  if (!as_json) {
    for (const auto& one : told) print(front + visible(one) + '\n');
    return;
  }
  std::string line;
  json::writer to(line);
  to.begin_object();
  write_words(to, key, told);
  to.end_object();
  print_json(line);
}

/// The exit code after a source failed. `before`: the code so far. A wrong table value that only the service or the disk can
/// detect is a usage error like any other.
int code_with(const failure& why, int before) {
  return why.code == errc::invalid_argument || before == exit_usage ? exit_usage : exit_server;
}

/// The schemes of all source types, of configured links and of search.
std::vector<scheme_documentation> all_schemes() {
  std::vector<scheme_documentation> all;
  for (const auto& type : provider_types()) all.push_back(type.describe());
  all.push_back(links::links_provider({}).documentation());
  all.push_back(search::describe_search());
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
  auto sources = what.what;
  sources.kept_back = {what.tokens};
  const told_once told(standard_log());
  assembly assembly(sources, told.log());
  auto whole = assembly.assemble();
  if (!whole) {
    complain(whole.error());
    return exit_usage;
  }
  const auto warnings = check_written_folders(*whole);
  if (!warnings) {
    complain(warnings.error());
    return exit_usage;
  }
  for (const auto& one : *warnings) say(one);
  if (auto sound = check_search(whole->settings); !sound) {
    complain(sound.error());
    return exit_usage;
  }
  // Confine like `serve`, so that the output shows what sources can do there.
  const auto http = listening_options({}, whole->settings.http, {});
  // Leave out the folders that `serve` would create: that of the audit log, and that of a new index.
  auto confined = *whole;
  confined.settings.audit.reset();
  std::error_code problem;
  if (auto& search = confined.settings.search; search && !std::filesystem::exists(search->path, problem)) search->path.clear();
  auto sandbox =
      server_sandbox::put_up(confined, {.http = &http, .config = what.what.config, .tokens = what.tokens}, standard_log());
  if (!sandbox) {
    complain(sandbox.error());
    return exit_server;
  }
  // Some errors show only when all sources are combined, such as two sources that serve the same URIs.
  server server;
  if (auto arranged = server.replace(whole->options, whole->providers); !arranged) {
    complain(arranged.error());
    return exit_usage;
  }
  if (auto sound = check_listening({}, whole->settings); !sound) {
    complain(sound.error());
    return exit_usage;
  }
  if (what.as) {
    if (const auto why = why_unknown_caller(whole->settings, what.tokens, *what.as); !why.empty()) say("--as: " + why);
    return explain(what, server, whole->options);
  }
  // A socket may still come from a flag or from the process that starts the server, and tokens from a flag.
  const bool asks_for_certificates = !whole->settings.http.tls.client_authorities.empty();
  const auto callers = ways_from(whole->settings, what.tokens, {asks_for_certificates, true}, standard_log());
  if (!callers) {
    complain(callers.error());
    return exit_usage;
  }
  // How `serve` would tell callers apart; empty if it would not.
  print_words("callers", callers->told, what.as_json, "callers over HTTP  by ");
  print_sandbox(*sandbox, what.as_json);
  print_words("inForce", in_force(*whole), what.as_json);
  int code = print_index(whole->settings, what.as_json) ? exit_ok : exit_server;
  print_words_of_index(whole->settings, what.as_json);
  if (const auto& search = whole->settings.search) {
    if (const auto needs = search::needs_of(*search)) print_needs("search", *needs, what.as_json);
  }
  print_record_needs(whole->settings, what.as_json);
  const auto& rules = whole->settings.scopes;
  print_rules(rules, what.as_json);
  rule_use use(whole->settings);
  prefix_use prefixes(whole->settings);
  std::size_t served = 0;
  std::size_t left_out = 0;
  for (const auto& provider : whole->providers) {
    if (!what.as_json) {
      for (const auto& claim : provider->claims()) print(provider->name() + "  " + claim + '\n');
    }
    print_needs(provider->name(), provider->needs(), what.as_json);
    const auto outcome = provider->survey({}, [&](const survey_item& item) {
      ++(item.is_served ? served : left_out);
      print_item(item, item.is_served ? use.of(item.uri) : std::vector<std::string>(), what.as_json);
    });
    // The index contains listed resources. A survey of documents or settings has other lines, so list separately.
    const auto listed = prefixes.is_empty() || !outcome ? result<void>()
                                                        : provider->hondana::provider::survey(
                                                              {}, [&](const survey_item& item) { prefixes.note(item.uri); });
    prefixes.end(*provider, outcome && listed);
    if (!outcome) {
      const auto at = whole->places.find(provider.get());
      told.complain(outcome.error(), at == whole->places.end() ? std::string() : at->second + ": ");
      code = code_with(outcome.error(), code);
    }
  }
  for (const auto& one : use.idle()) say(one);
  for (const auto& one : unknown_callers(whole->settings, what.tokens, true)) say(one);
  for (const auto& one : unknown_kinds(whole->settings, whole->providers)) say(one);
  for (const auto& one : warnings_of_search(whole->settings, whole->providers)) say(one);
  for (const auto& one : prefixes.idle()) say(one);
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
