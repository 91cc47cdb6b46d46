/// The variables of one source that callers may see, with their allow list.
#include "sources/env/variables.hpp"

#include <algorithm>
#include <utility>

#include <hondana/uri.hpp>
#include <hondana/value.hpp>

#include "base/bytes/digest.hpp"
#include "base/json/utf8.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/env/masked_value.hpp"

namespace hondana::env {
namespace {

bool matches_pattern(std::string_view pattern, std::string_view name) noexcept {
  std::size_t pattern_offset = 0;
  std::size_t name_offset = 0;
  auto star = std::string_view::npos;  // the last one passed; it matches as little as possible
  std::size_t match_end = 0;           // the end of its match
  while (name_offset < name.size()) {
    if (pattern_offset < pattern.size() && pattern[pattern_offset] == '*') {
      star = pattern_offset++;
      match_end = name_offset;
    } else if (pattern_offset < pattern.size() &&
               (pattern[pattern_offset] == '?' || pattern[pattern_offset] == name[name_offset])) {
      ++pattern_offset;
      ++name_offset;
    } else if (star != std::string_view::npos) {
      pattern_offset = star + 1;
      name_offset = ++match_end;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', pattern_offset) == std::string_view::npos;
}

}  // namespace

result<allow_list> allow_list::create(std::vector<std::string> patterns) {
  if (patterns.empty()) {
    return fail(errc::invalid_argument, "no variable is allowed; name those to serve, such as [\"PATH\", \"LC_*\", \"APP_*\"]");
  }
  if (patterns.size() > max_patterns) {
    return fail(errc::invalid_argument,
                "there are more than " + std::to_string(max_patterns) + " patterns; use * for several names");
  }
  for (const auto& pattern : patterns) {
    if (pattern.find_first_of("[]^$()") != std::string::npos) {
      return fail(
          errc::invalid_argument,
          "the pattern \"" + pattern +
              "\" is not supported: regular expressions are not allowed; use names with * for any characters and ? for one");
    }
    if (pattern.empty()) return fail(errc::invalid_argument, "a pattern is empty; write a name, or * for all of them");
    if (pattern.size() > max_pattern_bytes) {
      return fail(errc::invalid_argument, "a pattern is longer than " + std::to_string(max_pattern_bytes) + " bytes");
    }
  }
  return allow_list(std::move(patterns));
}

bool allow_list::allows(std::string_view name) const noexcept {
  return std::any_of(patterns_.begin(), patterns_.end(),
                     [name](const std::string& pattern) { return matches_pattern(pattern, name); });
}

namespace {

bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < ' ' || c == '\x7F'; }

std::string make_label(const std::string& name) {
  const bool is_plain = json::is_utf8(name) && std::none_of(name.begin(), name.end(), is_control);
  return is_plain ? name : percent_encode(name);
}

/// The URI of a variable. Empty if its canonical form would name something else, for example for `..`.
std::string make_uri(const std::string& prefix, std::string_view name) {
  auto uri = prefix + percent_encode(name);
  const auto canonical = canonical_uri(uri);
  return !name.empty() && canonical && *canonical == uri ? uri : std::string();
}

bool may_read(const caller_info& caller, const std::string& uri, const env_variable& variable, std::string_view origin) {
  if (!caller.access_filter) return true;
  const auto entry = make_entry(uri, variable, origin);
  return model::may_see(caller.access_filter.get(), entry) && model::may_read(caller.access_filter.get(), entry);
}

}  // namespace

variable_set::variable_set(std::string prefix, raw_variables raw, const variable_rules& rules) : prefix_(std::move(prefix)) {
  for (auto& [name, text, secret_parts, has_secret_name] : raw) {
    if (!rules.allow.allows(name)) {
      ++hidden_count_;
      continue;
    }
    auto uri = make_uri(prefix_, name);
    if (uri.empty() || (rules.redact && (has_secret_name || is_secret_name(name)))) {
      ++unnameable_count_;
      continue;
    }
    if (entries_.contains(uri)) continue;
    env_variable variable;
    variable.label = make_label(name);
    auto masked = rules.redact ? mask_value(name, text, std::move(secret_parts)) : masked_value{std::move(text), 0};
    variable.name = std::move(name);
    variable.masked_count = masked.count;
    variable.is_text = json::is_utf8(masked.text) && !json::has_nul(masked.text);
    variable.version = bytes::to_hex(bytes::digest_of(masked.text));
    variable.display_value = std::make_shared<const std::string>(std::move(masked.text));
    entries_.emplace(std::move(uri), std::move(variable));
  }
}

const env_variable* variable_set::find(std::string_view uri) const {
  const auto match = entries_.find(uri);
  return match == entries_.end() ? nullptr : &match->second;
}

resource make_entry(const std::string& uri, const env_variable& variable, std::string_view origin) {
  resource entry;
  entry.uri = uri;
  entry.name = variable.label;
  entry.description = "A variable of " + std::string(origin) + '.';
  entry.mime_type = variable.is_text ? "text/plain" : "application/octet-stream";
  entry.size = variable.display_value->size();
  entry.kind = "variable";
  entry.version = variable.version;
  return entry;
}

resource make_summary_entry(const std::string& prefix, std::string_view origin) {
  resource entry;
  entry.uri = prefix;
  entry.name = prefix;
  entry.title = "Variables of " + std::string(origin);
  entry.description = "All variables of " + std::string(origin) + " that the allow-list permits, as one JSON object.";
  entry.mime_type = "application/json";
  entry.kind = "environment";
  return entry;
}

env_summary summarize(const variable_set& variables, std::string_view origin, const caller_info& caller) {
  env_summary out;
  value::object members;
  for (const auto& [uri, variable] : variables.entries()) {
    if (!may_read(caller, uri, variable, origin)) continue;
    members.emplace_back(variable.label, *variable.display_value);
    out.masked_count += variable.masked_count;
  }
  out.text = value(std::move(members)).to_text();
  return out;
}

void notify_changes(const variable_set* previous, const variable_set* current, change_listener& listener) {
  static const variable_set::variable_map none;
  const auto& old_variables = previous == nullptr ? none : previous->entries();
  const auto& new_variables = current == nullptr ? none : current->entries();
  bool is_list_changed = false;
  std::vector<const std::pair<const std::string, env_variable>*> changed;
  for (const auto& entry : new_variables) {
    const auto match = old_variables.find(entry.first);
    is_list_changed = is_list_changed || match == old_variables.end();
    if (match == old_variables.end() || *match->second.display_value != *entry.second.display_value) changed.push_back(&entry);
  }
  for (const auto& old_entry : old_variables) {
    if (new_variables.contains(old_entry.first)) continue;
    is_list_changed = true;
    changed.push_back(&old_entry);
  }
  if (is_list_changed) listener.list_changed();
  for (const auto* changed_entry : changed) listener.content_changed(changed_entry->first, changed_entry->second.label);
  const bool has_any = previous != nullptr || current != nullptr;
  if (has_any && (!changed.empty() || (previous == nullptr) != (current == nullptr))) {
    listener.content_changed((current == nullptr ? previous : current)->prefix(), {});
  }
}

}  // namespace hondana::env
