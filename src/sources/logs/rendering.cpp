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
[[nodiscard]] std::string to_code_span(std::string_view text);

namespace {

/// The number of bytes of a line end at `offset`, including line ends that only some programs recognize. 0 if there is none.
std::size_t line_break_size(std::string_view text, std::size_t offset) noexcept {
  const char c = text[offset];
  if (c == '\n' || c == '\v' || c == '\f' || c == '\r') return 1;
  const auto remaining = text.substr(offset);
  if (remaining.starts_with("\xC2\x85")) return 2;
  return remaining.starts_with("\xE2\x80\xA8") || remaining.starts_with("\xE2\x80\xA9") ? 3 : 0;
}

/// Adds a backslash to lines that look like remarks.
void write_lines(std::string& out, std::string_view text) {
  constexpr std::string_view note_prefix = "-- ";
  if (text.find(note_prefix) == std::string_view::npos) {
    out += text;
    return;
  }
  bool is_line_start = true;
  for (std::size_t offset = 0; offset < text.size();) {
    if (is_line_start) {
      const auto text_begin = std::min(text.find_first_not_of('\\', offset), text.size());
      if (text.substr(text_begin).starts_with(note_prefix)) out += '\\';
      out += text.substr(offset, text_begin - offset);
      offset = text_begin;
      is_line_start = false;
      continue;
    }
    const auto line_break = line_break_size(text, offset);
    out += text.substr(offset, std::max<std::size_t>(line_break, 1));
    offset += std::max<std::size_t>(line_break, 1);
    is_line_start = line_break != 0;
  }
}

void write_record(std::string& out, const records::log_record& record, bool has_prefix) {
  std::string prefix;
  if (has_prefix) {
    if (record.time) prefix += format_time(*record.time) + ' ';
    if (!record.source.empty()) prefix += record.source + ' ';
    if (record.level) prefix += std::string(records::name_of(*record.level)) + ": ";
  }
  write_lines(out, prefix.empty() ? std::string_view(record.text) : std::string_view(prefix += record.text));
  if (record.cut_bytes != 0) out += " … (" + std::to_string(record.cut_bytes) + " bytes more)";
  out += '\n';
}

/// Replaces line ends, so that a remark stays on one line.
void write_note(std::string& out, std::string_view label, std::string_view text) {
  out += "-- " + std::string(label);
  for (const char c : text) out += c == '\n' || c == '\r' ? ' ' : c;
  out += '\n';
}

}  // namespace

std::string to_text(const page_report& report) {
  std::string out;
  const auto& page_records = report.page.records;
  for (auto record = page_records.rbegin(); record != page_records.rend(); ++record)
    write_record(out, *record, report.has_prefixes);
  if (page_records.empty()) write_note(out, report.next_uri.empty() ? "no records" : "no records here", "");
  for (const auto& note : report.page.notes) write_note(out, "remark: ", note);
  if (!report.page.early_end_reason.empty()) write_note(out, "ended early: ", report.page.early_end_reason);
  if (!report.next_uri.empty()) write_note(out, "older: ", report.next_uri);
  return out;
}

std::string to_json(const page_report& report) {
  std::string out;
  json::writer writer(out);
  writer.begin_object().member("log", report.address.name).key("records").begin_array();
  const auto& page_records = report.page.records;
  for (auto record = page_records.rbegin(); record != page_records.rend(); ++record) {
    writer.begin_object();
    if (record->time) writer.member("time", format_time(*record->time));
    if (record->time && !record->has_own_time) writer.key("timeIsOfRecordBefore").boolean(true);
    if (record->level) writer.member("level", records::name_of(*record->level));
    writer.member_if("source", record->source).member("text", record->text);
    if (record->cut_bytes != 0) writer.key("cutBytes").unsigned_integer(record->cut_bytes);
    writer.end_object();
  }
  writer.end_array().member_if("next", report.next_uri).member_if("endedEarly", report.page.early_end_reason);
  writer.key("warnings").begin_array();
  for (const auto& note : report.page.notes) writer.string(note);
  writer.end_array().end_object();
  return out;
}

namespace {

using records::instant;

std::string level_label(std::size_t index) {
  return index == severity_count ? "none" : std::string(records::name_of(static_cast<records::severity>(index)));
}

double covered_hours(const log_summary& report) {
  const auto begin = report.slices.empty() ? report.begin : std::max(report.begin, report.slices.front()->begin);
  return std::max(static_cast<double>(report.end - begin) / static_cast<double>(hour), 1.0 / 60);
}

std::string format_rate(std::uint64_t count, double hours) {
  char out[32];
  const auto value = static_cast<double>(count) / hours;
  std::snprintf(out, sizeof out, value >= 10 ? "%.0f" : "%.2g", value);
  return out;
}

std::string make_bar(std::uint64_t value, std::uint64_t max_value) {
  constexpr std::uint64_t max_width = 40;
  if (max_value == 0 || value == 0) return {};
  return std::string(static_cast<std::size_t>(std::max<std::uint64_t>(1, value * max_width / max_value)), '#');
}

std::string query_uri(std::string_view name, instant since, std::optional<records::severity> level) {
  log_address address{.name = std::string(name)};
  address.query.since = since;
  address.query.min_level = level;
  return to_uri(address);
}

void write_header(std::string& out, const log_summary& report, std::string_view name) {
  out += "# Summary of the log " + std::string(name) + "\n\n";
  if (report.has_times) {
    out += "From " + format_time(report.begin) + " to " + format_time(report.end) + " (" +
           format_duration(report.end - report.begin) + ")";
    if (report.ends_at_last_record) out += ", where the log ends";
    out += ".\n";
  }
  out += std::to_string(report.total) + " records, " + std::to_string(report.errors) + " of them errors.";
  if (report.first) out += " First: " + format_time(*report.first) + ", last: " + format_time(*report.last) + '.';
  out += '\n';
  for (const auto& note : report.notes) out += "\n> " + note + '\n';
}

void write_levels(std::string& out, const log_summary& report) {
  out += "\n## Levels\n\n| level | records | per hour |\n| --- | --- | --- |\n";
  for (std::size_t i = severity_count; i-- > 0;)
    if (report.levels[i] != 0)
      out += "| " + level_label(i) + " | " + std::to_string(report.levels[i]) + " | " +
             (report.has_times ? format_rate(report.levels[i], covered_hours(report)) : "") + " |\n";
  if (report.levels[severity_count] != 0)
    out += "| none | " + std::to_string(report.levels[severity_count]) + " | " +
           (report.has_times ? format_rate(report.levels[severity_count], covered_hours(report)) : "") + " |\n";
}

void write_times(std::string& out, const log_summary& report) {
  std::uint64_t max_total = 0;
  for (const auto& counted : report.slices) max_total = std::max(max_total, counted->total);
  out += "\n## Over time\n\n```\n";
  for (const auto& time_slice : report.slices) {
    auto line = format_time(time_slice->begin) + "  " + std::to_string(time_slice->total);
    if (time_slice->errors != 0)
      line += " (" + std::to_string(time_slice->errors) + (time_slice->errors == 1 ? " error)" : " errors)");
    if (!time_slice->is_complete) line += " (not complete)";
    constexpr std::size_t column = 48;
    if (line.size() < column) line.resize(column, ' ');
    line += ' ' + make_bar(time_slice->total, max_total);
    while (line.ends_with(' ')) line.pop_back();
    out += line + '\n';
  }
  out += "```\n";
}

void write_messages(std::string& out, const log_summary& report) {
  out += "\n## Most frequent messages\n\n";
  for (const auto& message : report.messages) {
    out += "- " + std::to_string(message.count) + "× ";
    if (message.max_level) out += (message.is_mixed ? "up to " : "") + std::string(records::name_of(*message.max_level)) + ' ';
    out += to_code_span(message.pattern);
    if (message.first)
      out += ", " + format_time(*message.first) + (message.count > 1 ? " to " + format_time(*message.last) : "");
    out += '\n';
    if (message.count > 1) out += "  - first: " + to_code_span(message.example) + '\n';
  }
  if (report.count_error != 0)
    out += "\nRare messages were dropped while counting: each count may be up to " + std::to_string(report.count_error) +
           " too low.\n";
}

void write_repeated(json::writer& writer, const repeated_message& message) {
  writer.begin_object().member("template", message.pattern).key("count").unsigned_integer(message.count);
  if (message.max_level) writer.member("level", records::name_of(*message.max_level));
  if (message.first) writer.member("first", format_time(*message.first)).member("last", format_time(*message.last));
  writer.member("example", message.example).end_object();
}

}  // namespace

std::string to_code_span(std::string_view text) {
  std::size_t longest_run = 0, run = 0;
  std::string clean(text);
  for (char& c : clean) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
    run = c == '`' ? run + 1 : 0;
    longest_run = std::max(longest_run, run);
  }
  const std::string ticks(longest_run + 1, '`');
  const bool is_spaced = clean.empty() || clean.front() == '`' || clean.back() == '`';
  return ticks + (is_spaced ? " " : "") + clean + (is_spaced ? " " : "") + ticks;
}

std::string to_markdown(const log_summary& report, std::string_view name) {
  std::string out;
  write_header(out, report, name);
  out += "\n## Anomalies\n\n";
  for (const auto& anomaly : report.findings)
    out += "- " + anomaly.text + (anomaly.message.empty() ? "" : ' ' + to_code_span(anomaly.message)) + '\n';
  if (report.findings.empty()) out += "Nothing.\n";
  if (report.errors != 0 && report.has_times)
    out += "\nAll errors: " + query_uri(name, report.begin, records::severity::error) + '\n';
  if (report.total == 0) return out;
  write_levels(out, report);
  if (report.has_times) write_times(out, report);
  write_messages(out, report);
  return out;
}

std::string to_json(const log_summary& report, std::string_view name) {
  std::string out;
  json::writer writer(out);
  writer.begin_object().member("log", name);
  if (report.has_times) writer.member("from", format_time(report.begin)).member("to", format_time(report.end));
  if (report.has_times) writer.member("recentFrom", format_time(report.recent_begin));
  writer.key("endsWithLastRecord").boolean(report.ends_at_last_record).key("complete").boolean(report.is_complete);
  writer.key("records").unsigned_integer(report.total).key("errors").unsigned_integer(report.errors);
  if (report.first) writer.member("first", format_time(*report.first)).member("last", format_time(*report.last));
  writer.key("priority").number(report.priority).key("unusual").begin_array();
  for (const auto& anomaly : report.findings)
    writer.begin_object()
        .member("kind", anomaly.kind)
        .key("weight")
        .number(anomaly.weight)
        .member("text", anomaly.text)
        .member_if("message", anomaly.message)
        .end_object();
  writer.end_array().key("levels").begin_object();
  for (std::size_t i = 0; i < report.levels.size(); ++i)
    if (report.levels[i] != 0) writer.key(level_label(i)).unsigned_integer(report.levels[i]);
  writer.end_object().key("buckets").begin_array();
  if (report.has_times)
    for (const auto& time_slice : report.slices) {
      writer.begin_object().member("from", format_time(time_slice->begin)).member("to", format_time(time_slice->end));
      writer.key("records").unsigned_integer(time_slice->total).key("errors").unsigned_integer(time_slice->errors);
      writer.key("complete").boolean(time_slice->is_complete).end_object();
    }
  writer.end_array().key("messages").begin_array();
  for (const auto& message : report.messages) write_repeated(writer, message);
  writer.end_array().key("maxUndercount").unsigned_integer(report.count_error).key("warnings").begin_array();
  for (const auto& note : report.notes) writer.string(note);
  writer.end_array().end_object();
  return out;
}

}  // namespace hondana::logs
