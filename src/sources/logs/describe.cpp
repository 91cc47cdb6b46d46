/// Names, titles, descriptions, templates.
#include "sources/logs/describe.hpp"

namespace hondana::logs {
namespace {

constexpr std::string_view page_parameters = "{?since,until,level,grep,field,lines,cursor,format}";
constexpr std::string_view summary_parameters = "{?since,until,format}";

}  // namespace

scheme_documentation describe() {
  scheme_documentation out;
  out.scheme = "log";
  out.summary = "Records of logs, from files with all that they were rotated into or from a journal, and a summary of each.";
  out.kinds = {{"log", "Records of one log, the newest page first."},
               {"log-summary", "What a log says on the whole: rates by level, repeated messages, what is unusual."}};
  out.forms = {
      {"log://NAME/{?since,until,level,grep,field,lines,cursor,format}",
       "Records. since and until are times (2026-01-31T08:00:00Z, 2026-01-31) or how long ago (15m, 2h, 1d); level is the "
       "least grave one; grep is an RE2 expression; field is path:value of JSON or logfmt records, or several with commas; "
       "lines is how many records (100, up to 10000); cursor goes on where a page ended; format is text or json."},
      {"log://NAME/summary{?since,until,format}",
       "The summary of the last day, or of another stretch of time; format is markdown or json."}};
  return out;
}

resource entry_of(const address& at, bool is_journal) {
  resource entry;
  entry.uri = uri_of(at);
  entry.kind = at.is_summary ? "log-summary" : "log";
  entry.name = at.is_summary ? at.name + "/summary" : at.name;
  entry.title = at.is_summary ? "Summary of the log " + at.name : (is_journal ? "Journal " : "Log ") + at.name;
  entry.description = at.is_summary ? "Rates by level, messages that repeat, and what is unusual; its priority follows that."
                                    : "The newest records; since, until, level, grep, field, lines and cursor choose others.";
  entry.mimeType = at.is_json ? "application/json" : at.is_summary ? "text/markdown" : "text/plain";
  return entry;
}

std::vector<resource_template> templates_of(std::string_view name) {
  const std::string log(name);
  resource_template page;
  page.uriTemplate = claim_of(name) + std::string(page_parameters);
  page.name = log + "-records";
  page.title = "Records of the log " + log;
  page.description =
      "Records by time (since, until: 2026-01-31T08:00:00Z, 2026-01-31, 15m, 2h, 1d), least level (trace to critical), an RE2 "
      "expression (grep) and fields of JSON or logfmt (path:value, several with commas); so many lines at once, older ones by "
      "cursor; format text or json.";
  page.mimeType = "text/plain";
  resource_template whole;
  whole.uriTemplate = summary_uri_of(name) + std::string(summary_parameters);
  whole.name = log + "-summary";
  whole.title = "Summary of the log " + log;
  whole.description =
      "Rates by level, messages that repeat and what is unusual, of a stretch of time; format markdown or json.";
  whole.mimeType = "text/markdown";
  return {page, whole};
}

}  // namespace hondana::logs
