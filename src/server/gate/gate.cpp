/// The gate: decides by scopes and access rules whether a caller may perform an operation.
#include "server/gate/gate.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes/digest.hpp"
#include "base/uri/equivalent_uris.hpp"
#include "protocol/model/caller_checks.hpp"
#include "server/access/rules.hpp"
#include "server/gate/operation_names.hpp"

namespace hondana::gate {
namespace {

// An access filter that is removed is made again when it is needed.
constexpr std::size_t most_views = 1024;

class scoped_view final : public view {
 public:
  scoped_view(std::shared_ptr<const guarded_uris> all, const std::vector<bool>& lacking, std::shared_ptr<const view> through)
      : all_(std::move(all)), through_(std::move(through)) {
    auto spelled = "scopes " + std::to_string(through_ ? through_->id() : 0);
    for (std::size_t i = 0; i < lacking.size(); ++i) {
      if (!lacking[i]) continue;
      const auto& one = (*all_)[i];
      guarded_.push_back(&one);
      for (const auto& prefix : one.prefixes) (spelled += ' ') += std::to_string(prefix.size()) + ':' + prefix;
      for (const auto& made : one.templates) (spelled += ' ') += made.text();
      spelled += '\n';
    }
    id_ = bytes::digest_of(spelled)[0];
  }

  std::uint64_t id() const noexcept override { return id_; }
  bool may_see(std::string_view uri) const override { return !through_ || through_->may_see(uri); }
  bool may_read(std::string_view uri) const override { return (!through_ || through_->may_read(uri)) && has_scopes(uri); }
  bool looks_at_entries() const noexcept override { return through_ && through_->looks_at_entries(); }
  bool may_see_entry(const resource& entry) const override { return !through_ || through_->may_see_entry(entry); }
  bool may_read_entry(const resource& entry) const override {
    return (!through_ || through_->may_read_entry(entry)) && has_scopes(entry.uri);
  }
  bool may_see_some(const uri_template& of) const override { return !through_ || through_->may_see_some(of); }

 private:
  bool has_scopes(std::string_view uri) const {
    if (access::has_forms(uri)) return has_scopes_in_one_form(access::in_one_form(uri));
    return has_scopes_in_one_form(uri);
  }
  bool has_scopes_in_one_form(std::string_view uri) const {
    return std::none_of(guarded_.begin(), guarded_.end(), [uri](const auto* one) { return one->has(uri); });
  }

  std::shared_ptr<const guarded_uris> all_;
  std::shared_ptr<const view> through_;
  std::vector<const named_uris*> guarded_;
  std::uint64_t id_ = 0;
};

}  // namespace

bool named_uris::has(std::string_view uri) const {
  if (prefixes.empty() && templates.empty()) return true;
  // A part of a resource is as protected as the whole.
  const auto whole = access::whole_of(uri);
  return std::any_of(prefixes.begin(), prefixes.end(), [uri](const auto& one) { return access::is_about(one, uri); }) ||
         std::any_of(templates.begin(), templates.end(),
                     [&](const auto& one) { return one.match(uri).has_value() || one.match(whole).has_value(); });
}

scoped_views::scoped_views(guarded_uris all) : all_(std::make_shared<const guarded_uris>(std::move(all))) {}

std::shared_ptr<const view> scoped_views::narrow(const std::vector<bool>& lacking, std::shared_ptr<const view> through) const {
  if (std::find(lacking.begin(), lacking.end(), true) == lacking.end()) return through;
  const std::lock_guard lock(mutex_);
  const auto found = made_.find({lacking, through.get()});
  if (found != made_.end()) return found->second;
  if (made_.size() == most_views) made_.erase(made_.begin());
  const auto* const outer = through.get();
  auto made = std::make_shared<const scoped_view>(all_, lacking, std::move(through));
  made_.emplace(key{lacking, outer}, made);
  return made;
}

namespace {

// Limit for the other spellings of one operation's URIs, in bytes. A hundred thousand take about a millisecond.
constexpr std::size_t most_compared = 4u << 20;

bool is_template(std::string_view text) { return text.find('{') != std::string_view::npos; }

tl::unexpected<failure> refuse(const std::string& why) { return fail(errc::invalid_argument, "Scope rules: " + why); }

result<void> check_scopes(const std::vector<std::string>& all) {
  for (const auto& one : all) {
    if (!model::is_scope(one)) {
      return refuse(
          "\"" + one +
          "\" is not a scope: use at most 256 letters, digits and signs, without spaces, quotation marks and backslashes.");
    }
  }
  return {};
}

result<void> check_rule(const scope_rule& rule) {
  if (rule.scopes.empty()) return refuse("a rule has no scopes. List the scopes that it requires, or remove the rule.");
  HONDANA_TRY(check_scopes(rule.scopes));
  for (const auto& one : rule.methods) {
    if (!is_method(one)) {
      return refuse("\"" + one +
                    "\" is not a method that a rule can apply to. Use, for example, resources/read, resources/list, "
                    "resources/subscribe, tools/call or prompts/get.");
    }
  }
  for (const auto& one : rule.uris) {
    if (is_template(one)) {
      if (const auto compiled = uri_template::compile(one); !compiled) return refuse(compiled.error().public_text);
      continue;
    }
    const auto canonical = canonical_uri(one);
    if (!canonical) return refuse("\"" + one + "\": " + canonical.error().public_text);
    if (*canonical != one) return refuse("\"" + one + "\" is not in canonical form. Write " + *canonical + ".");
  }
  return {};
}

using inclusions = std::map<std::string, std::set<std::string>>;

/// All scopes that each scope includes, directly and indirectly. A scope that then includes itself is part of a circle.
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

/// `is_comparable`: whether the URIs have few enough spellings to compare. If not, every rule about URIs applies.
bool fits(const scope_rule& rule, const named_uris& named, const subject& about, bool is_comparable) {
  const auto is_any_of = [](const auto& wanted, std::string_view one) {
    return std::find(wanted.begin(), wanted.end(), one) != wanted.end();
  };
  const auto is_method_meant = [&](std::string_view one) { return is_any_of(rule.methods, one); };
  if (!rule.methods.empty() && std::none_of(about.methods.begin(), about.methods.end(), is_method_meant)) return false;
  if (!rule.names.empty() && (about.name.empty() || !is_any_of(rule.names, about.name))) return false;
  return rule.uris.empty() || !is_comparable ||
         std::any_of(about.uris.begin(), about.uris.end(), [&](std::string_view uri) { return named.has(uri); });
}

bool has(const inclusions& included, const proof& given, const std::string& scope) {
  return std::any_of(given.scopes.begin(), given.scopes.end(), [&](const std::string& one) {
    if (one == scope) return true;
    const auto broader = included.find(one);
    return broader != included.end() && broader->second.contains(scope);
  });
}

}  // namespace

result<std::shared_ptr<const gate>> gate::make(scope_rules rules, const access_rules& allowed,
                                               std::vector<std::string> mounts) {
  HONDANA_TRY(check(rules));
  const auto made = std::make_shared<gate>();
  made->mounts_ = std::move(mounts);
  made->rules_ = std::move(rules);
  made->included_ = close_over(made->rules_.implied);
  for (const auto& rule : made->rules_.rules) {
    auto& named = made->named_.emplace_back();
    for (const auto& one : rule.uris) {
      if (!is_template(one)) {
        named.prefixes.push_back(access::in_one_form(one));
        continue;
      }
      HONDANA_TRY(auto compiled, uri_template::compile(access::in_one_form(one)));
      named.templates.push_back(std::move(compiled));
    }
  }
  guarded_uris guarded;
  for (std::size_t i = 0; i < made->rules_.rules.size(); ++i) {
    const auto& rule = made->rules_.rules[i];
    const bool is_about_reading =
        rule.methods.empty() || std::find(rule.methods.begin(), rule.methods.end(), "resources/read") != rule.methods.end();
    if (!is_about_reading || !rule.names.empty()) continue;
    made->about_reading_.push_back(i);
    guarded.push_back(made->named_[i]);
  }
  if (!guarded.empty()) made->scoped_ = std::make_shared<const scoped_views>(std::move(guarded));
  auto judge = access::judge::make(allowed, [included = made->included_](const proof& given, const std::string& scope) {
    return has(included, given, scope);
  });
  if (!judge) return tl::unexpected(std::move(judge.error()));
  if (!(*judge)->is_open()) made->access_ = std::move(*judge);
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
  auto about = subject_of(what);
  // Rules also apply to other spellings of a mounted server's URIs.
  std::vector<std::string> written;
  bool is_comparable = true;
  std::size_t spent = 0;
  for (std::size_t i = 0; !rules_.rules.empty() && is_comparable && i < about.uris.size(); ++i) {
    auto others = uri::spellings_inside(about.uris[i], mounts_, spent);
    is_comparable = others && spent <= most_compared;
    if (others) std::move(others->begin(), others->end(), std::back_inserter(written));
  }
  about.uris.insert(about.uris.end(), written.begin(), written.end());
  // The same name in NFC and NFD needs the same scopes.
  std::vector<std::string> in_form;
  if (!rules_.rules.empty()) {
    std::transform(about.uris.begin(), about.uris.end(), std::back_inserter(in_form), access::in_one_form);
    about.uris.assign(in_form.begin(), in_form.end());
  }
  for (std::size_t i = 0; !about.methods.empty() && i < rules_.rules.size(); ++i) {
    if (!fits(rules_.rules[i], named_[i], about, is_comparable)) continue;
    for (const auto& one : rules_.rules[i].scopes) {
      if (std::find(needed.begin(), needed.end(), one) == needed.end()) needed.push_back(one);
    }
  }
  return needed;
}

std::shared_ptr<const view> gate::view_of(const caller& who) const {
  auto through = access_ ? access_->view_of(who) : who.view;
  if (!scoped_ || !who.proof) return through;
  std::vector<bool> lacking;
  for (const auto i : about_reading_) {
    const auto& needed = rules_.rules[i].scopes;
    lacking.push_back(
        !std::all_of(needed.begin(), needed.end(), [&](const std::string& one) { return has(included_, *who.proof, one); }));
  }
  return scoped_->narrow(lacking, std::move(through));
}

std::vector<std::size_t> gate::rules_about(std::string_view asked) const {
  const auto uri = access::in_one_form(asked);
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < rules_.rules.size(); ++i) {
    if (!rules_.rules[i].uris.empty() && named_[i].has(uri)) out.push_back(i);
  }
  return out;
}

bool gate::has_scopes_of(const caller& who, const proof* shown) const {
  if (!who.proof) return true;
  if (shown == nullptr) return false;
  return std::all_of(shown->scopes.begin(), shown->scopes.end(),
                     [&](const std::string& one) { return has(included_, *who.proof, one); });
}

result<void> gate::admit(const caller& who, const model::operation& what) const {
  if (!who.proof || (rules_.always.empty() && rules_.rules.empty())) return {};
  auto needed = needed_for(what);
  const bool is_enough =
      std::all_of(needed.begin(), needed.end(), [&](const std::string& one) { return has(included_, *who.proof, one); });
  if (is_enough) return {};
  failure why{errc::scope_missing,
              "Not allowed: this needs the scopes " + model::joined(needed) +
                  ", and the caller lacks some of them. Request a token with all of them.",
              {}};
  why.scopes = std::make_shared<const scopes>(std::move(needed));
  return tl::unexpected(std::move(why));
}

}  // namespace hondana::gate

namespace hondana::inline v0 {

result<void> check(const scope_rules& rules) {
  HONDANA_TRY(gate::check_scopes(rules.always));
  for (const auto& rule : rules.rules) {
    HONDANA_TRY(gate::check_rule(rule));
  }
  for (const auto& [scope, narrower] : rules.implied) {
    HONDANA_TRY(gate::check_scopes({scope}));
    HONDANA_TRY(gate::check_scopes(narrower));
  }
  for (const auto& [scope, all] : gate::close_over(rules.implied)) {
    if (all.contains(scope))
      return gate::refuse("the scope \"" + scope + "\" includes itself through the scopes that it includes.");
  }
  return {};
}

}  // namespace hondana::inline v0

namespace hondana::gate {
namespace {

using by_uri = bool (view::*)(std::string_view) const;
using by_entry = bool (view::*)(const resource&) const;

template <class Allows>
bool holds_however_written(const gate& by, std::string_view uri, const Allows& allows) {
  const auto holds = [&](std::string_view one) {
    const auto whole = access::whole_of(one);
    return allows(one) && (whole.size() == one.size() || allows(whole));
  };
  if (!holds(uri)) return false;
  const auto others = by.other_spellings(uri);
  return others && std::all_of(others->begin(), others->end(), holds);
}

bool shows(const gate& by, const view* through, std::string_view uri, by_uri granted) {
  if (through == nullptr) return true;
  return holds_however_written(by, uri, [&](std::string_view one) { return (through->*granted)(one); });
}

bool shows(const gate& by, const view* through, const resource& entry, by_uri granted, by_entry granted_with) {
  if (through == nullptr || !through->looks_at_entries()) return shows(by, through, entry.uri, granted);
  std::optional<resource> other;
  return holds_however_written(by, entry.uri, [&](std::string_view one) {
    if (!(through->*granted)(one)) return false;
    if (one == entry.uri) return (through->*granted_with)(entry);
    if (!other) other = entry;
    other->uri = one;
    return (through->*granted_with)(*other);
  });
}

}  // namespace

std::optional<std::vector<std::string>> gate::other_spellings(std::string_view uri) const {
  std::size_t spent = 0;
  return uri::spellings_inside(uri, mounts_, spent);
}

bool gate::may_see(const view* through, std::string_view uri) const { return shows(*this, through, uri, &view::may_see); }

bool gate::may_read(const view* through, std::string_view uri) const { return shows(*this, through, uri, &view::may_read); }

bool gate::may_see(const view* through, const resource& entry) const {
  return shows(*this, through, entry, &view::may_see, &view::may_see_entry);
}

bool gate::may_read(const view* through, const resource& entry) const {
  return shows(*this, through, entry, &view::may_read, &view::may_read_entry);
}

}  // namespace hondana::gate
