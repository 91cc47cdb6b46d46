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

struct other_name {
  std::string_view name;
  severity means;
};
constexpr std::array other_names{
    other_name{"verbose", severity::trace},
    other_name{"finest", severity::trace},
    other_name{"finer", severity::trace},
    other_name{"trc", severity::trace},
    other_name{"fine", severity::debug},
    other_name{"dbg", severity::debug},
    other_name{"d", severity::debug},
    other_name{"config", severity::debug},
    other_name{"information", severity::info},
    other_name{"informational", severity::info},
    other_name{"inf", severity::info},
    other_name{"i", severity::info},
    other_name{"log", severity::info},
    other_name{"note", severity::notice},
    other_name{"warn", severity::warning},
    other_name{"wrn", severity::warning},
    other_name{"w", severity::warning},
    other_name{"err", severity::error},
    other_name{"eror", severity::error},
    other_name{"e", severity::error},
    other_name{"severe", severity::error},
    other_name{"failure", severity::error},
    other_name{"crit", severity::critical},
    other_name{"fatal", severity::critical},
    other_name{"ftl", severity::critical},
    other_name{"f", severity::critical},
    other_name{"alert", severity::critical},
    other_name{"emerg", severity::critical},
    other_name{"emergency", severity::critical},
    other_name{"panic", severity::critical},
    other_name{"dpanic", severity::critical},
    other_name{"c", severity::critical},
    other_name{"t", severity::trace},
    other_name{"n", severity::notice},
    other_name{"v", severity::trace},
};

constexpr std::size_t front_bytes = 240;
constexpr std::size_t most_front_words = 12;

std::optional<std::int64_t> number_in(std::string_view text) noexcept {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

bool names_a_level(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 8> known{"level",     "severity", "lvl",       "log.level",
                                                  "levelname", "loglevel", "log_level", "log_severity"};
  return std::any_of(known.begin(), known.end(), [name](std::string_view one) { return ascii::is_same(name, one); });
}

std::string_view without_quotes(std::string_view raw) noexcept {
  if (!raw.starts_with('"')) return raw;
  raw.remove_prefix(1);
  if (raw.ends_with('"')) raw.remove_suffix(1);
  return raw;
}

std::optional<severity> in_fields(std::string_view line) {
  std::optional<severity> found;
  const auto look = [&found](std::string_view name, std::string_view raw) {
    const auto text = without_quotes(raw);
    if (names_a_level(name)) {
      found = severity_named(text);
      if (!found) {
        if (const auto number = number_in(text)) found = severity_of_number(*number);
      }
    } else if (ascii::is_same(name, "priority")) {
      found = severity_named(text);
      if (!found) {
        if (const auto number = number_in(text)) found = severity_of_priority(*number);
      }
    } else if (name == "log" && raw.starts_with('{')) {
      if (const auto inner = field_of(raw, "level")) found = severity_named(*inner);
    }
    return !found;
  };
  each_field(line, std::cref(look));
  return found;
}

/// For access logs: the status after the quoted request.
std::optional<severity> of_status(std::string_view line) noexcept {
  const auto open = line.find('"');
  if (open == std::string_view::npos) return std::nullopt;
  const auto version = line.find(" HTTP/", open);
  if (version == std::string_view::npos) return std::nullopt;
  const auto close = line.find('"', version);
  if (close == std::string_view::npos || close + 5 > line.size() || line[close + 1] != ' ') return std::nullopt;
  const auto status = number_in(line.substr(close + 2, 3));
  if (!status || *status < 100 || *status > 599) return std::nullopt;
  return *status >= 500 ? severity::error : *status >= 400 ? severity::warning : severity::info;
}

bool is_glog(std::string_view line) noexcept {
  return line.size() > 8 && std::string_view("IWEFD").find(line[0]) != std::string_view::npos &&
         std::all_of(line.begin() + 1, line.begin() + 5, ascii::is_digit) &&
         (line[5] == ' ' || std::all_of(line.begin() + 5, line.begin() + 9, ascii::is_digit));
}

/// Finds a word that names a level: in capitals, in brackets, or followed by a colon.
std::optional<severity> among_words(std::string_view front) noexcept {
  std::size_t words = 0;
  for (std::size_t at = 0; at < front.size() && words < most_front_words;) {
    if (!ascii::is_letter(front[at])) {
      ++at;
      continue;
    }
    const auto begin = at;
    while (at < front.size() && (ascii::is_letter(front[at]) || ascii::is_digit(front[at]) || front[at] == '_')) ++at;
    ++words;
    const auto word = front.substr(begin, at - begin);
    const char before = begin == 0 ? ' ' : front[begin - 1];
    const char behind = at < front.size() ? front[at] : ' ';
    const bool is_bracketed = (before == '[' && (behind == ']' || behind == ' ')) || (before == '(' && behind == ')') ||
                              (before == '<' && behind == '>') || (before == '|' && behind == '|');
    if (word.size() == 1) {
      // A single letter counts only in brackets, or in the form "D/tag" of Android.
      const bool is_alone = (before == '[' && behind == ']') || (before == ' ' && behind == '/' && ascii::is_upper(word[0]));
      if (is_alone) {
        if (const auto found = severity_named(word)) return found;
      }
      continue;
    }
    const bool is_shouted = std::all_of(word.begin(), word.end(), ascii::is_upper);
    const bool ends = behind == ' ' || behind == ':' || behind == ']' || behind == '\t' || behind == '|' || behind == ')' ||
                      behind == ',' || behind == ';' || behind == '>' || behind == '-';
    const bool begins = before == ' ' || before == '[' || before == '\t' || before == '|' || before == '(' || before == '<' ||
                        before == ':' || before == '-' || before == ']' || before == '.';
    if (!begins || !ends || (!is_shouted && !is_bracketed && behind != ':')) continue;
    // Words such as "config:" begin many sentences that have nothing to do with a level.
    if (!is_shouted && !is_bracketed &&
        (ascii::is_same(word, "config") || ascii::is_same(word, "log") || ascii::is_same(word, "fine"))) {
      continue;
    }
    if (const auto found = severity_named(word)) return found;
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(severity of) noexcept { return level_names[static_cast<std::size_t>(of) % level_names.size()]; }

std::optional<severity> severity_named(std::string_view name) noexcept {
  for (std::size_t i = 0; i < level_names.size(); ++i) {
    if (ascii::is_same(name, level_names[i])) return static_cast<severity>(i);
  }
  const auto found = std::find_if(other_names.begin(), other_names.end(),
                                  [name](const other_name& one) { return ascii::is_same(name, one.name); });
  if (found == other_names.end()) return std::nullopt;
  return found->means;
}

std::optional<severity> severity_of_priority(std::int64_t priority) noexcept {
  constexpr std::array all{severity::critical, severity::critical, severity::critical, severity::error,
                           severity::warning,  severity::notice,   severity::info,     severity::debug};
  if (priority < 0 || priority >= static_cast<std::int64_t>(all.size())) return std::nullopt;
  return all[static_cast<std::size_t>(priority)];
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

std::optional<severity> severity_of(std::string_view text) {
  const auto line = text.substr(0, std::min(text.find('\n'), text.size()));
  if (looks_like_json(line)) return in_fields(text);
  const auto priority = priority_at(line);
  if (priority.value) return severity_of_priority(*priority.value % 8);
  if (is_glog(line)) return severity_named(line.substr(0, 1));
  if (const auto found = of_status(line.substr(0, 4096))) return found;
  const auto front = line.substr(0, front_bytes);
  if (auto found = among_words(front)) return found;
  return line.find('=') == std::string_view::npos ? std::nullopt : in_fields(line.substr(0, 4096));
}

}  // namespace hondana::records
