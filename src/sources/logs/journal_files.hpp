/// Which files a journal has, and which of them may be read: libsystemd passes over the others in silence.
#pragma once

#include <cstddef>
#include <string>

#include <hondana/error.hpp>

namespace hondana::logs {

struct journal_files {
  std::size_t readable = 0;
  std::size_t refused = 0;  ///< And folders that may not be listed.
  bool has_folder = false;

  /// What is to be said of those that are refused beside others; empty: nothing.
  [[nodiscard]] std::string remark() const;
};

/// Of a folder and the folders of machines in it; empty: of the system's journal, this machine's alone. Errors:
/// resource_not_found where there are none, access_denied where none may be read, which names the group that may;
/// source_unavailable.
[[nodiscard]] result<journal_files> look_at_journal(const std::string& folder);

}  // namespace hondana::logs
