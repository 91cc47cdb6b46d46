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

class server_sandbox {
  /// The confinement of this process, and the check whether changed sources still work within it.
 public:
  /// Confines this process permanently, as `whole.settings.sandbox` says. Logs the restrictions that the kernel does not
  /// support. From then on, a launcher process starts the programs of the sources.
  ///
  /// Threads: call while the process has only one. Errors: source_unavailable if the sandbox is required but not available.
  [[nodiscard]] static result<server_sandbox> put_up(const parts& whole, const serving_place& at, const log_function& log);

  /// Whether changed parts work within the sandbox. Errors: access_denied, which names the source and what it needs; only a
  /// restart grants it.
  [[nodiscard]] result<void> suffices_for(const parts& whole) const;
  /// Whether the sandbox allows reading the configuration again. Errors: access_denied.
  [[nodiscard]] result<void> lets_read(const std::string& config) const;

  [[nodiscard]] config::sandbox_mode mode() const noexcept { return mode_; }
  [[nodiscard]] const sandbox::confinement& in_force() const noexcept { return in_force_; }

 private:
  config::sandbox_mode mode_ = config::sandbox_mode::off;
  sandbox::confinement in_force_;
  std::optional<std::vector<std::uint16_t>> connects_;
  std::shared_ptr<process::launcher> launcher_;
};

/// Prints the restrictions in force, for people or as a JSON line.
void print_sandbox(const server_sandbox& of, bool as_json);
/// Prints what the audit log needs; nothing if none is configured.
void print_record_needs(const config::settings& of, bool as_json);
/// Prints what a source needs from the machine; nothing if it needs nothing.
void print_needs(std::string_view source, const needs& needs, bool as_json);

}  // namespace hondana::cli
