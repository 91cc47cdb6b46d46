/// The resource entries, templates and scheme documentation of a log.
#include "sources/logs/catalog_entries.hpp"

namespace hondana::logs {
namespace {

std::string with_parameters(const std::string& uri, bool is_summary) {
  return uri + uri::query_template(parameters_of(is_summary));
}

}  // namespace

scheme_documentation describe_scheme() {
  scheme_documentation document;
  document.scheme = "log";
  document.summary = "Log records from files, including their rotated files, or from a journal, and a summary of each log.";
  document.kinds = {{"log", "Records of one log, newest page first."},
                    {"log-summary", "A summary of a log: rates by level, repeated messages and anomalies."}};
  document.forms = {
      {with_parameters("log://NAME/", false),
       "Records. since and until are times (2026-01-31T08:00:00Z, 2026-01-31) or how long ago (15m, 2h, 1d). level is "
       "the minimum level. grep is an RE2 regular expression. field is path:value of JSON or logfmt records; separate "
       "several with commas. lines is the number of records (100 by default, up to 10000). cursor continues where a "
       "page ended. format is text or json."},
      {with_parameters("log://NAME/summary", true),
       "The summary of the last day, or of the time from since to until; format is markdown or json."}};
  return document;
}

resource make_entry(const log_address& address, bool is_journal) {
  resource entry;
  entry.uri = to_uri(address);
  entry.kind = address.is_summary ? "log-summary" : "log";
  entry.name = address.is_summary ? address.name + "/summary" : address.name;
  entry.title = address.is_summary ? "Summary of the log " + address.name : (is_journal ? "Journal " : "Log ") + address.name;
  entry.description = address.is_summary
                          ? "Rates by level, repeated messages and anomalies. Its priority is the highest weight of an anomaly."
                          : "The newest records. Select others with since, until, level, grep, field, lines and cursor.";
  entry.mime_type = address.is_json ? "application/json" : address.is_summary ? "text/markdown" : "text/plain";
  return entry;
}

std::vector<resource_template> make_templates(std::string_view name) {
  const std::string log(name);
  resource_template page;
  page.uri_template = with_parameters(uri_prefix(name), false);
  page.name = log + "-records";
  page.title = "Records of the log " + log;
  page.description =
      "Log records. since, until: 2026-01-31T08:00:00Z, 2026-01-31, 15m, 2h, 1d. level: the minimum, trace to critical. grep: "
      "an RE2 regular expression. field: path:value of JSON or logfmt records, several with commas. lines: records per page. "
      "cursor: older records. format: text or json.";
  page.mime_type = "text/plain";
  resource_template summary;
  summary.uri_template = with_parameters(summary_uri(name), true);
  summary.name = log + "-summary";
  summary.title = "Summary of the log " + log;
  summary.description = "Rates by level, repeated messages and anomalies of a time range; format is markdown or json.";
  summary.mime_type = "text/markdown";
  return {page, summary};
}

}  // namespace hondana::logs
