/// Rules beside templates and names instead of URIs.
#include "app/cli/explaining_offered.hpp"

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>

#include "app/cli/output.hpp"
#include "app/cli/visible.hpp"
#include "base/json/writer.hpp"
#include "server/access/judge.hpp"
#include "server/access/rules.hpp"
#include "server/session/granted.hpp"

namespace hondana::cli {
namespace {

using rule_share = access::rule::share;

/// What one rule says of one thing.
struct share_finding {
  std::size_t number = 0;
  grant gives = grant::none;
  bool is_about_caller = false;
  bool looks_at_entries = false;
  rule_share about = rule_share::none;
  bool decides = false;
};

/// `about` tells how much of the thing a rule is about.
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

/// The last rule that is about the caller and the thing.
void decide_by_name(std::vector<share_finding>& all) {
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    if (!one->is_about_caller || one->about == rule_share::none) continue;
    one->decides = true;
    return;
  }
}

/// A template is listed as long as something that it stands for may be; see `access::decisions::may_see_some`.
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
  std::string_view what;  ///< "template", "tool" or "prompt".
  std::string name;
  std::vector<share_finding> findings{};
  std::string missing{};  ///< What to say where there is no such thing.
  std::string undecided = "no rule matches it, so it does not exist for this caller";
  bool may_list = true;
  std::optional<bool> may_use{};  ///< Nothing where that is not decided here.
  std::string_view use{};         ///< "call", "get"
  std::string lacking{};          ///< Of scopes.
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

/// What scopes keep the caller from; empty: nothing.
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

}  // namespace hondana::cli
