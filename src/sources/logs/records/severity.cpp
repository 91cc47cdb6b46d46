/// Finds the severity of a record in its text.
#include "sources/logs/records/severity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <string>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "sources/logs/records/fields.hpp"

namespace hondana::records {
namespace {

constexpr std::array<std::string_view, 7> level_names{"trace", "debug", "info", "notice", "warning", "error", "critical"};

struct level_alias {
  std::string_view name;
  severity level;
};
constexpr std::array level_aliases{
    level_alias{"verbose", severity::trace},
    level_alias{"finest", severity::trace},
    level_alias{"finer", severity::trace},
    level_alias{"trc", severity::trace},
    level_alias{"fine", severity::debug},
    level_alias{"dbg", severity::debug},
    level_alias{"d", severity::debug},
    level_alias{"config", severity::debug},
    level_alias{"information", severity::info},
    level_alias{"informational", severity::info},
    level_alias{"inf", severity::info},
    level_alias{"i", severity::info},
    level_alias{"log", severity::info},
    level_alias{"note", severity::notice},
    level_alias{"warn", severity::warning},
    level_alias{"wrn", severity::warning},
    level_alias{"w", severity::warning},
    level_alias{"err", severity::error},
    level_alias{"eror", severity::error},
    level_alias{"e", severity::error},
    level_alias{"severe", severity::error},
    level_alias{"failure", severity::error},
    level_alias{"crit", severity::critical},
    level_alias{"fatal", severity::critical},
    level_alias{"ftl", severity::critical},
    level_alias{"f", severity::critical},
    level_alias{"alert", severity::critical},
    level_alias{"emerg", severity::critical},
    level_alias{"emergency", severity::critical},
    level_alias{"panic", severity::critical},
    level_alias{"dpanic", severity::critical},
    level_alias{"c", severity::critical},
    level_alias{"t", severity::trace},
    level_alias{"n", severity::notice},
    level_alias{"v", severity::trace},
};

constexpr std::size_t front_bytes = 240;
constexpr std::size_t max_front_words = 12;

std::optional<std::int64_t> parse_number(std::string_view text) noexcept {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

bool is_level_field(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 8> level_fields{"level",     "severity", "lvl",       "log.level",
                                                         "levelname", "loglevel", "log_level", "log_severity"};
  return std::any_of(level_fields.begin(), level_fields.end(),
                     [name](std::string_view field) { return ascii::equals_ignore_case(name, field); });
}

std::string_view unquote(std::string_view raw) noexcept {
  if (!raw.starts_with('"')) return raw;
  raw.remove_prefix(1);
  if (raw.ends_with('"')) raw.remove_suffix(1);
  return raw;
}

std::optional<severity> find_in_fields(std::string_view line) {
  std::optional<severity> level;
  const auto inspect = [&level](std::string_view name, std::string_view raw) {
    const auto text = unquote(raw);
    if (is_level_field(name)) {
      level = parse_severity(text);
      if (!level) {
        if (const auto number = parse_number(text)) level = severity_of_number(*number);
      }
    } else if (ascii::equals_ignore_case(name, "priority")) {
      level = parse_severity(text);
      if (!level) {
        if (const auto number = parse_number(text)) level = severity_of_priority(*number);
      }
    } else if (name == "log" && raw.starts_with('{')) {
      if (const auto inner = find_field(raw, "level")) level = parse_severity(*inner);
    }
    return !level;
  };
  for_each_field(line, std::cref(inspect));
  return level;
}

/// For access logs: the status after the quoted request.
std::optional<severity> severity_of_status(std::string_view line) noexcept {
  const auto open = line.find('"');
  if (open == std::string_view::npos) return std::nullopt;
  const auto version = line.find(" HTTP/", open);
  if (version == std::string_view::npos) return std::nullopt;
  const auto close = line.find('"', version);
  if (close == std::string_view::npos || close + 5 > line.size() || line[close + 1] != ' ') return std::nullopt;
  const auto status = parse_number(line.substr(close + 2, 3));
  if (!status || *status < 100 || *status > 599) return std::nullopt;
  return *status >= 500 ? severity::error : *status >= 400 ? severity::warning : severity::info;
}

bool is_glog(std::string_view line) noexcept {
  return line.size() > 8 && std::string_view("IWEFD").find(line[0]) != std::string_view::npos &&
         std::all_of(line.begin() + 1, line.begin() + 5, ascii::is_digit) &&
         (line[5] == ' ' || std::all_of(line.begin() + 5, line.begin() + 9, ascii::is_digit));
}

/// Finds a word that names a level: in capitals, in brackets, or followed by a colon.
std::optional<severity> find_in_words(std::string_view front) noexcept {
  std::size_t words = 0;
  for (std::size_t offset = 0; offset < front.size() && words < max_front_words;) {
    if (!ascii::is_letter(front[offset])) {
      ++offset;
      continue;
    }
    const auto begin = offset;
    while (offset < front.size() && (ascii::is_letter(front[offset]) || ascii::is_digit(front[offset]) || front[offset] == '_'))
      ++offset;
    ++words;
    const auto word = front.substr(begin, offset - begin);
    const char previous = begin == 0 ? ' ' : front[begin - 1];
    const char next = offset < front.size() ? front[offset] : ' ';
    const bool is_bracketed = (previous == '[' && (next == ']' || next == ' ')) || (previous == '(' && next == ')') ||
                              (previous == '<' && next == '>') || (previous == '|' && next == '|');
    if (word.size() == 1) {
      // A single letter counts only in brackets, or in the form "D/tag" of Android.
      const bool is_delimited =
          (previous == '[' && next == ']') || (previous == ' ' && next == '/' && ascii::is_upper(word[0]));
      if (is_delimited) {
        if (const auto single_level = parse_severity(word)) return single_level;
      }
      continue;
    }
    const bool is_upper_case = std::all_of(word.begin(), word.end(), ascii::is_upper);
    const bool has_end = next == ' ' || next == ':' || next == ']' || next == '\t' || next == '|' || next == ')' ||
                         next == ',' || next == ';' || next == '>' || next == '-';
    const bool has_begin = previous == ' ' || previous == '[' || previous == '\t' || previous == '|' || previous == '(' ||
                           previous == '<' || previous == ':' || previous == '-' || previous == ']' || previous == '.';
    if (!has_begin || !has_end || (!is_upper_case && !is_bracketed && next != ':')) continue;
    // Words such as "config:" begin many sentences that have nothing to do with a level.
    if (!is_upper_case && !is_bracketed &&
        (ascii::equals_ignore_case(word, "config") || ascii::equals_ignore_case(word, "log") ||
         ascii::equals_ignore_case(word, "fine"))) {
      continue;
    }
    if (const auto level = parse_severity(word)) return level;
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(severity level) noexcept { return level_names[static_cast<std::size_t>(level) % level_names.size()]; }

std::optional<severity> parse_severity(std::string_view name) noexcept {
  for (std::size_t i = 0; i < level_names.size(); ++i) {
    if (ascii::equals_ignore_case(name, level_names[i])) return static_cast<severity>(i);
  }
  const auto match = std::find_if(level_aliases.begin(), level_aliases.end(),
                                  [name](const level_alias& alias) { return ascii::equals_ignore_case(name, alias.name); });
  if (match == level_aliases.end()) return std::nullopt;
  return match->level;
}

std::optional<severity> severity_of_priority(std::int64_t priority) noexcept {
  constexpr std::array levels{severity::critical, severity::critical, severity::critical, severity::error,
                              severity::warning,  severity::notice,   severity::info,     severity::debug};
  if (priority < 0 || priority >= static_cast<std::int64_t>(levels.size())) return std::nullopt;
  return levels[static_cast<std::size_t>(priority)];
}

std::optional<severity> severity_of_number(std::int64_t level) noexcept {
  if (level < 10) return severity_of_priority(level);
  if (level > 60) return std::nullopt;
  return level < 20   ? severity::trace
         : level < 30 ? severity::debug
         : level < 40 ? severity::info
         : level < 50 ? severity::warning
         : level < 60 ? severity::error
                      : severity::critical;
}

std::optional<severity> detect_severity(std::string_view text) {
  const auto line = text.substr(0, std::min(text.find('\n'), text.size()));
  if (looks_like_json(line)) return find_in_fields(text);
  const auto priority = parse_priority(line);
  if (priority.value) return severity_of_priority(*priority.value % 8);
  if (is_glog(line)) return parse_severity(line.substr(0, 1));
  if (const auto status_level = severity_of_status(line.substr(0, 4096))) return status_level;
  const auto front = line.substr(0, front_bytes);
  if (auto word_level = find_in_words(front)) return word_level;
  return line.find('=') == std::string_view::npos ? std::nullopt : find_in_fields(line.substr(0, 4096));
}

}  // namespace hondana::records
