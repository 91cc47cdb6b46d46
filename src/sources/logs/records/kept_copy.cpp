/// Frames that are written once and read from anywhere.
#include "sources/logs/records/kept_copy.hpp"

#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "os/disk/read_at.hpp"
#include "os/disk/spool.hpp"

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

}  // namespace hondana::records
