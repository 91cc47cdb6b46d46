/// The file of a store: whose it is, whether it is one, and what is in it when it is new.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "disk/handle.hpp"
#include "sqlite/sqlite.hpp"

namespace hondana::samples {

/// In errors.
inline constexpr std::string_view what_it_is = "store of metrics";

struct opened_file {
  disk::handle lock{};  ///< Held as long as it is ours.
  sqlite::connection writer{};
  bool was_suspect = false;  ///< And its pages are good: it is not known whether what stands in them is.
};

/// As `store::open` says, up to what only reading all of it can tell. Empty path: in memory. The file that a damaged one left
/// is new. A quick check of the whole is made of files up to 64 MiB, and of larger ones when `suspect` has been said of them.
[[nodiscard]] result<opened_file> open_file(const std::string& path, const std::function<void(std::string_view)>& log);
/// Moves it aside, with its log; the next `open_file` begins a new one. The caller holds the lock, and nothing has it open.
[[nodiscard]] result<void> move_aside(const std::string& path, std::string_view why,
                                      const std::function<void(std::string_view)>& log);
/// Reading has met damage: the file is checked whole when it is opened next, until `trust` is said of it.
void suspect(const std::string& path) noexcept;
void trust(const std::string& path) noexcept;
/// Of the file and its log.
[[nodiscard]] std::uint64_t bytes_on_disk(const std::string& path) noexcept;

}  // namespace hondana::samples
