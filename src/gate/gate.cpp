/// The rules about scopes.
#include "gate/gate.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "gate/request_names.hpp"
#include "model/scope.hpp"

namespace hondana::gate {
namespace {

bool is_template(std::string_view text) { return text.find('{') != std::string_view::npos; }

tl::unexpected<failure> refuse(const std::string& why) { return fail(errc::invalid_argument, "Scope rules: " + why); }

result<void> check_scopes(const std::vector<std::string>& all) {
  for (const auto& one : all) {
    if (!model::is_scope(one)) {
      return refuse(
          "\"" + one +
          "\" is no scope: write at most 256 letters, digits and signs without spaces, quotation marks and backslashes.");
    }
  }
  return {};
}

result<void> check_rule(const scope_rule& rule) {
  if (rule.scopes.empty()) return refuse("a rule has no scopes. Name those that are needed, or leave the rule out.");
  if (auto sound = check_scopes(rule.scopes); !sound) return sound;
  for (const auto& one : rule.methods) {
    if (!is_method(one)) {
      return refuse("\"" + one +
                    "\" is not the name of a request that a rule may be about. Write for example resources/read, "
                    "resources/list, resources/subscribe, tools/call or prompts/get.");
    }
  }
  for (const auto& one : rule.uris) {
    if (is_template(one)) {
      if (const auto compiled = uri_template::compile(one); !compiled) return refuse(compiled.error().public_text);
      continue;
    }
    const auto canonical = canonical_uri(one);
    if (!canonical) return refuse("\"" + one + "\": " + canonical.error().public_text);
    if (*canonical != one) return refuse("\"" + one + "\" is not how URIs are compared here. Write " + *canonical + ".");
  }
  return {};
}

using inclusions = std::map<std::string, std::set<std::string>>;

/// What each scope includes, at any depth. Grows until nothing is new: a scope that includes itself then is in a circle.
inclusions close_over(const std::map<std::string, std::vector<std::string>>& implied) {
  inclusions out;
  for (const auto& [scope, narrower] : implied) out[scope].insert(narrower.begin(), narrower.end());
  for (bool is_growing = true; is_growing;) {
    is_growing = false;
    for (auto& [scope, all] : out) {
      const auto before = all.size();
      for (const auto& one : std::set<std::string>(all)) {
        if (const auto found = out.find(one); found != out.end()) all.insert(found->second.begin(), found->second.end());
      }
      is_growing = is_growing || all.size() != before;
    }
  }
  return out;
}

bool fits(const scope_rule& rule, const std::vector<uri_template>& templates, const subject& about) {
  const auto is_any_of = [](const auto& wanted, std::string_view one) {
    return std::find(wanted.begin(), wanted.end(), one) != wanted.end();
  };
  const auto is_method_meant = [&](std::string_view one) { return is_any_of(rule.methods, one); };
  if (!rule.methods.empty() && std::none_of(about.methods.begin(), about.methods.end(), is_method_meant)) return false;
  if (!rule.names.empty() && (about.name.empty() || !is_any_of(rule.names, about.name))) return false;
  const auto is_uri_meant = [&](std::string_view uri) {
    // A part of a resource is as protected as the whole.
    const auto whole = uri.substr(0, uri.find_first_of("?#"));
    const auto is_within = [&](std::string_view prefix) {
      // "a/" is about what is in the folder "a", and reading that folder brings it.
      return covers(prefix, uri) || (prefix.ends_with('/') && prefix.substr(0, prefix.size() - 1) == whole);
    };
    if (std::any_of(rule.uris.begin(), rule.uris.end(), is_within)) return true;
    return std::any_of(templates.begin(), templates.end(),
                       [&](const auto& one) { return one.match(uri).has_value() || one.match(whole).has_value(); });
  };
  return rule.uris.empty() || std::any_of(about.uris.begin(), about.uris.end(), is_uri_meant);
}

std::string listed(const std::vector<std::string>& scopes) {
  std::string out;
  for (const auto& one : scopes) out += (out.empty() ? "" : " ") + one;
  return out;
}

}  // namespace

result<std::shared_ptr<const gate>> gate::make(scope_rules rules) {
  if (auto sound = check(rules); !sound) return tl::unexpected(std::move(sound.error()));
  const auto made = std::make_shared<gate>();
  made->rules_ = std::move(rules);
  made->included_ = close_over(made->rules_.implied);
  for (const auto& rule : made->rules_.rules) {
    auto& templates = made->templates_.emplace_back();
    for (const auto& one : rule.uris) {
      if (!is_template(one)) continue;
      auto compiled = uri_template::compile(one);
      if (!compiled) return tl::unexpected(std::move(compiled.error()));
      templates.push_back(std::move(*compiled));
    }
  }
  return std::shared_ptr<const gate>(made);
}

std::vector<std::string> gate::all() const {
  auto out = rules_.always;
  std::set<std::string> seen(out.begin(), out.end());
  const auto add = [&](const std::string& one) {
    if (seen.insert(one).second) out.push_back(one);
  };
  for (const auto& rule : rules_.rules) std::for_each(rule.scopes.begin(), rule.scopes.end(), add);
  for (const auto& [scope, narrower] : rules_.implied) add(scope);
  return out;
}

gate::scopes gate::needed_for(const model::operation& what) const {
  auto needed = rules_.always;
  const auto about = subject_of(what);
  for (std::size_t i = 0; !about.methods.empty() && i < rules_.rules.size(); ++i) {
    if (!fits(rules_.rules[i], templates_[i], about)) continue;
    for (const auto& one : rules_.rules[i].scopes) {
      if (std::find(needed.begin(), needed.end(), one) == needed.end()) needed.push_back(one);
    }
  }
  return needed;
}

bool gate::has(const proof& given, const std::string& scope) const {
  return std::any_of(given.scopes.begin(), given.scopes.end(), [&](const std::string& one) {
    if (one == scope) return true;
    const auto broader = included_.find(one);
    return broader != included_.end() && broader->second.contains(scope);
  });
}

result<void> gate::admit(const caller& who, const model::operation& what) const {
  if (!who.proof || (rules_.always.empty() && rules_.rules.empty())) return {};
  auto needed = needed_for(what);
  const bool is_enough =
      std::all_of(needed.begin(), needed.end(), [&](const std::string& one) { return has(*who.proof, one); });
  if (is_enough) return {};
  failure why{errc::scope_missing,
              "Not allowed: this needs the scopes " + listed(needed) +
                  ", and what the caller has shown lacks some. Ask for a token with all of them.",
              {}};
  why.scopes = std::make_shared<const scopes>(std::move(needed));
  return tl::unexpected(std::move(why));
}

}  // namespace hondana::gate

namespace hondana::inline v0 {

result<void> check(const scope_rules& rules) {
  if (auto sound = gate::check_scopes(rules.always); !sound) return sound;
  for (const auto& rule : rules.rules) {
    if (auto sound = gate::check_rule(rule); !sound) return sound;
  }
  for (const auto& [scope, narrower] : rules.implied) {
    if (auto sound = gate::check_scopes({scope}); !sound) return sound;
    if (auto sound = gate::check_scopes(narrower); !sound) return sound;
  }
  for (const auto& [scope, all] : gate::close_over(rules.implied)) {
    if (all.contains(scope)) return gate::refuse("the scope \"" + scope + "\" includes itself by way of those it includes.");
  }
  return {};
}

}  // namespace hondana::inline v0
