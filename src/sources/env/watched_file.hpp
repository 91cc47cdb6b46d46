/// A file of variables with what was last understood of it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "os/disk/stamp.hpp"
#include "sources/env/env_file.hpp"
#include "sources/env/variables.hpp"

namespace hondana::env {

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
