/// A file of variables on disk: its name in URIs, reading it whole, and watching it.
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

/// Whether this is 1 to 40 of a-z, 0-9 and `-`, no `-` at an end.
[[nodiscard]] bool is_slug(std::string_view text) noexcept;

/// After the name of a file without "env" and dots: `prod` for `prod.env` and `.env.prod`, `app-local` for `app.env.local`.
/// `env` where nothing is left.
[[nodiscard]] std::string slug_of(std::string_view path);

inline constexpr std::size_t most_file_bytes = 8u << 20;

/// What came of looking at the file.
struct look_at_file {
  enum class what : std::uint8_t {
    same,       ///< It is as it was known.
    taken,      ///< `bytes` and `state` are it.
    too_large,  ///< Beyond `most_file_bytes`; `state` is it.
    changing,   ///< It changed whenever it was read.
    missing,    ///< Nothing is there, or what is kept back.
    no_file,    ///< Something else has its name.
    refused,    ///< This user may not read it.
    failing     ///< The disk or the network does not work, or the folder is gone.
  };
  what came = what::failing;
  std::string bytes{};
  disk::stamp state{};
  bool is_racy = false;       ///< A change that follows may leave `state` as it is.
  std::string detail{};       ///< For the log.
  bool has_folder = true;     ///< The folder is there, so that a file that comes is heard of.
  bool is_elsewhere = false;  ///< The name is a link: what it leads to may change without the folder being told.
};

/// A file by its folder, which was opened before, and its name there. Links are followed as long as they stay beneath the
/// folder, as those that Kubernetes makes do. Threads: any.
class env_file {
 public:
  /// `kept_back`: absolute paths, links resolved, of files that are as if they were not there. Errors: source_unavailable when
  /// the folder cannot be opened; the file may be missing.
  [[nodiscard]] static result<std::unique_ptr<env_file>> open(const std::string& path, std::vector<std::string> kept_back);

  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Whether both are in one folder.
  [[nodiscard]] bool is_beside(const env_file& other) const;

  /// `known`: what was taken before, unless that was racy. `entering` is given the descriptor of the folder before the file is
  /// opened; may be empty.
  [[nodiscard]] look_at_file look(const std::optional<disk::stamp>& known, const std::function<void(int)>& entering) const;

 private:
  env_file(std::string folder, std::string name, std::vector<std::string> kept_back, disk::handle at)
      : folder_(std::move(folder)),
        name_(std::move(name)),
        kept_back_(std::move(kept_back)),
        at_(std::make_shared<disk::handle>(std::move(at))) {}
  /// The folder that is at its path now; null: there is none.
  [[nodiscard]] std::shared_ptr<const disk::handle> held() const;
  [[nodiscard]] bool is_kept_back(const struct stat& facts) const;

  const std::string folder_;
  const std::string name_;
  const std::vector<std::string> kept_back_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const disk::handle> at_;
};

/// What there is to say of a file at one moment. Immutable.
struct file_state {
  std::shared_ptr<const variables> now;  ///< Null: nothing can be shown.
  /// What is wrong, without names and paths of the host. With `now` it is what the file held before that is shown.
  std::optional<failure> trouble;
};

/// Keeps the newest state. Looks at the file whenever it is asked. Threads: any.
class watched_file {
 public:
  /// `slug`: the name in URIs. `log`: hears once of each trouble, of its end, and of what a file leaves open.
  watched_file(std::string slug, std::unique_ptr<env_file> file, rules by, std::function<void(std::string_view)> log);

  /// As the file is now. Errors: timed_out, cancelled.
  [[nodiscard]] result<std::shared_ptr<const file_state>> refreshed(const call& by);
  /// As it was at the last look.
  [[nodiscard]] std::shared_ptr<const file_state> latest() const;
  /// Whether the folder tells of what comes next, so that nothing need be looked at before it does.
  [[nodiscard]] bool is_settled() const;

  /// From now on changes are told; null: to nobody.
  void watch(std::shared_ptr<change_listener> to);
  /// Call before anything else: `entering` is given the folder's descriptor at each look, `giving_up` says why changes may not
  /// be heard of.
  void cover_with(std::function<void(int)> entering, std::function<void(const std::string&)> giving_up);
  /// The log may be gone from now on, when this returns.
  void be_silent();

  [[nodiscard]] const std::string& slug() const noexcept { return slug_; }
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  /// For people: "the file prod".
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

  std::timed_mutex looking_;          // held while the file is looked at
  std::optional<disk::stamp> known_;  // of what `state_` was made from; absent: it is read again
  std::vector<std::string> remarks_;  // of that, as told

  mutable std::mutex mutex_;
  std::shared_ptr<const file_state> state_;
  bool is_settled_ = false;
  std::shared_ptr<change_listener> listener_;
};

}  // namespace hondana::env
