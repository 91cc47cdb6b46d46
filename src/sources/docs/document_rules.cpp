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

result<patterns> patterns::compile(const std::vector<std::string>& lines, const std::string& owner) {
  std::string text;
  for (const auto& line : lines) {
    if (line.empty() || line.starts_with('#') || line.find_first_of("\r\n") != std::string::npos ||
        line.find('\0') != std::string::npos) {
      return fail(errc::invalid_argument, owner + ": \"" + line + "\" is not a pattern. Write it as in .gitignore.");
    }
    (text += language::to_nfc(line)) += '\n';
  }
  patterns compiled;
  compiled.list_ = ignore::pattern_list::parse(text, owner);
  if (!compiled.list_.is_complete()) return fail(errc::invalid_argument, owner + ": " + compiled.list_.error());
  if (!compiled.list_.warnings().empty()) return fail(errc::invalid_argument, compiled.list_.warnings().front());
  return compiled;
}

bool patterns::matches(std::string_view path, bool is_folder) const noexcept {
  return list_.match(path, is_folder).outcome == ignore::decision::ignored;
}

bool patterns::match_folder(std::string_view path) const {
  if (is_empty()) return false;
  return is_ascii(path) ? matches(path, true) : matches(display_path(path), true);
}

bool patterns::match(std::string_view path) const {
  if (is_empty()) return false;
  return is_ascii(path) ? matches_with_parents(path) : matches_with_parents(display_path(path));
}

bool patterns::matches_with_parents(std::string_view path) const noexcept {
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    if (matches(path.substr(0, slash), true)) return true;
  }
  return matches(path, false);
}

/// Reads one rule, member by member.
class rule_reader {
 public:
  explicit rule_reader(config::section& section) : section_(section) {}

  [[nodiscard]] result<rules::path_rule> read() {
    rules::path_rule rule;
    rule.line = section_.line();
    auto match = section_.string_or_strings("match");
    if (!match) return tl::unexpected(std::move(match.error()));
    if (match->empty()) return tl::unexpected(section_.error_at("match", "missing; write it as in .gitignore"));
    auto compiled = patterns::compile(*match, "match");
    if (!compiled) return tl::unexpected(section_.error_at("match", compiled.error().public_text));
    rule.match = std::move(*compiled);
    HONDANA_TRY(read_priority(rule));
    HONDANA_TRY(read_audience(rule));
    for (auto [name, destination] :
         {std::pair("lang", &rule.lang), std::pair("title", &rule.title), std::pair("charset", &rule.charset)}) {
      HONDANA_TRY(auto text, section_.string(name));
      *destination = std::move(text);
    }
    if (rule.lang && !is_language_tag(*rule.lang)) {
      return tl::unexpected(section_.error_at("lang", "expected a language tag such as ja or en-GB"));
    }
    HONDANA_TRY(const auto exclude, section_.boolean("exclude"));
    rule.exclude = exclude;
    HONDANA_TRY(section_.finish());
    return rule;
  }

 private:
  result<void> read_priority(rules::path_rule& rule) {
    if (auto number = section_.number("priority", 0.0, 1.0)) {
      rule.priority = *number;
      return {};
    }
    const auto word = section_.string("priority");
    const auto priority = word && *word ? parse_priority(**word) : std::nullopt;
    if (!priority)
      return tl::unexpected(section_.error_at("priority", "expected a number from 0 to 1, or high, middle or low"));
    rule.priority = priority;
    return {};
  }
  result<void> read_audience(rules::path_rule& rule) {
    auto words = section_.string_or_strings("audience");
    if (!words) return tl::unexpected(std::move(words.error()));
    for (const auto& word : *words) {
      const auto role = parse_role(word);
      constexpr std::array<std::string_view, 2> known{"user", "assistant"};
      if (!role) return tl::unexpected(section_.unknown_value("audience", word, known));
      rule.audience.push_back(*role);
    }
    return {};
  }

  config::section& section_;
};

result<rules> rules::parse(std::string_view text, const std::string& file) {
  if (text.size() > max_bytes) return fail(errc::invalid_argument, file + ": it is larger than 1 MiB.");
  HONDANA_TRY(auto document, config::parse_toml(text, file));
  auto tables = document.sections("rule");
  if (!tables) return tl::unexpected(std::move(tables.error()));
  if (tables->size() > max_rules) return tl::unexpected(document.error_at("rule", "at most 1000 rules are allowed"));
  HONDANA_TRY(document.finish());
  rules parsed;
  parsed.rules_.reserve(tables->size());
  for (auto& table : *tables) {
    HONDANA_TRY(auto rule, rule_reader(table).read());
    parsed.rules_.push_back(std::move(rule));
  }
  return parsed;
}

rule_result rules::evaluate(std::string_view path) const {
  rule_result outcome;
  for (const auto& rule : rules_) {
    if (!rule.match.match(path)) continue;
    if (rule.priority) {
      outcome.priority = rule.priority;
      outcome.priority_line = rule.line;
    }
    if (!rule.audience.empty()) outcome.audience = rule.audience;
    if (rule.lang) outcome.lang = *rule.lang;
    if (rule.title) outcome.title = *rule.title;
    if (rule.charset) outcome.charset = *rule.charset;
    if (rule.exclude) {
      outcome.is_excluded = *rule.exclude;
      outcome.excluded_line = rule.line;
    }
  }
  return outcome;
}

}  // namespace hondana::docs
