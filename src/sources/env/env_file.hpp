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
[[nodiscard]] std::string slug_of(std::string_view path);

inline constexpr std::size_t most_file_bytes = 8u << 20;

/// The result of reading the file.
struct look_at_file {
  enum class what : std::uint8_t {
    same,       ///< Unchanged since the known state.
    taken,      ///< `bytes` and `state` are set.
    too_large,  ///< Larger than `most_file_bytes`; `state` is set.
    changing,   ///< It changed during each attempt to read it.
    missing,    ///< It does not exist, or is one of the server's own files.
    no_file,    ///< The name is not that of a regular file.
    refused,    ///< This user may not read it.
    failing     ///< A disk or network error, or the folder does not exist.
  };
  what came = what::failing;
  std::string bytes{};
  disk::stamp state{};
  bool is_racy = false;       ///< A following change may leave `state` unchanged.
  std::string detail{};       ///< For the log.
  bool has_folder = true;     ///< The folder exists, so a new file will be noticed.
  bool is_elsewhere = false;  ///< The name is a link, so its target may change without an event of the folder.
};

/// A file, by its name in a folder that is opened in advance. Follows links that stay in the folder, as Kubernetes creates
/// them. Threads: any.
class env_file {
 public:
  /// `kept_back`: absolute paths, links resolved, of files that are treated as missing. Errors: source_unavailable if the
  /// folder cannot be opened; the file may be missing.
  [[nodiscard]] static result<std::unique_ptr<env_file>> open(const std::string& path, std::vector<std::string> kept_back);

  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Whether both files are in the same folder.
  [[nodiscard]] bool is_beside(const env_file& other) const;

  /// Reads the file if it has changed. `known`: the state of the last read, unless the file may have changed since without a
  /// trace. `entering`: called with the folder's descriptor before the file is opened; may be null.
  [[nodiscard]] look_at_file look(const std::optional<disk::stamp>& known, const std::function<void(int)>& entering) const;

 private:
  env_file(std::string folder, std::string name, std::vector<std::string> kept_back, disk::handle at)
      : folder_(std::move(folder)),
        name_(std::move(name)),
        kept_back_(std::move(kept_back)),
        at_(std::make_shared<disk::handle>(std::move(at))) {}
  /// The folder that is at the path now; null: there is none.
  [[nodiscard]] std::shared_ptr<const disk::handle> held() const;
  [[nodiscard]] bool is_kept_back(const struct stat& facts) const;

  const std::string folder_;
  const std::string name_;
  const std::vector<std::string> kept_back_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const disk::handle> at_;
};

/// The state of a file at one moment. Immutable.
struct file_state {
  std::shared_ptr<const variables> now;  ///< Null: nothing can be served.
  /// What is wrong, without names and paths of the host. If `now` is set, it is the last valid content.
  std::optional<failure> trouble;
};

/// Holds the newest state of a file, and reads the file on each request. Threads: any.
class watched_file {
 public:
  /// `slug`: the name in URIs. `log`: receives each problem once, its end, and remarks about the file's syntax.
  watched_file(std::string slug, std::unique_ptr<env_file> file, rules by, std::function<void(std::string_view)> log);

  /// Reads the file if it has changed. Errors: timed_out, cancelled.
  [[nodiscard]] result<std::shared_ptr<const file_state>> refreshed(const call& by);
  /// The state at the last read.
  [[nodiscard]] std::shared_ptr<const file_state> latest() const;
  /// Whether the folder will report the next change, so that the file need not be read before.
  [[nodiscard]] bool is_settled() const;

  /// Sets the listener for changes; null: none.
  void watch(std::shared_ptr<change_listener> to);
  /// Call before anything else. `entering`: called with the folder's descriptor at each read. `giving_up`: called with the
  /// reason why changes may go unnoticed.
  void cover_with(std::function<void(int)> entering, std::function<void(const std::string&)> giving_up);
  /// Stops logging: when this returns, the log is no longer used.
  void be_silent();

  [[nodiscard]] const std::string& slug() const noexcept { return slug_; }
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  /// For display: "the file prod".
  [[nodiscard]] std::string origin() const { return "the file " + slug_; }
  [[nodiscard]] const env_file& file() const noexcept { return *file_; }

 private:
  [[nodiscard]] std::shared_ptr<const file_state> understand(look_at_file found, const file_state& before);
  [[nodiscard]] std::shared_ptr<const file_state> keep(const file_state& before, errc code, const std::string& what,
                                                       std::string detail) const;
  void tell_remarks(std::vector<std::string> remarks);
  void tell_log(const file_state& before, const file_state& now);
  void say(const std::string& line);

  const std::string slug_;
  const std::string prefix_;
  const std::unique_ptr<env_file> file_;
  const rules by_;
  std::function<void(int)> entering_;
  std::function<void(const std::string&)> giving_up_;
  std::mutex log_mutex_;
  std::function<void(std::string_view)> log_;

  std::timed_mutex looking_;          // held while the file is read
  std::optional<disk::stamp> known_;  // the state of the last read; empty: read again
  std::vector<std::string> remarks_;  // its remarks, as logged

  mutable std::mutex mutex_;
  std::shared_ptr<const file_state> state_;
  bool is_settled_ = false;
  std::shared_ptr<change_listener> listener_;
};

}  // namespace hondana::env
