/// A database file of this program's own: whose it is, whether it is one, and what is in it when it is new.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "disk/handle.hpp"
#include "sqlite/sqlite.hpp"

namespace hondana::sqlite {

/// One sort of file. Texts are for people.
struct file_kind {
  const char* what = "";          ///< "store of metrics"
  const char* purpose = "";       ///< "keep metrics": what cannot be done with a file that cannot be had.
  const char* user = "";          ///< "another process keeps its metrics there"
  std::uint32_t application = 0;  ///< Marks such files; those of other programs are not touched.
  std::int64_t version = 1;       ///< Of the tables; files of a newer one are not touched.
  const char* schema = "";        ///< Makes the tables.
  const char* before = "";        ///< Run before that, for what cannot be set later; may be empty.
  const char* settings = "";      ///< Run each time, in files only.
  /// Number i brings the tables of version i + 1 to those of i + 2. None: files of older versions are not expected.
  std::span<const char* const> upgrades{};
  /// Several processes, and several places of one, have it open at the same time.
  bool is_shared = false;
};

struct owned_file {
  disk::handle lock{};                   ///< Held as long as it is ours, or we are one of those who have it.
  std::shared_ptr<const void> in_use{};  ///< Of a shared one: this process has it open. Dies after all connections.
  connection writer{};
  bool was_suspect = false;  ///< And its pages are good: it is not known whether what stands in them is.
};

/// Opens or makes it. Empty path: in memory. The file that a damaged one left is new. A quick check of the whole is made of
/// files up to 64 MiB, and of larger ones when `suspect` has been said of them; of shared ones when nobody else has it open. A
/// damaged one that others have open is not moved aside. Errors: source_unavailable, "cannot PURPOSE in PATH: WHY".
[[nodiscard]] result<owned_file> open_owned(const std::string& path, const file_kind& kind,
                                            const std::function<void(std::string_view)>& log);
/// Moves it aside, with its log; the next `open_owned` begins a new one. The caller holds the lock, and nothing has it open.
[[nodiscard]] result<void> move_aside(const std::string& path, const file_kind& kind, std::string_view why,
                                      const std::function<void(std::string_view)>& log);
/// Reading has met damage: the file is checked whole when it is opened next, until `trust` is said of it.
void suspect(const std::string& path) noexcept;
void trust(const std::string& path) noexcept;
/// Of the file and its log.
[[nodiscard]] std::uint64_t bytes_on_disk(const std::string& path) noexcept;
/// "cannot PURPOSE in PATH: WHY".
[[nodiscard]] tl::unexpected<failure> cannot_have(const std::string& path, const file_kind& kind, const std::string& why,
                                                  std::string inner = {});

}  // namespace hondana::sqlite
