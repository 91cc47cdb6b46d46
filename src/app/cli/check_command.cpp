/// `hondana check` and `hondana schemes`.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>

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
#include "protocol/model/provider_extensions.hpp"
#include "search/index/index_location.hpp"
#include "search/index/search_provider.hpp"
#include "sources/config/settings.hpp"
#include "sources/links/links_provider.hpp"

namespace hondana::cli {

/// Prints the size of the index and the progress of indexing, for people or as a JSON line. Prints nothing if no index is
/// configured or if it is in memory. Returns false if the index cannot be opened, and prints the error.
[[nodiscard]] bool print_index(const config::settings& settings, bool as_json);

namespace {

std::string count_text(std::uint64_t number, const char* noun) {
  return std::to_string(number) + ' ' + noun + (number == 1 ? "" : "s");
}

std::string describe_index(const search::stored_index& index, bool has_vectors) {
  const auto& counts = index.counts;
  auto out = count_text(counts.documents, "resource") + ", " + count_text(counts.passages, "passage") + ", " +
             human_size(counts.bytes);
  if (has_vectors) out += ", " + count_text(counts.vectors, "vector");
  if (counts.without_text > 0) out += ", " + std::to_string(counts.without_text) + " without text";
  if (!index.last_progress) return out;
  const auto& progress = *index.last_progress;
  out += progress.is_complete   ? "; complete"
         : progress.waiting > 0 ? "; " + std::to_string(progress.waiting) + " waiting"
                                : "; not complete";
  return out + " since " + human_time(progress.updated_at);
}

void print_index_json(const std::optional<search::stored_index>& index, const std::string& problem) {
  std::string line;
  json::writer writer(line);
  writer.begin_object().key("index").begin_object().key("exists").boolean(index.has_value());
  writer.member_if("error", problem);
  if (index) {
    const auto& counts = index->counts;
    writer.key("resources").unsigned_integer(counts.documents).key("passages").unsigned_integer(counts.passages);
    writer.key("withoutText")
        .unsigned_integer(counts.without_text)
        .key("vectors")
        .unsigned_integer(counts.vectors)
        .key("bytes")
        .unsigned_integer(counts.bytes);
    if (const auto& progress = index->last_progress) {
      writer.key("waiting")
          .unsigned_integer(progress->waiting)
          .key("isComplete")
          .boolean(progress->is_complete)
          .member("asOf", iso_time(progress->updated_at));
      writer.member_if("indexingError", progress->problem);
    }
  }
  writer.end_object().end_object();
  print_json(line);
}

}  // namespace

bool print_index(const config::settings& settings, bool as_json) {
  if (!settings.search || (!settings.search->path && !settings.search->postgres_url)) return true;
  const auto index = search::inspect_stored(*settings.search);
  if (as_json) {
    print_index_json(index ? *index : std::nullopt, index ? std::string() : index.error().public_text);
  } else if (!index) {
    print_error(index.error());
  } else if (!*index) {
    print("  does not exist yet: the server creates it\n");
  } else {
    print("  has " + describe_index(**index, settings.search->embeddings.has_value()) + '\n');
    if ((*index)->last_progress && !(*index)->last_progress->problem.empty())
      print("  " + sanitize((*index)->last_progress->problem) + '\n');
  }
  return index.has_value();
}

namespace {

using model::join_words;

void write_array(json::writer& writer, std::string_view key, const std::vector<std::string>& items) {
  if (items.empty()) return;
  writer.key(key).begin_array();
  for (const auto& item : items) writer.string(item);
  writer.end_array();
}

/// `scopes`: the scopes that reading the item needs.
void print_item(const inventory_item& item, const std::vector<std::string>& scopes, bool as_json) {
  if (!as_json) {
    print((item.is_served ? "  + " : "  - ") + sanitize(item.name) +
          (item.reason.empty() ? "" : "  (" + sanitize(item.reason) + ')') +
          (scopes.empty() ? "" : "  (reading needs " + join_words(scopes) + ')') + '\n');
    return;
  }
  std::string line;
  json::writer writer(line);
  writer.begin_object().member("name", item.name).member_if("uri", item.uri).key("served").boolean(item.is_served);
  writer.member_if("reason", item.reason);
  write_array(writer, "scopes", scopes);
  writer.end_object();
  print_json(line);
}

/// Suppresses duplicates between a log and error messages: the second report of the same failure is dropped. Threads: any.
class log_deduplicator {
 public:
  explicit log_deduplicator(log_function target) : state_(std::make_shared<shared_state>()) {
    state_->target = std::move(target);
  }
  [[nodiscard]] log_function log() const {
    return [shared = state_](std::string_view line) {
      const std::lock_guard lock(shared->mutex);
      const auto is_reported = [line](const std::string& message) { return line.find(message) != std::string_view::npos; };
      if (std::any_of(shared->reported.begin(), shared->reported.end(), is_reported)) return;
      if (shared->logged.size() < max_remembered) shared->logged.emplace_back(line);
      shared->target(line);
    };
  }
  /// Prints an error. `location`: "FILE:LINE: " or empty; the log never contains it.
  void report_error(failure error, const std::string& location) const {
    const std::lock_guard lock(state_->mutex);
    const auto contains_message = [&error](const std::string& line) {
      return line.find(error.public_text) != std::string::npos;
    };
    if (!error.public_text.empty()) {
      if (std::any_of(state_->logged.begin(), state_->logged.end(), contains_message)) return;
      state_->reported.push_back(error.public_text);
    }
    error.public_text.insert(0, location);
    cli::print_error(error);
  }

 private:
  static constexpr std::size_t max_remembered = 1000;
  struct shared_state {
    std::mutex mutex;
    std::vector<std::string> logged;
    std::vector<std::string> reported;
    log_function target;
  };
  std::shared_ptr<shared_state> state_;
};

/// Prints the scopes that rules require of callers with a token or a certificate.
void print_rules(const scope_rules& rules, bool as_json) {
  if (!as_json) {
    if (!rules.always_required.empty()) print("every request needs the scopes  " + join_words(rules.always_required) + '\n');
    for (const auto& rule : rules.rules) {
      print((rule.methods.empty() ? "every request" : join_words(rule.methods)) +
            (rule.uris.empty() ? "" : " of " + sanitize(join_words(rule.uris))) +
            (rule.names.empty() ? "" : " by the name " + sanitize(join_words(rule.names))) + " needs the scopes  " +
            join_words(rule.scopes) + '\n');
    }
    return;
  }
  const auto print_rule = [](const scope_rule& rule) {
    std::string line;
    json::writer writer(line);
    writer.begin_object().key("rule").begin_object();
    write_array(writer, "methods", rule.methods);
    write_array(writer, "uris", rule.uris);
    write_array(writer, "names", rule.names);
    write_array(writer, "scopes", rule.scopes);
    writer.end_object().end_object();
    print_json(line);
  };
  if (!rules.always_required.empty()) print_rule({{}, {}, {}, rules.always_required});
  std::for_each(rules.rules.begin(), rules.rules.end(), print_rule);
}

/// Prints lines with the prefix `prefix`, or one JSON array of them.
void print_lines(std::string_view key, const std::vector<std::string>& lines, bool as_json, const std::string& prefix = {}) {
  if (lines.empty()) return;
  if (!as_json) {
    for (const auto& line : lines) print(prefix + sanitize(line) + '\n');
    return;
  }
  std::string line;
  json::writer writer(line);
  writer.begin_object();
  write_array(writer, key, lines);
  writer.end_object();
  print_json(line);
}

/// The exit code after a source failed. `previous`: the code so far. A wrong table value that only the service or the disk can
/// detect is a usage error like any other.
int exit_code_after(const failure& error, int previous) {
  return error.code == errc::invalid_argument || previous == exit_usage ? exit_usage : exit_server;
}

/// The schemes of all source types, of configured links and of search.
std::vector<scheme_documentation> all_schemes() {
  std::vector<scheme_documentation> schemes;
  for (const auto& type : provider_types()) schemes.push_back(type.describe_scheme());
  schemes.push_back(links::links_provider({}).documentation());
  schemes.push_back(search::describe_search());
  return schemes;
}

void write_schemes_json() {
  std::string text;
  json::writer writer(text);
  writer.begin_array();
  for (const auto& scheme : all_schemes()) {
    writer.begin_object().member("scheme", scheme.scheme).member("summary", scheme.summary);
    writer.key("forms").begin_array();
    for (const auto& form : scheme.forms) {
      writer.begin_object().member("uriTemplate", form.uri_template).member("meaning", form.meaning).end_object();
    }
    writer.end_array().key("kinds").begin_array();
    for (const auto& kind : scheme.kinds)
      writer.begin_object().member("name", kind.name).member("meaning", kind.meaning).end_object();
    writer.end_array().end_object();
  }
  writer.end_array();
  print_json(text);
}

void write_schemes_text(bool as_markdown) {
  if (as_markdown) {
    print(
        "# URI schemes\n\nWritten by `hondana schemes --markdown`; do not edit.\n\n"
        "Parameters can have any order. A parameter without a value counts as absent. Unknown, repeated and wrong parameters "
        "are errors, such as:\n\n"
        "* `unknown parameter \"linse\"; file:// knows: lines, bytes.`\n"
        "* `lines: given more than once. Give it once.`\n"
        "* `format=xml: unknown value; known: markdown, json.`\n\n");
  }
  const auto schemes = all_schemes();
  for (const auto& scheme : schemes) {
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
    if (&scheme != &schemes.back()) print("\n");
  }
}

}  // namespace

int run(const check_command& command) {
  auto sources = command.sources;
  sources.own_files = {command.token_file};
  const log_deduplicator deduplicator(standard_log());
  assembly assembly(sources, deduplicator.log());
  auto parts = assembly.assemble();
  if (!parts) {
    print_error(parts.error());
    return exit_usage;
  }
  const auto warnings = check_written_folders(*parts);
  if (!warnings) {
    print_error(warnings.error());
    return exit_usage;
  }
  for (const auto& folder_warning : *warnings) print_message(folder_warning);
  if (auto search_status = check_search(parts->settings); !search_status) {
    print_error(search_status.error());
    return exit_usage;
  }
  // Confine like `serve`, so that the output shows what sources can do there.
  const auto http = listening_options({}, parts->settings.http, {});
  // Leave out the folders that `serve` would create: that of the audit log, and that of a new index.
  auto confined = *parts;
  confined.settings.audit.reset();
  std::error_code problem;
  if (auto& search = confined.settings.search; search && search->path && !std::filesystem::exists(*search->path, problem))
    search->path.reset();
  auto sandbox = server_sandbox::create(
      confined, {.http = &http, .config_file = command.sources.config_file, .token_file = command.token_file}, standard_log());
  if (!sandbox) {
    print_error(sandbox.error());
    return exit_server;
  }
  // Some errors show only when all sources are combined, such as two sources that serve the same URIs.
  auto server = server::create();
  if (const auto status = server ? server->replace(parts->options, parts->providers) : tl::unexpected(server.error());
      !status) {
    print_error(status.error());
    return exit_usage;
  }
  if (auto listening_status = check_listening({}, parts->settings); !listening_status) {
    print_error(listening_status.error());
    return exit_usage;
  }
  if (command.identity) {
    if (const auto reason = unknown_caller_reason(parts->settings, command.token_file, *command.identity); !reason.empty())
      print_message("--as: " + reason);
    return explain_access(command, *server, parts->options);
  }
  // A socket may still come from a flag or from the process that starts the server, and tokens from a flag.
  const auto& tls = parts->settings.http.tls;
  const bool requests_certificates = tls && tls->client_ca_file;
  const auto authentication =
      make_authentication_setup(parts->settings, command.token_file, {requests_certificates, true}, standard_log());
  if (!authentication) {
    print_error(authentication.error());
    return exit_usage;
  }
  // How `serve` would tell callers apart; empty if it would not.
  print_lines("callers", authentication->method_descriptions, command.as_json, "callers over HTTP  by ");
  print_sandbox(*sandbox, command.as_json);
  print_lines("inForce", describe_active_settings(*parts), command.as_json);
  int code = print_index(parts->settings, command.as_json) ? exit_ok : exit_server;
  print_tokenizer(parts->settings, command.as_json);
  if (const auto& search = parts->settings.search) {
    if (const auto requirements = search::needs_of(*search)) print_requirements("search", *requirements, command.as_json);
  }
  print_audit_requirements(parts->settings, command.as_json);
  const auto& rules = parts->settings.scopes;
  print_rules(rules, command.as_json);
  rule_usage usage(parts->settings);
  prefix_usage prefixes(parts->settings);
  std::size_t served = 0;
  std::size_t left_out = 0;
  for (const auto& provider : parts->providers) {
    if (!command.as_json) {
      for (const auto& claim : provider->claims()) print(provider->name() + "  " + claim + '\n');
    }
    print_requirements(provider->name(), provider->requirements(), command.as_json);
    const auto visit_item = [&](const inventory_item& item) {
      ++(item.is_served ? served : left_out);
      print_item(item, item.is_served ? usage.record_uri(item.uri) : std::vector<std::string>(), command.as_json);
    };
    auto* const inventory = dynamic_cast<inventory_source*>(provider.get());
    const auto outcome =
        inventory == nullptr ? model::visit_listed(*provider, {}, visit_item) : inventory->inventory({}, visit_item);
    // The index contains listed resources. The inventory of documents or settings has other lines, so list separately.
    const auto listed =
        prefixes.is_empty() || !outcome
            ? result<void>()
            : model::visit_listed(*provider, {}, [&](const inventory_item& item) { prefixes.record_uri(item.uri); });
    prefixes.finish_source(*provider, outcome && listed);
    if (!outcome) {
      const auto location = parts->locations.find(provider.get());
      deduplicator.report_error(outcome.error(), location == parts->locations.end() ? std::string() : location->second + ": ");
      code = exit_code_after(outcome.error(), code);
    }
  }
  for (const auto& unused_rule : usage.unused_warnings()) print_message(unused_rule);
  for (const auto& unknown_caller : unknown_caller_warnings(parts->settings, command.token_file, true))
    print_message(unknown_caller);
  for (const auto& unknown_kind : unknown_kind_warnings(parts->settings, parts->providers)) print_message(unknown_kind);
  for (const auto& search_warning : search_warnings(parts->settings, parts->providers)) print_message(search_warning);
  for (const auto& unused_prefix : prefixes.unused_warnings()) print_message(unused_prefix);
  if (!command.as_json) print(std::to_string(served) + " served, " + std::to_string(left_out) + " left out\n");
  return finish_output(code);
}

int run(const schemes_command& command) {
  if (command.as_json) {
    write_schemes_json();
  } else {
    write_schemes_text(command.as_markdown);
  }
  return finish_output(exit_ok);
}

int run(const print_command& command) {
  if (command.exit_code == 0) {
    print(command.text);
  } else {
    std::fputs(command.text.c_str(), stderr);
  }
  return finish_output(command.exit_code);
}

}  // namespace hondana::cli
