/// The rules file of a set of documents, and the path patterns it uses.
#include "sources/docs/document_rules.hpp"

#include <algorithm>
#include <utility>

#include "sources/config/section.hpp"
#include "sources/docs/document_text.hpp"
#include "sources/docs/document_uri.hpp"
#include "text/language/language.hpp"

namespace hondana::docs {
namespace {

bool is_ascii(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

result<patterns> patterns::compile(const std::vector<std::string>& all, const std::string& what) {
  std::string text;
  for (const auto& one : all) {
    if (one.empty() || one.starts_with('#') || one.find_first_of("\r\n") != std::string::npos ||
        one.find('\0') != std::string::npos) {
      return fail(errc::invalid_argument, what + ": \"" + one + "\" is not a pattern. Write it as in .gitignore.");
    }
    (text += language::composed(one)) += '\n';
  }
  patterns made;
  made.list_ = ignore::pattern_list::parse(text, what);
  if (!made.list_.complete()) return fail(errc::invalid_argument, what + ": " + made.list_.fault());
  if (!made.list_.warnings().empty()) return fail(errc::invalid_argument, made.list_.warnings().front());
  return made;
}

bool patterns::matches(std::string_view path, bool is_folder) const noexcept {
  return list_.match(path, is_folder).outcome == ignore::decision::ignored;
}

bool patterns::match_folder(std::string_view path) const {
  if (is_empty()) return false;
  return is_ascii(path) ? matches(path, true) : matches(readable(path), true);
}

bool patterns::match(std::string_view path) const {
  if (is_empty()) return false;
  return is_ascii(path) ? reaches(path) : reaches(readable(path));
}

bool patterns::reaches(std::string_view path) const noexcept {
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    if (matches(path.substr(0, slash), true)) return true;
  }
  return matches(path, false);
}

/// Reads one rule, member by member.
class rule_reader {
 public:
  explicit rule_reader(config::section& from) : from_(from) {}

  [[nodiscard]] result<rules::one> read() {
    rules::one made;
    made.line = from_.line();
    auto match = from_.string_or_strings("match");
    if (!match) return tl::unexpected(std::move(match.error()));
    if (match->empty()) return tl::unexpected(from_.wrong("match", "missing; write it as in .gitignore"));
    auto compiled = patterns::compile(*match, "match");
    if (!compiled) return tl::unexpected(from_.wrong("match", compiled.error().public_text));
    made.match = std::move(*compiled);
    HONDANA_TRY(read_priority(made));
    HONDANA_TRY(read_audience(made));
    for (auto [name, to] :
         {std::pair("lang", &made.lang), std::pair("title", &made.title), std::pair("charset", &made.charset)}) {
      HONDANA_TRY(auto text, from_.string(name));
      *to = std::move(text);
    }
    if (made.lang && !is_language_tag(*made.lang)) {
      return tl::unexpected(from_.wrong("lang", "expected a language tag such as ja or en-GB"));
    }
    HONDANA_TRY(const auto exclude, from_.boolean("exclude"));
    made.exclude = exclude;
    HONDANA_TRY(from_.finish());
    return made;
  }

 private:
  result<void> read_priority(rules::one& into) {
    if (auto number = from_.number("priority", 0.0, 1.0)) {
      into.priority = *number;
      return {};
    }
    const auto word = from_.string("priority");
    const auto named = word && *word ? priority_named(**word) : std::nullopt;
    if (!named) return tl::unexpected(from_.wrong("priority", "expected a number from 0 to 1, or high, middle or low"));
    into.priority = named;
    return {};
  }
  result<void> read_audience(rules::one& into) {
    auto words = from_.string_or_strings("audience");
    if (!words) return tl::unexpected(std::move(words.error()));
    for (const auto& one : *words) {
      const auto who = role_named(one);
      if (!who) return tl::unexpected(from_.wrong("audience", "expected \"user\" or \"assistant\""));
      into.audience.push_back(*who);
    }
    return {};
  }

  config::section& from_;
};

result<rules> rules::parse(std::string_view text, const std::string& file) {
  if (text.size() > most_bytes) return fail(errc::invalid_argument, file + ": it is larger than 1 MiB.");
  HONDANA_TRY(auto whole, config::parse_toml(text, file));
  auto tables = whole.sections("rule");
  if (!tables) return tl::unexpected(std::move(tables.error()));
  if (tables->size() > most_rules) return tl::unexpected(whole.wrong("rule", "at most 1000 rules are allowed"));
  HONDANA_TRY(whole.finish());
  rules made;
  made.all_.reserve(tables->size());
  for (auto& table : *tables) {
    HONDANA_TRY(auto rule, rule_reader(table).read());
    made.all_.push_back(std::move(rule));
  }
  return made;
}

ruled rules::of(std::string_view path) const {
  ruled said;
  for (const auto& rule : all_) {
    if (!rule.match.match(path)) continue;
    if (rule.priority) {
      said.priority = rule.priority;
      said.priority_line = rule.line;
    }
    if (!rule.audience.empty()) said.audience = rule.audience;
    if (rule.lang) said.lang = *rule.lang;
    if (rule.title) said.title = *rule.title;
    if (rule.charset) said.charset = *rule.charset;
    if (rule.exclude) {
      said.is_excluded = *rule.exclude;
      said.excluded_line = rule.line;
    }
  }
  return said;
}

}  // namespace hondana::docs
