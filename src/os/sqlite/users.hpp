/// Who has a shared database file open.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <hondana/error.hpp>

#include "os/disk/handle.hpp"
#include "os/sqlite/owned_file.hpp"

namespace hondana::sqlite {

/// One of those who have the file open, in this process or another, as long as the handle lives. `is_alone`: nobody else had it
/// open before; the caller holds the lock of those who open it. Errors: source_unavailable.
[[nodiscard]] result<disk::handle> join_users(const std::string& path, const file_kind& kind, bool& is_alone);

/// This process has the file open: it is not opened past SQLite, since closing that descriptor would give up SQLite's locks.
[[nodiscard]] bool has_open_here(const std::string& path);
/// Does this while no connection of this process can begin to have the file open; not at all where one has.
void while_not_open_here(const std::string& path, const std::function<void()>& work);
/// It has, until what is returned dies, which is after its connections. Null: there is no such file.
[[nodiscard]] std::shared_ptr<const void> note_open_here(const std::string& path);

}  // namespace hondana::sqlite
