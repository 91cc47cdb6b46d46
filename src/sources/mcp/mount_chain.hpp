/// Chains of mounted servers, and the detection of cycles in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::mcp {

/// The environment variable by which a started process gets the ids of the mounts before it, separated by commas.
inline constexpr const char* chain_variable = "HONDANA_MOUNTED";
/// The member of `_meta` in which requests carry these ids.
inline constexpr std::string_view chain_member = "dev.hondana/mounts";
/// A longer chain of mounts counts as a cycle.
inline constexpr std::size_t max_mounts = 16;

/// One mount in the chain of mounts that requests pass. Threads: any.
class mount_chain {
 public:
  /// `command`: identifies how the mounted server is started; empty if it is not. `inherited`: the value of `chain_variable` in
  /// this process.
  mount_chain(std::string_view command, std::string_view inherited);

  /// The unique id of this mount.
  [[nodiscard]] const std::string& id() const noexcept { return id_; }

  /// Why a request that passed `mounts` would go in a cycle; empty if it would not. Records them as mounts before this one, so
  /// that later requests from here name them.
  [[nodiscard]] std::string find_cycle(const std::vector<std::string>& mounts);
  /// Why every request of this mount would go in a cycle; empty if it would not.
  [[nodiscard]] std::string find_permanent_cycle() const;

  /// The ids that requests to the mounted server carry: this mount, and those before it. At most `max_mounts` + 2.
  [[nodiscard]] std::vector<std::string> outgoing_ids() const;
  /// The same for a process: also identifies how it was started.
  [[nodiscard]] std::string environment_value() const;
  /// Increases when `outgoing_ids` changes.
  [[nodiscard]] std::uint64_t generation() const;

 private:
  const std::string id_;
  const std::string command_;  // also an id; empty if no process is started
  mutable std::mutex mutex_;
  std::vector<std::string> previous_;
  std::uint64_t generation_ = 0;
};

}  // namespace hondana::mcp
