/// Walks the roots in the background, and keeps the latest listing of their files.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/provider.hpp>

#include "sources/files/listing.hpp"
#include "sources/files/options.hpp"
#include "sources/files/root.hpp"

namespace hondana::files {

/// The order of `roots` is that of their URIs.
using root_list = std::vector<std::shared_ptr<const root>>;

/// Two threads, started when first needed: one walks, one follows it and describes. Threads: any.
///
/// Memory: the latest listing and the one that replaces it; the old one is let go of as soon as the new one is described.
class indexer {
 public:
  /// What walks tell, and ask; any may be empty. Called by the walking thread, without locks, but for `is_watched`.
  struct ears {
    std::function<void(const root&, const std::string& path)> entering;  ///< Before a folder is listed.
    std::function<void()> names_changed;                                 ///< The list has other URIs in it now.
    std::function<bool()> is_watched;  ///< Whether `changed` is told of everything, so that age makes no list wrong.
  };

  indexer(root_list roots, const options& all, ears to = {});
  /// Ends both threads; leaves one behind that is stuck in a system call for more than a second.
  ~indexer();
  indexer(const indexer&) = delete;
  indexer& operator=(const indexer&) = delete;

  /// The listing to answer from. The first one is returned while it still grows. Later ones are whole; when the latest is
  /// older than `options::refresh_after`, a new walk starts behind it, and is waited for, until `until` at most, when the last
  /// one found fewer than 5000 entries. When a walk fails (memory, or a log that throws) the log says so and the latest listing
  /// stays. Errors: cancelled, timed_out, source_unavailable while there is no listing because the first walk failed.
  [[nodiscard]] result<std::shared_ptr<const listing>> current(const call& by, monotonic_clock::time_point until);

  /// Goes up before anything that was listed may be wrong. Taken before `current`.
  [[nodiscard]] std::uint64_t stirs() const noexcept { return stirs_->load(); }
  [[nodiscard]] const std::shared_ptr<std::atomic<std::uint64_t>>& stir_count() const noexcept { return stirs_; }
  /// Something may be about to change, or to be told.
  void stir() noexcept { stirs_->fetch_add(1); }
  /// Whether what `current` gives has been whole and at rest ever since there were `then` stirs, with every folder watched.
  [[nodiscard]] bool is_calm_since(std::uint64_t then, const listing& seen) const;

  /// Starts a walk, or another one after the one under way.
  void refresh();
  /// Makes sure that a walk has begun.
  void begin();
  /// The same, and from now on `names_changed` is told what happens before the first walk has come to it, too.
  void begin_to_tell();

  /// Something at a path, or below it, has changed. When names may have, the list is mended at once, otherwise when somebody
  /// asks for it.
  void changed(const std::shared_ptr<const root>& of, const std::string& path, bool may_be_names);
  /// What is known of the title of an entry; empty when nothing is.
  [[nodiscard]] std::string title_of(std::string_view uri) const;

  /// Waits at most 30 ms for the second pass to have been over these places; it turns to them first.
  void await_descriptions(const std::vector<place>& places, const call& by);

  /// What is going on, for people.
  [[nodiscard]] health state_of_health() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
  std::shared_ptr<std::atomic<std::uint64_t>> stirs_;  // the same as of the state
};

}  // namespace hondana::files
