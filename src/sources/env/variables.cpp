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

bool is_matched(std::string_view pattern, std::string_view name) noexcept {
  std::size_t at = 0;
  std::size_t in_name = 0;
  auto star = std::string_view::npos;  // the last one passed; it matches as little as possible
  std::size_t taken_to = 0;            // the end of its match
  while (in_name < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken_to = in_name;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == name[in_name])) {
      ++at;
      ++in_name;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in_name = ++taken_to;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

}  // namespace

result<allow_list> allow_list::of(std::vector<std::string> patterns) {
  if (patterns.empty()) {
    return fail(errc::invalid_argument, "no variable is allowed; name those to serve, such as [\"PATH\", \"LC_*\", \"APP_*\"]");
  }
  if (patterns.size() > most_patterns) {
    return fail(errc::invalid_argument,
                "there are more than " + std::to_string(most_patterns) + " patterns; use * for several names");
  }
  for (const auto& one : patterns) {
    if (one.find_first_of("[]^$()") != std::string::npos) {
      return fail(
          errc::invalid_argument,
          "the pattern \"" + one +
              "\" is not supported: regular expressions are not allowed; use names with * for any characters and ? for one");
    }
    if (one.empty()) return fail(errc::invalid_argument, "a pattern is empty; write a name, or * for all of them");
    if (one.size() > longest_pattern) {
      return fail(errc::invalid_argument, "a pattern is longer than " + std::to_string(longest_pattern) + " bytes");
    }
  }
  return allow_list(std::move(patterns));
}

bool allow_list::allows(std::string_view name) const noexcept {
  return std::any_of(patterns_.begin(), patterns_.end(), [name](const std::string& one) { return is_matched(one, name); });
}

namespace {

bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < ' ' || c == '\x7F'; }

std::string label_of(const std::string& name) {
  const bool is_plain = json::is_utf8(name) && std::none_of(name.begin(), name.end(), is_control);
  return is_plain ? name : percent_encode(name);
}

/// The URI of a variable. Empty if its canonical form would name something else, for example for `..`.
std::string uri_of(const std::string& prefix, std::string_view name) {
  auto uri = prefix + percent_encode(name);
  const auto canonical = canonical_uri(uri);
  return !name.empty() && canonical && *canonical == uri ? uri : std::string();
}

bool may_read(const caller& who, const std::string& uri, const variable& one, std::string_view origin) {
  if (!who.view) return true;
  const auto entry = entry_of(uri, one, origin);
  return model::may_see(who.view.get(), entry) && model::may_read(who.view.get(), entry);
}

}  // namespace

variables::variables(std::string prefix, given all, const rules& by) : prefix_(std::move(prefix)) {
  for (auto& [name, text, secret_parts, has_secret_name] : all) {
    if (!by.allow.allows(name)) {
      ++hidden_;
      continue;
    }
    auto uri = uri_of(prefix_, name);
    if (uri.empty() || (by.redact && (has_secret_name || is_secret_name(name)))) {
      ++unnameable_;
      continue;
    }
    if (all_.contains(uri)) continue;
    variable one;
    one.label = label_of(name);
    auto shown = by.redact ? mask_value(name, text, std::move(secret_parts)) : masked_value{std::move(text), 0};
    one.name = std::move(name);
    one.masked = shown.count;
    one.is_text = json::is_utf8(shown.text) && !json::has_nul(shown.text);
    one.version = bytes::to_hex(bytes::digest_of(shown.text));
    one.shown = std::make_shared<const std::string>(std::move(shown.text));
    all_.emplace(std::move(uri), std::move(one));
  }
}

const variable* variables::find(std::string_view uri) const {
  const auto found = all_.find(uri);
  return found == all_.end() ? nullptr : &found->second;
}

resource entry_of(const std::string& uri, const variable& of, std::string_view origin) {
  resource entry;
  entry.uri = uri;
  entry.name = of.label;
  entry.description = "A variable of " + std::string(origin) + '.';
  entry.mimeType = of.is_text ? "text/plain" : "application/octet-stream";
  entry.size = of.shown->size();
  entry.kind = "variable";
  entry.version = of.version;
  return entry;
}

resource summary_entry(const std::string& prefix, std::string_view origin) {
  resource entry;
  entry.uri = prefix;
  entry.name = prefix;
  entry.title = "Variables of " + std::string(origin);
  entry.description = "All variables of " + std::string(origin) + " that the allow-list permits, as one JSON object.";
  entry.mimeType = "application/json";
  entry.kind = "environment";
  return entry;
}

summary summary_of(const variables& all, std::string_view origin, const caller& who) {
  summary out;
  value::object members;
  for (const auto& [uri, one] : all.all()) {
    if (!may_read(who, uri, one, origin)) continue;
    members.emplace_back(one.label, *one.shown);
    out.masked += one.masked;
  }
  out.text = value(std::move(members)).to_text();
  return out;
}

void tell_changes(const variables* before, const variables* now, change_listener& to) {
  static const variables::by_uri none;
  const auto& old_ones = before == nullptr ? none : before->all();
  const auto& new_ones = now == nullptr ? none : now->all();
  bool is_list_changed = false;
  std::vector<const std::pair<const std::string, variable>*> changed;
  for (const auto& one : new_ones) {
    const auto was = old_ones.find(one.first);
    is_list_changed = is_list_changed || was == old_ones.end();
    if (was == old_ones.end() || *was->second.shown != *one.second.shown) changed.push_back(&one);
  }
  for (const auto& one : old_ones) {
    if (new_ones.contains(one.first)) continue;
    is_list_changed = true;
    changed.push_back(&one);
  }
  if (is_list_changed) to.list_changed();
  for (const auto* one : changed) to.content_changed(one->first, one->second.label);
  const bool is_there_or_was = before != nullptr || now != nullptr;
  if (is_there_or_was && (!changed.empty() || (before == nullptr) != (now == nullptr))) {
    to.content_changed((now == nullptr ? before : now)->prefix(), {});
  }
}

}  // namespace hondana::env
