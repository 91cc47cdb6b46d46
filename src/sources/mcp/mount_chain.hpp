/// Chains of mounted servers, and the detection of cycles in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::mcp {

/// The environment variable that tells a started server the ids of the mounts before it, separated by commas.
inline constexpr const char* chain_variable = "HONDANA_MOUNTED";
/// The member of `_meta` in which a request carries the ids of the mounts that it passed.
inline constexpr std::string_view chain_member = "dev.hondana/mounts";
/// A longer chain of mounts counts as a cycle.
inline constexpr std::size_t max_mounts = 16;

/// One mount in the chain of mounts that requests pass. Threads: any.
class mount_chain {
 public:
  /// `command`: a text that identifies how the mounted server is started; empty if this process does not start it.
  /// `inherited`: the value of `chain_variable` in this process.
  mount_chain(std::string_view command, std::string_view inherited);

  /// The unique id of this mount.
  [[nodiscard]] const std::string& id() const noexcept { return id_; }

  /// Returns why a request would go in a cycle; empty if it would not. `mounts`: the ids of the mounts that the request passed.
  /// Also records these ids, so that `outgoing_ids` includes them.
  [[nodiscard]] std::string find_cycle(const std::vector<std::string>& mounts);
  /// Returns why every request through this mount would go in a cycle; empty if it would not.
  [[nodiscard]] std::string find_permanent_cycle() const;

  /// Returns the ids that requests to the mounted server carry: this mount, and the mounts before it. At most `max_mounts` + 2.
  [[nodiscard]] std::vector<std::string> outgoing_ids() const;
  /// Returns the value of `chain_variable` for a started server: an id of its command, and `outgoing_ids`.
  [[nodiscard]] std::string environment_value() const;
  /// Increases when `outgoing_ids` changes.
  [[nodiscard]] std::uint64_t generation() const;

 private:
  const std::string id_;
  const std::string command_;  // also an id; empty if no process is started
  mutable std::mutex mutex_;
  std::vector<std::string> previous_;  // ids of the mounts before this one
  std::uint64_t generation_ = 0;
};

}  // namespace hondana::mcp
