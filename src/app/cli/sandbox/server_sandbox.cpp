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
using process::allowed_command;
using process::launcher;

/// The program that a source starts; null: none.
const child_target* program_of(const provider& provider) {
  const auto* mount = dynamic_cast<const mcp::mcp_provider*>(&provider);
  return mount == nullptr ? nullptr : mount->program();
}

/// Commands that render documents, if a source needs them. The renderer restricts itself with Landlock and a system call
/// filter, more tightly than the server.
std::vector<std::vector<std::string>> rendering_commands(const server_parts& parts) {
  auto commands = rendering::renderer::make()->commands();
  if (commands.empty()) return commands;
  const auto& program = commands.front().front();
  const bool is_needed = std::any_of(parts.providers.begin(), parts.providers.end(), [&program](const auto& provider) {
    const auto programs = provider->requirements().programs;
    return std::find(programs.begin(), programs.end(), program) != programs.end();
  });
  if (!is_needed) commands.clear();
  return commands;
}

std::vector<allowed_command> commands_of(const server_parts& parts) {
  std::vector<allowed_command> commands;
  for (const auto& provider : parts.providers) {
    if (const auto* program = program_of(*provider))
      commands.push_back({program->command, program->environment, program->working_directory, {mcp::chain_variable}});
  }
  for (const auto& command : rendering_commands(parts)) commands.push_back(process::renderer_command(command));
  return commands;
}

tl::unexpected<failure> restart_error(const std::string& source, const std::string& requirement) {
  return fail(errc::access_denied, "restart the server: the sandbox allows only what the sources at the start needed, and \"" +
                                       source + "\" " + requirement);
}

}  // namespace

result<server_sandbox> server_sandbox::create(const server_parts& parts, const serving_context& context,
                                              const log_function& log) {
  server_sandbox created;
  created.mode_ = parts.settings.sandbox.mode;
  if (created.mode_ == sandbox_mode::off) return created;
  if (auto commands = commands_of(parts); !commands.empty()) {
    HONDANA_TRY(auto started, launcher::create(std::move(commands)));
    created.launcher_ = std::move(started);
  }
  const auto permissions = make_permissions(parts, context);
  HONDANA_TRY(auto confined, sandbox::confine(permissions));
  created.confinement_ = std::move(confined);
  created.connect_ports_ = permissions.connect_ports;
  launcher::install(created.launcher_);
  const auto& confinement = created.confinement_;
  const bool is_complete = confinement.restricts_files() && confinement.filters_system_calls && confinement.no_new_privileges;
  if (created.mode_ == sandbox_mode::required && !is_complete) {
    return fail(errc::source_unavailable, "The sandbox is required but not available: " + confinement.missing +
                                              ". Use --sandbox auto to restrict what is possible: " + confinement.describe() +
                                              '.');
  }
  if (!confinement.missing.empty() && log)
    log("the sandbox restricts " + confinement.describe() + ", but nothing else: " + confinement.missing);
  return created;
}

result<void> server_sandbox::check_parts(const server_parts& parts) const {
  if (const auto folder = audit_folder(parts.settings);
      !folder.empty() && confinement_.restricts_files() && sandbox::is_forbidden(folder, true))
    return restart_error("audit", "needs to write to " + folder);
  for (const auto& provider : parts.providers) {
    const auto requirements = provider->requirements();
    for (const auto& folder : requirements.folders) {
      if (confinement_.restricts_files() && sandbox::is_forbidden(folder.path, folder.is_writable))
        return restart_error(provider->name(), (folder.is_writable ? "needs to write to " : "needs to read ") + folder.path);
    }
    std::optional ports(std::vector<std::uint16_t>{});
    add_ports(requirements.sockets, ports);
    const auto is_open = [this](std::uint16_t port) {
      return std::find(connect_ports_->begin(), connect_ports_->end(), port) != connect_ports_->end();
    };
    if (confinement_.restricts_ports() && connect_ports_ && !(ports && std::all_of(ports->begin(), ports->end(), is_open)))
      return restart_error(provider->name(),
                           "needs to connect to " + (ports ? requirements.sockets.front() : "servers named by others"));
    const auto* program = program_of(*provider);
    if (confinement_.filters_system_calls && program != nullptr && !(launcher_ && launcher_->allows(*program)))
      return restart_error(provider->name(), "starts a program, " + program->command.front());
  }
  const auto renders = rendering_commands(parts);
  const auto is_known = [this](const auto& command) {
    return launcher_ && launcher_->allows(process::renderer_target(command));
  };
  if (confinement_.filters_system_calls && !std::all_of(renders.begin(), renders.end(), is_known))
    return restart_error("documents", "renders PDF and Office files, which no source did at the start");
  return {};
}

result<void> server_sandbox::check_readable(const std::string& config_file) const {
  if (config_file.empty() || !confinement_.restricts_files() || !sandbox::is_forbidden(config_file, false)) return {};
  return fail(errc::access_denied, "restart the server: " + config_file +
                                       " was replaced. In such a shared folder, the sandbox allows reading only the file that "
                                       "existed at the start. Put it into a folder of its own to be able to replace it");
}

namespace {

std::string_view name_of(config::sandbox_mode mode) {
  switch (mode) {
    case config::sandbox_mode::best_effort:
      return "auto";
    case config::sandbox_mode::required:
      return "required";
    case config::sandbox_mode::off:
      return "off";
  }
  return "auto";
}

void write_list(json::writer& writer, std::string_view name, const std::vector<std::string>& items) {
  if (items.empty()) return;
  writer.key(name).begin_array();
  for (const auto& item : items) writer.string(item);
  writer.end_array();
}

void print_names(std::string_view verb, const std::vector<std::string>& names) {
  for (const auto& name : names) print("  needs  " + std::string(verb) + ' ' + sanitize(name) + '\n');
}

}  // namespace

void print_sandbox(const server_sandbox& sandbox, bool as_json) {
  const auto& confinement = sandbox.confinement();
  if (!as_json) {
    const bool is_off = sandbox.mode() == config::sandbox_mode::off;
    print("sandbox  " + (is_off ? "off" : "restricts " + confinement.describe()) +
          (confinement.missing.empty() ? "" : "; " + sanitize(confinement.missing)) + '\n');
    return;
  }
  std::string line;
  json::writer writer(line);
  writer.begin_object().key("sandbox").begin_object().member("mode", name_of(sandbox.mode()));
  writer.key("landlock").integer(confinement.landlock_abi).key("files").boolean(confinement.restricts_files());
  writer.key("ports").boolean(confinement.restricts_ports()).key("signals").boolean(confinement.restricts_signals());
  writer.key("systemCalls")
      .boolean(confinement.filters_system_calls)
      .key("noNewPrivileges")
      .boolean(confinement.no_new_privileges);
  writer.member_if("lacks", confinement.missing).end_object().end_object();
  print_json(line);
}

void print_audit_requirements(const config::settings& settings, bool as_json) {
  if (!settings.audit) return;
  const std::vector write{audit_folder(settings)};
  if (!as_json) return print_names("to write", write);
  std::string line;
  json::writer writer(line);
  writer.begin_object().member("audit", settings.audit->path).key("needs").begin_object();
  write_list(writer, "write", write);
  writer.end_object().end_object();
  print_json(line);
}

void print_requirements(std::string_view source, const system_requirements& requirements, bool as_json) {
  std::vector<std::string> read;
  std::vector<std::string> write;
  for (const auto& folder : requirements.folders) (folder.is_writable ? write : read).push_back(folder.path);
  if (!as_json) {
    print_names("to read", read);
    print_names("to write", write);
    print_names("to connect to", requirements.sockets);
    print_names("to start", requirements.programs);
    return;
  }
  if (read.empty() && write.empty() && requirements.sockets.empty() && requirements.programs.empty()) return;
  std::string line;
  json::writer writer(line);
  writer.begin_object().member("source", source).key("needs").begin_object();
  write_list(writer, "read", read);
  write_list(writer, "write", write);
  write_list(writer, "connect", requirements.sockets);
  write_list(writer, "start", requirements.programs);
  writer.end_object().end_object();
  print_json(line);
}

}  // namespace hondana::cli
