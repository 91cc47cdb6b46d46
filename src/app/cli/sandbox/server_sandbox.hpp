/// The sandbox of one server: put up when its sources are known and before anything else, and asked about at each reload.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "app/cli/assembly.hpp"
#include "app/cli/sandbox/permitted.hpp"
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

}  // namespace hondana::cli
