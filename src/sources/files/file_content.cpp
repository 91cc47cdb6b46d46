/// Reads a file consistently while it may change, within limits on memory and open files.
#include "sources/files/file_content.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/bytes/digest.hpp"
#include "base/bytes/prepared_content.hpp"
#include "base/json/utf8.hpp"
#include "sources/files/media_type.hpp"
#include "sources/files/open_file.hpp"

namespace hondana::files {
namespace {

// Large buffers are reused, because fresh pages from the kernel cost more than the copy into them.
constexpr std::size_t max_idle_buffers = 8;
constexpr std::size_t min_pooled_bytes = 64 * 1024;
constexpr std::size_t max_pooled_bytes = 2 * max_buffered_bytes;
// Content up to this size, in bytes, is encoded when the response is made, not when it is sent.
constexpr std::size_t max_uncounted_bytes = 64 * 1024;

}  // namespace

struct buffer_pool::state {
  std::mutex mutex;
  std::size_t available_bytes = 0;  // bytes that may still be lent
  std::vector<std::unique_ptr<std::string>> idle_buffers;

  void release(std::unique_ptr<std::string> buffer, std::size_t counted_bytes) {
    const std::lock_guard lock(mutex);
    available_bytes += counted_bytes;
    const auto capacity = buffer->capacity();
    const bool is_pooled =
        capacity >= min_pooled_bytes && capacity <= max_pooled_bytes && idle_buffers.size() < max_idle_buffers;
    if (is_pooled) idle_buffers.push_back(std::move(buffer));
  }
};

buffer_pool::buffer_pool(std::size_t max_bytes) : state_(std::make_shared<state>()) {
  state_->available_bytes = max_bytes;
  state_->idle_buffers.reserve(max_idle_buffers);
}

/// A lent buffer, which returns itself to the pool when it is destroyed.
struct buffer_pool::lease {
  explicit lease(std::shared_ptr<state> owner) : pool(std::move(owner)), buffer(std::make_unique<std::string>()) {}
  lease(const lease&) = delete;
  lease& operator=(const lease&) = delete;
  ~lease() { pool->release(std::move(buffer), counted_bytes); }

  std::shared_ptr<state> pool;
  std::unique_ptr<std::string> buffer;
  std::size_t counted_bytes = 0;  // bytes counted against the limit
};

result<std::shared_ptr<std::string>> buffer_pool::acquire(std::size_t size, std::size_t reserved_bytes) {
  const auto leased = std::make_shared<lease>(state_);
  const auto counted_bytes = std::max(size, reserved_bytes);
  {
    const std::lock_guard lock(state_->mutex);
    if (counted_bytes > max_uncounted_bytes) {
      if (counted_bytes > state_->available_bytes) {
        return fail(errc::overloaded, "Too much is being sent to slow clients at once. Retry later, or request a part.");
      }
      state_->available_bytes -= counted_bytes;
      leased->counted_bytes = counted_bytes;
    }
    if (size >= min_pooled_bytes && !state_->idle_buffers.empty()) {
      leased->buffer = std::move(state_->idle_buffers.back());
      state_->idle_buffers.pop_back();
    }
  }
  leased->buffer->resize(size);
  return std::shared_ptr<std::string>(leased, leased->buffer.get());
}

namespace {

constexpr std::size_t min_reader_limit = 16;
constexpr std::size_t max_reader_limit = 16'384;

/// The limit that follows from the descriptor limit. Read every time, because a program may raise that later.
std::size_t default_reader_limit() noexcept {
  rlimit limits{};
  if (::getrlimit(RLIMIT_NOFILE, &limits) != 0) return min_reader_limit;
  return static_cast<std::size_t>(std::clamp<rlim_t>(limits.rlim_cur / 8, min_reader_limit, max_reader_limit));
}

/// Whether an address is on this machine. Behind a proxy, local callers may be many users.
bool is_local(std::string_view address) noexcept {
  return address.empty() || address == "unix" || address == "::1" || address.starts_with("127.");
}

/// The key under which an address counts: for IPv6 its /64 network, all of which belongs to one owner.
std::string accounting_key(const std::string& address) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  if (::inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return address;
  return {bytes.begin(), bytes.begin() + 8};
}

}  // namespace

struct reader_slots::state {
  std::size_t max_readers = 0;
  std::mutex mutex;
  std::size_t open_count = 0;
  std::unordered_map<std::string, std::size_t> per_address;
};

reader_slots::reader_slots(std::size_t max_readers) : state_(std::make_shared<state>()) { state_->max_readers = max_readers; }

result<std::shared_ptr<void>> reader_slots::acquire(const std::string& address) {
  auto& s = *state_;
  const auto limit = s.max_readers != 0 ? s.max_readers : default_reader_limit();
  const auto address_limit = is_local(address) ? limit : std::max<std::size_t>(limit / 4, 1);
  auto key = accounting_key(address);
  {
    const std::lock_guard lock(s.mutex);
    auto& address_count = s.per_address[key];
    if (s.open_count >= limit || address_count >= address_limit) {
      if (address_count == 0) s.per_address.erase(key);
      return fail(errc::overloaded,
                  "Too many large files are being sent at once. Finish reading the pending responses first, or request a part "
                  "of at most 64 KiB.");
    }
    ++s.open_count;
    ++address_count;
  }
  return std::shared_ptr<void>(nullptr, [owner = state_, key = std::move(key)](void*) {
    const std::lock_guard lock(owner->mutex);
    --owner->open_count;
    if (const auto counter = owner->per_address.find(key); --counter->second == 0) owner->per_address.erase(counter);
  });
}

result<scan_result> scan(const open_file& file, std::uint64_t size, bool needs_digest, const request_context& context) {
  const auto scanned_bytes = std::min(size, max_scan_bytes);
  needs_digest = needs_digest && scanned_bytes == size;
  bytes::digester digest;
  json::utf8_stream text;
  bool is_blob = false;
  auto status = for_each_window(file, scanned_bytes, context, [&](std::string_view window) {
    is_blob = is_blob || json::has_nul(window) || !text.feed(window);
    if (needs_digest) digest.update(window);
    return needs_digest || !is_blob;
  });
  if (!status) return tl::unexpected(std::move(status.error()));
  // A scan that ends before the file may end inside a code point.
  is_blob = is_blob || (scanned_bytes == size && !text.finish());
  return scan_result{is_blob ? content_kind::blob : content_kind::text,
                     needs_digest ? std::optional(digest.value()) : std::nullopt};
}

std::optional<content_kind> content_kind_cache::find(const disk::stamp& stamp) {
  const auto key = digest_of(stamp);
  const std::lock_guard lock(mutex_);
  const auto match = by_key_.find(key);
  if (match == by_key_.end()) return std::nullopt;
  by_use_.splice(by_use_.begin(), by_use_, match->second);
  return match->second->second;
}

void content_kind_cache::store(const disk::stamp& stamp, content_kind kind) {
  const auto key = digest_of(stamp);
  const std::lock_guard lock(mutex_);
  if (by_key_.contains(key)) return;
  by_use_.emplace_front(key, kind);
  by_key_.emplace(key, by_use_.begin());
  if (by_use_.size() > max_entries_) {
    by_key_.erase(by_use_.back().first);
    by_use_.pop_back();
  }
}

namespace {

/// One attempt to read. After content_changed the caller makes another one.
class read_attempt {
 public:
  read_attempt(const std::shared_ptr<const open_file>& raw, const std::optional<range>& part, const read_request& request,
               read_resources& resources, secrets::masking_policy policy)
      : raw_(raw),
        file_(policy == secrets::masking_policy::none ? raw : std::make_shared<masked_file>(raw, policy)),
        part_(part),
        request_(request),
        resources_(resources) {}

  result<file_content> run() {
    HONDANA_TRY(auto stamp, file_->state());
    state_ = stamp;
    is_racy_ = is_racy(state_, disk::wall_clock());
    if (!part_ && state_.size > request_.max_bytes) return too_large_error(state_.size);
    return !part_ && state_.size <= max_buffered_bytes ? read_whole_file() : read_large();
  }

 private:
  tl::unexpected<failure> too_large_error(std::uint64_t size) const {
    return tl::unexpected(bytes::too_large_error(request_.requested_uri, size, request_.max_bytes, true));
  }

  /// Reads a whole small file. All results follow from its bytes.
  result<file_content> read_whole_file() {
    auto buffer = resources_.buffers.acquire(static_cast<std::size_t>(state_.size));
    if (!buffer) return read_large(false);  // too much memory is lent to slow clients, so the file is streamed
    auto& bytes = **buffer;
    file_content content;
    HONDANA_TRY(fill(bytes, 0, content.masked_count));
    HONDANA_TRY(const auto is_stable, is_unchanged());
    if (!is_stable) {
      HONDANA_TRY(verify(bytes, 0));
    }
    content.kind = bytes::content_kind_of(bytes);
    content.is_validated = true;
    content.front = bytes.substr(0, head_bytes);
    content.version = is_stable ? version_of(state_) : bytes::to_hex(bytes::digest_of(bytes));
    content.is_racy = !is_stable;
    content.data = shared_bytes(std::move(*buffer));
    return content;
  }

  /// Reads a large file or a part. The kind of a part is that of the whole file, found by a scan. The kind of a large whole
  /// file is left to its sender.
  result<file_content> read_large(bool has_buffers = true) {
    file_content content;
    HONDANA_TRY(determine_kind(content));
    const bool is_text = content.kind == content_kind::text;
    byte_range range{0, state_.size};
    if (part_) {
      HONDANA_TRY(auto part, locate_part(is_text));
      range = part;
    }
    const auto size = range.end - range.begin;
    if (size > request_.max_bytes) return too_large_error(size);
    if (size > max_buffered_bytes || !has_buffers) return stream(std::move(content), range);
    auto buffer = resources_.buffers.acquire(static_cast<std::size_t>(size));
    if (!buffer) return stream(std::move(content), range);
    auto& bytes = **buffer;
    HONDANA_TRY(fill(bytes, range.begin, content.masked_count));
    HONDANA_TRY(const auto is_stable, is_unchanged());
    if (!is_stable) {
      if (part_) {
        HONDANA_TRY(const auto relocated, locate_part(is_text));
        if (relocated != range) return changed_error();
      }
      HONDANA_TRY(verify(bytes, range.begin));
    }
    content.is_racy = !is_stable;
    content.data = shared_bytes(std::move(*buffer));
    return content;
  }

  result<file_content> stream(file_content content, const byte_range& range) {
    HONDANA_TRY(auto slot, resources_.readers.acquire(request_.caller.address));
    content.is_racy = is_racy_;
    content.data = std::make_shared<file_reader>(file_, range.begin, range.end - range.begin, std::move(slot));
    return content;
  }

  result<void> determine_kind(file_content& content) {
    content.front.resize(static_cast<std::size_t>(std::min<std::uint64_t>(state_.size, head_bytes)));
    if (auto count = read_exactly(*file_, content.front.data(), content.front.size(), 0); !count) {
      return tl::unexpected(std::move(count.error()));
    }
    if (!is_racy_) {
      content.version = version_of(state_);
      if (const auto cached_kind = resources_.kind_cache.find(state_)) {
        content.kind = *cached_kind;
        return {};
      }
      // The sender of a whole file scans it first, and decides the kind then.
      if (!part_) return {};
    }
    HONDANA_TRY(auto outcome, scan(*file_, state_.size, is_racy_, request_));
    content.kind = outcome.kind;
    if (is_racy_) {
      content.version = outcome.digest ? bytes::to_hex(*outcome.digest) : std::string();
      return {};
    }
    HONDANA_TRY(const auto current, file_->state());
    if (current == state_) resources_.kind_cache.store(state_, content.kind);
    return {};
  }

  /// Lines end at the same offsets in the raw file, which is faster to scan.
  result<byte_range> locate_part(bool is_text) const {
    return locate_range(part_->unit == range_unit::lines ? *raw_ : *file_, state_.size, *part_, is_text, request_);
  }

  result<std::size_t> fill(std::string& bytes, std::uint64_t offset, std::size_t& masked) const {
    return require_full(file_->read_counting(bytes.data(), bytes.size(), offset, true, masked), bytes.size());
  }

  /// Whether the file is certainly unchanged since the attempt began.
  result<bool> is_unchanged() const {
    HONDANA_TRY(auto current, file_->state());
    return current == state_ && !is_racy_;
  }

  /// Reads the bytes a second time and compares.
  result<void> verify(std::string_view bytes, std::uint64_t offset) const {
    const auto window_size = std::min(window_bytes, bytes.size());
    const auto window = std::make_unique_for_overwrite<char[]>(window_size);
    for (std::size_t position = 0; position < bytes.size();) {
      const auto part = std::min(window_size, bytes.size() - position);
      HONDANA_TRY(read_exactly(*file_, window.get(), part, offset + position));
      if (std::memcmp(window.get(), bytes.data() + position, part) != 0) return changed_error();
      position += part;
    }
    return {};
  }

  static tl::unexpected<failure> changed_error() {
    return fail(errc::content_changed, "The file kept changing while it was being read. Read it again.");
  }

  const std::shared_ptr<const open_file>& raw_;
  const std::shared_ptr<const open_file> file_;  // with secrets masked, unless `policy` is none
  const std::optional<range>& part_;
  const read_request& request_;
  read_resources& resources_;
  disk::stamp state_;
  bool is_racy_ = false;
};

}  // namespace

result<file_content> read_content(const std::shared_ptr<const open_file>& file, const std::optional<range>& part,
                                  const read_request& request, read_resources& resources, secrets::masking_policy policy) {
  auto content = read_attempt(file, part, request, resources, policy).run();
  if (content || content.error().code != errc::content_changed) return content;
  return read_attempt(file, part, request, resources, policy).run();
}

}  // namespace hondana::files
