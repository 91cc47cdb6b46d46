/// What a walk of the indexer finds, gathered into a listing.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "os/disk/stamp.hpp"
#include "sources/files/listing.hpp"
#include "sources/files/options.hpp"
#include "sources/files/root.hpp"
#include "sources/files/walk.hpp"

namespace hondana::files {

/// Fills a listing from walks, block by block. Threads: one. Throws what the ears throw.
class gatherer final : public walk_listener {
 public:
  using sayer = std::function<void(const std::string&)>;

  /// What to tell whom.
  struct ears {
    std::function<void()> grew;
    sayer progress;
    sayer trouble;
    /// Before a folder is listed; may be empty.
    std::function<void(const root&, const std::string&)> entering{};
  };

  gatherer(listing& into, const options& configured, std::stop_token stop, ears to)
      : into_(into), configured_(configured), stop_(std::move(stop)), to_(std::move(to)) {}

  /// Walks a root, or what a path in it names and what is below. False when nothing more is to be walked. Throws as `walk`.
  bool gather(const std::shared_ptr<const root>& of, const std::string& below = {}) {
    root_ = of;
    looked_at_ = disk::wall_clock();
    open_ = std::make_shared<block>(root_);
    const bool all = walk_below(*of, below, {configured_.max_depth, configured_.max_entries}, *this);
    flush();
    return all;
  }

  bool served(const root& of, std::string_view path, const struct stat& facts) override {
    if (stop_.stop_requested()) return false;
    if (count_ >= configured_.max_entries) {
      to_.trouble("only the first " + std::to_string(count_) + " entries are listed; those after " + of.path() + "/" +
                  std::string(path) + " can still be read by URI");
      return false;
    }
    if (S_ISDIR(facts.st_mode) && to_.entering) to_.entering(of, std::string(path));
    open_->add(path, facts, looked_at_);
    // The first entry at once, so that whoever waits has a place to begin.
    if (path.empty() || open_->size() == block::capacity) flush();
    if (++count_ % progress_step == 0) {
      to_.progress("indexed " + std::to_string(count_) + " entries so far, at " + of.path() + "/" + std::string(path));
    }
    looked_at_ = disk::wall_clock();
    return true;
  }
  /// The folder that had changed last when it was left.
  [[nodiscard]] const disk::stamp& newest_folder() const noexcept { return newest_; }

  void leaving(const struct stat& facts) override {
    if (const auto state = disk::stamp_of(facts); state.changed > newest_.changed) newest_ = state;
  }
  void left_out(const root&, std::string_view, const examined&) override { looked_at_ = disk::wall_clock(); }
  void trouble(const root& of, std::string_view path, const std::string& what) override {
    to_.trouble(of.path() + "/" + std::string(path) + " " + what);
  }
  void missed() override { has_missed_ = true; }
  /// Whether a disk failed, so that there may be more than was found.
  [[nodiscard]] bool has_missed() const noexcept { return has_missed_; }

 private:
  static constexpr std::size_t progress_step = 50'000;

  void flush() {
    if (open_->size() == 0) return;
    into_.append(std::move(open_));
    open_ = std::make_shared<block>(root_);
    to_.grew();
  }

  listing& into_;
  const options& configured_;
  std::stop_token stop_;
  ears to_;
  std::shared_ptr<const root> root_;
  std::shared_ptr<block> open_;
  disk::stamp newest_;
  bool has_missed_ = false;
  std::size_t count_ = 0;
  std::int64_t looked_at_ = 0;  // before the state of what comes next is asked for
};

}  // namespace hondana::files
