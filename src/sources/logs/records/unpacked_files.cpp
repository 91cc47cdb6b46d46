/// One decompression a file.
#include "sources/logs/records/unpacked_files.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <span>
#include <utility>

#include <hondana/clock.hpp>

#include "protocol/model/still_wanted.hpp"
#include "sources/logs/records/kept_copy.hpp"

namespace hondana::records {
namespace {

constexpr std::size_t step_bytes = 1u << 20;
constexpr std::size_t most_jobs = 128;
constexpr std::size_t most_files = 192;  // of all logs of the process

}  // namespace

struct unpacked_files::job {
  /// One at a time works on it; whoever waits looks now and then whether he is still wanted.
  result<void> enter(const call& by) {
    constexpr std::chrono::milliseconds between_looks{50};
    std::unique_lock lock(mutex);
    while (is_busy) {
      HONDANA_TRY(still_wanted(by));
      monotonic_clock::wait_for(left, lock, between_looks);
    }
    is_busy = true;
    return {};
  }
  void leave() noexcept {
    const std::lock_guard lock(mutex);
    is_busy = false;
    left.notify_one();
  }

  std::mutex mutex;
  std::condition_variable left;
  bool is_busy = false;
  // Of the one who is in.
  std::shared_ptr<const disk::handle> file;
  std::unique_ptr<unpacking> from;
  std::shared_ptr<kept_copy> copy;
  std::string trouble;
  bool is_done = false;
  std::atomic<std::uint64_t> disk_bytes{0};
  std::atomic<bool> has_file{false};  // and done
};

std::shared_ptr<unpacked_files::job> unpacked_files::job_of(const disk::stamp& facts) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const kept& one) {
    return one.facts.device == facts.device && one.facts.inode == facts.inode && one.facts.size == facts.size &&
           one.facts.modified == facts.modified;
  });
  if (found != all_.end()) {
    all_.splice(all_.begin(), all_, found);
  } else {
    all_.push_front({facts, std::make_shared<job>()});
    if (all_.size() > most_jobs) all_.pop_back();
  }
  return all_.front().what;
}

void unpacked_files::forget(const std::shared_ptr<job>& which) {
  const std::lock_guard lock(mutex_);
  all_.remove_if([&](const kept& one) { return one.what == which; });
}

void unpacked_files::make_room(const std::shared_ptr<job>& but) {
  const std::lock_guard lock(mutex_);
  const auto sum = [this] {
    std::uint64_t out = 0;
    for (const auto& one : all_) out += one.what->disk_bytes;
    return out;
  };
  const auto is_last_file = [&but](const kept& one) { return one.what != but && one.what->has_file; };
  while (kept_copy::files() > most_files) {
    // What others keep is theirs; so there may be as many more as there are logs.
    const auto last = std::find_if(all_.rbegin(), all_.rend(), is_last_file);
    if (last == all_.rend()) break;
    all_.erase(std::prev(last.base()));
  }
  while (all_.size() > 1 && sum() > most_kept_) {
    // From the one that was asked for longest ago, but never what is wanted now.
    auto last = std::prev(all_.end());
    if (last->what == but) last = std::prev(last);
    all_.erase(last);
  }
}

std::uint64_t unpacked_files::begun() const noexcept {
  const std::lock_guard lock(mutex_);
  return begun_;
}

result<void> unpacked_files::go_on(job& with, const call& by) const {
  std::string piece(step_bytes, '\0');
  while (!with.from->is_over()) {
    HONDANA_TRY(still_wanted(by));
    const auto count = with.from->read(piece);
    HONDANA_TRY(with.copy->append(std::string_view(piece).substr(0, count)));
    with.disk_bytes = with.copy->disk_bytes();
    const auto size = with.copy->size();
    if (size > most_of_one_) {
      with.trouble = "it decompresses to more than " + std::to_string(most_of_one_ >> 20) + " MiB";
      return {};
    }
    if (size > harmless_bytes && size / most_ratio > with.from->taken()) {
      with.trouble = "it decompresses to more than " + std::to_string(most_ratio) + " times its size";
      return {};
    }
    if (with.disk_bytes > most_kept_) {
      with.trouble = "its decompressed copy takes more than " + std::to_string(most_kept_ >> 20) + " MiB";
      return {};
    }
  }
  with.trouble = with.from->trouble();
  return {};
}

result<unpacked_files::unpacked> unpacked_files::get(const disk::stamp& facts, std::shared_ptr<const disk::handle> file,
                                                     compression how, const call& by) {
  const auto found = job_of(facts);
  HONDANA_TRY(found->enter(by));
  const std::shared_ptr<void> leaving(nullptr, [&found](void*) { found->leave(); });
  if (!found->is_done) {
    if (!found->from) {
      found->copy = std::make_shared<kept_copy>();
      found->file = std::move(file);
      found->from = std::make_unique<unpacking>(how, found->file->get(), facts.size);
      const std::lock_guard counting(mutex_);
      ++begun_;
    }
    auto done = go_on(*found, by);
    if (done) done = found->copy->finish();
    if (!done) {
      // What a full disk spoilt is begun anew; a deadline spoils nothing.
      if (done.error().code != errc::timed_out && done.error().code != errc::cancelled) forget(found);
      return tl::unexpected(std::move(done.error()));
    }
    found->is_done = true;
    found->from.reset();
    found->file.reset();
    found->disk_bytes = found->copy->disk_bytes();
    found->has_file = found->copy->has_file();
    make_room(found);
  }
  return unpacked{found->copy, found->trouble};
}

std::string unpacked_files::front(int file, const disk::stamp& facts, compression how, std::size_t bytes) {
  unpacking from(how, file, facts.size);
  std::string out(bytes, '\0');
  out.resize(from.read(out));
  return out;
}

}  // namespace hondana::records
