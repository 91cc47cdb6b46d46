/// The sandbox of one server: set up before it serves, checked on each reload, and printed by `hondana check`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "app/cli/assembly.hpp"
#include "app/cli/sandbox/permissions.hpp"
#include "os/process/launcher.hpp"
#include "os/sandbox/sandbox.hpp"

namespace hondana::cli {

/// The sandbox that confines this process, and checks whether changed sources still work within it.
class server_sandbox {
 public:
  /// Confines this process permanently, as `parts.settings.sandbox` says; does nothing if the mode is off. Logs the
  /// restrictions that the kernel does not support. From then on, a launcher process starts the programs of the sources.
  ///
  /// Threads: call while the process has only one. Errors: source_unavailable if the sandbox is required but not available;
  /// those of starting the launcher and of the system.
  [[nodiscard]] static result<server_sandbox> create(const server_parts& parts, const serving_context& context,
                                                     const log_function& log);

  /// Checks whether changed parts work within the sandbox. Errors: access_denied, which names the source and what it needs;
  /// only a restart grants it.
  [[nodiscard]] result<void> check_parts(const server_parts& parts) const;
  /// Checks whether the sandbox allows reading `config_file` again, which may have been replaced. Empty: no file. Errors:
  /// access_denied.
  [[nodiscard]] result<void> check_readable(const std::string& config_file) const;

  [[nodiscard]] config::sandbox_mode mode() const noexcept { return mode_; }
  [[nodiscard]] const sandbox::confinement& confinement() const noexcept { return confinement_; }

 private:
  config::sandbox_mode mode_ = config::sandbox_mode::off;
  sandbox::confinement confinement_;
  std::optional<std::vector<std::uint16_t>> connect_ports_;  // to which sources may connect; nullopt: to all
  std::shared_ptr<process::launcher> launcher_;              // null: no source starts programs
};

/// Prints the restrictions in force, for people or as a JSON line.
void print_sandbox(const server_sandbox& sandbox, bool as_json);
/// Prints what the audit log needs; nothing if none is configured.
void print_audit_requirements(const config::settings& settings, bool as_json);
/// Prints what a source needs from the machine; nothing if it needs nothing.
void print_requirements(std::string_view source, const system_requirements& requirements, bool as_json);

}  // namespace hondana::cli
