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
constexpr std::size_t kept_buffers = 8;
constexpr std::size_t worth_keeping = 64 * 1024;
constexpr std::size_t too_large_to_keep = 2 * whole_bytes;
// Content up to this size, in bytes, is encoded when the response is made, not when it is sent.
constexpr std::size_t small = 64 * 1024;

}  // namespace

struct buffer_set::state {
  std::mutex mutex;
  std::size_t left = 0;  // bytes that may still be lent
  std::vector<std::unique_ptr<std::string>> kept;

  void take_back(std::unique_ptr<std::string> buffer, std::size_t counted) {
    const std::lock_guard lock(mutex);
    left += counted;
    const auto capacity = buffer->capacity();
    const bool is_kept = capacity >= worth_keeping && capacity <= too_large_to_keep && kept.size() < kept_buffers;
    if (is_kept) kept.push_back(std::move(buffer));
  }
};

buffer_set::buffer_set(std::size_t byte_cap) : state_(std::make_shared<state>()) {
  state_->left = byte_cap;
  state_->kept.reserve(kept_buffers);
}

/// A lent buffer, which returns itself to the set when it is destroyed.
struct buffer_set::loan {
  explicit loan(std::shared_ptr<state> from) : of(std::move(from)), buffer(std::make_unique<std::string>()) {}
  loan(const loan&) = delete;
  loan& operator=(const loan&) = delete;
  ~loan() { of->take_back(std::move(buffer), counted); }

  std::shared_ptr<state> of;
  std::unique_ptr<std::string> buffer;
  std::size_t counted = 0;  // bytes counted against the cap
};

result<std::shared_ptr<std::string>> buffer_set::borrow(std::size_t size, std::size_t room) {
  const auto lent = std::make_shared<loan>(state_);
  const auto counted = std::max(size, room);
  {
    const std::lock_guard lock(state_->mutex);
    if (counted > small) {
      if (counted > state_->left) {
        return fail(errc::overloaded, "Too much is being sent to slow clients at once. Retry later, or request a part.");
      }
      state_->left -= counted;
      lent->counted = counted;
    }
    if (size >= worth_keeping && !state_->kept.empty()) {
      lent->buffer = std::move(state_->kept.back());
      state_->kept.pop_back();
    }
  }
  lent->buffer->resize(size);
  return std::shared_ptr<std::string>(lent, lent->buffer.get());
}

namespace {

constexpr std::size_t fewest = 16;
constexpr std::size_t most_of_all = 16'384;

/// The limit that follows from the descriptor limit. Read every time, because a program may raise that later.
std::size_t allowed_by_descriptors() noexcept {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return fewest;
  return static_cast<std::size_t>(std::clamp<rlim_t>(now.rlim_cur / 8, fewest, most_of_all));
}

/// Whether an address is on this machine. Behind a proxy, local callers may be many users.
bool is_local(std::string_view address) noexcept {
  return address.empty() || address == "unix" || address == "::1" || address.starts_with("127.");
}

/// The key under which an address counts: for IPv6 its /64 network, all of which belongs to one owner.
std::string counted(const std::string& address) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  if (::inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return address;
  return {bytes.begin(), bytes.begin() + 8};
}

}  // namespace

struct reader_set::state {
  std::size_t most = 0;
  std::mutex mutex;
  std::size_t open = 0;
  std::unordered_map<std::string, std::size_t> of_address;
};

reader_set::reader_set(std::size_t most) : state_(std::make_shared<state>()) { state_->most = most; }

result<std::shared_ptr<void>> reader_set::enter(const std::string& address) {
  auto& s = *state_;
  const auto most = s.most != 0 ? s.most : allowed_by_descriptors();
  const auto allowed = is_local(address) ? most : std::max<std::size_t>(most / 4, 1);
  auto key = counted(address);
  {
    const std::lock_guard lock(s.mutex);
    auto& mine = s.of_address[key];
    if (s.open >= most || mine >= allowed) {
      if (mine == 0) s.of_address.erase(key);
      return fail(errc::overloaded,
                  "Too many large files are being sent at once. Finish reading the pending responses first, or request a part "
                  "of at most 64 KiB.");
    }
    ++s.open;
    ++mine;
  }
  return std::shared_ptr<void>(nullptr, [of = state_, key = std::move(key)](void*) {
    const std::lock_guard lock(of->mutex);
    --of->open;
    if (const auto mine = of->of_address.find(key); --mine->second == 0) of->of_address.erase(mine);
  });
}

result<scan_result> scan(const open_file& file, std::uint64_t size, bool want_digest, const call& by) {
  const auto part = std::min(size, scan_limit);
  want_digest = want_digest && part == size;
  bytes::digester digest;
  json::utf8_stream text;
  bool is_blob = false;
  auto passed = for_each_window(file, part, by, [&](std::string_view piece) {
    is_blob = is_blob || json::has_nul(piece) || !text.feed(piece);
    if (want_digest) digest.feed(piece);
    return want_digest || !is_blob;
  });
  if (!passed) return tl::unexpected(std::move(passed.error()));
  // A scan that ends before the file may end inside a code point.
  is_blob = is_blob || (part == size && !text.finish());
  return scan_result{is_blob ? content_form::blob : content_form::text,
                     want_digest ? std::optional(digest.value()) : std::nullopt};
}

std::optional<content_form> form_memory::find(const disk::stamp& state) {
  const auto key = digest_of(state);
  const std::lock_guard lock(mutex_);
  const auto at = by_key_.find(key);
  if (at == by_key_.end()) return std::nullopt;
  by_use_.splice(by_use_.begin(), by_use_, at->second);
  return at->second->second;
}

void form_memory::remember(const disk::stamp& state, content_form form) {
  const auto key = digest_of(state);
  const std::lock_guard lock(mutex_);
  if (by_key_.contains(key)) return;
  by_use_.emplace_front(key, form);
  by_key_.emplace(key, by_use_.begin());
  if (by_use_.size() > limit_) {
    by_key_.erase(by_use_.back().first);
    by_use_.pop_back();
  }
}

namespace {

/// One attempt to read. After content_changed the caller makes another one.
class attempt {
 public:
  attempt(const std::shared_ptr<const open_file>& raw, const std::optional<range>& wanted, const read_request& request,
          reading_room& room, secrets::policy how)
      : raw_(raw),
        file_(how == secrets::policy::none ? raw : std::make_shared<masked_file>(raw, how)),
        wanted_(wanted),
        request_(request),
        room_(room) {}

  result<file_content> run() {
    HONDANA_TRY(auto before, file_->state());
    state_ = before;
    is_racy_ = is_racy(state_, disk::wall_clock());
    if (!wanted_ && state_.size > request_.max_bytes) return too_large(state_.size);
    return !wanted_ && state_.size <= whole_bytes ? read_small() : read_judged();
  }

 private:
  tl::unexpected<failure> too_large(std::uint64_t size) const {
    return tl::unexpected(bytes::too_large(request_.asked_uri, size, request_.max_bytes, true));
  }

  /// Reads a whole small file. All results follow from its bytes.
  result<file_content> read_small() {
    auto buffer = room_.buffers.borrow(static_cast<std::size_t>(state_.size));
    if (!buffer) return read_judged(false);  // too much memory is lent to slow clients, so the file is streamed
    auto& bytes = **buffer;
    file_content found;
    HONDANA_TRY(fill(bytes, 0, found.masked));
    HONDANA_TRY(const auto stable, is_settled());
    if (!stable) {
      HONDANA_TRY(matches(bytes, 0));
    }
    found.form = bytes::form_of(bytes);
    found.is_checked = true;
    found.front = bytes.substr(0, head_bytes);
    found.version = stable ? version_of(state_) : bytes::to_hex(bytes::digest_of(bytes));
    found.is_racy = !stable;
    found.data = shared_bytes(std::move(*buffer));
    return found;
  }

  /// Reads a large file or a part. The form of a part is that of the whole file, found by a scan. The form of a large whole
  /// file is left to its sender.
  result<file_content> read_judged(bool has_buffers = true) {
    file_content found;
    HONDANA_TRY(judge(found));
    const bool is_text = found.form == content_form::text;
    extent where{0, state_.size};
    if (wanted_) {
      HONDANA_TRY(auto part, locate(is_text));
      where = part;
    }
    const auto size = where.end - where.begin;
    if (size > request_.max_bytes) return too_large(size);
    if (size > whole_bytes || !has_buffers) return stream(std::move(found), where);
    auto buffer = room_.buffers.borrow(static_cast<std::size_t>(size));
    if (!buffer) return stream(std::move(found), where);
    auto& bytes = **buffer;
    HONDANA_TRY(fill(bytes, where.begin, found.masked));
    HONDANA_TRY(const auto stable, is_settled());
    if (!stable) {
      if (wanted_) {
        HONDANA_TRY(const auto again, locate(is_text));
        if (again != where) return changed();
      }
      HONDANA_TRY(matches(bytes, where.begin));
    }
    found.is_racy = !stable;
    found.data = shared_bytes(std::move(*buffer));
    return found;
  }

  result<file_content> stream(file_content found, const extent& where) {
    HONDANA_TRY(auto place, room_.readers.enter(request_.who.address));
    found.data = std::make_shared<file_reader>(file_, where.begin, where.end - where.begin, std::move(place));
    return found;
  }

  result<void> judge(file_content& found) {
    found.front.resize(static_cast<std::size_t>(std::min<std::uint64_t>(state_.size, head_bytes)));
    if (auto count = read_exactly(*file_, found.front.data(), found.front.size(), 0); !count) {
      return tl::unexpected(std::move(count.error()));
    }
    if (!is_racy_) {
      found.version = version_of(state_);
      if (const auto known = room_.forms.find(state_)) {
        found.form = *known;
        return {};
      }
      // The sender of a whole file scans it first, and decides the form then.
      if (!wanted_) return {};
    }
    HONDANA_TRY(auto outcome, scan(*file_, state_.size, is_racy_, request_));
    found.form = outcome.form;
    if (is_racy_) {
      found.version = outcome.digest ? bytes::to_hex(*outcome.digest) : std::string();
      return {};
    }
    HONDANA_TRY(const auto after, file_->state());
    if (after == state_) room_.forms.remember(state_, found.form);
    return {};
  }

  /// Lines end at the same offsets in the raw file, which is faster to scan.
  result<extent> locate(bool is_text) const {
    return locate_range(wanted_->unit == range_unit::lines ? *raw_ : *file_, state_.size, *wanted_, is_text, request_);
  }

  result<std::size_t> fill(std::string& bytes, std::uint64_t from, std::size_t& masked) const {
    return all_of(file_->read_counting(bytes.data(), bytes.size(), from, true, masked), bytes.size());
  }

  /// Whether the file is certainly unchanged since the attempt began.
  result<bool> is_settled() const {
    HONDANA_TRY(auto after, file_->state());
    return after == state_ && !is_racy_;
  }

  /// Reads the bytes a second time and compares.
  result<void> matches(std::string_view bytes, std::uint64_t from) const {
    const auto most = std::min(window_bytes, bytes.size());
    const auto again = std::make_unique_for_overwrite<char[]>(most);
    for (std::size_t at = 0; at < bytes.size();) {
      const auto part = std::min(most, bytes.size() - at);
      HONDANA_TRY(read_exactly(*file_, again.get(), part, from + at));
      if (std::memcmp(again.get(), bytes.data() + at, part) != 0) return changed();
      at += part;
    }
    return {};
  }

  static tl::unexpected<failure> changed() {
    return fail(errc::content_changed, "The file kept changing while it was being read. Read it again.");
  }

  const std::shared_ptr<const open_file>& raw_;
  const std::shared_ptr<const open_file> file_;  // with secrets masked, unless `how` is none
  const std::optional<range>& wanted_;
  const read_request& request_;
  reading_room& room_;
  disk::stamp state_;
  bool is_racy_ = false;
};

}  // namespace

result<file_content> read_content(const std::shared_ptr<const open_file>& file, const std::optional<range>& wanted,
                                  const read_request& request, reading_room& room, secrets::policy how) {
  auto found = attempt(file, wanted, request, room, how).run();
  if (found || found.error().code != errc::content_changed) return found;
  return attempt(file, wanted, request, room, how).run();
}

}  // namespace hondana::files
