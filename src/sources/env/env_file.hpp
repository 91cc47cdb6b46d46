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

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "os/disk/file_descriptor.hpp"
#include "os/disk/file_stamp.hpp"
#include "sources/env/variables.hpp"

namespace hondana::env {

/// Whether a text is a valid name: 1 to 40 of a-z, 0-9 and `-`, without `-` at an end.
[[nodiscard]] bool is_slug(std::string_view text) noexcept;

/// Makes a name from that of a file, without "env" and dots: `prod` for `prod.env` and `.env.prod`, `app-local` for
/// `app.env.local`. `env` if nothing is left.
[[nodiscard]] std::string make_slug(std::string_view path);

inline constexpr std::size_t max_file_bytes = 8u << 20;

/// The result of reading the file.
struct file_read_result {
  enum class read_status : std::uint8_t {
    unchanged,      ///< Its stamp equals `known_stamp`.
    loaded,         ///< `bytes` and `stamp` are set.
    too_large,      ///< Larger than `max_file_bytes`; `stamp` is set.
    changing,       ///< It changed during each attempt to read it.
    missing,        ///< It does not exist, or is one of the server's own files.
    not_regular,    ///< The name is not that of a regular file.
    access_denied,  ///< This user may not read it.
    failed          ///< A disk or network error, or the folder does not exist.
  };
  read_status status = read_status::failed;
  std::string bytes{};
  disk::stamp stamp{};
  bool is_racy = false;    ///< A following change may leave `stamp` unchanged.
  std::string detail{};    ///< For the log.
  bool has_folder = true;  ///< The folder exists, so a new file will be noticed.
  bool is_link = false;    ///< The name is a link, so its target may change without an event of the folder.
};

/// A file, by its name in a folder that is opened in advance. Follows links that stay in the folder, as Kubernetes creates
/// them. Threads: any.
class env_file {
 public:
  /// `own_files`: absolute paths, links resolved, of files that are treated as missing. Errors: source_unavailable if the
  /// folder cannot be opened; the file may be missing.
  [[nodiscard]] static result<std::unique_ptr<env_file>> open(const std::string& path, std::vector<std::string> own_files);

  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Whether both files are in the same folder.
  [[nodiscard]] bool is_in_same_folder(const env_file& other) const;

  /// Reads the file if it has changed. `known_stamp`: the stamp at the last read, unless the file may have changed since
  /// without a trace. `add_folder`: called with the folder's descriptor before the file is opened; may be null.
  [[nodiscard]] file_read_result read(const std::optional<disk::stamp>& known_stamp,
                                      const std::function<void(int)>& add_folder) const;

 private:
  env_file(std::string folder, std::string name, std::vector<std::string> own_files, disk::handle handle)
      : folder_(std::move(folder)),
        name_(std::move(name)),
        own_files_(std::move(own_files)),
        folder_handle_(std::make_shared<disk::handle>(std::move(handle))) {}
  /// The folder that is at the path now; null: there is none.
  [[nodiscard]] std::shared_ptr<const disk::handle> folder_handle() const;
  [[nodiscard]] bool is_own_file(const struct stat& attributes) const;

  const std::string folder_;
  const std::string name_;
  const std::vector<std::string> own_files_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const disk::handle> folder_handle_;
};

/// The state of a file at one moment. Immutable.
struct file_state {
  std::shared_ptr<const variable_set> current;  ///< Null: nothing can be served.
  /// What is wrong, without names and paths of the host. If `current` is set, it is the last valid content.
  std::optional<failure> error;
};

/// Holds the newest state of a file, and reads the file on each request. Threads: any.
class watched_file {
 public:
  /// `slug`: the name in URIs. `log`: receives each problem once, its end, and warnings about the file's syntax.
  watched_file(std::string slug, std::unique_ptr<env_file> file, variable_rules rules,
               std::function<void(std::string_view)> log);

  /// Reads the file if it has changed. Errors: timed_out, cancelled.
  [[nodiscard]] result<std::shared_ptr<const file_state>> refresh(const request_context& context);
  /// The state at the last read.
  [[nodiscard]] std::shared_ptr<const file_state> latest() const;
  /// Whether the folder will report the next change, so that the file need not be read before.
  [[nodiscard]] bool is_stable() const;

  /// Sets the listener for changes; null: none.
  void set_listener(std::shared_ptr<change_listener> listener);
  /// Call before anything else. `add_folder`: called with the folder's descriptor at each read. `switch_to_polling`: called
  /// with the reason why changes may go unnoticed.
  void set_watch_callbacks(std::function<void(int)> add_folder, std::function<void(const std::string&)> switch_to_polling);
  /// Stops logging: when this returns, the log is no longer used.
  void disable_log();

  [[nodiscard]] const std::string& slug() const noexcept { return slug_; }
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  /// For display: "the file prod".
  [[nodiscard]] std::string origin() const { return "the file " + slug_; }
  [[nodiscard]] const env_file& file() const noexcept { return *file_; }

 private:
  [[nodiscard]] std::shared_ptr<const file_state> parse(file_read_result read, const file_state& previous);
  [[nodiscard]] std::shared_ptr<const file_state> with_error(const file_state& previous, errc code, const std::string& problem,
                                                             std::string detail) const;
  void log_warnings(std::vector<std::string> warnings);
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
  std::optional<disk::stamp> known_stamp_;  // at the last read; empty: read again
  std::vector<std::string> warnings_;       // of the last read, as logged

  mutable std::mutex mutex_;
  std::shared_ptr<const file_state> state_;
  bool is_stable_ = false;
  std::shared_ptr<change_listener> listener_;
};

}  // namespace hondana::env
