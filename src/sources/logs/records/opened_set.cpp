/// Finding members again, and what stands around them.
#include "sources/logs/records/opened_set.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "sources/logs/records/key_lines.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::records {
namespace {

constexpr std::size_t most_open = 4;
constexpr std::size_t most_around = 8;  // members that a margin may go over, those that hold nothing aside
constexpr std::size_t most_empty = 256;
constexpr std::uint64_t quickly_unpacked = 4u << 20;
constexpr std::int64_t copying_lasts = 60'000'000'000;  // nanoseconds

/// What cannot be read does not decide about others; what may be read later does.
bool is_of_no_use(const failure& why) noexcept {
  return why.code == errc::access_denied || why.code == errc::source_unavailable;
}

/// Nanoseconds since 1970; nothing where the file system does not tell.
std::optional<std::int64_t> birth_of(const disk::handle& file) noexcept {
  struct statx facts{};
  const bool is_told = ::statx(file.get(), "", AT_EMPTY_PATH, STATX_BTIME, &facts) == 0 && (facts.stx_mask & STATX_BTIME) != 0;
  if (!is_told) return std::nullopt;
  return facts.stx_btime.tv_sec * 1'000'000'000 + facts.stx_btime.tv_nsec;
}

}  // namespace

result<opened_file> opened_set::open(std::size_t which) {
  auto file = with_.open(all_, all_.files[which]);
  // It was there when it was listed: so it has another name now, or is compressed.
  if (!file && file.error().code == errc::resource_not_found) file.error().code = errc::content_changed;
  return file;
}

result<std::shared_ptr<const member>> opened_set::get(std::size_t which) {
  if (const auto found = open_.find(which); found != open_.end()) return found->second;
  HONDANA_TRY(auto file, open(which));
  HONDANA_TRY(auto made, with_.unpack(std::move(file), by_));
  // Those furthest away are done with.
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
    // Unpacking much for the sake of a few bytes would make every answer slow that comes just after a rotation; it is done
    // where they matter.
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
  // As it was first, since others may hold the same; what is empty is told by nothing else.
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
  // Of two files of which one was moved out of the other's way, the older one may well be how the newer one begins.
  if (newer.of.listed.rank.how != file_rank::scheme::live) return false;
  if (newer.of.how != compression::none || older.facts.size > newer.of.listed.facts.size || older.facts.size == 0) return false;
  if (disk::wall_clock() - older.facts.changed > copying_lasts) return false;
  HONDANA_TRY(const auto file, open(which));
  if (file.how != compression::none || !std::string_view(newer.of.front).starts_with(file.front)) return false;
  const auto here = birth_of(*newer.of.file);
  const auto there = birth_of(*file.file);
  const bool is_told = here && there && *here != *there;  // both may be of one tick of the clock
  if (is_told ? *there < *here : older.facts.size < telling_bytes) return false;
  HONDANA_TRY(const auto one, get(which));
  const auto end = one->bytes->size();
  HONDANA_TRY(const auto at, position_at(*one, end, end));
  return holds(newer, at);
}

}  // namespace hondana::records
