/// Writing records.
#include "providers/logs/page_text.hpp"

#include <string_view>

#include "json/writer.hpp"
#include "providers/logs/moment.hpp"

namespace hondana::logs {
namespace {

void write_record(std::string& out, const records::record& one, bool has_head) {
  if (has_head) {
    if (one.time) out += text_of(*one.time) + ' ';
    if (!one.source.empty()) out += one.source + ' ';
    if (one.level) out += std::string(records::name_of(*one.level)) + ": ";
  }
  out += one.text;
  if (one.cut != 0) out += " … (" + std::to_string(one.cut) + " bytes more)";
  out += '\n';
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
