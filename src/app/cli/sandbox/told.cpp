/// Lines about confinement and needs.
#include "app/cli/sandbox/told.hpp"

#include <string>

#include "app/cli/output.hpp"
#include "app/cli/sandbox/written_folders.hpp"
#include "app/cli/visible.hpp"
#include "base/json/writer.hpp"

namespace hondana::cli {
namespace {

std::string_view name_of(config::sandbox_mode mode) {
  switch (mode) {
    case config::sandbox_mode::as_far_as_possible:
      return "auto";
    case config::sandbox_mode::required:
      return "required";
    case config::sandbox_mode::off:
      return "off";
  }
  return "auto";
}

void write_list(json::writer& to, std::string_view name, const std::vector<std::string>& all) {
  if (all.empty()) return;
  to.key(name).begin_array();
  for (const auto& one : all) to.string(one);
  to.end_array();
}

void print_list(std::string_view verb, const std::vector<std::string>& all) {
  for (const auto& one : all) print("  needs  " + std::string(verb) + ' ' + visible(one) + '\n');
}

}  // namespace

void print_sandbox(const server_sandbox& of, bool as_json) {
  const auto& now = of.in_force();
  if (!as_json) {
    const bool is_off = of.mode() == config::sandbox_mode::off;
    print("sandbox  " + (is_off ? "off" : "restricts " + now.words()) + (now.lacks.empty() ? "" : "; " + visible(now.lacks)) +
          '\n');
    return;
  }
  std::string line;
  json::writer to(line);
  to.begin_object().key("sandbox").begin_object().member("mode", name_of(of.mode()));
  to.key("landlock").integer(now.landlock).key("files").boolean(now.holds_files());
  to.key("ports").boolean(now.holds_ports()).key("signals").boolean(now.holds_signals());
  to.key("systemCalls").boolean(now.filters_calls).key("noNewPrivileges").boolean(now.no_new_privileges);
  to.member_if("lacks", now.lacks).end_object().end_object();
  print_json(line);
}

void print_record_needs(const config::settings& of, bool as_json) {
  if (!of.audit) return;
  const std::vector write{record_folder(of)};
  if (!as_json) return print_list("to write", write);
  std::string line;
  json::writer to(line);
  to.begin_object().member("audit", of.audit->path).key("needs").begin_object();
  write_list(to, "write", write);
  to.end_object().end_object();
  print_json(line);
}

void print_needs(std::string_view source, const needs& needs, bool as_json) {
  std::vector<std::string> read;
  std::vector<std::string> write;
  for (const auto& one : needs.folders) (one.writable ? write : read).push_back(one.path);
  if (!as_json) {
    print_list("to read", read);
    print_list("to write", write);
    print_list("to connect to", needs.sockets);
    print_list("to start", needs.programs);
    return;
  }
  if (read.empty() && write.empty() && needs.sockets.empty() && needs.programs.empty()) return;
  std::string line;
  json::writer to(line);
  to.begin_object().member("source", source).key("needs").begin_object();
  write_list(to, "read", read);
  write_list(to, "write", write);
  write_list(to, "connect", needs.sockets);
  write_list(to, "start", needs.programs);
  to.end_object().end_object();
  print_json(line);
}

}  // namespace hondana::cli
