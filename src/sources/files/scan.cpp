/// Scanning files, and the memory of it.
#include "sources/files/scan.hpp"

#include <algorithm>

#include "base/json/utf8.hpp"
#include "sources/files/window.hpp"

namespace hondana::files {

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
  // Where the scan ends before the file, it may end inside a code point.
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

}  // namespace hondana::files
