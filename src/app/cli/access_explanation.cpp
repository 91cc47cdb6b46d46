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
#include "server/access/access_views.hpp"
#include "server/access/rules.hpp"
#include "server/core/core.hpp"
#include "server/session/request_execution.hpp"
#include "server/session/session.hpp"

namespace hondana::cli {

/// The caller to explain access for, and the output format.
struct explained_caller {
  const session::context& in;
  const access_rules& rules;  ///< The rules in force in `in`.
  const caller& who;
  bool as_json = false;
};

enum class offered { tool, prompt };

/// Prints the result of each access rule for the template, and whether the caller may list it. Rules decide each expanded URI
/// separately. Errors: invalid_argument if `text` is not a URI template.
[[nodiscard]] result<void> explain_template(const explained_caller& to, const std::string& text);
/// Does the same for a tool or a prompt, even one that no source offers.
void explain_offered(const explained_caller& to, offered kind, const std::string& name);

/// A grant as `hondana check` prints it: "deny", "allow list", "allow list, read".
[[nodiscard]] std::string_view spelled_grant(grant one) noexcept;

namespace {

using rule_share = access::rule::share;

/// The result of one rule for one template, tool or prompt.
struct share_finding {
  std::size_t number = 0;
  grant gives = grant::none;
  bool is_about_caller = false;
  bool looks_at_entries = false;
  rule_share about = rule_share::none;
  bool decides = false;
};

/// Evaluates every rule. `about` returns which share of the item a rule matches: all, some or none.
template <class About>
std::vector<share_finding> findings_of(const explained_caller& to, About about) {
  std::vector<share_finding> out;
  if (to.in.gate->judge() == nullptr) return out;
  for (const auto& one : to.in.gate->judge()->explain(to.who, {})) {
    const auto compiled = access::rule::make(to.rules.rules.at(one.number - 1), one.number);
    if (!compiled) throw std::logic_error("a rule that was checked before is not valid: " + compiled.error().public_text);
    out.push_back({one.number, one.gives, one.is_about_caller, compiled->looks_at_entries(), about(*compiled), false});
  }
  return out;
}

/// Marks the last rule that matches both the caller and the item as the deciding one.
void decide_by_name(std::vector<share_finding>& all) {
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    if (!one->is_about_caller || one->about == rule_share::none) continue;
    one->decides = true;
    return;
  }
}

/// Marks the rule that decides whether a template is listed: a template is listed if any URI that it matches may be listed. See
/// `access::decisions::may_see_some`.
void decide_by_share(std::vector<share_finding>& all) {
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    if (!one->is_about_caller || one->about == rule_share::none) continue;
    const bool hides_all = one->about == rule_share::all && !one->looks_at_entries;
    if (one->gives == grant::none && !hides_all) continue;
    one->decides = true;
    return;
  }
}

std::string reason_for(const share_finding& one, std::string_view what, bool is_decided) {
  if (one.decides) return "decides";
  if (!one.is_about_caller) return "does not match this caller";
  if (one.about == rule_share::none) return "is not about this " + std::string(what);
  return is_decided ? "matches only some of it" : "a later rule decides";
}

struct offered_verdict {
  std::string_view what;  ///< "template", "tool" or "prompt"
  std::string name;
  std::vector<share_finding> findings{};
  std::string missing{};  ///< Message for an item that no source offers; empty otherwise.
  std::string undecided = "no rule matches it, so it does not exist for this caller";
  bool may_list = true;
  std::optional<bool> may_use{};  ///< No value: not decided here, because each expanded URI is decided separately.
  std::string_view use{};         ///< "call" or "get"
  std::string lacking{};          ///< Message about missing scopes; empty: none are missing.
};

void print_offered(const offered_verdict& of, const std::string& identity) {
  print(std::string(of.what) + ' ' + visible(of.name) + '\n');
  bool is_decided = of.findings.empty();
  for (const auto& one : of.findings) is_decided = is_decided || one.decides;
  bool is_past = false;
  for (const auto& one : of.findings) {
    is_past = is_past || one.decides;
    print("  rule " + std::to_string(one.number) + " (" + std::string(spelled_grant(one.gives)) + ")  " +
          reason_for(one, of.what, !is_decided || is_past) + '\n');
  }
  if (of.findings.empty()) print("  no access rules: every caller may list and use everything\n");
  if (!is_decided) print("  " + of.undecided + '\n');
  if (!of.missing.empty()) print("  " + of.missing + '\n');
  if (!of.lacking.empty()) print("  " + visible(of.lacking) + '\n');
  const auto who = visible(identity);
  auto line = "  " + who + (of.may_list ? " may list it" : " may not list it");
  if (of.may_use) line += (*of.may_use ? " and may " : " and may not ") + std::string(of.use) + " it";
  print(line + (of.may_use ? "\n" : "; each expanded URI is decided separately\n"));
}

void print_offered_line(const offered_verdict& of, const std::string& identity) {
  std::string line;
  json::writer to(line);
  to.begin_object().member(of.what, of.name).member("identity", identity).key("list").boolean(of.may_list);
  if (of.may_use) to.key(of.use).boolean(*of.may_use);
  if (!of.missing.empty()) to.key("exists").boolean(false);
  to.member_if("lacking", of.lacking).key("rules").begin_array();
  for (const auto& one : of.findings) {
    to.begin_object().key("rule").unsigned_integer(one.number).member("gives", spelled_grant(one.gives));
    to.key("caller").boolean(one.is_about_caller);
    to.member("about", one.about == rule_share::none ? "nothing" : one.about == rule_share::some ? "some" : "all");
    to.key("decides").boolean(one.decides).end_object();
  }
  to.end_array().end_object();
  print_json(line);
}

void tell_offered(const explained_caller& to, const offered_verdict& what) {
  to.as_json ? print_offered_line(what, to.who.identity) : print_offered(what, to.who.identity);
}

/// Message about the scopes that the caller lacks; empty: none.
std::string lacking_for(const explained_caller& to, const model::operation& what) {
  const auto admitted = to.in.gate->admit(to.who, what);
  return admitted ? std::string() : admitted.error().public_text;
}

grant granted(const explained_caller& to, offered kind, const std::string& name, bool is_built_in) {
  const auto by = to.in.gate->decisions_of(to.who);
  if (!by) return grant::read;
  return kind == offered::tool ? by->of_tool(name, is_built_in) : by->of_prompt(name);
}

}  // namespace

std::string_view spelled_grant(grant one) noexcept {
  if (one == grant::none) return "deny";
  return one == grant::list ? "allow list" : "allow list, read";
}

result<void> explain_template(const explained_caller& to, const std::string& text) {
  HONDANA_TRY(const auto compiled, uri_template::compile(text));
  offered_verdict made{.what = "template", .name = text};
  made.findings = findings_of(to, [&](const access::rule& one) { return one.share_of(compiled); });
  decide_by_share(made.findings);
  const auto seen = to.in.gate->view_of(to.who);
  made.lacking = lacking_for(to, model::list_templates{});
  made.may_list = (!seen || seen->may_see_some(compiled)) && made.lacking.empty();
  tell_offered(to, made);
  return {};
}

void explain_offered(const explained_caller& to, offered kind, const std::string& name) {
  const bool is_tool = kind == offered::tool;
  offered_verdict made{.what = is_tool ? "tool" : "prompt", .name = name};
  made.use = is_tool ? "call" : "get";
  made.findings = findings_of(to, [&](const access::rule& one) {
    return (is_tool ? one.is_about_tool(name) : one.is_about_prompt(name)) ? rule_share::all : rule_share::none;
  });
  decide_by_name(made.findings);
  const auto* tool = is_tool ? to.in.handlers->find_tool(name) : nullptr;
  const bool is_there = is_tool ? tool != nullptr : to.in.handlers->find_prompt(name) != nullptr;
  if (!is_there) made.missing = "unknown " + std::string(made.what) + " here";
  const bool is_built_in = tool != nullptr && tool->manners.is_built_in;
  if (is_built_in)
    made.undecided = "no rule matches it: it shows only what this caller may see, and is available unless a rule denies it";
  const auto given = granted(to, kind, name, is_built_in);
  made.lacking = lacking_for(to, is_tool ? model::operation(model::call_tool{name, value::object{}, {}})
                                         : model::operation(model::get_prompt{name, {}, {}}));
  made.may_list = is_there && given >= grant::list;
  made.may_use = is_there && given >= grant::read && made.lacking.empty();
  tell_offered(to, made);
}

namespace {

caller caller_of(const check_command& what, const access_rules& rules) {
  caller who{*what.as, {}, nullptr};
  if (what.groups.empty() && what.scopes.empty()) return who;
  value::array groups;
  for (const auto& one : what.groups) groups.emplace_back(one);
  proof shown;
  shown.scopes = what.scopes;
  shown.claims = value::object{{rules.group_claim, std::move(groups)}};
  who.proof = std::make_shared<const proof>(std::move(shown));
  return who;
}

/// The entry as the caller sees it. A caller without an access filter sees everything.
result<resource> entry_for(const session::context& in, caller who, const std::string& uri) {
  constexpr std::chrono::seconds patience{10};
  // Wait longer than the deadline, so that the source's own timeout error arrives first.
  constexpr std::chrono::seconds grace{1};
  call by;
  by.who = std::move(who);
  by.deadline = monotonic_clock::now() + patience;
  return one_answer<resource>(patience + grace, [&](auto done) { in.catalog->describe(by, uri, std::move(done)); });
}

/// The results of the rules for one spelling of a URI.
struct written {
  std::string uri;
  std::vector<access::finding> findings;
};

struct verdict {
  std::string uri;
  std::vector<access::finding> findings;
  std::vector<written> otherwise;         ///< Other spellings that a mounted server may use and that are granted less.
  bool is_incomparable = false;           ///< There are too many other spellings to check.
  std::string whole;                      ///< The resource that the URI is a part of; empty: the URI is not a part.
  std::vector<access::finding> of_whole;  ///< The rules' results for `whole`. A part is never granted more than its whole.
  bool is_hidden_by_target = false;       ///< Hidden because its target is hidden, such as the target of a symbolic link.
  bool may_list = true;
  bool may_read = true;
  std::string lacking;             ///< Message about missing scopes; empty: none.
  std::vector<std::string> needs;  ///< Scopes that reading needs, if the scopes of the caller are unknown.
};

/// The entry under another spelling, for a URI that its source does not know. Mounted servers may spell URIs differently.
/// `unknown`: the answer for the URI itself; returned unless its error is resource_not_found.
result<resource> entry_otherwise(const session::context& in, const std::string& uri, result<resource> unknown) {
  for (const auto& one : in.gate->other_spellings(uri).value_or(std::vector<std::string>())) {
    if (unknown || unknown.error().code != errc::resource_not_found) break;
    unknown = entry_for(in, {"local", {}, nullptr}, one);
  }
  return unknown;
}

grant granted_by(const std::vector<access::finding>& all) {
  const auto decides = std::find_if(all.begin(), all.end(), [](const access::finding& one) { return one.decides; });
  return decides == all.end() ? grant::none : decides->gives;
}

bool is_overruled(const verdict& of) { return of.is_incomparable || !of.otherwise.empty(); }

/// Collects the other spellings that are granted less. `entry`: the resource; its URI is replaced.
void look_otherwise(verdict& made, const session::context& in, const caller& who, resource entry) {
  const auto others = in.gate->other_spellings(made.uri);
  made.is_incomparable = !others;
  if (!others) return;
  for (const auto& one : *others) {
    entry.uri = one;
    auto findings = in.gate->judge()->explain(who, entry);
    if (granted_by(findings) < granted_by(made.findings)) made.otherwise.push_back({one, std::move(findings)});
  }
}

verdict judged(const session::context& in, const caller& who, const std::string& uri) {
  verdict made;
  made.uri = uri;
  const auto seen = in.gate->view_of(who);
  // If only scopes restrict the caller, there are no rules to explain; scopes are checked below.
  if (seen && in.gate->judge() != nullptr) {
    // The attributes that rules check. If the entry is missing or unavailable, only its URI is checked.
    const auto there = entry_for(in, {"local", {}, nullptr}, uri);
    const auto otherwise = entry_otherwise(in, uri, there);
    if (!otherwise && otherwise.error().code != errc::resource_not_found)
      say(uri + " cannot be read, so rules about kinds and audiences are checked against its URI only. " +
          otherwise.error().public_text);
    resource entry = otherwise.value_or(resource{});
    entry.uri = uri;
    made.findings = in.gate->judge()->explain(who, entry);
    made.may_list = in.gate->may_see(seen.get(), entry);
    made.may_read = in.gate->may_read(seen.get(), entry);
    look_otherwise(made, in, who, entry);
    if (const auto whole = access::whole_of(uri); whole.size() != uri.size()) {
      entry.uri = made.whole = whole;
      made.of_whole = in.gate->judge()->explain(who, entry);
    }
    if (there && made.may_list) {
      auto as_caller = who;
      as_caller.view = seen;
      const auto shown = entry_for(in, std::move(as_caller), uri);
      made.is_hidden_by_target = !shown && shown.error().code == errc::resource_not_found;
    }
    if (made.is_hidden_by_target) made.may_list = made.may_read = false;
  }
  const auto& name = who.identity;
  if (!who.proof && name != "local" && name != "anonymous" && !name.starts_with("uid:")) {
    made.needs = in.gate->needed_for(model::read_resource{uri, uri});
  }
  if (const auto admitted = in.gate->admit(who, model::read_resource{uri, uri}); !admitted) {
    made.lacking = admitted.error().public_text;
    made.may_read = false;
  }
  return made;
}

/// `is_final` is false if another spelling of the URI is granted less and overrules the deciding rule.
std::string reason_of(const access::finding& one, bool is_final) {
  if (one.decides) return is_final ? "decides" : "would decide, except for other spellings";
  if (!one.is_about_caller) return "does not match this caller";
  if (!one.is_about_uri) return "is not about this URI";
  if (!one.is_about_entry) return "does not match this kind or audience";
  return "a later rule decides";
}

void print_findings(const std::vector<access::finding>& all, bool is_final = true) {
  bool is_decided = all.empty();
  for (const auto& one : all) {
    is_decided = is_decided || one.decides;
    print("  rule " + std::to_string(one.number) + " (" + std::string(spelled_grant(one.gives)) + ")  " +
          reason_of(one, is_final) + '\n');
  }
  if (!is_decided) print("  no rule matches it, so it does not exist for this caller\n");
}

void print_text(const verdict& of, const std::string& identity) {
  print(visible(of.uri) + '\n');
  print_findings(of.findings, !is_overruled(of));
  for (const auto& [uri, findings] : of.otherwise) {
    print("  also written as " + visible(uri) + ":\n");
    print_findings(findings);
  }
  if (of.is_incomparable) print("  it has too many other spellings to compare, so it does not exist for this caller\n");
  if (!of.whole.empty())
    print("  it is a part, which the caller may list and read only together with the whole, " + visible(of.whole) + '\n');
  print_findings(of.of_whole);
  if (of.is_hidden_by_target) print("  hidden, because its target is hidden\n");
  if (of.findings.empty()) print("  no access rules: every caller may list and read everything\n");
  if (!of.lacking.empty()) print("  " + visible(of.lacking) + '\n');
  const std::string who = visible(identity);
  if (!of.needs.empty() && of.may_read) {
    print("  " + who + " may list it; reading needs the " + (of.needs.size() == 1 ? "scope " : "scopes ") +
          model::joined(of.needs) + ", which --scope gives here\n");
    return;
  }
  print("  " + who + (of.may_list ? " may list it" : " may not list it") +
        (of.may_read ? " and may read it\n" : " and may not read it\n"));
}

void write_findings(json::writer& to, const std::vector<access::finding>& all, bool is_final = true) {
  to.begin_array();
  for (const auto& one : all) {
    to.begin_object().key("rule").unsigned_integer(one.number).member("gives", spelled_grant(one.gives));
    to.key("caller").boolean(one.is_about_caller).key("uri").boolean(one.is_about_uri);
    to.key("entry").boolean(one.is_about_entry).key("decides").boolean(one.decides && is_final).end_object();
  }
  to.end_array();
}

void print_line(const verdict& of, const std::string& identity) {
  std::string line;
  json::writer to(line);
  to.begin_object().member("uri", of.uri).member("identity", identity).key("list").boolean(of.may_list);
  to.key("read").boolean(of.may_read).member_if("lacking", of.lacking).member_if("needs", model::joined(of.needs));
  if (of.is_hidden_by_target) to.key("hiddenByTarget").boolean(true);
  to.key("rules");
  write_findings(to, of.findings, !is_overruled(of));
  if (of.is_incomparable) to.key("tooManySpellings").boolean(true);
  if (!of.otherwise.empty()) {
    to.key("spellings").begin_array();
    for (const auto& [uri, findings] : of.otherwise) {
      write_findings(to.begin_object().member("uri", uri).key("rules"), findings);
      to.end_object();
    }
    to.end_array();
  }
  if (!of.whole.empty()) write_findings(to.member("whole", of.whole).key("rulesOfWhole"), of.of_whole);
  to.end_object();
  print_json(line);
}

}  // namespace

int explain(const check_command& what, server& of, const server_options& options) {
  const auto in = of.engine()->current();
  const auto who = caller_of(what, options.access);
  const explained_caller to{*in, options.access, who, what.as_json};
  for (const auto& one : what.uris) {
    // A URI never contains braces; a template does.
    if (one.find('{') != std::string::npos) {
      if (const auto told = explain_template(to, one); !told) {
        complain({errc::invalid_argument, "\"" + one + "\" is not a URI template: " + told.error().public_text, {}});
        return exit_usage;
      }
      continue;
    }
    const auto uri = canonical_uri(one);
    if (!uri) {
      complain(
          {errc::invalid_argument, "\"" + one + "\" is not a URI: " + uri.error().public_text + " With --as, give URIs.", {}});
      return exit_usage;
    }
    const auto found = judged(*in, who, *uri);
    if (what.as_json) {
      print_line(found, *what.as);
    } else {
      print_text(found, *what.as);
    }
  }
  for (const auto& one : what.tools) explain_offered(to, offered::tool, one);
  for (const auto& one : what.prompts) explain_offered(to, offered::prompt, one);
  return finish_output(exit_ok);
}

}  // namespace hondana::cli
