/// Compiled access rules, and the normal form in which they compare URIs.
#include "server/access/rules.hpp"

#include <algorithm>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "protocol/model/caller_checks.hpp"
#include "text/language/language.hpp"

namespace hondana::access {
namespace {

int digit_of(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

/// The byte from 0x80 on that is escaped at `at`. 0: none.
unsigned char escaped_at(std::string_view text, std::size_t at) noexcept {
  if (text[at] != '%' || at + 2 >= text.size()) return 0;
  const int high = digit_of(text[at + 1]);
  const int low = digit_of(text[at + 2]);
  return high < 8 || low < 0 ? 0 : static_cast<unsigned char>(high * 16 + low);
}

bool is_ascii(char c) noexcept { return static_cast<unsigned char>(c) < 0x80; }

/// A run of characters to compose. Combining marks follow the letter that they modify, which may be ASCII.
struct letters_and_marks {
  std::string text{};
  std::string_view first{};  ///< How its first character is written, if that is ASCII.
};

/// The ASCII character at `at`, raw or escaped, that can combine with marks. 0: none. Besides letters, these are the signs with
/// a composed form for "struck through": `<`, `=` and `>`.
char begins_run(std::string_view text, std::size_t at) noexcept {
  const auto escaped = text.substr(at, 3);
  if (ascii::is_letter(text[at]) || text[at] == '=') return text[at];
  return escaped == "%3C" ? '<' : escaped == "%3D" ? '=' : escaped == "%3E" ? '>' : '\0';
}

void flush(letters_and_marks& run, std::string& into) {
  const auto made = run.text.size() < 2 ? run.text : language::composed(run.text);
  std::string_view rest = made;
  if (!run.first.empty() && rest.front() == run.text.front()) {
    into += run.first;
    rest.remove_prefix(1);
  }
  for (const char c : rest) {
    if (is_ascii(c)) {
      into += c;
    } else {
      into += percent_encode({&c, 1});
    }
  }
  run = {};
}

std::string composed_escapes(std::string_view text, bool has_sets) {
  std::string out;
  letters_and_marks run;
  bool in_set = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const auto byte = escaped_at(text, at);
    if (has_sets && c == '[') in_set = true;
    if (in_set) {
      flush(run, out);
      out += c;
      in_set = c != ']';
    } else if (byte != 0) {
      run.text += static_cast<char>(byte);
      at += 2;
    } else if (!is_ascii(c)) {
      run.text += c;
    } else {
      flush(run, out);
      // Neither separators nor escapes of ASCII are composed.
      const auto written = text.substr(at, c == '%' ? 3 : 1);
      if (const char first = begins_run(text, at); first != '\0') {
        run = {std::string(1, first), written};
      } else {
        out += written;
      }
      at += written.size() - 1;
    }
  }
  flush(run, out);
  return out;
}

}  // namespace

bool has_forms(std::string_view uri) noexcept {
  for (auto at = uri.find('%'); at != std::string_view::npos; at = uri.find('%', at + 1)) {
    if (escaped_at(uri, at) != 0) return true;
  }
  return !std::all_of(uri.begin(), uri.end(), is_ascii);
}

std::string in_one_form(std::string_view uri) { return has_forms(uri) ? composed_escapes(uri, false) : std::string(uri); }

std::string pattern_in_one_form(std::string_view pattern) {
  return has_forms(pattern) ? composed_escapes(pattern, true) : std::string(pattern);
}

namespace {

bool is_template(std::string_view text) { return text.find('{') != std::string_view::npos; }

std::string place(std::size_t number) {
  return number == 0 ? std::string() : "Access rules: rule " + std::to_string(number) + ": ";
}

tl::unexpected<failure> refuse(std::size_t number, const std::string& why) {
  return fail(errc::invalid_argument, place(number) + why);
}

result<void> check_names(std::size_t number, std::string_view key, const std::vector<std::string>& all) {
  for (const auto& one : all) {
    if (one.empty()) return refuse(number, std::string(key) + " has an empty name. Write one, or \"*\" for all.");
    const auto star = one.find('*');
    if (star != std::string::npos && star + 1 != one.size()) {
      return refuse(number, std::string(key) + ": \"" + one + "\" has a * before its end. Use * only as the last character.");
    }
  }
  return {};
}

result<void> check_uri(std::size_t number, const std::string& one) {
  if (is_template(one)) {
    if (const auto compiled = uri_template::compile(one); !compiled) return refuse(number, compiled.error().public_text);
    return {};
  }
  const auto canonical = canonical_uri(one);
  if (!canonical) return refuse(number, "\"" + one + "\": " + canonical.error().public_text);
  if (*canonical == one) return {};
  return refuse(number, "\"" + one + "\" is not in canonical form. Write " + *canonical + ".");
}

/// Patterns such as "*.md" are meant for paths, and would silently match no URI.
bool begins_like_uris(std::string_view pattern) {
  return pattern.starts_with("**") || split_uri(ignore::literal_start(pattern)).scheme.size() > 1;
}

bool is_any_of(const std::vector<std::string>& wanted, std::string_view name) {
  return std::any_of(wanted.begin(), wanted.end(), [name](const std::string& one) { return is_named(one, name); });
}

/// Whether two sets of URIs can overlap. Each is given by its common prefix.
bool may_meet(std::string_view a, std::string_view b) { return a.starts_with(b) || b.starts_with(a); }

/// Whether a prefix covers every URI that starts with `beginning`.
bool covers_all_from(std::string_view prefix, std::string_view beginning) {
  if (!beginning.starts_with(prefix)) return false;
  if (prefix.ends_with('/')) return true;
  return beginning.size() > prefix.size() && std::string_view("/?#").find(beginning[prefix.size()]) != std::string_view::npos;
}

}  // namespace

result<void> check_rule(const access_rule& one, std::size_t number) {
  const std::pair<std::string_view, const std::vector<std::string>*> names[] = {
      {"identities", &one.identities}, {"groups", &one.groups}, {"tools", &one.tools}, {"prompts", &one.prompts}};
  for (const auto& [key, all] : names) {
    HONDANA_TRY(check_names(number, key, *all));
  }
  for (const auto& scope : one.scopes) {
    if (!model::is_scope(scope))
      return refuse(number, "\"" + scope + "\" is not a scope. Write each scope as a string of its own, without spaces.");
  }
  if (std::find(one.kinds.begin(), one.kinds.end(), std::string()) != one.kinds.end()) {
    return refuse(number, "kinds has an empty string. Remove it.");
  }
  for (const auto& uri : one.uris) {
    HONDANA_TRY(check_uri(number, uri));
  }
  for (const auto& pattern : one.patterns) {
    if (!begins_like_uris(pattern)) {
      return refuse(number, "the pattern \"" + pattern +
                                "\" matches no URI, because patterns match whole URIs. Begin it with a scheme, " +
                                "as in file:///srv/**, or with **/.");
    }
    const auto compiled = ignore::glob::for_path(pattern);
    if (!compiled.fault().empty()) return refuse(number, "the pattern \"" + pattern + "\": " + std::string(compiled.fault()));
  }
  const bool has_conditions = !one.uris.empty() || !one.patterns.empty() || !one.kinds.empty() || one.audience;
  if (has_conditions && (!one.tools.empty() || !one.prompts.empty())) {
    return refuse(number, "it names tools or prompts and has conditions on resources. Split it into two rules.");
  }
  return {};
}

bool is_named(std::string_view wanted, std::string_view name) noexcept {
  return wanted.ends_with('*') ? name.starts_with(wanted.substr(0, wanted.size() - 1)) : name == wanted;
}

bool is_about(std::string_view prefix, std::string_view uri) noexcept {
  return covers(prefix, uri) || (prefix.ends_with('/') && prefix.substr(0, prefix.size() - 1) == whole_of(uri));
}

result<rule> rule::make(access_rule what, std::size_t number) {
  rule made(std::move(what), number);
  for (const auto& one : made.what_.uris) {
    if (!is_template(one)) {
      made.prefixes_.push_back(in_one_form(one));
      continue;
    }
    HONDANA_TRY(auto compiled, uri_template::compile(in_one_form(one)));
    made.templates_.push_back(std::move(compiled));
  }
  for (const auto& one : made.what_.patterns) {
    const auto pattern = pattern_in_one_form(one);
    made.patterns_.push_back(ignore::glob::for_path(pattern));
    made.pattern_starts_.emplace_back(ignore::literal_start(pattern));
  }
  return made;
}

bool rule::fits(std::string_view uri) const {
  std::uint64_t steps = 0;
  return std::any_of(prefixes_.begin(), prefixes_.end(), [uri](const auto& one) { return is_about(one, uri); }) ||
         std::any_of(templates_.begin(), templates_.end(), [uri](const auto& one) { return one.match(uri).has_value(); }) ||
         std::any_of(patterns_.begin(), patterns_.end(), [&](const auto& one) { return one.matches(uri, steps); });
}

bool rule::is_about_uri(std::string_view uri) const {
  return has_forms(uri) ? is_about_uri_in_one_form(in_one_form(uri)) : is_about_uri_in_one_form(uri);
}

bool rule::is_about_uri_in_one_form(std::string_view uri) const {
  if (!is_about_resources()) return false;
  return is_about_all_uris() || fits_whole_or_part(uri);
}

bool rule::fits_whole_or_part(std::string_view uri) const {
  if (fits(uri)) return true;
  const auto whole = whole_of(uri);
  return whole.size() != uri.size() && fits(whole);
}

bool rule::is_about_entry(const resource& entry) const {
  if (!what_.kinds.empty() && std::find(what_.kinds.begin(), what_.kinds.end(), entry.kind) == what_.kinds.end()) return false;
  const auto& meant = entry.annotations.audience;
  return !what_.audience || std::find(meant.begin(), meant.end(), *what_.audience) != meant.end();
}

bool rule::is_about_tool(std::string_view name) const {
  if (!is_about_resources()) return is_any_of(what_.tools, name);
  return is_about_all_uris() && !looks_at_entries();
}

bool rule::is_about_prompt(std::string_view name) const {
  if (!is_about_resources()) return is_any_of(what_.prompts, name);
  return is_about_all_uris() && !looks_at_entries();
}

rule::share rule::share_of(const uri_template& of) const {
  if (!is_about_resources()) return share::none;
  if (is_about_all_uris()) return share::all;
  const auto beginning = in_one_form(of.literal_prefix());
  const auto text = in_one_form(of.text());
  const bool is_all =
      std::any_of(prefixes_.begin(), prefixes_.end(), [&](const auto& one) { return covers_all_from(one, beginning); }) ||
      std::any_of(templates_.begin(), templates_.end(), [&](const auto& one) { return one.text() == text; }) ||
      std::find(what_.patterns.begin(), what_.patterns.end(), "**") != what_.patterns.end();
  if (is_all) return share::all;
  const bool is_some =
      std::any_of(prefixes_.begin(), prefixes_.end(), [&](const auto& one) { return may_meet(one, beginning); }) ||
      std::any_of(templates_.begin(), templates_.end(),
                  [&](const auto& one) { return may_meet(one.literal_prefix(), beginning); }) ||
      std::any_of(pattern_starts_.begin(), pattern_starts_.end(), [&](const auto& one) { return may_meet(one, beginning); });
  return is_some ? share::some : share::none;
}

}  // namespace hondana::access

namespace hondana::inline v0 {

result<void> check(const access_rules& rules) {
  if (rules.group_claim.empty()) {
    return fail(errc::invalid_argument, "Access rules: the name of the group claim is empty. Set one, such as \"groups\".");
  }
  for (std::size_t i = 0; i < rules.rules.size(); ++i) {
    HONDANA_TRY(access::check_rule(rules.rules[i], i + 1));
  }
  return {};
}

}  // namespace hondana::inline v0
