/// The resource entries, templates and scheme documentation of a log.
#include "sources/logs/catalog_entries.hpp"

namespace hondana::logs {
namespace {

constexpr std::string_view page_parameters = "{?since,until,level,grep,field,lines,cursor,format}";
constexpr std::string_view summary_parameters = "{?since,until,format}";

}  // namespace

scheme_documentation describe() {
  scheme_documentation out;
  out.scheme = "log";
  out.summary = "Log records from files, including their rotated files, or from a journal, and a summary of each log.";
  out.kinds = {{"log", "Records of one log, newest page first."},
               {"log-summary", "A summary of a log: rates by level, repeated messages and anomalies."}};
  out.forms = {{"log://NAME/{?since,until,level,grep,field,lines,cursor,format}",
                "Records. since and until are times (2026-01-31T08:00:00Z, 2026-01-31) or how long ago (15m, 2h, 1d). level is "
                "the minimum level. grep is an RE2 regular expression. field is path:value of JSON or logfmt records; separate "
                "several with commas. lines is the number of records (100 by default, up to 10000). cursor continues where a "
                "page ended. format is text or json."},
               {"log://NAME/summary{?since,until,format}",
                "The summary of the last day, or of the time from since to until; format is markdown or json."}};
  return out;
}

resource entry_of(const address& at, bool is_journal) {
  resource entry;
  entry.uri = uri_of(at);
  entry.kind = at.is_summary ? "log-summary" : "log";
  entry.name = at.is_summary ? at.name + "/summary" : at.name;
  entry.title = at.is_summary ? "Summary of the log " + at.name : (is_journal ? "Journal " : "Log ") + at.name;
  entry.description = at.is_summary
                          ? "Rates by level, repeated messages and anomalies. Its priority is the highest weight of an anomaly."
                          : "The newest records. Select others with since, until, level, grep, field, lines and cursor.";
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
      "Log records. since, until: 2026-01-31T08:00:00Z, 2026-01-31, 15m, 2h, 1d. level: the minimum, trace to critical. grep: "
      "an RE2 regular expression. field: path:value of JSON or logfmt records, several with commas. lines: records per page. "
      "cursor: older records. format: text or json.";
  page.mimeType = "text/plain";
  resource_template whole;
  whole.uriTemplate = summary_uri_of(name) + std::string(summary_parameters);
  whole.name = log + "-summary";
  whole.title = "Summary of the log " + log;
  whole.description = "Rates by level, repeated messages and anomalies of a time range; format is markdown or json.";
  whole.mimeType = "text/markdown";
  return {page, whole};
}

}  // namespace hondana::logs
