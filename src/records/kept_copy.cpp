/// Frames that are written once and read from anywhere.
#include "records/kept_copy.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "disk/read_at.hpp"
#include "disk/spool.hpp"

namespace hondana::records {
namespace {

constexpr int fastest = 1;

tl::unexpected<failure> no_place(const char* what, int error) {
  return fail(errc::source_unavailable, "There is no room to unpack a compressed file of the log. Ask again later.",
              std::string(what) + ": " + std::strerror(error));
}

}  // namespace

result<std::unique_ptr<kept_copy>> kept_copy::make() {
  std::unique_ptr<kept_copy> out(new kept_copy);
  const auto where = disk::spool::folder();
  out->file_ = disk::handle(::open(where.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (out->file_.is_open()) return out;
  // Not every file system has nameless files; this one has a name for a moment.
  std::string name = where + "/hondana-XXXXXX";
  out->file_ = disk::handle(::mkostemp(name.data(), O_CLOEXEC));
  if (!out->file_.is_open()) return no_place("making a nameless file", errno);
  if (::unlink(name.c_str()) != 0) return no_place("unlinking a nameless file", errno);
  return out;
}

result<void> kept_copy::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto part = bytes.substr(0, frame_bytes - pending_.size());
    pending_ += part;
    size_ += part.size();
    bytes.remove_prefix(part.size());
    if (pending_.size() < frame_bytes) break;
    if (auto done = flush(); !done) return done;
  }
  return {};
}

result<void> kept_copy::finish() { return pending_.empty() ? result<void>() : flush(); }

result<void> kept_copy::flush() {
  std::string frame(::ZSTD_compressBound(pending_.size()), '\0');
  const auto size = ::ZSTD_compress(frame.data(), frame.size(), pending_.data(), pending_.size(), fastest);
  if (::ZSTD_isError(size) != 0) return no_place("compressing", ENOMEM);
  frames_.push_back(written_);
  for (std::string_view rest = std::string_view(frame).substr(0, size); !rest.empty();) {
    const auto put = ::pwrite(file_.get(), rest.data(), rest.size(), static_cast<off_t>(written_));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return no_place("writing a nameless file", put < 0 ? errno : ENOSPC);
    written_ += static_cast<std::uint64_t>(put);
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
  pending_.clear();
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
    const auto got = disk::read_at(file_.get(), packed.data(), packed.size(), begin);
    if (!got || *got < packed.size()) return no_place("reading a nameless file", got ? EIO : got.error());
    frame.resize(frame_bytes);
    const auto size = ::ZSTD_decompress(frame.data(), frame.size(), packed.data(), packed.size());
    if (::ZSTD_isError(size) != 0) return no_place("unpacking a nameless file", EIO);
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
