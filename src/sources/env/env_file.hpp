/// A file of variables on disk: its name in URIs, reading it completely, and watching it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "os/disk/file_stamp.hpp"
#include "os/disk/served_dir.hpp"
#include "sources/env/variables.hpp"

namespace hondana::env {

/// Whether a text is a valid name of a file in URIs: 1 to 40 of a-z, 0-9 and `-`, without `-` at either end.
[[nodiscard]] bool is_slug(std::string_view text) noexcept;

/// Makes a slug from the name of a file, without "env" and dots: `prod` for `prod.env` and `.env.prod`, `app-local` for
/// `app.env.local`. `env` if nothing is left.
[[nodiscard]] std::string make_slug(std::string_view path);

/// Larger files are not served.
inline constexpr std::size_t max_file_bytes = 8u << 20;

/// The result of `env_file::read`.
struct file_read_result {
  enum class read_status : std::uint8_t {
    unchanged,      ///< Its stamp equals `known_stamp`.
    loaded,         ///< `bytes` and `stamp` are set.
    too_large,      ///< Larger than `max_file_bytes`; `stamp` is set.
    changing,       ///< It changed during each attempt to read it.
    missing,        ///< It does not exist, or is one of the server's own files.
    not_regular,    ///< It is not a regular file, or a link that leads out of its folder.
    access_denied,  ///< This user may not read it.
    failed          ///< A disk or network error, or the folder cannot be opened.
  };
  read_status status = read_status::failed;
  std::string bytes{};
  disk::stamp stamp{};
  bool is_racy = false;    ///< It changed so recently that another change may leave `stamp` unchanged.
  std::string detail{};    ///< The cause of a failure, for the log.
  bool has_folder = true;  ///< False: the folder cannot be opened.
  bool is_link = false;    ///< It is a symbolic link. Its target may change without an event of the folder.
};

/// A file in a folder that stays open, and is opened again when another folder takes its place. Follows links only within the
/// folder, as Kubernetes creates them. Threads: any.
class env_file {
 public:
  /// Opens the folder; the file may be missing. `own_files`: absolute paths with links resolved. These files and their
  /// companions (`disk::own_files`) are treated as missing. Errors: invalid_argument if `path` does not name a file;
  /// source_unavailable if the folder cannot be opened.
  [[nodiscard]] static result<std::unique_ptr<env_file>> open(const std::string& path, std::vector<std::string> own_files);

  [[nodiscard]] const std::string& folder() const noexcept { return dir_.path(); }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Whether both files are in the same folder.
  [[nodiscard]] bool is_in_same_folder(const env_file& other) const;

  /// Reads the file unless its stamp equals `known_stamp`. After a racy result, the caller must pass nullopt. `add_folder`:
  /// called with the folder's descriptor before the file is opened; may be empty.
  [[nodiscard]] file_read_result read(const std::optional<disk::stamp>& known_stamp,
                                      const std::function<void(int)>& add_folder) const;

 private:
  env_file(disk::served_dir dir, std::string name, std::vector<std::string> own_files)
      : dir_(std::move(dir)), name_(std::move(name)), own_files_(std::move(own_files)) {}
  /// Whether the opened file is one of `own_files_`, under any name.
  [[nodiscard]] bool is_own_file(const struct stat& attributes) const;

  const disk::served_dir dir_;
  const std::string name_;
  const std::vector<std::string> own_files_;
};

/// What is known about a file at one moment. Immutable.
struct file_state {
  std::shared_ptr<const variable_set> current;  ///< Null: nothing can be served, or the file was not read yet.
  /// Why the file's present content is not served. `current` is then its last valid content, or null. The public text contains
  /// no path and no variable.
  std::optional<failure> error;
};

/// Holds the last known state of a file. Threads: any.
class watched_file {
 public:
  /// `slug`: the name in URIs. `log`: receives each problem once, its end, and warnings about the file's syntax; may be empty.
  watched_file(std::string slug, std::unique_ptr<env_file> file, variable_rules rules,
               std::function<void(std::string_view)> log);

  /// Reads the file if it has changed, notifies the listener of changed variables, and returns the new state. Problems of the
  /// file are in `file_state::error`. Errors: timed_out if another call is still reading at the deadline; cancelled.
  [[nodiscard]] result<std::shared_ptr<const file_state>> refresh(const request_context& context);
  /// Returns the state of the last read. Never null.
  [[nodiscard]] std::shared_ptr<const file_state> latest() const;
  /// Whether a watched folder would report the next change. If not, `refresh` must be called again after a while: the file is
  /// missing, cannot be read, or is being written.
  [[nodiscard]] bool is_stable() const;

  /// Sets the listener for changes; null: none.
  void set_listener(std::shared_ptr<change_listener> listener);
  /// Must be called before all other functions, or not at all. `add_folder`: called with the folder's descriptor by each
  /// `refresh`. `switch_to_polling`: called with the reason if events of the folder do not show all changes.
  void set_watch_callbacks(std::function<void(int)> add_folder, std::function<void(const std::string&)> switch_to_polling);
  /// Stops logging. `log` is not called any more after this returns.
  void disable_log();

  [[nodiscard]] const std::string& slug() const noexcept { return slug_; }
  /// Returns the prefix of its URIs: `env://SLUG/`.
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  /// For display: "the file prod".
  [[nodiscard]] std::string origin() const { return "the file " + slug_; }
  [[nodiscard]] const env_file& file() const noexcept { return *file_; }

 private:
  /// Makes the state that follows a read, whether it succeeded or failed.
  [[nodiscard]] std::shared_ptr<const file_state> parse(file_read_result read, const file_state& previous);
  /// Makes a state with the variables of `previous` and an error. `problem`: public. `detail`: for the log.
  [[nodiscard]] std::shared_ptr<const file_state> with_error(const file_state& previous, errc code, const std::string& problem,
                                                             std::string detail) const;
  /// Logs the warnings, unless they are those of the last read.
  void log_warnings(std::vector<std::string> warnings);
  /// Logs an error that began, changed or ended.
  void log_transition(const file_state& previous, const file_state& current);
  void log_line(const std::string& line);

  const std::string slug_;
  const std::string prefix_;
  const std::unique_ptr<env_file> file_;
  const variable_rules rules_;
  std::function<void(int)> add_folder_;
  std::function<void(const std::string&)> switch_to_polling_;
  std::mutex log_mutex_;
  std::function<void(std::string_view)> log_;

  std::timed_mutex read_mutex_;             // held while the file is read
  std::optional<disk::stamp> known_stamp_;  // of the last read; nullopt: read again
  std::vector<std::string> warnings_;       // of the last read, as logged

  mutable std::mutex mutex_;
  std::shared_ptr<const file_state> state_;
  bool is_stable_ = false;
  std::shared_ptr<change_listener> listener_;
};

}  // namespace hondana::env
