/// Chains of mounted servers, and the detection of circles in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::mcp {

/// Where processes that a mount starts find the ids of the mounts before them, with commas between.
inline constexpr const char* chain_variable = "HONDANA_MOUNTED";
/// The member of `_meta` in which requests carry them.
inline constexpr std::string_view chain_member = "dev.hondana/mounts";
/// More mounts in a row than this are taken for a circle.
inline constexpr std::size_t most_in_a_row = 16;

/// One mount among those that requests come through and go to. Threads: any.
class chain {
 public:
  /// `command`: stands for how the mounted server is started; empty when it is not. `inherited`: what this process was told by
  /// whoever started it, the value of `chain_variable`.
  chain(std::string_view command, std::string_view inherited);

  /// Unlike that of any other mount.
  [[nodiscard]] const std::string& id() const noexcept { return id_; }

  /// Why a request that came through `mounts` would go in a circle; empty when it would not. Then they are remembered as being
  /// before this one, so that what goes on from here says so.
  [[nodiscard]] std::string circle(const std::vector<std::string>& mounts);
  /// Why whatever this mount does would go in a circle; empty when it would not.
  [[nodiscard]] std::string standing_circle() const;

  /// What requests to the mounted server say: this mount, and those before it. At most `most_in_a_row` + 2.
  [[nodiscard]] std::vector<std::string> sent() const;
  /// The same for a process: also how it was started.
  [[nodiscard]] std::string variable() const;
  /// Grows with what `sent` says.
  [[nodiscard]] std::uint64_t generation() const;

 private:
  const std::string id_;
  const std::string command_;  // an id too; empty for what is not started
  mutable std::mutex mutex_;
  std::vector<std::string> before_;
  std::uint64_t generation_ = 0;
};

}  // namespace hondana::mcp
