/// `hondana audit verify`.

#include <string>

#include <hondana/audit.hpp>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/client_flags.hpp"
#include "app/cli/output.hpp"
#include "app/cli/verbs/commands.hpp"
#include "base/json/writer.hpp"

namespace hondana::cli {
namespace {

void write_fault(json::writer& writer, const audit_report::fault& fault) {
  writer.begin_object()
      .member("file", fault.file)
      .key("line")
      .unsigned_integer(fault.line)
      .member("description", fault.description)
      .end_object();
}

void print_as_json(const audit_report& report) {
  std::string text;
  json::writer writer(text);
  writer.begin_object().key("valid").boolean(!report.first_fault).key("records").unsigned_integer(report.records);
  writer.key("first")
      .unsigned_integer(report.first_record.value_or(0))
      .key("last")
      .unsigned_integer(report.last_record.value_or(0))
      .member_if("hash", report.last_hash.value_or(std::string()));
  if (report.first_fault) write_fault(writer.key("fault"), *report.first_fault);
  if (!report.disk_failures.empty()) {
    writer.key("failures").begin_array();
    for (const auto& fault : report.disk_failures) write_fault(writer, fault);
    writer.end_array();
  }
  writer.end_object();
  print_json(text);
}

void print_as_text(const audit_report& report) {
  std::string summary = "no record is valid";
  if (report.first_record && report.last_record && report.last_hash) {
    summary = std::to_string(report.records) + (report.records == 1 ? " record is" : " records are") +
              " valid: " + std::to_string(*report.first_record) + " to " + std::to_string(*report.last_record) +
              "\nhash of the last record: " + *report.last_hash;
    if (*report.first_record > 1)
      summary += "\nrecords 1 to " + std::to_string(*report.first_record - 1) + " are in older files";
  }
  const auto print_fault = [](const audit_report::fault& fault) {
    print(sanitize(fault.file) + ':' + std::to_string(fault.line) + ": " + fault.description + '\n');
  };
  for (const auto& fault : report.disk_failures) print_fault(fault);
  if (report.first_fault) print_fault(*report.first_fault);
  print(summary + '\n');
}

}  // namespace

int verify_audit_files(const command_line& line) {
  const auto report = verify_audit(line.words());
  if (!report) {
    print_error(report.error());
    return exit_usage;
  }
  if (line.has(json_flag)) {
    print_as_json(*report);
  } else {
    print_as_text(*report);
  }
  return report->first_fault ? exit_server : exit_ok;
}

}  // namespace hondana::cli
