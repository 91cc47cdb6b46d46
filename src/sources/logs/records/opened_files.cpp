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

constexpr std::size_t most_fronts = 512;
constexpr std::uint64_t longest_open_line = 4u << 20;

/// The position after the last line end, or 0 if there is none. Searches only the last `longest_open_line` bytes. If they have
/// no line end, returns their beginning: the text before then counts as complete.
result<std::uint64_t> behind_last_line(const content& in, const call& by) {
  constexpr std::uint64_t block_bytes = 256u << 10;
  std::string bytes;
  const auto furthest = in.size() - std::min(in.size(), longest_open_line);
  for (auto end = in.size(); end > furthest;) {
    HONDANA_TRY(still_wanted(by));
    const auto begin = std::max(furthest, end - std::min(end, block_bytes));
    bytes.resize(static_cast<std::size_t>(end - begin));
    HONDANA_TRY(const auto got, in.read(begin, std::span(bytes)));
    if (got < bytes.size()) return fail(errc::content_changed, "A log file was truncated while it was read. Retry.");
    if (const auto found = bytes.rfind('\n'); found != std::string::npos) return begin + found + 1;
    end = begin;
  }
  return furthest;
}

}  // namespace

bool is_open_ended(int file, std::uint64_t size) noexcept {
  char last = '\n';
  if (size == 0) return false;
  const auto got = disk::read_at(file, &last, 1, size - 1);
  return got && *got == 1 && last != '\n';
}

std::string members::front_of(const opened_file& of) {
  const auto& facts = of.listed.facts;
  const key which{facts.device, facts.inode, facts.size, facts.modified};
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = fronts_.find(which); known != fronts_.end()) return known->second;
  }
  auto front = unpacked_files::front(of.file->get(), facts, of.how, telling_bytes);
  const std::lock_guard lock(mutex_);
  if (fronts_.size() >= most_fronts) fronts_.clear();
  fronts_[which] = front;
  return front;
}

result<opened_file> members::open(const listed_set& in, const listed_file& which) {
  auto file = open_listed(in, which);
  if (!file) return tl::unexpected(std::move(file.error()));
  opened_file out;
  out.listed = which;
  struct stat facts{};
  if (::fstat(file->get(), &facts) == 0) out.listed.facts = disk::stamp_of(facts);
  out.file = std::make_shared<const disk::handle>(std::move(*file));
  std::string front(telling_bytes, '\0');
  const auto got = disk::read_at(out.file->get(), front.data(), front.size(), 0);
  if (!got) return fail(errc::source_unavailable, "A log file could not be read.", std::strerror(got.error()));
  // Bytes that were written after the listing do not count.
  front.resize(static_cast<std::size_t>(std::min<std::uint64_t>(*got, out.listed.facts.size)));
  out.how = compression_of(front);
  out.front = out.how == compression::none ? std::move(front) : front_of(out);
  return out;
}

result<member> members::unpack(opened_file of, const call& by) {
  member out;
  const auto& facts = of.listed.facts;
  if (of.how == compression::none) {
    out.bytes = std::make_shared<const file_content>(of.file, facts.size);
    out.end = facts.size;
    const bool is_settled = disk::wall_clock() - facts.modified > line_settles_after;
    if (!is_settled && is_open_ended(of.file->get(), facts.size)) {
      HONDANA_TRY(const auto end, behind_last_line(*out.bytes, by));
      out.end = end;
    }
  } else {
    HONDANA_TRY(auto got, unpacked_.get(facts, of.file, of.how, by));
    out.bytes = std::move(got.bytes);
    out.trouble = std::move(got.trouble);
    out.end = out.bytes->size();
  }
  out.times = time_reader(zone_, facts.modified / 1000);
  std::string sample(static_cast<std::size_t>(std::min<std::uint64_t>(framing::sample_bytes, out.end)), '\0');
  HONDANA_TRY(const auto got, out.bytes->read(0, std::span(sample)));
  sample.resize(got);
  out.frame = framing(framing_, sample, out.times);
  out.of = std::move(of);
  return out;
}

namespace {

constexpr std::string_view mark = "1";  // version of the format
constexpr char divider = '.';
constexpr std::size_t numbers_of_a_place = 10;

result<bytes::digest> digest_before(const content& in, std::uint64_t end) {
  const auto size = std::min(end, position::anchor_bytes);
  std::string text(static_cast<std::size_t>(size), '\0');
  HONDANA_TRY(const auto got, in.read(end - size, std::span(text)));
  if (got < text.size()) return fail(errc::content_changed, "A log file was truncated while it was read. Retry.");
  return bytes::digest_of(text);
}

}  // namespace

std::string to_text(const position& at) {
  std::string out(mark);
  for (const auto one :
       {at.device, at.inode, at.front_bytes, at.front[0], at.front[1], at.end, at.scanned, at.before[0], at.before[1]}) {
    std::array<char, 16> figures{};
    const auto end = std::to_chars(figures.data(), figures.data() + figures.size(), one, 16).ptr;
    out += divider;
    out.append(figures.data(), end);
  }
  return out;
}

std::optional<position> position_in(std::string_view text) {
  constexpr std::size_t most_bytes = 1 + 9 * 17;
  if (text.size() > most_bytes) return std::nullopt;
  const auto whole = text;
  std::array<std::uint64_t, numbers_of_a_place - 1> numbers{};
  if (!text.starts_with(mark)) return std::nullopt;
  text.remove_prefix(mark.size());
  for (auto& one : numbers) {
    if (text.empty() || text[0] != divider) return std::nullopt;
    text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), one, 16);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  position out;
  out.device = numbers[0];
  out.inode = numbers[1];
  out.front_bytes = numbers[2];
  out.front = {numbers[3], numbers[4]};
  out.end = numbers[5];
  out.scanned = numbers[6];
  out.before = {numbers[7], numbers[8]};
  if (out.front_bytes > telling_bytes || out.scanned > out.end) return std::nullopt;
  // Reject other spellings of the same position.
  if (!text.empty() || to_text(out) != whole) return std::nullopt;
  return out;
}

result<position> position_at(const member& in, std::uint64_t end, std::uint64_t scanned) {
  position out;
  out.device = in.of.listed.facts.device;
  out.inode = in.of.listed.facts.inode;
  out.front_bytes = in.of.front.size();
  out.front = bytes::digest_of(in.of.front);
  out.end = end;
  out.scanned = std::min(scanned, end);
  HONDANA_TRY(const auto before, digest_before(*in.bytes, end));
  out.before = before;
  return out;
}

bool may_hold(const opened_file& one, const position& at) noexcept {
  if (one.front.size() < at.front_bytes) return false;
  if (one.how == compression::none && one.listed.facts.size < at.end) return false;
  return bytes::digest_of(std::string_view(one.front).substr(0, static_cast<std::size_t>(at.front_bytes))) == at.front;
}

result<bool> holds(const member& one, const position& at) {
  if (one.bytes->size() < at.end) return false;
  HONDANA_TRY(const auto before, digest_before(*one.bytes, at.end));
  return before == at.before;
}

namespace {

constexpr std::size_t most_open = 4;
constexpr std::size_t most_around = 8;  // files that a margin may span, not counting empty ones
constexpr std::size_t most_empty = 256;
constexpr std::uint64_t quickly_unpacked = 4u << 20;
constexpr std::int64_t copying_lasts = 60'000'000'000;  // nanoseconds

/// Errors of files that cannot be read. Such files do not influence the masking of others. Files that may be readable later do.
bool is_of_no_use(const failure& why) noexcept {
  return why.code == errc::access_denied || why.code == errc::source_unavailable;
}

/// Creation time in nanoseconds since 1970. Nothing if the file system does not have it.
std::optional<std::int64_t> birth_of(const disk::handle& file) noexcept {
  struct statx facts{};
  const bool is_told = ::statx(file.get(), "", AT_EMPTY_PATH, STATX_BTIME, &facts) == 0 && (facts.stx_mask & STATX_BTIME) != 0;
  if (!is_told) return std::nullopt;
  return facts.stx_btime.tv_sec * 1'000'000'000 + facts.stx_btime.tv_nsec;
}

}  // namespace

result<opened_file> opened_set::open(std::size_t which) {
  auto file = with_.open(all_, all_.files[which]);
  // The file existed when it was listed, so it was renamed or compressed since.
  if (!file && file.error().code == errc::resource_not_found) file.error().code = errc::content_changed;
  return file;
}

result<std::shared_ptr<const member>> opened_set::get(std::size_t which) {
  if (const auto found = open_.find(which); found != open_.end()) return found->second;
  HONDANA_TRY(auto file, open(which));
  HONDANA_TRY(auto made, with_.unpack(std::move(file), by_));
  // Close the file that is furthest from this one.
  if (open_.size() >= most_open) {
    const auto first = which - std::min(which, open_.begin()->first);
    const auto last = std::max(which, std::prev(open_.end())->first) - which;
    open_.erase(first > last ? open_.begin() : std::prev(open_.end()));
  }
  return open_[which] = std::make_shared<const member>(std::move(made));
}

window opened_set::window_onto(std::size_t which, const member& of) {
  surroundings around;
  around.before = [this, which, front = of.bytes](std::size_t most) { return before(which, *front, most); };
  around.behind = [this, which](std::size_t most) { return behind(which, most); };
  return {of.bytes, of.end, redact_, of.of.front, std::move(around)};
}

result<std::string> opened_set::before(std::size_t which, const content& of, std::size_t most) {
  std::string out;
  std::size_t empty = 0;
  for (std::size_t count = 0; which > 0 && count < most_around && empty < most_empty && out.size() < most; ++count) {
    --which;
    if (is_empty(which)) {
      --count;
      ++empty;
      continue;
    }
    const auto file = open(which);
    if (!file && is_of_no_use(file.error())) continue;
    if (!file) return tl::unexpected(file.error());
    // Decompressing a large file for a few bytes would slow down each answer right after a rotation. Do it only if these bytes
    // matter.
    const bool is_long = file->how != compression::none && file->listed.facts.size > quickly_unpacked && !open_.contains(which);
    if (is_long) {
      HONDANA_TRY(const auto matters, may_go_on(of, out));
      if (!matters) break;
    }
    const auto one = get(which);
    if (!one && is_of_no_use(one.error())) {
      if (is_long) out.insert(0, begun_key);
      continue;
    }
    if (!one) return tl::unexpected(one.error());
    const auto size = std::min<std::uint64_t>((*one)->bytes->size(), most - out.size());
    if (size == 0) {
      --count;
      ++empty;
      continue;
    }
    std::string part(static_cast<std::size_t>(size), '\0');
    HONDANA_TRY(const auto got, (*one)->bytes->read((*one)->bytes->size() - size, std::span(part)));
    part.resize(got);
    out.insert(0, part);
  }
  return out;
}

result<bool> opened_set::may_go_on(const content& of, const std::string& between) {
  std::string text(static_cast<std::size_t>(std::min<std::uint64_t>(of.size(), secrets::reach_ahead)), '\0');
  HONDANA_TRY(const auto got, of.read(0, std::span(text)));
  text.resize(got);
  const auto found_in = [](const std::string& whole, std::size_t from) {
    std::vector<secrets::span> found;
    secrets::find(whole, secrets::policy::settings, found);
    find_key_lines(whole, found);
    std::erase_if(found, [from](const auto& one) { return one.end <= from; });
    for (auto& one : found) one = {std::max(one.begin, from) - from, one.end - from};
    return found;
  };
  const auto front = std::string(begun_key) + between;
  return found_in(front + text, front.size()) != found_in(between + text, between.size());
}

result<std::string> opened_set::behind(std::size_t which, std::size_t most) {
  std::string out;
  std::size_t empty = 0;
  for (std::size_t count = 0; which + 1 < all_.files.size() && count < most_around && empty < most_empty && out.size() < most;
       ++count) {
    ++which;
    if (is_empty(which)) {
      --count;
      ++empty;
      continue;
    }
    const auto file = open(which);
    if (!file && is_of_no_use(file.error())) continue;
    if (!file) return tl::unexpected(file.error());
    const auto wanted = most - out.size();
    if (file->how != compression::none) {
      out += unpacked_files::front(file->file->get(), file->listed.facts, file->how, wanted);
      continue;
    }
    std::string part(static_cast<std::size_t>(std::min<std::uint64_t>(file->listed.facts.size, wanted)), '\0');
    HONDANA_TRY(const auto got, file_content(file->file, file->listed.facts.size).read(0, std::span(part)));
    part.resize(got);
    out += part;
  }
  return out;
}

result<std::optional<opened_set::place>> opened_set::find(const position& at, std::string& why) {
  const auto is_same = [&](const listed_file& one) { return one.facts.device == at.device && one.facts.inode == at.inode; };
  bool was_there = false;
  const auto look = [&](std::size_t which) -> result<bool> {
    const auto file = open(which);
    if (!file && is_of_no_use(file.error())) return false;
    if (!file) return tl::unexpected(file.error());
    if (!may_hold(*file, at)) return false;
    HONDANA_TRY(const auto one, get(which));
    return holds(*one, at);
  };
  // First try the file with the same identity, since others may have the same contents. An empty file can only be found by its
  // identity.
  for (const bool as_it_was : {true, false}) {
    for (auto which = size(); which-- > 0;) {
      if (is_same(listed(which)) != as_it_was || (!as_it_was && at.front_bytes == 0)) continue;
      was_there = was_there || as_it_was;
      HONDANA_TRY(const auto found, look(which));
      if (!found) continue;
      HONDANA_TRY(auto in, get(which));
      return std::optional<place>(place{which, std::move(in)});
    }
  }
  why = was_there ? "The file that the cursor points into was truncated or rewritten; its older records are lost."
                  : "The file that the cursor points into was deleted; its records and older ones are lost.";
  return std::optional<place>();
}

result<bool> opened_set::is_copy(std::size_t which, const member& newer) {
  const auto& older = listed(which);
  // Only the live file is copied. Between rotated files, an older one may equal the beginning of a newer one without being a
  // copy.
  if (newer.of.listed.rank.how != file_rank::scheme::live) return false;
  if (newer.of.how != compression::none || older.facts.size > newer.of.listed.facts.size || older.facts.size == 0) return false;
  if (disk::wall_clock() - older.facts.changed > copying_lasts) return false;
  HONDANA_TRY(const auto file, open(which));
  if (file.how != compression::none || !std::string_view(newer.of.front).starts_with(file.front)) return false;
  const auto here = birth_of(*newer.of.file);
  const auto there = birth_of(*file.file);
  const bool is_told = here && there && *here != *there;  // both may be from the same clock tick
  if (is_told ? *there < *here : older.facts.size < telling_bytes) return false;
  HONDANA_TRY(const auto one, get(which));
  const auto end = one->bytes->size();
  HONDANA_TRY(const auto at, position_at(*one, end, end));
  return holds(newer, at);
}

}  // namespace hondana::records
