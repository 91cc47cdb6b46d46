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

constexpr int compression_level = 1;

std::atomic<std::size_t> open_file_count{0};
std::atomic<std::size_t> memory_bytes{0};

constexpr const char* no_space_text = "No space to decompress a compressed log file. Retry later.";

tl::unexpected<failure> space_error(const char* operation, int error) {
  return fail(errc::source_unavailable, no_space_text, std::string(operation) + ": " + std::strerror(error));
}

}  // namespace

decompressed_copy::~decompressed_copy() {
  release_memory();
  if (file_.is_open()) --open_file_count;
}

std::size_t decompressed_copy::file_count() noexcept { return open_file_count; }

void decompressed_copy::release_memory() noexcept {
  memory_bytes -= memory_.size();
  memory_ = {};
}

result<void> decompressed_copy::open() {
  auto file = disk::create_unnamed_file();
  if (!file) {
    file.error().public_text = no_space_text;
    return tl::unexpected(std::move(file.error()));
  }
  file_ = std::move(*file);
  ++open_file_count;
  const auto buffered = memory_;
  release_memory();
  written_bytes_ = 0;
  return write(buffered);
}

result<void> decompressed_copy::append(std::string_view bytes) {
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

result<void> decompressed_copy::finish() { return pending_.empty() ? result<void>() : flush(); }

result<void> decompressed_copy::flush() {
  std::string frame(::ZSTD_compressBound(pending_.size()), '\0');
  const auto size = ::ZSTD_compress(frame.data(), frame.size(), pending_.data(), pending_.size(), compression_level);
  if (::ZSTD_isError(size) != 0) return space_error("compressing", ENOMEM);
  frame.resize(size);
  const bool is_small = written_bytes_ + size <= max_small_bytes && memory_bytes + size <= max_memory_bytes;
  if (!file_.is_open() && !is_small) HONDANA_TRY(open());
  frame_offsets_.push_back(written_bytes_);
  pending_.clear();
  if (file_.is_open()) return write(frame);
  memory_ += frame;
  memory_bytes += size;
  written_bytes_ += size;
  return {};
}

result<void> decompressed_copy::write(std::string_view frame) {
  for (auto remaining = frame; !remaining.empty();) {
    const auto written = ::pwrite(file_.get(), remaining.data(), remaining.size(), static_cast<off_t>(written_bytes_));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return space_error("writing a temporary file", written < 0 ? errno : ENOSPC);
    written_bytes_ += static_cast<std::uint64_t>(written);
    remaining.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

result<std::size_t> decompressed_copy::read(std::uint64_t offset, std::span<char> buffer) const {
  std::size_t copied = 0;
  std::string compressed;
  std::string frame;
  while (copied < buffer.size() && offset < size_) {
    const auto frame_index = static_cast<std::size_t>(offset / frame_bytes);
    const auto begin = frame_offsets_[frame_index];
    const auto end = frame_index + 1 < frame_offsets_.size() ? frame_offsets_[frame_index + 1] : written_bytes_;
    compressed.resize(static_cast<std::size_t>(end - begin));
    if (file_.is_open()) {
      const auto bytes_read = disk::read_at(file_.get(), compressed.data(), compressed.size(), begin);
      if (!bytes_read || *bytes_read < compressed.size())
        return space_error("reading a temporary file", bytes_read ? EIO : bytes_read.error());
    } else {
      compressed = memory_.substr(static_cast<std::size_t>(begin), compressed.size());
    }
    frame.resize(frame_bytes);
    const auto size = ::ZSTD_decompress(frame.data(), frame.size(), compressed.data(), compressed.size());
    if (::ZSTD_isError(size) != 0) return space_error("decompressing into a temporary file", EIO);
    const auto skip = static_cast<std::size_t>(offset % frame_bytes);
    if (skip >= size) break;
    const auto count = std::min(size - skip, buffer.size() - copied);
    std::memcpy(buffer.data() + copied, frame.data() + skip, count);
    copied += count;
    offset += count;
  }
  return copied;
}

namespace {

constexpr std::size_t chunk_bytes = 1u << 20;
constexpr std::size_t max_jobs = 128;
constexpr std::size_t max_files = 192;  // of all logs of the process

}  // namespace

struct decompression_cache::decompression_job {
  /// Waits until no other thread works on the file. Checks for cancellation at intervals.
  result<void> acquire(const request_context& context) {
    constexpr std::chrono::milliseconds check_interval{50};
    std::unique_lock lock(mutex);
    while (is_busy) {
      HONDANA_TRY(check_cancellation(context));
      monotonic_clock::wait_for(released, lock, check_interval);
    }
    is_busy = true;
    return {};
  }
  void release() noexcept {
    const std::lock_guard lock(mutex);
    is_busy = false;
    released.notify_one();
  }

  std::mutex mutex;
  std::condition_variable released;
  bool is_busy = false;
  // Used only by the thread between `acquire` and `release`.
  std::shared_ptr<const disk::handle> file;
  std::unique_ptr<decompressor> input;
  std::shared_ptr<decompressed_copy> copy;
  std::string error;
  bool is_done = false;
  std::atomic<std::uint64_t> disk_bytes{0};
  std::atomic<bool> has_file{false};  // and is done
};

std::shared_ptr<decompression_cache::decompression_job> decompression_cache::find_or_add_job(const disk::stamp& stamp) {
  const std::lock_guard lock(mutex_);
  const auto match = std::find_if(jobs_.begin(), jobs_.end(), [&](const cached_job& entry) {
    return entry.stamp.device == stamp.device && entry.stamp.inode == stamp.inode && entry.stamp.size == stamp.size &&
           entry.stamp.modified == stamp.modified;
  });
  if (match != jobs_.end()) {
    jobs_.splice(jobs_.begin(), jobs_, match);
  } else {
    jobs_.push_front({stamp, std::make_shared<decompression_job>()});
    if (jobs_.size() > max_jobs) jobs_.pop_back();
  }
  return jobs_.front().job;
}

void decompression_cache::discard(const std::shared_ptr<decompression_job>& job) {
  const std::lock_guard lock(mutex_);
  jobs_.remove_if([&](const cached_job& entry) { return entry.job == job; });
}

void decompression_cache::evict(const std::shared_ptr<decompression_job>& exempt) {
  const std::lock_guard lock(mutex_);
  const auto total_bytes = [this] {
    std::uint64_t total = 0;
    for (const auto& entry : jobs_) total += entry.job->disk_bytes;
    return total;
  };
  const auto is_evictable = [&exempt](const cached_job& entry) { return entry.job != exempt && entry.job->has_file; };
  while (decompressed_copy::file_count() > max_files) {
    // Only copies of this cache can be removed, so each log may exceed the limit by one.
    const auto oldest_file = std::find_if(jobs_.rbegin(), jobs_.rend(), is_evictable);
    if (oldest_file == jobs_.rend()) break;
    jobs_.erase(std::prev(oldest_file.base()));
  }
  while (jobs_.size() > 1 && total_bytes() > max_cached_bytes_) {
    // Least recently used first, but never the copy that is needed now.
    auto oldest = std::prev(jobs_.end());
    if (oldest->job == exempt) oldest = std::prev(oldest);
    jobs_.erase(oldest);
  }
}

std::uint64_t decompression_cache::started_count() const noexcept {
  const std::lock_guard lock(mutex_);
  return started_count_;
}

result<void> decompression_cache::decompress(decompression_job& job, const request_context& context) const {
  std::string chunk(chunk_bytes, '\0');
  while (!job.input->is_finished()) {
    HONDANA_TRY(check_cancellation(context));
    const auto count = job.input->read(chunk);
    HONDANA_TRY(job.copy->append(std::string_view(chunk).substr(0, count)));
    job.disk_bytes = job.copy->disk_bytes();
    const auto size = job.copy->size();
    if (size > max_file_bytes_) {
      job.error = "it decompresses to more than " + std::to_string(max_file_bytes_ >> 20) + " MiB";
      return {};
    }
    if (size > min_ratio_bytes && size / max_ratio > job.input->consumed()) {
      job.error = "it decompresses to more than " + std::to_string(max_ratio) + " times its size";
      return {};
    }
    if (job.disk_bytes > max_cached_bytes_) {
      job.error = "its decompressed copy takes more than " + std::to_string(max_cached_bytes_ >> 20) + " MiB";
      return {};
    }
  }
  job.error = job.input->error();
  return {};
}

result<decompression_cache::decompressed> decompression_cache::get(const disk::stamp& stamp,
                                                                   std::shared_ptr<const disk::handle> file, compression format,
                                                                   const request_context& context) {
  const auto job = find_or_add_job(stamp);
  HONDANA_TRY(job->acquire(context));
  const std::shared_ptr<void> release_guard(nullptr, [&job](void*) { job->release(); });
  if (!job->is_done) {
    if (!job->input) {
      job->copy = std::make_shared<decompressed_copy>();
      job->file = std::move(file);
      job->input = std::make_unique<decompressor>(format, job->file->get(), stamp.size);
      const std::lock_guard lock(mutex_);
      ++started_count_;
    }
    auto outcome = decompress(*job, context);
    if (outcome) outcome = job->copy->finish();
    if (!outcome) {
      // After errors such as a full disk, decompression starts again. After a deadline, it continues.
      if (outcome.error().code != errc::timed_out && outcome.error().code != errc::cancelled) discard(job);
      return tl::unexpected(std::move(outcome.error()));
    }
    job->is_done = true;
    job->input.reset();
    job->file.reset();
    job->disk_bytes = job->copy->disk_bytes();
    job->has_file = job->copy->has_file();
    evict(job);
  }
  return decompressed{job->copy, job->error};
}

std::string decompression_cache::read_front(int file, const disk::stamp& stamp, compression format, std::size_t size) {
  decompressor input(format, file, stamp.size);
  std::string out(size, '\0');
  out.resize(input.read(out));
  return out;
}

}  // namespace hondana::records
