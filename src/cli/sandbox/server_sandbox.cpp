/// From parts to a confined process.
#include "cli/sandbox/server_sandbox.hpp"

#include <algorithm>
#include <utility>

#include "process/starting.hpp"
#include "providers/docs/docs_provider.hpp"
#include "providers/mcp/chain.hpp"
#include "providers/mcp/mcp_provider.hpp"

namespace hondana::cli {
namespace {

using config::sandbox_mode;
using transport::child::known_command;
using transport::child::launcher;

/// The program that a source starts; null where it starts none.
const child_target* program_of(const provider& one) {
  const auto* mount = dynamic_cast<const mcp::mcp_provider*>(&one);
  return mount == nullptr ? nullptr : mount->program();
}

/// Of the children that render a source's documents.
std::vector<known_command> renderers_of(const provider& one) {
  std::vector<known_command> all;
  const auto* documents = dynamic_cast<const docs::docs_provider*>(&one);
  if (documents == nullptr) return all;
  const auto commands = documents->commands();
  all.reserve(commands.size());
  for (const auto& command : commands) all.push_back(process::renderer_command(command));
  return all;
}

std::vector<known_command> commands_of(const parts& whole) {
  std::vector<known_command> all;
  for (const auto& one : whole.providers) {
    if (const auto* program = program_of(*one))
      all.push_back({program->command, program->environment, program->folder, {mcp::chain_variable}});
    for (auto& command : renderers_of(*one)) all.push_back(std::move(command));
  }
  return all;
}

tl::unexpected<failure> needs_restart(const std::string& source, const std::string& what) {
  return fail(errc::access_denied,
              "a restart is needed: the sandbox was put up for the sources of the start, and \"" + source + "\" " + what);
}

}  // namespace

result<server_sandbox> server_sandbox::put_up(const parts& whole, const serving_place& at, const log_function& log) {
  server_sandbox made;
  made.mode_ = whole.settings.sandbox.mode;
  if (made.mode_ == sandbox_mode::off) return made;
  if (auto commands = commands_of(whole); !commands.empty()) {
    auto begun = launcher::begin(std::move(commands));
    if (!begun) return tl::unexpected(std::move(begun.error()));
    made.launcher_ = std::move(*begun);
  }
  const auto to = permitted(whole, at);
  auto confined = sandbox::confine(to);
  if (!confined) return tl::unexpected(std::move(confined.error()));
  made.in_force_ = std::move(*confined);
  made.connects_ = to.connects;
  launcher::use(made.launcher_);
  const auto& now = made.in_force_;
  const bool is_whole = now.holds_files() && now.filters_calls && now.no_new_privileges;
  if (made.mode_ == sandbox_mode::required && !is_whole) {
    return fail(errc::source_unavailable, "The sandbox is required and cannot be had: " + now.lacks +
                                              ". Say --sandbox auto to do with what there is: " + now.words() + '.');
  }
  if (!now.lacks.empty() && log) log("the sandbox holds " + now.words() + ", and no more: " + now.lacks);
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
      return needs_restart(one->name(), "needs to connect to " + (ports ? needs.sockets.front() : "servers that others name"));
    const auto* program = program_of(*one);
    if (in_force_.filters_calls && program != nullptr && !(launcher_ && launcher_->knows(*program)))
      return needs_restart(one->name(), "starts a program, " + program->command.front());
    for (const auto& command : renderers_of(*one)) {
      const child_target what{.command = command.command, .environment = command.environment, .folder = command.folder};
      if (in_force_.filters_calls && !(launcher_ && launcher_->knows(what)))
        return needs_restart(one->name(), "starts a program, " + command.command.front());
    }
  }
  return {};
}

result<void> server_sandbox::lets_read(const std::string& config) const {
  if (config.empty() || !in_force_.holds_files() || !sandbox::is_forbidden(config, false)) return {};
  return fail(errc::access_denied,
              "a restart is needed: " + config +
                  " was replaced, and in a folder that holds so much else the sandbox lets only the file be read "
                  "that was there at the start; one in a folder of its own can be replaced");
}

}  // namespace hondana::cli
