/// The files of a log during one request, and cursors that remain valid after rotation.
#include "sources/logs/records/opened_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>
#include <vector>

#include "os/disk/file_descriptor.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/logs/records/masking.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::records {
namespace {

constexpr std::size_t max_fronts = 512;
constexpr std::uint64_t max_partial_line_bytes = 4u << 20;

/// The position after the last line end, or 0 if there is none. Searches only the last `max_partial_line_bytes` bytes. If they
/// have no line end, returns their beginning: the text before then counts as complete.
result<std::uint64_t> find_last_line_end(const content& bytes, const request_context& context) {
  constexpr std::uint64_t block_bytes = 256u << 10;
  std::string buffer;
  const auto limit = bytes.size() - std::min(bytes.size(), max_partial_line_bytes);
  for (auto end = bytes.size(); end > limit;) {
    HONDANA_TRY(check_cancellation(context));
    const auto begin = std::max(limit, end - std::min(end, block_bytes));
    buffer.resize(static_cast<std::size_t>(end - begin));
    HONDANA_TRY(const auto count, bytes.read(begin, std::span(buffer)));
    if (count < buffer.size()) return fail(errc::content_changed, "A log file was truncated while it was read. Retry.");
    if (const auto newline = buffer.rfind('\n'); newline != std::string::npos) return begin + newline + 1;
    end = begin;
  }
  return limit;
}

}  // namespace

bool has_partial_line(int file, std::uint64_t size) noexcept {
  char last = '\n';
  if (size == 0) return false;
  const auto count = disk::read_at(file, &last, 1, size - 1);
  return count && *count == 1 && last != '\n';
}

std::string file_opener::read_front(const opened_file& file) {
  const auto& stamp = file.listed.stamp;
  const file_key key{stamp.device, stamp.inode, stamp.size, stamp.modified};
  {
    const std::lock_guard lock(mutex_);
    if (const auto match = fronts_.find(key); match != fronts_.end()) return match->second;
  }
  auto front = decompression_cache::read_front(file.file->get(), stamp, file.format, identity_bytes);
  const std::lock_guard lock(mutex_);
  if (fronts_.size() >= max_fronts) fronts_.clear();
  fronts_[key] = front;
  return front;
}

result<opened_file> file_opener::open(const file_listing& listing, const listed_file& file) {
  auto descriptor = open_listed(listing, file);
  if (!descriptor) return tl::unexpected(std::move(descriptor.error()));
  opened_file opened;
  opened.listed = file;
  struct stat attributes{};
  if (::fstat(descriptor->get(), &attributes) == 0) opened.listed.stamp = disk::stamp_of(attributes);
  opened.file = std::make_shared<const disk::handle>(std::move(*descriptor));
  std::string front(identity_bytes, '\0');
  const auto count = disk::read_at(opened.file->get(), front.data(), front.size(), 0);
  if (!count) return fail(errc::source_unavailable, "A log file could not be read.", std::strerror(count.error()));
  // Bytes that were written after the listing do not count.
  front.resize(static_cast<std::size_t>(std::min<std::uint64_t>(*count, opened.listed.stamp.size)));
  opened.format = detect_compression(front);
  opened.front = opened.format == compression::none ? std::move(front) : read_front(opened);
  return opened;
}

result<log_file> file_opener::decompress(opened_file file, const request_context& context) {
  log_file unpacked;
  const auto& stamp = file.listed.stamp;
  if (file.format == compression::none) {
    unpacked.bytes = std::make_shared<const file_content>(file.file, stamp.size);
    unpacked.end = stamp.size;
    const bool is_stable = disk::wall_clock() - stamp.modified > line_settle_time;
    if (!is_stable && has_partial_line(file.file->get(), stamp.size)) {
      HONDANA_TRY(const auto end, find_last_line_end(*unpacked.bytes, context));
      unpacked.end = end;
    }
  } else {
    HONDANA_TRY(auto decompressed, cache_.get(stamp, file.file, file.format, context));
    unpacked.bytes = std::move(decompressed.bytes);
    unpacked.error = std::move(decompressed.error);
    unpacked.end = unpacked.bytes->size();
  }
  unpacked.timestamps = timestamp_parser(zone_, stamp.modified / 1000);
  std::string sample(static_cast<std::size_t>(std::min<std::uint64_t>(record_framing::sample_bytes, unpacked.end)), '\0');
  HONDANA_TRY(const auto count, unpacked.bytes->read(0, std::span(sample)));
  sample.resize(count);
  unpacked.framing = record_framing(framing_, sample, unpacked.timestamps);
  unpacked.opened = std::move(file);
  return unpacked;
}

namespace {

constexpr std::string_view format_version = "1";  // of positions as text
constexpr char divider = '.';
constexpr std::size_t format_fields = 10;

result<bytes::digest> digest_before(const content& bytes, std::uint64_t end) {
  const auto size = std::min(end, log_position::anchor_bytes);
  std::string text(static_cast<std::size_t>(size), '\0');
  HONDANA_TRY(const auto count, bytes.read(end - size, std::span(text)));
  if (count < text.size()) return fail(errc::content_changed, "A log file was truncated while it was read. Retry.");
  return bytes::digest_of(text);
}

}  // namespace

std::string to_text(const log_position& position) {
  std::string out(format_version);
  for (const auto number : {position.device, position.inode, position.front_bytes, position.front[0], position.front[1],
                            position.end, position.scanned, position.anchor[0], position.anchor[1]}) {
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
    out += divider;
    out.append(digits.data(), end);
  }
  return out;
}

std::optional<log_position> parse_position(std::string_view text) {
  constexpr std::size_t max_bytes = 1 + 9 * 17;
  if (text.size() > max_bytes) return std::nullopt;
  const auto original = text;
  std::array<std::uint64_t, format_fields - 1> numbers{};
  if (!text.starts_with(format_version)) return std::nullopt;
  text.remove_prefix(format_version.size());
  for (auto& number : numbers) {
    if (text.empty() || text[0] != divider) return std::nullopt;
    text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  log_position position;
  position.device = numbers[0];
  position.inode = numbers[1];
  position.front_bytes = numbers[2];
  position.front = {numbers[3], numbers[4]};
  position.end = numbers[5];
  position.scanned = numbers[6];
  position.anchor = {numbers[7], numbers[8]};
  if (position.front_bytes > identity_bytes || position.scanned > position.end) return std::nullopt;
  // Reject other spellings of the same position.
  if (!text.empty() || to_text(position) != original) return std::nullopt;
  return position;
}

result<log_position> make_position(const log_file& file, std::uint64_t end, std::uint64_t scanned) {
  log_position position;
  position.device = file.opened.listed.stamp.device;
  position.inode = file.opened.listed.stamp.inode;
  position.front_bytes = file.opened.front.size();
  position.front = bytes::digest_of(file.opened.front);
  position.end = end;
  position.scanned = std::min(scanned, end);
  HONDANA_TRY(const auto anchor, digest_before(*file.bytes, end));
  position.anchor = anchor;
  return position;
}

bool may_contain(const opened_file& file, const log_position& position) noexcept {
  if (file.front.size() < position.front_bytes) return false;
  if (file.format == compression::none && file.listed.stamp.size < position.end) return false;
  return bytes::digest_of(std::string_view(file.front).substr(0, static_cast<std::size_t>(position.front_bytes))) ==
         position.front;
}

result<bool> contains(const log_file& file, const log_position& position) {
  if (file.bytes->size() < position.end) return false;
  HONDANA_TRY(const auto anchor, digest_before(*file.bytes, position.end));
  return anchor == position.anchor;
}

namespace {

constexpr std::size_t max_open_files = 4;
constexpr std::size_t max_margin_files = 8;  // files that a margin may span, not counting empty ones
constexpr std::size_t max_empty_files = 256;
constexpr std::uint64_t quick_decompression_bytes = 4u << 20;
constexpr std::int64_t max_copy_time = 60'000'000'000;  // nanoseconds

/// Errors of files that cannot be read. Such files do not influence the masking of others. Files that may be readable later do.
bool is_skippable(const failure& error) noexcept {
  return error.code == errc::access_denied || error.code == errc::source_unavailable;
}

/// Creation time in nanoseconds since 1970. Nothing if the file system does not have it.
std::optional<std::int64_t> birth_time(const disk::handle& file) noexcept {
  struct statx attributes{};
  const bool is_known =
      ::statx(file.get(), "", AT_EMPTY_PATH, STATX_BTIME, &attributes) == 0 && (attributes.stx_mask & STATX_BTIME) != 0;
  if (!is_known) return std::nullopt;
  return attributes.stx_btime.tv_sec * 1'000'000'000 + attributes.stx_btime.tv_nsec;
}

}  // namespace

result<opened_file> opened_files::open(std::size_t index) {
  auto file = opener_.open(listing_, listing_.files[index]);
  // The file existed when it was listed, so it was renamed or compressed since.
  if (!file && file.error().code == errc::resource_not_found) file.error().code = errc::content_changed;
  return file;
}

result<std::shared_ptr<const log_file>> opened_files::get(std::size_t index) {
  if (const auto match = open_files_.find(index); match != open_files_.end()) return match->second;
  HONDANA_TRY(auto file, open(index));
  HONDANA_TRY(auto decompressed, opener_.decompress(std::move(file), context_));
  // Close the file that is furthest from this one.
  if (open_files_.size() >= max_open_files) {
    const auto first = index - std::min(index, open_files_.begin()->first);
    const auto last = std::max(index, std::prev(open_files_.end())->first) - index;
    open_files_.erase(first > last ? open_files_.begin() : std::prev(open_files_.end()));
  }
  return open_files_[index] = std::make_shared<const log_file>(std::move(decompressed));
}

masked_window opened_files::open_window(std::size_t index, const log_file& file) {
  context_readers readers;
  readers.read_before = [this, index, front = file.bytes](std::size_t max_bytes) {
    return read_before(index, *front, max_bytes);
  };
  readers.read_after = [this, index](std::size_t max_bytes) { return read_after(index, max_bytes); };
  return {file.bytes, file.end, redact_, file.opened.front, std::move(readers), file.framing.previous_bytes() + 1};
}

result<std::string> opened_files::read_before(std::size_t index, const content& bytes, std::size_t max_bytes) {
  std::string out;
  std::size_t empty_files = 0;
  for (std::size_t count = 0; index > 0 && count < max_margin_files && empty_files < max_empty_files && out.size() < max_bytes;
       ++count) {
    --index;
    if (is_empty(index)) {
      --count;
      ++empty_files;
      continue;
    }
    const auto file = open(index);
    if (!file && is_skippable(file.error())) continue;
    if (!file) return tl::unexpected(file.error());
    // Decompressing a large file for a few bytes would slow down each answer right after a rotation. Do it only if these bytes
    // matter.
    const bool is_long = file->format != compression::none && file->listed.stamp.size > quick_decompression_bytes &&
                         !open_files_.contains(index);
    if (is_long) {
      HONDANA_TRY(const auto matters, may_continue_key(bytes, out));
      if (!matters) break;
    }
    const auto ready_file = get(index);
    if (!ready_file && is_skippable(ready_file.error())) {
      if (is_long) out.insert(0, open_key_line);
      continue;
    }
    if (!ready_file) return tl::unexpected(ready_file.error());
    const auto size = std::min<std::uint64_t>((*ready_file)->bytes->size(), max_bytes - out.size());
    if (size == 0) {
      --count;
      ++empty_files;
      continue;
    }
    std::string part(static_cast<std::size_t>(size), '\0');
    HONDANA_TRY(const auto read_size, (*ready_file)->bytes->read((*ready_file)->bytes->size() - size, std::span(part)));
    part.resize(read_size);
    out.insert(0, part);
  }
  return out;
}

result<bool> opened_files::may_continue_key(const content& bytes, const std::string& between) {
  std::string text(static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), secrets::context_bytes_after)), '\0');
  HONDANA_TRY(const auto count, bytes.read(0, std::span(text)));
  text.resize(count);
  const auto spans_after = [](const std::string& combined, std::size_t offset) {
    std::vector<secrets::span> spans;
    secrets::find(combined, secrets::masking_policy::settings, spans);
    find_key_lines(combined, spans);
    std::erase_if(spans, [offset](const auto& span) { return span.end <= offset; });
    for (auto& span : spans) span = {std::max(span.begin, offset) - offset, span.end - offset};
    return spans;
  };
  const auto front = std::string(open_key_line) + between;
  return spans_after(front + text, front.size()) != spans_after(between + text, between.size());
}

result<std::string> opened_files::read_after(std::size_t index, std::size_t max_bytes) {
  std::string out;
  std::size_t empty_files = 0;
  for (std::size_t count = 0;
       index + 1 < listing_.files.size() && count < max_margin_files && empty_files < max_empty_files && out.size() < max_bytes;
       ++count) {
    ++index;
    if (is_empty(index)) {
      --count;
      ++empty_files;
      continue;
    }
    const auto file = open(index);
    if (!file && is_skippable(file.error())) continue;
    if (!file) return tl::unexpected(file.error());
    const auto bytes_left = max_bytes - out.size();
    if (file->format != compression::none) {
      out += decompression_cache::read_front(file->file->get(), file->listed.stamp, file->format, bytes_left);
      continue;
    }
    std::string part(static_cast<std::size_t>(std::min<std::uint64_t>(file->listed.stamp.size, bytes_left)), '\0');
    HONDANA_TRY(const auto read_size, file_content(file->file, file->listed.stamp.size).read(0, std::span(part)));
    part.resize(read_size);
    out += part;
  }
  return out;
}

result<std::optional<opened_files::file_location>> opened_files::find(const log_position& position, std::string& reason) {
  const auto is_same_file = [&](const listed_file& candidate) {
    return candidate.stamp.device == position.device && candidate.stamp.inode == position.inode;
  };
  bool had_file = false;
  const auto contains_position = [&](std::size_t index) -> result<bool> {
    const auto file = open(index);
    if (!file && is_skippable(file.error())) return false;
    if (!file) return tl::unexpected(file.error());
    if (!may_contain(*file, position)) return false;
    HONDANA_TRY(const auto ready_file, get(index));
    return contains(*ready_file, position);
  };
  // First try the file with the same identity, since others may have the same contents. An empty file can only be found by its
  // identity.
  for (const bool is_same_inode : {true, false}) {
    for (auto index = size(); index-- > 0;) {
      if (is_same_file(listed(index)) != is_same_inode || (!is_same_inode && position.front_bytes == 0)) continue;
      had_file = had_file || is_same_inode;
      HONDANA_TRY(const auto is_match, contains_position(index));
      if (!is_match) continue;
      HONDANA_TRY(auto ready_file, get(index));
      return std::optional<file_location>(file_location{index, std::move(ready_file)});
    }
  }
  reason = had_file ? "The file that the cursor points into was truncated or rewritten; its older records are lost."
                    : "The file that the cursor points into was deleted; its records and older ones are lost.";
  return std::optional<file_location>();
}

result<bool> opened_files::is_copy(std::size_t index, const log_file& newer) {
  const auto& older = listed(index);
  // Only the live file is copied. Between rotated files, an older one may equal the beginning of a newer one without being a
  // copy.
  if (newer.opened.listed.rank.scheme != file_rank::rotation_scheme::live) return false;
  if (newer.opened.format != compression::none || older.stamp.size > newer.opened.listed.stamp.size || older.stamp.size == 0)
    return false;
  if (disk::wall_clock() - older.stamp.changed > max_copy_time) return false;
  HONDANA_TRY(const auto file, open(index));
  if (file.format != compression::none || !std::string_view(newer.opened.front).starts_with(file.front)) return false;
  const auto newer_birth = birth_time(*newer.opened.file);
  const auto older_birth = birth_time(*file.file);
  const bool is_known = newer_birth && older_birth && *newer_birth != *older_birth;  // both may be from the same clock tick
  if (is_known ? *older_birth < *newer_birth : older.stamp.size < identity_bytes) return false;
  HONDANA_TRY(const auto older_file, get(index));
  const auto end = older_file->bytes->size();
  HONDANA_TRY(const auto position, make_position(*older_file, end, end));
  return contains(newer, position);
}

}  // namespace hondana::records
