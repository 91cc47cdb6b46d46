/// Writing records.
#include "sources/logs/page_text.hpp"

#include <algorithm>
#include <string_view>

#include "base/json/writer.hpp"
#include "sources/logs/moment.hpp"

namespace hondana::logs {
namespace {

/// How many bytes end a line there, for whatever splits texts into lines; 0: it goes on.
std::size_t line_end_at(std::string_view text, std::size_t at) noexcept {
  const char c = text[at];
  if (c == '\n' || c == '\v' || c == '\f' || c == '\r') return 1;
  const auto rest = text.substr(at);
  if (rest.starts_with("\xC2\x85")) return 2;
  return rest.starts_with("\xE2\x80\xA8") || rest.starts_with("\xE2\x80\xA9") ? 3 : 0;
}

/// With a backslash before lines that look like the server's.
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

/// Whatever it holds stays one line.
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

}  // namespace hondana::logs
