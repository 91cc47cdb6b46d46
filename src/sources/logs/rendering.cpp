/// Renders pages of records and summaries as text, Markdown and JSON.
#include "sources/logs/rendering.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/json/writer.hpp"
#include "sources/logs/address.hpp"
#include "sources/logs/moment.hpp"

namespace hondana::logs {

/// Formats a text as code, with enough backticks around it. Control characters become blanks.
[[nodiscard]] std::string as_code(std::string_view text);

namespace {

/// The number of bytes of a line end at `at`, including line ends that only some programs recognize. 0 if there is none.
std::size_t line_end_at(std::string_view text, std::size_t at) noexcept {
  const char c = text[at];
  if (c == '\n' || c == '\v' || c == '\f' || c == '\r') return 1;
  const auto rest = text.substr(at);
  if (rest.starts_with("\xC2\x85")) return 2;
  return rest.starts_with("\xE2\x80\xA8") || rest.starts_with("\xE2\x80\xA9") ? 3 : 0;
}

/// Adds a backslash to lines that look like remarks.
void write_lines(std::string& out, std::string_view text) {
  constexpr std::string_view sign = "-- ";
  if (text.find(sign) == std::string_view::npos) {
    out += text;
    return;
  }
  bool is_start = true;
  for (std::size_t at = 0; at < text.size();) {
    if (is_start) {
      const auto behind = std::min(text.find_first_not_of('\\', at), text.size());
      if (text.substr(behind).starts_with(sign)) out += '\\';
      out += text.substr(at, behind - at);
      at = behind;
      is_start = false;
      continue;
    }
    const auto ended = line_end_at(text, at);
    out += text.substr(at, std::max<std::size_t>(ended, 1));
    at += std::max<std::size_t>(ended, 1);
    is_start = ended != 0;
  }
}

void write_record(std::string& to, const records::record& one, bool has_head) {
  std::string head;
  if (has_head) {
    if (one.time) head += text_of(*one.time) + ' ';
    if (!one.source.empty()) head += one.source + ' ';
    if (one.level) head += std::string(records::name_of(*one.level)) + ": ";
  }
  write_lines(to, head.empty() ? std::string_view(one.text) : std::string_view(head += one.text));
  if (one.cut != 0) to += " … (" + std::to_string(one.cut) + " bytes more)";
  to += '\n';
}

/// Replaces line ends, so that a note stays on one line.
void write_note(std::string& out, std::string_view label, std::string_view text) {
  out += "-- " + std::string(label);
  for (const char c : text) out += c == '\n' || c == '\r' ? ' ' : c;
  out += '\n';
}

}  // namespace

std::string text_of(const told_page& page) {
  std::string out;
  const auto& all = page.what.records;
  for (auto one = all.rbegin(); one != all.rend(); ++one) write_record(out, *one, page.has_heads);
  if (all.empty()) write_note(out, page.next.empty() ? "no records" : "no records here", "");
  for (const auto& remark : page.what.remarks) write_note(out, "remark: ", remark);
  if (!page.what.ended_early.empty()) write_note(out, "ended early: ", page.what.ended_early);
  if (!page.next.empty()) write_note(out, "older: ", page.next);
  return out;
}

std::string json_of(const told_page& page) {
  std::string out;
  json::writer to(out);
  to.begin_object().member("log", page.at.name).key("records").begin_array();
  const auto& all = page.what.records;
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    to.begin_object();
    if (one->time) to.member("time", text_of(*one->time));
    if (one->time && !one->has_own_time) to.key("timeIsOfRecordBefore").boolean(true);
    if (one->level) to.member("level", records::name_of(*one->level));
    to.member_if("source", one->source).member("text", one->text);
    if (one->cut != 0) to.key("cutBytes").unsigned_integer(one->cut);
    to.end_object();
  }
  to.end_array().member_if("next", page.next).member_if("endedEarly", page.what.ended_early);
  to.key("remarks").begin_array();
  for (const auto& remark : page.what.remarks) to.string(remark);
  to.end_array().end_object();
  return out;
}

namespace {

using records::instant;

std::string name_of_level(std::size_t place) {
  return place == severities ? "none" : std::string(records::name_of(static_cast<records::severity>(place)));
}

double hours_in(const summary& what) {
  const auto begin = what.slices.empty() ? what.begin : std::max(what.begin, what.slices.front()->begin);
  return std::max(static_cast<double>(what.end - begin) / static_cast<double>(hour), 1.0 / 60);
}

std::string rate(std::uint64_t count, double hours) {
  char out[32];
  const auto value = static_cast<double>(count) / hours;
  std::snprintf(out, sizeof out, value >= 10 ? "%.0f" : "%.2g", value);
  return out;
}

std::string bar(std::uint64_t value, std::uint64_t most) {
  constexpr std::uint64_t widest = 40;
  if (most == 0 || value == 0) return {};
  return std::string(static_cast<std::size_t>(std::max<std::uint64_t>(1, value * widest / most)), '#');
}

std::string uri_since(std::string_view name, instant since, std::optional<records::severity> level) {
  address at{.name = std::string(name)};
  at.what.since = since;
  at.what.at_least = level;
  return uri_of(at);
}

void write_head(std::string& out, const summary& what, std::string_view name) {
  out += "# Summary of the log " + std::string(name) + "\n\n";
  if (what.has_times) {
    out += "From " + text_of(what.begin) + " to " + text_of(what.end) + " (" + text_of_span(what.end - what.begin) + ")";
    if (what.is_moved) out += ", where the log ends";
    out += ".\n";
  }
  out += std::to_string(what.total) + " records, " + std::to_string(what.errors) + " of them errors.";
  if (what.first) out += " First: " + text_of(*what.first) + ", last: " + text_of(*what.last) + '.';
  out += '\n';
  for (const auto& one : what.remarks) out += "\n> " + one + '\n';
}

void write_levels(std::string& out, const summary& what) {
  out += "\n## Levels\n\n| level | records | per hour |\n| --- | --- | --- |\n";
  for (std::size_t i = severities; i-- > 0;)
    if (what.levels[i] != 0)
      out += "| " + name_of_level(i) + " | " + std::to_string(what.levels[i]) + " | " +
             (what.has_times ? rate(what.levels[i], hours_in(what)) : "") + " |\n";
  if (what.levels[severities] != 0)
    out += "| none | " + std::to_string(what.levels[severities]) + " | " +
           (what.has_times ? rate(what.levels[severities], hours_in(what)) : "") + " |\n";
}

void write_times(std::string& out, const summary& what) {
  std::uint64_t most = 0;
  for (const auto& one : what.slices) most = std::max(most, one->total);
  out += "\n## Over time\n\n```\n";
  for (const auto& one : what.slices) {
    auto line = text_of(one->begin) + "  " + std::to_string(one->total);
    if (one->errors != 0) line += " (" + std::to_string(one->errors) + (one->errors == 1 ? " error)" : " errors)");
    if (!one->is_whole) line += " (not complete)";
    constexpr std::size_t column = 48;
    if (line.size() < column) line.resize(column, ' ');
    line += ' ' + bar(one->total, most);
    while (line.ends_with(' ')) line.pop_back();
    out += line + '\n';
  }
  out += "```\n";
}

void write_messages(std::string& out, const summary& what) {
  out += "\n## Most frequent messages\n\n";
  for (const auto& one : what.messages) {
    out += "- " + std::to_string(one.count) + "× ";
    if (one.gravest) out += (one.is_mixed ? "up to " : "") + std::string(records::name_of(*one.gravest)) + ' ';
    out += as_code(one.pattern);
    if (one.first) out += ", " + text_of(*one.first) + (one.count > 1 ? " to " + text_of(*one.last) : "");
    out += '\n';
    if (one.count > 1) out += "  - first: " + as_code(one.example) + '\n';
  }
  if (what.count_error != 0)
    out += "\nRare messages were dropped while counting: each count may be up to " + std::to_string(what.count_error) +
           " too low.\n";
}

void write_repeated(json::writer& to, const repeated& one) {
  to.begin_object().member("template", one.pattern).key("count").unsigned_integer(one.count);
  if (one.gravest) to.member("level", records::name_of(*one.gravest));
  if (one.first) to.member("first", text_of(*one.first)).member("last", text_of(*one.last));
  to.member("example", one.example).end_object();
}

}  // namespace

std::string as_code(std::string_view text) {
  std::size_t longest = 0, run = 0;
  std::string clean(text);
  for (char& c : clean) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string ticks(longest + 1, '`');
  const bool is_spaced = clean.empty() || clean.front() == '`' || clean.back() == '`';
  return ticks + (is_spaced ? " " : "") + clean + (is_spaced ? " " : "") + ticks;
}

std::string markdown_of(const summary& what, std::string_view name) {
  std::string out;
  write_head(out, what, name);
  out += "\n## Anomalies\n\n";
  for (const auto& one : what.unusual) out += "- " + one.text + (one.message.empty() ? "" : ' ' + as_code(one.message)) + '\n';
  if (what.unusual.empty()) out += "Nothing.\n";
  if (what.errors != 0 && what.has_times)
    out += "\nAll errors: " + uri_since(name, what.begin, records::severity::error) + '\n';
  if (what.total == 0) return out;
  write_levels(out, what);
  if (what.has_times) write_times(out, what);
  write_messages(out, what);
  return out;
}

std::string json_of(const summary& what, std::string_view name) {
  std::string out;
  json::writer to(out);
  to.begin_object().member("log", name);
  if (what.has_times) to.member("from", text_of(what.begin)).member("to", text_of(what.end));
  if (what.has_times) to.member("recentFrom", text_of(what.recent_begin));
  to.key("endsWithLastRecord").boolean(what.is_moved).key("complete").boolean(what.is_whole);
  to.key("records").unsigned_integer(what.total).key("errors").unsigned_integer(what.errors);
  if (what.first) to.member("first", text_of(*what.first)).member("last", text_of(*what.last));
  to.key("priority").number(what.priority).key("unusual").begin_array();
  for (const auto& one : what.unusual)
    to.begin_object()
        .member("kind", one.kind)
        .key("weight")
        .number(one.weight)
        .member("text", one.text)
        .member_if("message", one.message)
        .end_object();
  to.end_array().key("levels").begin_object();
  for (std::size_t i = 0; i < what.levels.size(); ++i)
    if (what.levels[i] != 0) to.key(name_of_level(i)).unsigned_integer(what.levels[i]);
  to.end_object().key("buckets").begin_array();
  if (what.has_times)
    for (const auto& one : what.slices) {
      to.begin_object().member("from", text_of(one->begin)).member("to", text_of(one->end));
      to.key("records").unsigned_integer(one->total).key("errors").unsigned_integer(one->errors);
      to.key("complete").boolean(one->is_whole).end_object();
    }
  to.end_array().key("messages").begin_array();
  for (const auto& one : what.messages) write_repeated(to, one);
  to.end_array().key("countsMayBeTooLowBy").unsigned_integer(what.count_error).key("remarks").begin_array();
  for (const auto& one : what.remarks) to.string(one);
  to.end_array().end_object();
  return out;
}

}  // namespace hondana::logs
