/// A served folder, which is opened again when it is replaced, and the server's own files in it.
#include "os/disk/served_dir.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <hondana/error.hpp>

#include "os/disk/opened_folder.hpp"

namespace hondana::disk {

tl::expected<opened_file, lookup_error> served_dir::opened::open_file(std::string_view path) const {
  const auto missing = [] { return tl::unexpected(lookup_error{lookup_error_kind::missing, ENOENT}); };
  if (own.has_name(path)) return missing();
  auto file = dir.open_file(path);
  if (file && own.is_hard_link(file->attributes)) return missing();
  return file;
}

served_dir::served_dir(std::string path, std::vector<std::string> own_files, int access)
    : path_(std::move(path)), own_files_(std::move(own_files)), access_(access), state_(std::make_unique<state>()) {}

tl::expected<served_dir, int> served_dir::open(std::string path, std::vector<std::string> own_files, int access) {
  served_dir served(std::move(path), std::move(own_files), access);
  HONDANA_TRY(auto current, served.open_now());
  served.state_->current = std::move(current);
  return served;
}

tl::expected<std::shared_ptr<const served_dir::opened>, int> served_dir::current() const {
  const std::lock_guard lock(state_->mutex);
  if (!is_in_place(state_->current->dir.descriptor(), path_)) {
    HONDANA_TRY(auto current, open_now());
    state_->current = std::move(current);
  }
  return state_->current;
}

tl::expected<std::shared_ptr<const served_dir::opened>, int> served_dir::open_now() const {
  handle folder(::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open() || ::faccessat(folder.get(), ".", access_, AT_EACCESS) != 0) return tl::unexpected(errno);
  std::error_code error;
  const auto real_path = std::filesystem::canonical(path_, error);
  return std::make_shared<const opened>(
      opened{confined_dir(std::move(folder)), own_files(own_files_, error ? path_ : real_path.string())});
}

}  // namespace hondana::disk
