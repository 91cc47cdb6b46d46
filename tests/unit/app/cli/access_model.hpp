/// What a caller may list and read, computed from the text of docs/authorization.md as simply as possible. It shares no code
/// with the server, for a test that compares both.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/access.hpp>
#include <hondana/provider.hpp>
#include <hondana/scopes.hpp>

namespace hondana::cli {

/// A resource, as far as rules look at it.
struct modelled_resource {
  std::string uri;
  std::string kind;
  std::string word;                     ///< Stands in its content and in no other resource's.
  std::optional<chat_role> audience{};  ///< The only one; nothing: none is named.
  std::string target{};                 ///< Of a link: the URI of the resource whose content it has.
};

/// "A prefix covers what is in it and the folder itself, with or without a slash at its end." Parts are below their resource.
inline bool is_below(const std::string& prefix, const std::string& uri) {
  if (uri == prefix || uri + '/' == prefix) return true;
  if (!uri.starts_with(prefix)) return false;
  return prefix.back() == '/' || std::string_view("/?#").find(uri[prefix.size()]) != std::string_view::npos;
}

/// URI templates with `{x}`, which takes no slash, and `{+x}`, which takes any.
inline bool fits_template(std::string_view form, std::string_view uri) {
  if (form.empty()) return uri.empty();
  if (form.front() != '{') return !uri.empty() && uri.front() == form.front() && fits_template(form.substr(1), uri.substr(1));
  const bool takes_slashes = form[1] == '+';
  const auto rest = form.substr(form.find('}') + 1);
  for (std::size_t taken = 0; taken <= uri.size(); ++taken) {
    if (taken > 0 && !takes_slashes && uri[taken - 1] == '/') return false;
    if (fits_template(rest, uri.substr(taken))) return true;
  }
  return false;
}

/// "Globs over whole canonical URIs, in which `*` ends at a slash and `**` does not": `**/` is any number of folders.
inline bool fits_pattern(std::string_view pattern, std::string_view uri) {
  if (pattern.empty()) return uri.empty();
  if (pattern == "**") return true;
  if (pattern.starts_with("**/")) {
    const auto slash = uri.find('/');
    return fits_pattern(pattern.substr(3), uri) ||
           (slash != std::string_view::npos && fits_pattern(pattern, uri.substr(slash + 1)));
  }
  if (pattern.front() == '*')
    return fits_pattern(pattern.substr(1), uri) || (!uri.empty() && uri.front() != '/' && fits_pattern(pattern, uri.substr(1)));
  if (uri.empty()) return false;
  if (pattern.front() == '[') {
    const auto end = pattern.find(']');
    return pattern.substr(1, end - 1).find(uri.front()) != std::string_view::npos &&
           fits_pattern(pattern.substr(end + 1), uri.substr(1));
  }
  return (pattern.front() == '?' ? uri.front() != '/' : uri.front() == pattern.front()) &&
         fits_pattern(pattern.substr(1), uri.substr(1));
}

/// Rules for one caller.
class access_model {
 public:
  access_model(const access_rules& access, const scope_rules& scopes, const caller_info& who)
      : access_(access), scopes_(scopes), who_(who) {
    if (!who.auth_info) return;
    granted_ = who.auth_info->scopes;
    // "What a scope includes it includes at any depth." Grows while it is read.
    for (std::size_t i = 0; i < granted_.size(); ++i)
      if (const auto found = scopes.implied.find(granted_[i]); found != scopes.implied.end())
        granted_.insert(granted_.end(), found->second.begin(), found->second.end());
    if (const auto* groups = who.auth_info->claims ? who.auth_info->claims->find("groups") : nullptr)
      for (const auto& name : *groups->as_array()) groups_.push_back(*name.as_string());
  }

  /// "Links in served folders (what they lead to counts as well)."
  [[nodiscard]] bool may_list(const std::vector<modelled_resource>& all, const modelled_resource& entry) const {
    return grant_of(entry) >= access_level::list &&
           (entry.target.empty() || grant_of(find(all, entry.target)) >= access_level::list);
  }
  [[nodiscard]] bool may_read(const std::vector<modelled_resource>& all, const modelled_resource& entry) const {
    return grant_of(entry) == access_level::read && has_scopes("resources/read", entry.uri) &&
           (entry.target.empty() || may_read(all, find(all, entry.target)));
  }
  /// "All rules that fit an operation count." `uri` is empty where the request names none.
  [[nodiscard]] bool has_scopes(const std::string& method, const std::string& uri) const {
    if (!who_.auth_info) return true;
    auto needed = scopes_.always_required;
    for (const auto& rule : scopes_.rules) {
      const bool fits = (rule.methods.empty() || contains(rule.methods, method)) &&
                        (rule.uris.empty() || (!uri.empty() && names_uri(rule.uris, {}, uri)));
      if (fits) needed.insert(needed.end(), rule.scopes.begin(), rule.scopes.end());
    }
    return std::all_of(needed.begin(), needed.end(), [&](const auto& scope) { return contains(granted_, scope); });
  }

 private:
  static bool contains(const std::vector<std::string>& all, const std::string& text) {
    return std::find(all.begin(), all.end(), text) != all.end();
  }
  static const modelled_resource& find(const std::vector<modelled_resource>& all, const std::string& uri) {
    return *std::find_if(all.begin(), all.end(), [&](const auto& entry) { return entry.uri == uri; });
  }
  static bool names_uri(const std::vector<std::string>& uris, const std::vector<std::string>& patterns,
                        const std::string& uri) {
    return (uris.empty() && patterns.empty()) ||
           std::any_of(uris.begin(), uris.end(),
                       [&](const auto& text) {
                         return text.find('{') == std::string::npos ? is_below(text, uri) : fits_template(text, uri);
                       }) ||
           std::any_of(patterns.begin(), patterns.end(), [&](const auto& pattern) { return fits_pattern(pattern, uri); });
  }
  /// "ci-*" is all that begin with "ci-".
  static bool names_any(const std::vector<std::string>& wanted, const std::vector<std::string>& names) {
    return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& text) {
      return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return text.ends_with('*') ? name.starts_with(text.substr(0, text.size() - 1)) : name == text;
      });
    });
  }
  [[nodiscard]] bool is_about_caller(const access_rule& rule) const {
    return (rule.identities.empty() || names_any(rule.identities, {who_.identity})) &&
           (rule.groups.empty() || names_any(rule.groups, groups_)) &&
           (rule.scopes.empty() ||
            std::any_of(rule.scopes.begin(), rule.scopes.end(), [&](const auto& scope) { return contains(granted_, scope); }));
  }
  /// "Without rules everybody may everything. Once there is one, what no rule is about does not exist; otherwise the last rule
  /// that is about the caller and the thing decides."
  [[nodiscard]] access_level grant_of(const modelled_resource& entry) const {
    auto decided = access_.rules.empty() ? access_level::read : access_level::none;
    for (const auto& rule : access_.rules) {
      const bool is_about = is_about_caller(rule) && names_uri(rule.uris, rule.patterns, entry.uri) &&
                            (rule.kinds.empty() || contains(rule.kinds, entry.kind)) &&
                            (!rule.audience || rule.audience == entry.audience);
      if (is_about) decided = rule.level;
    }
    return decided;
  }

  const access_rules& access_;
  const scope_rules& scopes_;
  const caller_info& who_;
  std::vector<std::string> granted_;
  std::vector<std::string> groups_;
};

}  // namespace hondana::cli
