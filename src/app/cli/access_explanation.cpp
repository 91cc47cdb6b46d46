/// Explains why a caller may or may not list or read a resource, template, tool or prompt.
#include "app/cli/access_explanation.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/access.hpp>
#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/uri.hpp>

#include "app/cli/exit_codes.hpp"
#include "app/cli/output.hpp"
#include "base/json/writer.hpp"
#include "protocol/model/caller_checks.hpp"
#include "server/access/access_filters.hpp"
#include "server/access/rules.hpp"
#include "server/catalog/catalog.hpp"
#include "server/core/core.hpp"
#include "server/session/request_execution.hpp"
#include "server/session/session.hpp"

namespace hondana::cli {

/// The caller to explain access for, and the output format.
struct explain_context {
  const session::server_snapshot& snapshot;
  const access_rules& rules;  ///< The rules in force in `snapshot`.
  const caller_info& caller;
  bool as_json = false;
};

enum class item_kind { tool, prompt };

/// Prints the result of each access rule for the template, and whether the caller may list it. Rules decide each expanded URI
/// separately. Errors: invalid_argument if `text` is not a URI template.
[[nodiscard]] result<void> explain_template(const explain_context& context, const std::string& text);
/// Does the same for a tool or a prompt, even one that no source offers.
void explain_item(const explain_context& context, item_kind kind, const std::string& name);

/// An access level as `hondana check` prints it: "deny", "allow list", "allow list, read".
[[nodiscard]] std::string_view describe_level(access_level level) noexcept;

namespace {

using rule_coverage = access::rule::coverage;

/// The result of one rule for one template, tool or prompt.
struct coverage_finding {
  std::size_t number = 0;
  access_level level = access_level::none;
  bool matches_caller = false;
  bool has_entry_conditions = false;
  rule_coverage coverage = rule_coverage::none;
  bool decides = false;
};

/// Evaluates every rule. `coverage_of` returns the coverage of the item by a rule: full, partial or none.
template <class Coverage>
std::vector<coverage_finding> evaluate_rules(const explain_context& context, Coverage coverage_of) {
  std::vector<coverage_finding> out;
  if (context.snapshot.gate->policy() == nullptr) return out;
  for (const auto& evaluation : context.snapshot.gate->policy()->explain(context.caller, {})) {
    const auto compiled = access::rule::make(context.rules.rules.at(evaluation.number - 1), evaluation.number);
    if (!compiled) throw std::logic_error("a rule that was checked before is not valid: " + compiled.error().public_text);
    out.push_back({evaluation.number, evaluation.level, evaluation.matches_caller, compiled->has_entry_conditions(),
                   coverage_of(*compiled), false});
  }
  return out;
}

/// Marks the last rule that matches both the caller and the item as the deciding one.
void mark_deciding_rule(std::vector<coverage_finding>& findings) {
  for (auto finding = findings.rbegin(); finding != findings.rend(); ++finding) {
    if (!finding->matches_caller || finding->coverage == rule_coverage::none) continue;
    finding->decides = true;
    return;
  }
}

/// Marks the rule that decides whether a template is listed: a template is listed if any URI that it matches may be listed. See
/// `access::rule_filter::may_see_any`.
void mark_deciding_template_rule(std::vector<coverage_finding>& findings) {
  for (auto finding = findings.rbegin(); finding != findings.rend(); ++finding) {
    if (!finding->matches_caller || finding->coverage == rule_coverage::none) continue;
    const bool hides_all = finding->coverage == rule_coverage::full && !finding->has_entry_conditions;
    if (finding->level == access_level::none && !hides_all) continue;
    finding->decides = true;
    return;
  }
}

std::string finding_reason(const coverage_finding& finding, std::string_view kind_name, bool is_decided) {
  if (finding.decides) return "decides";
  if (!finding.matches_caller) return "does not match this caller";
  if (finding.coverage == rule_coverage::none) return "is not about this " + std::string(kind_name);
  return is_decided ? "matches only some of it" : "a later rule decides";
}

struct item_verdict {
  std::string_view kind_name;  ///< "template", "tool" or "prompt"
  std::string name;
  std::vector<coverage_finding> findings{};
  std::string missing{};  ///< Message for an item that no source offers; empty otherwise.
  std::string undecided = "no rule matches it, so it does not exist for this caller";
  bool may_list = true;
  std::optional<bool> may_use{};  ///< No value: not decided here, because each expanded URI is decided separately.
  std::string_view use_verb{};    ///< "call" or "get"
  std::string scope_error{};      ///< Message about missing scopes; empty: none are missing.
};

void print_item_verdict(const item_verdict& verdict, const std::string& identity) {
  print(std::string(verdict.kind_name) + ' ' + sanitize(verdict.name) + '\n');
  bool is_decided = verdict.findings.empty();
  for (const auto& candidate : verdict.findings) is_decided = is_decided || candidate.decides;
  bool is_past = false;
  for (const auto& finding : verdict.findings) {
    is_past = is_past || finding.decides;
    print("  rule " + std::to_string(finding.number) + " (" + std::string(describe_level(finding.level)) + ")  " +
          finding_reason(finding, verdict.kind_name, !is_decided || is_past) + '\n');
  }
  if (verdict.findings.empty()) print("  no access rules: every caller may list and use everything\n");
  if (!is_decided) print("  " + verdict.undecided + '\n');
  if (!verdict.missing.empty()) print("  " + verdict.missing + '\n');
  if (!verdict.scope_error.empty()) print("  " + sanitize(verdict.scope_error) + '\n');
  const auto visible_identity = sanitize(identity);
  auto line = "  " + visible_identity + (verdict.may_list ? " may list it" : " may not list it");
  if (verdict.may_use) line += (*verdict.may_use ? " and may " : " and may not ") + std::string(verdict.use_verb) + " it";
  print(line + (verdict.may_use ? "\n" : "; each expanded URI is decided separately\n"));
}

void print_item_json(const item_verdict& verdict, const std::string& identity) {
  std::string line;
  json::writer writer(line);
  writer.begin_object()
      .member(verdict.kind_name, verdict.name)
      .member("identity", identity)
      .key("list")
      .boolean(verdict.may_list);
  if (verdict.may_use) writer.key(verdict.use_verb).boolean(*verdict.may_use);
  if (!verdict.missing.empty()) writer.key("exists").boolean(false);
  writer.member_if("lacking", verdict.scope_error).key("rules").begin_array();
  for (const auto& finding : verdict.findings) {
    writer.begin_object().key("rule").unsigned_integer(finding.number).member("gives", describe_level(finding.level));
    writer.key("caller").boolean(finding.matches_caller);
    writer.member("about", finding.coverage == rule_coverage::none      ? "nothing"
                           : finding.coverage == rule_coverage::partial ? "some"
                                                                        : "all");
    writer.key("decides").boolean(finding.decides).end_object();
  }
  writer.end_array().end_object();
  print_json(line);
}

void report_verdict(const explain_context& context, const item_verdict& verdict) {
  context.as_json ? print_item_json(verdict, context.caller.identity) : print_item_verdict(verdict, context.caller.identity);
}

/// Message about the scopes that the caller lacks; empty: none.
std::string scope_error_for(const explain_context& context, const model::operation& operation) {
  const auto admitted = context.snapshot.gate->admit(context.caller, operation);
  return admitted ? std::string() : admitted.error().public_text;
}

access_level effective_level(const explain_context& context, item_kind kind, const std::string& name, bool is_built_in) {
  const auto filter = context.snapshot.gate->rule_filter_of(context.caller);
  if (!filter) return access_level::read;
  return kind == item_kind::tool ? filter->level_of_tool(name, is_built_in) : filter->level_of_prompt(name);
}

}  // namespace

std::string_view describe_level(access_level level) noexcept {
  if (level == access_level::none) return "deny";
  return level == access_level::list ? "allow list" : "allow list, read";
}

result<void> explain_template(const explain_context& context, const std::string& text) {
  HONDANA_TRY(const auto compiled, uri_template::compile(text));
  item_verdict verdict{.kind_name = "template", .name = text};
  verdict.findings = evaluate_rules(context, [&](const access::rule& rule) { return rule.coverage_of(compiled); });
  mark_deciding_template_rule(verdict.findings);
  const auto filter = context.snapshot.gate->filter_of(context.caller);
  verdict.scope_error = scope_error_for(context, model::list_templates{});
  verdict.may_list = (!filter || filter->may_see_any(compiled)) && verdict.scope_error.empty();
  report_verdict(context, verdict);
  return {};
}

void explain_item(const explain_context& context, item_kind kind, const std::string& name) {
  const bool is_tool = kind == item_kind::tool;
  item_verdict verdict{.kind_name = is_tool ? "tool" : "prompt", .name = name};
  verdict.use_verb = is_tool ? "call" : "get";
  verdict.findings = evaluate_rules(context, [&](const access::rule& rule) {
    return (is_tool ? rule.matches_tool(name) : rule.matches_prompt(name)) ? rule_coverage::full : rule_coverage::none;
  });
  mark_deciding_rule(verdict.findings);
  const auto* tool = is_tool ? context.snapshot.handlers->find_tool(name) : nullptr;
  const bool exists = is_tool ? tool != nullptr : context.snapshot.handlers->find_prompt(name) != nullptr;
  if (!exists) verdict.missing = "unknown " + std::string(verdict.kind_name) + " here";
  const bool is_built_in = tool != nullptr && tool->options.is_built_in;
  if (is_built_in)
    verdict.undecided = "no rule matches it: it shows only what this caller may see, and is available unless a rule denies it";
  const auto level = effective_level(context, kind, name, is_built_in);
  verdict.scope_error = scope_error_for(context, is_tool ? model::operation(model::call_tool{name, value::object{}, {}})
                                                         : model::operation(model::get_prompt{name, {}, {}}));
  verdict.may_list = exists && level >= access_level::list;
  verdict.may_use = exists && level >= access_level::read && verdict.scope_error.empty();
  report_verdict(context, verdict);
}

namespace {

caller_info make_caller(const check_command& command, const access_rules& rules) {
  caller_info caller{*command.identity, {}, nullptr};
  if (command.groups.empty() && command.scopes.empty()) return caller;
  value::array groups;
  for (const auto& group : command.groups) groups.emplace_back(group);
  auth_info auth;
  auth.scopes = command.scopes;
  auth.claims = value::object{{rules.group_claim, std::move(groups)}};
  caller.auth_info = std::make_shared<const auth_info>(std::move(auth));
  return caller;
}

/// Calls the catalog as this caller and waits for the answer. `call` gets the request's context and the callback.
template <class T, class Call>
result<T> call_catalog(caller_info caller, const Call& call) {
  constexpr std::chrono::seconds timeout{10};
  // Wait longer than the deadline, so that the source's own timeout error arrives first.
  constexpr std::chrono::seconds grace{1};
  request_context request;
  request.caller = std::move(caller);
  request.deadline = monotonic_clock::now() + timeout;
  return await_result<T>(timeout + grace, [&](auto callback) { call(request, std::move(callback)); });
}

/// The entry as the caller sees it. A caller without an access filter sees everything.
result<resource> fetch_entry(const session::server_snapshot& snapshot, caller_info caller, const std::string& uri) {
  return call_catalog<resource>(std::move(caller), [&](const request_context& request, auto callback) {
    snapshot.catalog->describe(request, uri, std::move(callback));
  });
}

/// Whether a source refuses this caller a resource that exists and whose URI the caller may read, such as a symbolic link. Only
/// the source knows the target of a link, so this reads the resource as the caller, and as a caller without restrictions.
bool is_target_unreadable(const session::server_snapshot& snapshot, caller_info caller, const std::string& uri) {
  caller.access_filter = snapshot.gate->filter_of(caller);
  if (!caller.access_filter) return false;
  const auto is_missing_for = [&](caller_info reader) {
    const auto answer =
        call_catalog<catalog::read_answer>(std::move(reader), [&](const request_context& request, auto callback) {
          catalog::read_options options;
          options.is_once = true;
          snapshot.catalog->read(request, uri, uri, std::move(options), std::move(callback));
        });
    return !answer && (answer.error().code == errc::resource_not_found || answer.error().code == errc::insufficient_scope);
  };
  return is_missing_for(std::move(caller)) && !is_missing_for({"local", {}, nullptr});
}

/// The scopes that reading needs: those of the URI, and those of the target of a link.
std::vector<std::string> find_required_scopes(const session::server_snapshot& snapshot, caller_info caller,
                                              const std::string& uri) {
  const model::read_resource reading{uri, uri};
  auto required = snapshot.gate->required_scopes(reading);
  const auto are_enough = [&](const std::vector<std::string>& scopes) {
    auth_info granted;
    granted.scopes = scopes;
    caller.auth_info = std::make_shared<const auth_info>(std::move(granted));
    return snapshot.gate->admit(caller, reading) && !is_target_unreadable(snapshot, caller, uri);
  };
  auto scopes = snapshot.gate->all_scopes();
  if (are_enough(required) || !are_enough(scopes)) return required;
  // Backwards, because scopes that include others come last.
  for (auto i = scopes.size(); i-- > 0;) {
    auto fewer = scopes;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (are_enough(fewer)) scopes = std::move(fewer);
  }
  return scopes;
}

/// The results of the rules for one spelling of a URI.
struct uri_form {
  std::string uri;
  std::vector<access::rule_evaluation> findings;
};

struct resource_verdict {
  std::string uri;
  std::vector<access::rule_evaluation> findings;
  std::vector<uri_form> other_forms;  ///< Other spellings that a mounted server may use and that are granted less.
  bool is_incomparable = false;       ///< There are too many other spellings to check.
  std::string whole_uri;              ///< The resource that the URI is a part of; empty: the URI is not a part.
  std::vector<access::rule_evaluation>
      whole_findings;                    ///< The rules' results for `whole_uri`. A part is never granted more than its whole.
  bool is_hidden_by_target = false;      ///< Hidden because its target is hidden, such as the target of a symbolic link.
  bool is_unreadable_by_target = false;  ///< Not readable because its target is not.
  bool may_list = true;
  bool may_read = true;
  std::string scope_error;                   ///< Message about missing scopes; empty: none.
  std::vector<std::string> required_scopes;  ///< Scopes that reading needs, if the scopes of the caller are unknown.
};

/// The entry under another spelling, for a URI that its source does not know. Mounted servers may spell URIs differently.
/// `entry`: the answer for the URI itself; returned unless its error is resource_not_found.
result<resource> fetch_other_form(const session::server_snapshot& snapshot, const std::string& uri, result<resource> entry) {
  for (const auto& form : snapshot.gate->other_forms(uri).value_or(std::vector<std::string>())) {
    if (entry || entry.error().code != errc::resource_not_found) break;
    entry = fetch_entry(snapshot, {"local", {}, nullptr}, form);
  }
  return entry;
}

access_level decided_level(const std::vector<access::rule_evaluation>& findings) {
  const auto deciding =
      std::find_if(findings.begin(), findings.end(), [](const access::rule_evaluation& finding) { return finding.decides; });
  return deciding == findings.end() ? access_level::none : deciding->level;
}

bool is_overruled(const resource_verdict& verdict) { return verdict.is_incomparable || !verdict.other_forms.empty(); }

/// Collects the other spellings that are granted less. `entry`: the resource; its URI is replaced.
void compare_other_forms(resource_verdict& verdict, const session::server_snapshot& snapshot, const caller_info& caller,
                         resource entry) {
  const auto forms = snapshot.gate->other_forms(verdict.uri);
  verdict.is_incomparable = !forms;
  if (!forms) return;
  for (const auto& form : *forms) {
    entry.uri = form;
    auto findings = snapshot.gate->policy()->explain(caller, entry);
    if (decided_level(findings) < decided_level(verdict.findings)) verdict.other_forms.push_back({form, std::move(findings)});
  }
}

resource_verdict evaluate_access(const session::server_snapshot& snapshot, const caller_info& caller, const std::string& uri) {
  resource_verdict verdict;
  verdict.uri = uri;
  const auto filter = snapshot.gate->filter_of(caller);
  // If only scopes restrict the caller, there are no rules to explain; scopes are checked below.
  if (filter && snapshot.gate->policy() != nullptr) {
    // The attributes that rules check. If the entry is missing or unavailable, only its URI is checked.
    const auto local_entry = fetch_entry(snapshot, {"local", {}, nullptr}, uri);
    const auto resolved = fetch_other_form(snapshot, uri, local_entry);
    if (!resolved && resolved.error().code != errc::resource_not_found)
      print_message(uri + " cannot be read, so rules about kinds and audiences are checked against its URI only. " +
                    resolved.error().public_text);
    resource entry = resolved.value_or(resource{});
    entry.uri = uri;
    verdict.findings = snapshot.gate->policy()->explain(caller, entry);
    verdict.may_list = snapshot.gate->may_see(filter.get(), entry);
    verdict.may_read = snapshot.gate->may_read(filter.get(), entry);
    compare_other_forms(verdict, snapshot, caller, entry);
    if (const auto whole_uri = access::strip_query_and_fragment(uri); whole_uri.size() != uri.size()) {
      entry.uri = verdict.whole_uri = whole_uri;
      verdict.whole_findings = snapshot.gate->policy()->explain(caller, entry);
    }
    if (local_entry && verdict.may_list) {
      auto as_caller = caller;
      as_caller.access_filter = filter;
      const auto visible_entry = fetch_entry(snapshot, std::move(as_caller), uri);
      verdict.is_hidden_by_target = !visible_entry && visible_entry.error().code == errc::resource_not_found;
    }
    if (verdict.is_hidden_by_target) verdict.may_list = verdict.may_read = false;
  }
  if (const auto admitted = snapshot.gate->admit(caller, model::read_resource{uri, uri}); !admitted) {
    verdict.scope_error = admitted.error().public_text;
    verdict.may_read = false;
  }
  verdict.is_unreadable_by_target = verdict.may_read && is_target_unreadable(snapshot, caller, uri);
  if (verdict.is_unreadable_by_target) verdict.may_read = false;
  const auto& name = caller.identity;
  if (!caller.auth_info && name != "local" && name != "anonymous" && !name.starts_with("uid:"))
    verdict.required_scopes = find_required_scopes(snapshot, caller, uri);
  return verdict;
}

/// `is_final` is false if another spelling of the URI is granted less and overrules the deciding rule.
std::string evaluation_reason(const access::rule_evaluation& evaluation, bool is_final) {
  if (evaluation.decides) return is_final ? "decides" : "would decide, except for other spellings";
  if (!evaluation.matches_caller) return "does not match this caller";
  if (!evaluation.matches_uri) return "is not about this URI";
  if (!evaluation.matches_entry) return "does not match this kind or audience";
  return "a later rule decides";
}

void print_findings(const std::vector<access::rule_evaluation>& findings, bool is_final = true) {
  bool is_decided = findings.empty();
  for (const auto& finding : findings) {
    is_decided = is_decided || finding.decides;
    print("  rule " + std::to_string(finding.number) + " (" + std::string(describe_level(finding.level)) + ")  " +
          evaluation_reason(finding, is_final) + '\n');
  }
  if (!is_decided) print("  no rule matches it, so it does not exist for this caller\n");
}

void print_text(const resource_verdict& verdict, const std::string& identity) {
  print(sanitize(verdict.uri) + '\n');
  print_findings(verdict.findings, !is_overruled(verdict));
  for (const auto& [uri, findings] : verdict.other_forms) {
    print("  also written as " + sanitize(uri) + ":\n");
    print_findings(findings);
  }
  if (verdict.is_incomparable) print("  it has too many other spellings to compare, so it does not exist for this caller\n");
  if (!verdict.whole_uri.empty())
    print("  it is a part, which the caller may list and read only together with the whole, " + sanitize(verdict.whole_uri) +
          '\n');
  print_findings(verdict.whole_findings);
  if (verdict.is_hidden_by_target) print("  hidden, because its target is hidden\n");
  if (verdict.is_unreadable_by_target) print("  not readable, because its target is not readable\n");
  if (verdict.findings.empty()) print("  no access rules: every caller may list and read everything\n");
  if (!verdict.scope_error.empty()) print("  " + sanitize(verdict.scope_error) + '\n');
  const std::string visible_identity = sanitize(identity);
  if (!verdict.required_scopes.empty() && verdict.may_read) {
    print("  " + visible_identity + " may list it; reading needs the " +
          (verdict.required_scopes.size() == 1 ? "scope " : "scopes ") + model::join_words(verdict.required_scopes) +
          ", which --scope gives here\n");
    return;
  }
  print("  " + visible_identity + (verdict.may_list ? " may list it" : " may not list it") +
        (verdict.may_read ? " and may read it\n" : " and may not read it\n"));
}

void write_findings(json::writer& writer, const std::vector<access::rule_evaluation>& findings, bool is_final = true) {
  writer.begin_array();
  for (const auto& finding : findings) {
    writer.begin_object().key("rule").unsigned_integer(finding.number).member("gives", describe_level(finding.level));
    writer.key("caller").boolean(finding.matches_caller).key("uri").boolean(finding.matches_uri);
    writer.key("entry").boolean(finding.matches_entry).key("decides").boolean(finding.decides && is_final).end_object();
  }
  writer.end_array();
}

void print_line(const resource_verdict& verdict, const std::string& identity) {
  std::string line;
  json::writer writer(line);
  writer.begin_object().member("uri", verdict.uri).member("identity", identity).key("list").boolean(verdict.may_list);
  writer.key("read")
      .boolean(verdict.may_read)
      .member_if("lacking", verdict.scope_error)
      .member_if("needs", model::join_words(verdict.required_scopes));
  if (verdict.is_hidden_by_target) writer.key("hiddenByTarget").boolean(true);
  if (verdict.is_unreadable_by_target) writer.key("unreadableByTarget").boolean(true);
  writer.key("rules");
  write_findings(writer, verdict.findings, !is_overruled(verdict));
  if (verdict.is_incomparable) writer.key("tooManySpellings").boolean(true);
  if (!verdict.other_forms.empty()) {
    writer.key("spellings").begin_array();
    for (const auto& [uri, findings] : verdict.other_forms) {
      write_findings(writer.begin_object().member("uri", uri).key("rules"), findings);
      writer.end_object();
    }
    writer.end_array();
  }
  if (!verdict.whole_uri.empty())
    write_findings(writer.member("whole", verdict.whole_uri).key("rulesOfWhole"), verdict.whole_findings);
  writer.end_object();
  print_json(line);
}

}  // namespace

int explain_access(const check_command& command, server& server, const server_options& options) {
  const auto snapshot = server.core()->current();
  const auto caller = make_caller(command, options.access);
  const explain_context context{*snapshot, options.access, caller, command.as_json};
  for (const auto& text : command.uris) {
    // A URI never contains braces; a template does.
    if (text.find('{') != std::string::npos) {
      if (const auto explained = explain_template(context, text); !explained) {
        print_error({errc::invalid_argument, "\"" + text + "\" is not a URI template: " + explained.error().public_text, {}});
        return exit_usage;
      }
      continue;
    }
    const auto uri = canonical_uri(text);
    if (!uri) {
      print_error(
          {errc::invalid_argument, "\"" + text + "\" is not a URI: " + uri.error().public_text + " With --as, give URIs.", {}});
      return exit_usage;
    }
    const auto verdict = evaluate_access(*snapshot, caller, *uri);
    if (command.as_json) {
      print_line(verdict, *command.identity);
    } else {
      print_text(verdict, *command.identity);
    }
  }
  for (const auto& tool_name : command.tools) explain_item(context, item_kind::tool, tool_name);
  for (const auto& prompt_name : command.prompts) explain_item(context, item_kind::prompt, prompt_name);
  return finish_output(exit_ok);
}

}  // namespace hondana::cli
