/// The sandbox of one server: set up before it serves, checked on each reload, and printed by `hondana check`.
#include "app/cli/sandbox/server_sandbox.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "app/cli/output.hpp"
#include "app/cli/sandbox/permissions.hpp"
#include "base/json/writer.hpp"
#include "os/process/confined_child.hpp"
#include "sources/mcp/mcp_provider.hpp"
#include "sources/mcp/mount_chain.hpp"
#include "text/rendering/renderer.hpp"

namespace hondana::cli {
namespace {

using config::sandbox_mode;
using process::known_command;
using process::launcher;

/// The program that a source starts; null: none.
const child_target* program_of(const provider& one) {
  const auto* mount = dynamic_cast<const mcp::mcp_provider*>(&one);
  return mount == nullptr ? nullptr : mount->program();
}

/// Commands that render documents, if a source needs them. The renderer restricts itself with Landlock and a system call
/// filter, more tightly than the server.
std::vector<std::vector<std::string>> rendering_commands(const parts& whole) {
  auto all = rendering::renderer::make()->commands();
  if (all.empty()) return all;
  const auto& program = all.front().front();
  const bool is_needed = std::any_of(whole.providers.begin(), whole.providers.end(), [&program](const auto& one) {
    const auto programs = one->needs().programs;
    return std::find(programs.begin(), programs.end(), program) != programs.end();
  });
  if (!is_needed) all.clear();
  return all;
}

std::vector<known_command> commands_of(const parts& whole) {
  std::vector<known_command> all;
  for (const auto& one : whole.providers) {
    if (const auto* program = program_of(*one))
      all.push_back({program->command, program->environment, program->folder, {mcp::chain_variable}});
  }
  for (const auto& command : rendering_commands(whole)) all.push_back(process::renderer_command(command));
  return all;
}

tl::unexpected<failure> needs_restart(const std::string& source, const std::string& what) {
  return fail(errc::access_denied, "restart the server: the sandbox allows only what the sources at the start needed, and \"" +
                                       source + "\" " + what);
}

}  // namespace

result<server_sandbox> server_sandbox::put_up(const parts& whole, const serving_place& at, const log_function& log) {
  server_sandbox made;
  made.mode_ = whole.settings.sandbox.mode;
  if (made.mode_ == sandbox_mode::off) return made;
  if (auto commands = commands_of(whole); !commands.empty()) {
    HONDANA_TRY(auto begun, launcher::begin(std::move(commands)));
    made.launcher_ = std::move(begun);
  }
  const auto to = permitted(whole, at);
  HONDANA_TRY(auto confined, sandbox::confine(to));
  made.in_force_ = std::move(confined);
  made.connects_ = to.connects;
  launcher::use(made.launcher_);
  const auto& now = made.in_force_;
  const bool is_whole = now.holds_files() && now.filters_calls && now.no_new_privileges;
  if (made.mode_ == sandbox_mode::required && !is_whole) {
    return fail(errc::source_unavailable, "The sandbox is required but not available: " + now.lacks +
                                              ". Use --sandbox auto to restrict what is possible: " + now.words() + '.');
  }
  if (!now.lacks.empty() && log) log("the sandbox restricts " + now.words() + ", but nothing else: " + now.lacks);
  return made;
}

result<void> server_sandbox::suffices_for(const parts& whole) const {
  if (const auto folder = record_folder(whole.settings);
      !folder.empty() && in_force_.holds_files() && sandbox::is_forbidden(folder, true))
    return needs_restart("audit", "needs to write to " + folder);
  for (const auto& one : whole.providers) {
    const auto needs = one->needs();
    for (const auto& folder : needs.folders) {
      if (in_force_.holds_files() && sandbox::is_forbidden(folder.path, folder.writable))
        return needs_restart(one->name(), (folder.writable ? "needs to write to " : "needs to read ") + folder.path);
    }
    std::optional ports(std::vector<std::uint16_t>{});
    add_ports(needs.sockets, ports);
    const auto is_open = [this](std::uint16_t port) {
      return std::find(connects_->begin(), connects_->end(), port) != connects_->end();
    };
    if (in_force_.holds_ports() && connects_ && !(ports && std::all_of(ports->begin(), ports->end(), is_open)))
      return needs_restart(one->name(), "needs to connect to " + (ports ? needs.sockets.front() : "servers named by others"));
    const auto* program = program_of(*one);
    if (in_force_.filters_calls && program != nullptr && !(launcher_ && launcher_->knows(*program)))
      return needs_restart(one->name(), "starts a program, " + program->command.front());
  }
  const auto renders = rendering_commands(whole);
  const auto is_known = [this](const auto& command) {
    return launcher_ && launcher_->knows(process::renderer_target(command));
  };
  if (in_force_.filters_calls && !std::all_of(renders.begin(), renders.end(), is_known))
    return needs_restart("documents", "renders PDF and Office files, which no source did at the start");
  return {};
}

result<void> server_sandbox::lets_read(const std::string& config) const {
  if (config.empty() || !in_force_.holds_files() || !sandbox::is_forbidden(config, false)) return {};
  return fail(errc::access_denied, "restart the server: " + config +
                                       " was replaced. In such a shared folder, the sandbox allows reading only the file that "
                                       "existed at the start. Put it into a folder of its own to be able to replace it");
}

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

void print_names(std::string_view verb, const std::vector<std::string>& all) {
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
  if (!as_json) return print_names("to write", write);
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
    print_names("to read", read);
    print_names("to write", write);
    print_names("to connect to", needs.sockets);
    print_names("to start", needs.programs);
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
