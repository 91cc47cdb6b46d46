/// From parts to a confined process.
#include "app/cli/sandbox/server_sandbox.hpp"

#include <algorithm>
#include <utility>

#include "app/cli/sandbox/written_folders.hpp"
#include "os/process/starting.hpp"
#include "sources/mcp/chain.hpp"
#include "sources/mcp/mcp_provider.hpp"
#include "text/rendering/rendering.hpp"

namespace hondana::cli {
namespace {

using config::sandbox_mode;
using process::known_command;
using process::launcher;

/// The program that a source starts; null where it starts none.
const child_target* program_of(const provider& one) {
  const auto* mount = dynamic_cast<const mcp::mcp_provider*>(&one);
  return mount == nullptr ? nullptr : mount->program();
}

/// What renders documents, if a source needs that program. Its own Landlock and filter are tighter than the server's.
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

}  // namespace hondana::cli
