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

void write_fault(json::writer& to, const audit_report::fault& one) {
  to.begin_object().member("file", one.file).key("line").unsigned_integer(one.line).member("what", one.what).end_object();
}

void print_as_json(const audit_report& found) {
  std::string text;
  json::writer to(text);
  to.begin_object().key("sound").boolean(!found.broken).key("records").unsigned_integer(found.records);
  to.key("first").unsigned_integer(found.first).key("last").unsigned_integer(found.last).member_if("hash", found.hash);
  if (found.broken) write_fault(to.key("broken"), *found.broken);
  if (!found.failures.empty()) {
    to.key("failures").begin_array();
    for (const auto& one : found.failures) write_fault(to, one);
    to.end_array();
  }
  to.end_object();
  print_json(text);
}

void print_for_people(const audit_report& found) {
  std::string sound = "no record is valid";
  if (found.records != 0) {
    sound = std::to_string(found.records) + (found.records == 1 ? " record is" : " records are") +
            " valid: " + std::to_string(found.first) + " to " + std::to_string(found.last) +
            "\nhash of the last record: " + found.hash;
    if (found.first > 1) sound += "\nrecords 1 to " + std::to_string(found.first - 1) + " are in older files";
  }
  const auto print_fault = [](const audit_report::fault& one) {
    print(visible(one.file) + ':' + std::to_string(one.line) + ": " + one.what + '\n');
  };
  for (const auto& one : found.failures) print_fault(one);
  if (found.broken) print_fault(*found.broken);
  print(sound + '\n');
}

}  // namespace

int verify_audit_files(const command_line& line) {
  const auto found = verify_audit(line.words());
  if (!found) {
    complain(found.error());
    return exit_usage;
  }
  if (line.has(json_flag)) {
    print_as_json(*found);
  } else {
    print_for_people(*found);
  }
  return found->broken ? exit_server : exit_ok;
}

}  // namespace hondana::cli
