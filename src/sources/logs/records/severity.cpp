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
  constexpr std::array<std::string_view, 12> level_fields{"level",     "severity",   "lvl",          "log.level",
                                                          "levelname", "loglevel",   "log_level",    "log_severity",
                                                          "@l",        "level_name", "severitytext", "severity_text"};
  return std::any_of(level_fields.begin(), level_fields.end(),
                     [name](std::string_view field) { return ascii::equals_ignore_case(name, field); });
}

/// The numbers of OpenTelemetry: 1 to 4 for trace, and so on to 24.
std::optional<severity> severity_of_otel_number(std::int64_t number) noexcept {
  constexpr std::array levels{severity::trace,   severity::debug, severity::info,
                              severity::warning, severity::error, severity::critical};
  if (number < 1 || number > 24) return std::nullopt;
  return levels[static_cast<std::size_t>((number - 1) / 4)];
}

std::string_view unquote(std::string_view raw) noexcept {
  if (!raw.starts_with('"')) return raw;
  raw.remove_prefix(1);
  if (raw.ends_with('"')) raw.remove_suffix(1);
  return raw;
}

/// A level by name, or by number with `of_number`.
template <class Function>
std::optional<severity> parse_level(std::string_view text, Function of_number) noexcept {
  if (const auto level = parse_severity(text)) return level;
  const auto number = parse_number(text);
  return number ? of_number(*number) : std::nullopt;
}

/// One letter, such as "E", or "D1" to "D5" of MongoDB.
std::optional<severity> parse_level_letter(std::string_view text) noexcept {
  const bool is_numbered = text.size() == 2 && text[0] == 'D' && text[1] >= '1' && text[1] <= '5';
  if (text.size() != 1 && !is_numbered) return std::nullopt;
  return parse_severity(text.substr(0, 1));
}

/// The highest severity of the records in a line of OTLP.
std::optional<severity> find_otlp_severity(std::string_view line) {
  std::optional<severity> highest;
  const auto inspect = [&highest](std::string_view raw) {
    auto text = unquote(raw);
    constexpr std::string_view enumerator_prefix = "SEVERITY_NUMBER_";
    std::optional<severity> level;
    if (text.starts_with(enumerator_prefix)) {
      text.remove_prefix(enumerator_prefix.size());
      while (!text.empty() && ascii::is_digit(text.back())) text.remove_suffix(1);
      level = parse_severity(text);
    } else {
      level = parse_level(text, severity_of_otel_number);
    }
    if (level && (!highest || *level > *highest)) highest = level;
    return true;
  };
  for (const auto* const path :
       {"resourceLogs.scopeLogs.logRecords.severityNumber", "resourceLogs.scopeLogs.logRecords.severityText"}) {
    if (!highest) for_each_value(line, path, std::cref(inspect));
  }
  return highest;
}

std::optional<severity> detect_at_depth(std::string_view text, const std::optional<timestamp>& time, int max_depth);

/// Finds the level in fields of JSON or logfmt.
class field_inspector {
 public:
  field_inspector(std::string_view line, int max_depth) noexcept : line_(line), max_depth_(max_depth) {}

  std::optional<severity> find() {
    const auto inspect = [this](std::string_view name, std::string_view raw) { return visit(name, raw); };
    for_each_field(line_, std::cref(inspect));
    if (level_) return level_;
    // Docker and container runtimes wrap the line of a program.
    if (!wrapped_.empty() && max_depth_ > 0) return detect_at_depth(decode_value(wrapped_), std::nullopt, max_depth_ - 1);
    if (max_depth_ == 0) return std::nullopt;
    // Serilog writes no level for information, klog none at all.
    if (has_clef_time_ && has_clef_message_) return severity::info;
    if (has_ts_ && has_msg_)
      return has_verbosity_ ? std::optional(severity::info) : has_err_ ? std::optional(severity::error) : std::nullopt;
    return std::nullopt;
  }

 private:
  bool visit(std::string_view name, std::string_view raw) {
    const auto text = unquote(raw);
    if (is_level_field(name)) {
      level_ = parse_level(text, severity_of_number);
    } else if (ascii::equals_ignore_case(name, "priority")) {
      level_ = parse_level(text, severity_of_priority);
    } else if (ascii::equals_ignore_case(name, "severitynumber") || ascii::equals_ignore_case(name, "severity_number")) {
      level_ = parse_level(text, severity_of_otel_number);
    } else if (name == "log") {
      if (raw.starts_with('"')) wrapped_ = raw;
      const auto inner = raw.starts_with('{') ? find_field(raw, "level") : std::nullopt;
      if (inner) level_ = parse_severity(*inner);
    } else if (name == "resourceLogs") {
      level_ = find_otlp_severity(line_);
    } else if (name == "t") {
      has_mongo_time_ = raw.find("\"$date\"") != std::string_view::npos;
    } else if (name == "s" && has_mongo_time_) {
      level_ = parse_level_letter(text);
    } else if (name.size() <= 3) {
      has_clef_time_ = has_clef_time_ || name == "@t";
      has_clef_message_ = has_clef_message_ || name == "@m" || name == "@mt";
      has_ts_ = has_ts_ || name == "ts";
      has_msg_ = has_msg_ || name == "msg";
      has_err_ = has_err_ || name == "err";
      has_verbosity_ = has_verbosity_ || (name == "v" && parse_number(text));
    }
    return !level_;
  }

  std::string_view line_;
  int max_depth_;
  std::optional<severity> level_{};
  std::string_view wrapped_{};
  bool has_mongo_time_ = false, has_clef_time_ = false, has_clef_message_ = false;
  bool has_ts_ = false, has_msg_ = false, has_err_ = false, has_verbosity_ = false;
};

/// Whether a line begins with a field of logfmt.
bool begins_with_field(std::string_view line) noexcept {
  std::size_t size = 0;
  while (size < line.size() && (ascii::is_alphanumeric(line[size]) || line[size] == '_' || line[size] == '.')) ++size;
  return size != 0 && size < line.size() && line[size] == '=';
}

std::optional<severity> severity_of_status(std::string_view digits) noexcept {
  constexpr std::size_t status_digits = 3;
  const auto status = digits.size() == status_digits ? parse_number(digits) : std::nullopt;
  if (!status || *status < 100 || *status > 599) return std::nullopt;
  return *status >= 500 ? severity::error : *status >= 400 ? severity::warning : severity::info;
}

/// For access logs: the status after the quoted request, also if the request is malformed or missing ("-").
std::optional<severity> find_in_access_log(std::string_view line, const timestamp* time) noexcept {
  auto open = line.find('"');
  if (open == std::string_view::npos) return std::nullopt;
  const bool is_after_time = time != nullptr && open == time->end + 2 && line.substr(time->end, 2) == "] ";
  const auto version = is_after_time ? open : line.find(" HTTP/", open);
  if (version == std::string_view::npos) return std::nullopt;
  auto close = version + 1;
  while (close < line.size() && line[close] != '"') close += line[close] == '\\' ? 2 : 1;
  if (close + 5 > line.size() || line[close + 1] != ' ') return std::nullopt;
  const auto after_status = line.substr(close + 5, 1);
  if (is_after_time && !after_status.empty() && after_status != " ") return std::nullopt;
  return severity_of_status(line.substr(close + 2, 3));
}

/// Splits a line at blanks, from an offset on.
class token_reader {
 public:
  token_reader(std::string_view line, std::size_t offset) noexcept : line_(line), offset_(offset) {}

  /// Empty: there are none left.
  [[nodiscard]] std::string_view next() noexcept {
    offset_ = std::min(line_.find_first_not_of(" \t", offset_), line_.size());
    const auto end = std::min(line_.find_first_of(" \t", offset_), line_.size());
    const auto token = line_.substr(offset_, end - offset_);
    offset_ = end;
    return token;
  }

 private:
  std::string_view line_;
  std::size_t offset_;
};

/// For the logs of Microsoft IIS (W3C), and of load balancers of Amazon Web Services: the column with the status.
std::optional<severity> find_in_status_column(std::string_view line, const timestamp& time) noexcept {
  if (time.begin != 0) {
    const auto type = line.substr(0, time.begin - 1);
    constexpr std::array<std::string_view, 6> types{"http", "https", "h2", "grpcs", "ws", "wss"};
    if (line[time.begin - 1] != ' ' || std::find(types.begin(), types.end(), type) == types.end()) return std::nullopt;
    token_reader tokens(line, time.end);
    for (int i = 0; i < 6; ++i) static_cast<void>(tokens.next());
    return severity_of_status(tokens.next());
  }
  const auto is_address_char = [](char c) { return ascii::is_hex_digit(c) || c == '.' || c == ':'; };
  token_reader tokens(line, time.end);
  const auto address = tokens.next();
  if (address.size() < 3 || !std::all_of(address.begin(), address.end(), is_address_char)) return std::nullopt;
  const auto method = tokens.next();
  if (method.empty() || !std::all_of(method.begin(), method.end(), ascii::is_upper) || !tokens.next().starts_with('/'))
    return std::nullopt;
  // Status, substatus, Win32 status, and optionally the time taken are the last columns.
  std::array<std::string_view, 4> last{};
  for (auto token = tokens.next(); !token.empty(); token = tokens.next()) {
    std::rotate(last.begin(), last.begin() + 1, last.end());
    last.back() = token;
  }
  const bool has_time_taken = parse_number(last[0]).has_value();
  return severity_of_status(last[has_time_taken ? 0 : 1]);
}

bool is_glog(std::string_view line) noexcept {
  return line.size() > 8 && std::string_view("IWEFD").find(line[0]) != std::string_view::npos &&
         std::all_of(line.begin() + 1, line.begin() + 5, ascii::is_digit) &&
         (line[5] == ' ' || std::all_of(line.begin() + 5, line.begin() + 9, ascii::is_digit));
}

bool is_upper_case(std::string_view word) noexcept { return std::all_of(word.begin(), word.end(), ascii::is_upper); }

/// The level in a column directly after the time: "INFO x", "I NETWORK", "  7  9 E Tag", ", Info    CBS", "E! [", "info x".
std::optional<severity> find_in_column(std::string_view line, std::size_t time_end) noexcept {
  const auto skip_chars = [line](std::size_t offset, auto predicate) {
    while (offset < line.size() && predicate(line[offset])) ++offset;
    return offset;
  };
  const auto is_separator = [](char c) { return c == ' ' || c == '\t' || c == ']' || c == ')' || c == ',' || c == '|'; };
  auto offset = skip_chars(time_end, is_separator);
  if (offset == time_end) return std::nullopt;
  // Numbers of processes and threads.
  bool has_numbers = false;
  for (int i = 0; i < 2 && offset < line.size() && ascii::is_digit(line[offset]); ++i) {
    const auto end = skip_chars(offset, ascii::is_digit);
    if (end == line.size() || line[end] != ' ') return std::nullopt;
    offset = skip_chars(end, [](char c) { return c == ' '; });
    has_numbers = true;
  }
  const auto end = skip_chars(offset, ascii::is_letter);
  const auto word = line.substr(offset, end - offset);
  if (word.empty()) return std::nullopt;
  if (word.size() == 1) {
    const auto digit_end = word == "D" && end < line.size() && line[end] >= '1' && line[end] <= '5' ? end + 1 : end;
    const auto rest = line.substr(digit_end);
    if (!ascii::is_upper(word[0]) || rest.empty()) return std::nullopt;
    if (!rest.starts_with(' ') && !rest.starts_with("! ") && !rest.starts_with('/')) return std::nullopt;
    // "I am here", "A client": only letters that do not begin sentences, unless a column follows.
    const auto next = rest.find_first_not_of(" !/");
    const bool is_sentence = next == std::string_view::npos || ascii::is_lower(rest[next]);
    if (is_sentence && rest.starts_with(' ') && !has_numbers &&
        std::string_view("EWFDV").find(word[0]) == std::string_view::npos)
      return std::nullopt;
    return parse_severity(word);
  }
  const auto rest = line.substr(end);
  if (is_upper_case(word)) {
    return rest.starts_with(' ') && !has_numbers ? parse_severity(word) : std::nullopt;  // others: see `find_in_words`
  }
  constexpr std::array<std::string_view, 9> plain_names{"info",  "warn",  "warning", "err",  "error",
                                                        "fatal", "debug", "crit",    "trace"};
  constexpr std::size_t max_plain_bytes = 7;
  const bool is_column = rest.starts_with("  ") || rest.starts_with('\t') || rest.starts_with(" |");
  const bool is_plain = rest.starts_with(' ') && word.size() <= max_plain_bytes &&
                        std::any_of(plain_names.begin(), plain_names.end(),
                                    [word](std::string_view name) { return ascii::equals_ignore_case(word, name); });
  return is_column || is_plain ? parse_severity(word) : std::nullopt;
}

/// "%SYS-5-CONFIG_I:" and "%FACILITY-SUBFACILITY-3-NAME:" of Cisco's devices, after the percent sign.
std::optional<severity> parse_cisco_message(std::string_view text) noexcept {
  constexpr std::size_t max_bytes = 64;
  text = text.substr(0, std::min({text.find_first_of(" :"), text.size(), max_bytes}));
  if (text.empty() || !ascii::is_upper(text[0])) return std::nullopt;
  for (auto dash = text.find('-'); dash != std::string_view::npos; dash = text.find('-', dash + 1)) {
    if (dash + 2 < text.size() && text[dash + 2] == '-' && ascii::is_digit(text[dash + 1]))
      return severity_of_priority(text[dash + 1] - '0');
  }
  return std::nullopt;
}

/// Levels in the words of other languages, in brackets.
std::optional<severity> parse_translated_level(std::string_view text) noexcept {
  constexpr std::array translated_levels{
      level_alias{"エラー", severity::error},    level_alias{"警告", severity::warning}, level_alias{"情報", severity::info},
      level_alias{"致命的", severity::critical}, level_alias{"重大", severity::error},   level_alias{"構成", severity::debug},
      level_alias{"デバッグ", severity::debug},
  };
  const auto* const match = std::find_if(translated_levels.begin(), translated_levels.end(),
                                         [text](const level_alias& alias) { return text.starts_with(alias.name); });
  if (match == translated_levels.end()) return std::nullopt;
  const auto next = text.substr(match->name.size(), 1);
  return next == "]" || next == ":" ? std::optional(match->level) : std::nullopt;
}

/// Whether "[module" is before an offset, as in Apache's "[module:level]".
bool is_after_module(std::string_view front, std::size_t offset) noexcept {
  while (offset > 0 && (ascii::is_alphanumeric(front[offset - 1]) || front[offset - 1] == '_')) --offset;
  return offset > 0 && front[offset - 1] == '[';
}

/// Whether the word before an offset is in capitals.
bool is_after_capitals(std::string_view front, std::size_t offset) noexcept {
  return offset >= 2 && front[offset - 1] == ' ' && ascii::is_upper(front[offset - 2]);
}

/// A word that names a level. "trace1" to "trace8" are levels of Apache, "alert" after another word in capitals is not one.
std::optional<severity> parse_level_word(std::string_view front, std::size_t begin, std::string_view word) noexcept {
  if (word.size() == 6 && ascii::is_digit(word.back()) && ascii::equals_ignore_case(word.substr(0, 5), "trace"))
    return severity::trace;
  const auto level = parse_severity(word);
  if (level == severity::critical && word == "ALERT" && is_after_capitals(front, begin)) return std::nullopt;
  // "PHP Fatal error:"
  if (level == severity::error && begin >= 6 && ascii::equals_ignore_case(front.substr(begin - 6, 6), "fatal "))
    return severity::critical;
  return level;
}

/// Kinds of characters, as bits.
enum char_kinds : unsigned char { upper_case = 1, lower_case = 2, digit_or_underscore = 4, special = 8 };
constexpr unsigned char letter_kinds = upper_case | lower_case;
constexpr unsigned char word_kinds = letter_kinds | digit_or_underscore;

/// Special characters begin colors, messages of Cisco, and words of other languages.
constexpr std::array<unsigned char, 256> kinds_of_chars = [] {
  std::array<unsigned char, 256> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto c = static_cast<char>(i);
    if (ascii::is_upper(c)) out[i] = upper_case;
    if (ascii::is_lower(c)) out[i] = lower_case;
    if (ascii::is_digit(c) || c == '_') out[i] = digit_or_underscore;
    if (c == '[' || c == '#' || c == '%' || i >= 0x80) out[i] = special;
  }
  return out;
}();

constexpr unsigned char kinds_of(char c) noexcept { return kinds_of_chars[static_cast<unsigned char>(c)]; }

/// The length of a color at an offset whose escape character was lost ("[31m") or written as text ("#033[31m"). 0: there is
/// none.
std::size_t visible_color_size(std::string_view front, std::size_t offset) noexcept {
  constexpr std::string_view escape = "#033";
  auto end = offset;
  if (front[offset] != '[' && front[offset] != '#') return 0;
  if (front.substr(end).starts_with(escape)) end += escape.size();
  if (end >= front.size() || front[end] != '[') return 0;
  ++end;
  while (end < front.size() && (ascii::is_digit(front[end]) || front[end] == ';')) ++end;
  return end < front.size() && front[end] == 'm' ? end + 1 - offset : 0;
}

/// Finds a word that names a level: in capitals, in brackets, or followed by a colon. Searches from `offset` on.
std::optional<severity> find_in_words(std::string_view front, std::size_t offset) noexcept {
  std::size_t words = 0;
  std::size_t color_end = std::string_view::npos;
  while (offset < front.size() && words < max_front_words) {
    const char c = front[offset];
    const auto kind = kinds_of(c);
    if ((kind & letter_kinds) == 0) {
      if (kind != special) {
        ++offset;
        continue;
      }
      if (const auto color = visible_color_size(front, offset); color != 0) {
        offset += color;
        color_end = offset;
        continue;
      }
      const bool is_bracketed = offset > 0 && front[offset - 1] == '[';
      const auto level = c == '%'       ? parse_cisco_message(front.substr(offset + 1))
                         : is_bracketed ? parse_translated_level(front.substr(offset))
                                        : std::nullopt;
      if (level) return level;
      ++offset;
      continue;
    }
    const auto begin = offset;
    unsigned kinds = 0;
    while (offset < front.size() && (kinds_of(front[offset]) & word_kinds) != 0) kinds |= kinds_of(front[offset++]);
    // Names of nodes and addresses are not words of the message.
    if ((kinds & digit_or_underscore) == 0) ++words;
    const auto word = front.substr(begin, offset - begin);
    const char previous = begin == 0 || begin == color_end ? ' ' : front[begin - 1];
    const char next = offset == front.size() || visible_color_size(front, offset) != 0 ? ' ' : front[offset];
    const bool is_capital = kinds == upper_case;
    // Most words of a message.
    if (next == ' ' && !is_capital && previous != '[') continue;
    const bool is_bracketed = (previous == '[' && (next == ']' || next == ' ')) || (previous == '(' && next == ')') ||
                              (previous == '<' && next == '>') || (previous == '|' && next == '|') ||
                              (previous == ':' && next == ']' && is_after_module(front, begin - 1));
    if (word.size() == 1) {
      // A single letter counts only in brackets, or in the form "D/tag" of Android.
      const bool is_delimited =
          (previous == '[' && next == ']') || (previous == ' ' && next == '/' && ascii::is_upper(word[0]));
      if (is_delimited) {
        if (const auto single_level = parse_severity(word)) return single_level;
      }
      continue;
    }
    const bool has_end = next == ' ' || next == ':' || next == ']' || next == '\t' || next == '|' || next == ')' ||
                         next == ',' || next == ';' || next == '>' || next == '-';
    const bool has_begin = previous == ' ' || previous == '[' || previous == '\t' || previous == '|' || previous == '(' ||
                           previous == '<' || previous == ':' || previous == '-' || previous == ']' || previous == '.' ||
                           (previous == '/' && next == ']');
    if (!has_begin || !has_end || (!is_capital && !is_bracketed && next != ':')) continue;
    // Words such as "config:" begin many sentences that have nothing to do with a level.
    if (!is_capital && !is_bracketed &&
        (ascii::equals_ignore_case(word, "config") || ascii::equals_ignore_case(word, "log") ||
         ascii::equals_ignore_case(word, "fine"))) {
      continue;
    }
    if (const auto level = parse_level_word(front, begin, word)) return level;
  }
  return std::nullopt;
}

/// The level before a time: "E [02/Jan/2026:03:04:05 +0000]" of CUPS, "[E 2026-01-02 03:04:05 app]" of Jupyter.
std::optional<severity> find_letter_before_time(std::string_view line, std::size_t time_begin) noexcept {
  constexpr std::size_t distance = 3;
  if (time_begin != distance) return std::nullopt;
  if (line[0] == '[' && line[2] == ' ') return parse_level_letter(line.substr(1, 1));
  if (line.substr(1, 2) != " [") return std::nullopt;
  if (line[0] == 'A' || line[0] == 'X') return severity::critical;
  return parse_level_letter(line.substr(0, 1));
}

/// The mark after the time in a line of Redis: "1:M 02 Jan 2026 03:04:05.678 * Ready".
std::optional<severity> find_redis_mark(std::string_view line, const timestamp& time) noexcept {
  constexpr std::string_view roles = "MSCX", marks = ".-*#";
  constexpr std::array levels{severity::debug, severity::info, severity::notice, severity::warning};
  const auto mark = line.substr(time.end, 3);
  if (time.begin < 4 || line[time.begin - 3] != ':' || roles.find(line[time.begin - 2]) == std::string_view::npos ||
      mark.size() < 3 || mark[0] != ' ' || mark[2] != ' ')
    return std::nullopt;
  const auto index = marks.find(mark[1]);
  return index == std::string_view::npos ? std::nullopt : std::optional(levels[index]);
}

/// The level at the beginning of the second line, as java.util.logging writes it: "SEVERE: boom".
std::optional<severity> find_in_second_line(std::string_view text, std::size_t first_line_size) noexcept {
  const auto line = text.substr(std::min(first_line_size + 1, text.size()));
  std::size_t size = 0;
  while (size < line.size() && ascii::is_upper(line[size])) ++size;
  if (size == 0) return parse_translated_level(line);
  return size > 1 && line.substr(size).starts_with(": ") ? parse_severity(line.substr(0, size)) : std::nullopt;
}

std::optional<severity> detect_at_depth(std::string_view text, const std::optional<timestamp>& time, int max_depth) {
  const auto line = text.substr(0, std::min(text.find('\n'), text.size()));
  if (looks_like_json(line)) return field_inspector(text, max_depth).find();
  const auto* const own_time = time && time->end < line.size() ? &*time : nullptr;
  const bool is_time_leading = own_time != nullptr && own_time->begin <= 1;
  if (is_time_leading) {
    const auto header = parse_container_header(line);
    if (header.size != 0 && max_depth > 0) return detect_at_depth(text.substr(header.size), std::nullopt, max_depth - 1);
  } else {
    const auto priority = parse_priority(line);
    if (priority.value) return severity_of_priority(*priority.value % 8);
  }
  if (is_glog(line)) return parse_severity(line.substr(0, 1));
  constexpr std::size_t max_line_bytes = 4096;
  const auto start = line.substr(0, max_line_bytes);
  const bool is_access_log = own_time != nullptr && start.substr(own_time->end).starts_with("] \"");
  if (is_access_log) {
    if (const auto level = find_in_access_log(start, own_time)) return level;
  }
  if (own_time != nullptr) {
    // "INFO 2026-01-31 08:00:00 error in a file"
    const auto before = is_time_leading ? std::nullopt : find_in_words(start.substr(0, own_time->begin), 0);
    if (before) return before;
    if (const auto level = find_in_column(start, own_time->end)) return level;
  }
  const auto find_in_pairs = [&start] {
    return start.find('=') == std::string_view::npos ? std::nullopt : field_inspector(start, 0).find();
  };
  if (!is_time_leading && begins_with_field(start)) {
    if (const auto level = find_in_pairs()) return level;
  }
  const auto request_level = is_access_log ? std::nullopt : find_in_access_log(start, own_time);
  if (request_level) return request_level;
  if (own_time != nullptr) {
    if (const auto level = find_letter_before_time(start, own_time->begin)) return level;
    if (const auto level = find_redis_mark(start, *own_time)) return level;
    if (const auto level = find_in_status_column(start, *own_time)) return level;
  }
  const auto words_begin = is_time_leading ? own_time->end : 0;
  if (const auto level = find_in_words(line.substr(0, words_begin + front_bytes), words_begin)) return level;
  if (const auto level = find_in_pairs()) return level;
  return is_time_leading ? find_in_second_line(text, line.size()) : std::nullopt;
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
  if (level < 20) return severity::trace;
  if (level < 30) return severity::debug;
  if (level < 40) return severity::info;
  if (level < 50) return severity::warning;
  if (level < 60) return severity::error;
  switch (level) {
    case 100:
      return severity::debug;
    case 200:
      return severity::info;
    case 250:
      return severity::notice;
    case 300:
      return severity::warning;
    case 400:
      return severity::error;
    case 60:
    case 500:
    case 550:
    case 600:
      return severity::critical;
    default:
      return std::nullopt;
  }
}

std::optional<severity> detect_severity(std::string_view text, const std::optional<timestamp>& time) {
  constexpr int max_wrappers = 3;
  return detect_at_depth(text, time, max_wrappers);
}

}  // namespace hondana::records
