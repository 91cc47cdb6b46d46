/// Asking the rules that a server would ask, and telling what they say.
#include "app/cli/explaining.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "app/cli/exit_codes.hpp"
#include "app/cli/explaining_offered.hpp"
#include "app/cli/one_answer.hpp"
#include "app/cli/output.hpp"
#include "app/cli/visible.hpp"
#include "base/json/writer.hpp"
#include "protocol/model/scope.hpp"
#include "server/access/judge.hpp"
#include "server/core/core.hpp"

namespace hondana::cli {
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

/// What the caller is told of a resource; who has no view is told everything.
result<resource> entry_for(const session::context& in, caller who, const std::string& uri) {
  constexpr std::chrono::seconds patience{10};
  // What the source itself says of the deadline comes first.
  constexpr std::chrono::seconds grace{1};
  call by;
  by.who = std::move(who);
  by.deadline = monotonic_clock::now() + patience;
  return one_answer<resource>(patience + grace, [&](auto done) { in.catalog->describe(by, uri, std::move(done)); });
}

/// What rules say of a URI as it is written.
struct written {
  std::string uri;
  std::vector<access::finding> findings;
};

struct verdict {
  std::string uri;
  std::vector<access::finding> findings;
  std::vector<written> otherwise;         ///< How a mounted server may write it, where that is granted less.
  bool is_incomparable = false;           ///< There are too many of those.
  std::string whole;                      ///< Of which the URI is a part; empty: it is none.
  std::vector<access::finding> of_whole;  ///< A part may no more than this.
  bool is_hidden_by_target = false;       ///< By what it leads to, such as a link's target.
  bool may_list = true;
  bool may_read = true;
  std::string lacking;             ///< Of scopes; empty: nothing.
  std::vector<std::string> needs;  ///< Scopes for reading, where nothing was said of those that the caller has.
};

/// What a source says of a resource that it does not know by its URI: as a mounted server may write it otherwise. `unknown`:
/// what it said of the URI.
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

/// Looks for the spellings that are granted less. `entry`: what is there.
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
  // Scopes alone are said below.
  if (seen && in.gate->judge() != nullptr) {
    // What rules look at. Of what is not there, or cannot be had now, it is the URI.
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

/// `is_final`: whether what decides here decides at all.
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
    // No URI has braces.
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
