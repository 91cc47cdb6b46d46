/// Random access to the bytes of log files; compressed files are decompressed once and cached.
#include "sources/logs/records/file_content.hpp"

#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <span>
#include <utility>

#include <hondana/clock.hpp>

#include "os/disk/file_descriptor.hpp"
#include "os/disk/spool.hpp"
#include "protocol/model/caller_checks.hpp"

namespace hondana::records {
namespace {

constexpr int fastest = 1;

std::atomic<std::size_t> files_open{0};
std::atomic<std::size_t> in_memory_bytes{0};

constexpr const char* no_room = "No space to decompress a compressed log file. Retry later.";

tl::unexpected<failure> no_place(const char* what, int error) {
  return fail(errc::source_unavailable, no_room, std::string(what) + ": " + std::strerror(error));
}

}  // namespace

kept_copy::~kept_copy() {
  leave_memory();
  if (file_.is_open()) --files_open;
}

std::size_t kept_copy::files() noexcept { return files_open; }

void kept_copy::leave_memory() noexcept {
  in_memory_bytes -= in_memory_.size();
  in_memory_ = {};
}

result<void> kept_copy::open() {
  auto made = disk::nameless_file();
  if (!made) {
    made.error().public_text = no_room;
    return tl::unexpected(std::move(made.error()));
  }
  file_ = std::move(*made);
  ++files_open;
  const auto all = in_memory_;
  leave_memory();
  written_ = 0;
  return write(all);
}

result<void> kept_copy::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto part = bytes.substr(0, frame_bytes - pending_.size());
    pending_ += part;
    size_ += part.size();
    bytes.remove_prefix(part.size());
    if (pending_.size() < frame_bytes) break;
    HONDANA_TRY(flush());
  }
  return {};
}

result<void> kept_copy::finish() { return pending_.empty() ? result<void>() : flush(); }

result<void> kept_copy::flush() {
  std::string frame(::ZSTD_compressBound(pending_.size()), '\0');
  const auto size = ::ZSTD_compress(frame.data(), frame.size(), pending_.data(), pending_.size(), fastest);
  if (::ZSTD_isError(size) != 0) return no_place("compressing", ENOMEM);
  frame.resize(size);
  const bool is_small = written_ + size <= small_bytes && in_memory_bytes + size <= most_in_memory;
  if (!file_.is_open() && !is_small) HONDANA_TRY(open());
  frames_.push_back(written_);
  pending_.clear();
  if (file_.is_open()) return write(frame);
  in_memory_ += frame;
  in_memory_bytes += size;
  written_ += size;
  return {};
}

result<void> kept_copy::write(std::string_view frame) {
  for (auto rest = frame; !rest.empty();) {
    const auto put = ::pwrite(file_.get(), rest.data(), rest.size(), static_cast<off_t>(written_));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return no_place("writing a temporary file", put < 0 ? errno : ENOSPC);
    written_ += static_cast<std::uint64_t>(put);
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

result<std::size_t> kept_copy::read(std::uint64_t offset, std::span<char> into) const {
  std::size_t given = 0;
  std::string packed;
  std::string frame;
  while (given < into.size() && offset < size_) {
    const auto number = static_cast<std::size_t>(offset / frame_bytes);
    const auto begin = frames_[number];
    const auto end = number + 1 < frames_.size() ? frames_[number + 1] : written_;
    packed.resize(static_cast<std::size_t>(end - begin));
    if (file_.is_open()) {
      const auto got = disk::read_at(file_.get(), packed.data(), packed.size(), begin);
      if (!got || *got < packed.size()) return no_place("reading a temporary file", got ? EIO : got.error());
    } else {
      packed = in_memory_.substr(static_cast<std::size_t>(begin), packed.size());
    }
    frame.resize(frame_bytes);
    const auto size = ::ZSTD_decompress(frame.data(), frame.size(), packed.data(), packed.size());
    if (::ZSTD_isError(size) != 0) return no_place("decompressing into a temporary file", EIO);
    const auto skip = static_cast<std::size_t>(offset % frame_bytes);
    if (skip >= size) break;
    const auto count = std::min(size - skip, into.size() - given);
    std::memcpy(into.data() + given, frame.data() + skip, count);
    given += count;
    offset += count;
  }
  return given;
}

namespace {

constexpr std::size_t step_bytes = 1u << 20;
constexpr std::size_t most_jobs = 128;
constexpr std::size_t most_files = 192;  // of all logs of the process

}  // namespace

struct unpacked_files::job {
  /// Waits until no other thread works on the file. Checks for cancellation at intervals.
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
  // Used only by the thread that entered.
  std::shared_ptr<const disk::handle> file;
  std::unique_ptr<unpacking> from;
  std::shared_ptr<kept_copy> copy;
  std::string trouble;
  bool is_done = false;
  std::atomic<std::uint64_t> disk_bytes{0};
  std::atomic<bool> has_file{false};  // and is done
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
    // Only copies of this cache can be removed, so each log may exceed the limit by one.
    const auto last = std::find_if(all_.rbegin(), all_.rend(), is_last_file);
    if (last == all_.rend()) break;
    all_.erase(std::prev(last.base()));
  }
  while (all_.size() > 1 && sum() > most_kept_) {
    // Least recently used first, but never the copy that is needed now.
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
      // After errors such as a full disk, decompression starts again. After a deadline, it continues.
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
