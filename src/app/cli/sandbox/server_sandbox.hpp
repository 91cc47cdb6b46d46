/// The sandbox of one server: put up before it serves, checked at each reload, and printed by `hondana check`.
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
 public:
  /// Confines this process, for good, as `whole.settings.sandbox` says. What the kernel lacks is said by `log`. Programs of the
  /// sources are from then on started by a launcher.
  ///
  /// Threads: called before the process has a second one. Errors: source_unavailable where the sandbox is required and cannot
  /// be had.
  [[nodiscard]] static result<server_sandbox> put_up(const parts& whole, const serving_place& at, const log_function& log);

  /// Whether other parts can do with it. Errors: access_denied, naming the source and what it needs: a restart.
  [[nodiscard]] result<void> suffices_for(const parts& whole) const;
  /// Whether it keeps the configuration from being read again. Errors: as above.
  [[nodiscard]] result<void> lets_read(const std::string& config) const;

  [[nodiscard]] config::sandbox_mode mode() const noexcept { return mode_; }
  [[nodiscard]] const sandbox::confinement& in_force() const noexcept { return in_force_; }

 private:
  config::sandbox_mode mode_ = config::sandbox_mode::off;
  sandbox::confinement in_force_;
  std::optional<std::vector<std::uint16_t>> connects_;
  std::shared_ptr<process::launcher> launcher_;
};

/// Prints what is in force, for people or as a JSON line.
void print_sandbox(const server_sandbox& of, bool as_json);
/// Prints what the record of requests needs; nothing where there is none.
void print_record_needs(const config::settings& of, bool as_json);
/// Prints what a source needs of the machine; nothing where it needs nothing.
void print_needs(std::string_view source, const needs& needs, bool as_json);

}  // namespace hondana::cli
