/// Contents that are kept, within what they may take.
#include <algorithm>

#include <hondana/value.hpp>

#include "sources/gdrive/kept.hpp"

namespace hondana::gdrive {
namespace {

/// Of the room, what one content may take.
constexpr std::uint64_t share_of_one = 8;

std::int64_t milliseconds_of(std::chrono::system_clock::time_point when) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(when.time_since_epoch()).count();
}

}  // namespace

result<void> kept::count_content() {
  HONDANA_TRY(auto sum, file_.writer.number("SELECT coalesce(sum(size), 0) FROM contents"));
  content_bytes_ = static_cast<std::uint64_t>(sum);
  return {};
}

std::uint64_t kept::content_bytes() const {
  const std::lock_guard lock(mutex_);
  return content_bytes_;
}

result<void> kept::put_sheets(const std::string& id, const std::vector<std::string>& names) {
  const std::lock_guard lock(mutex_);
  auto to = file_.writer.prepare("INSERT OR REPLACE INTO sheets VALUES(?,?)");
  if (!to) return tl::unexpected(std::move(to.error()));
  value::array all;
  all.reserve(names.size());
  for (const auto& one : names) all.emplace_back(one);
  const auto spelled = value(std::move(all)).to_text();
  return to->bind_text(1, id).bind_text(2, spelled).run();
}

result<void> kept::forget_contents(const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (!file_.writer.is_open()) return {};
  HONDANA_TRY(run("DELETE FROM contents WHERE id=?", id));
  return count_content();
}

result<std::optional<kept_content>> kept::content(const std::string& id, std::string_view part) {
  const std::lock_guard lock(mutex_);
  if (!file_.writer.is_open() || is_refused_) return std::optional<kept_content>();
  HONDANA_TRY(auto from,
              file_.writer.prepare("SELECT version, mime, read_at, bytes, by_link FROM contents WHERE id=? AND part=?"));
  HONDANA_TRY(const auto has_row, from.bind_text(1, id).bind_text(2, part).step());
  if (!has_row) return std::optional<kept_content>();
  kept_content made;
  made.version = from.bytes(0);
  made.mime_type = from.bytes(1);
  made.read_at = std::chrono::system_clock::time_point(std::chrono::milliseconds(from.number(2)));
  made.bytes = std::make_shared<const std::string>(from.bytes(3));
  made.is_by_link = from.number(4) != 0;
  from.reset();
  HONDANA_TRY(auto used, file_.writer.prepare("UPDATE contents SET used=? WHERE id=? AND part=?"));
  const auto now = milliseconds_of(std::chrono::system_clock::now());
  HONDANA_TRY(used.bind(1, now).bind_text(2, id).bind_text(3, part).run());
  return std::optional(std::move(made));
}

result<void> kept::make_room() {
  while (content_bytes_ > most_content_) {
    HONDANA_TRY(auto from, file_.writer.prepare("SELECT rowid, size FROM contents ORDER BY used LIMIT 1"));
    HONDANA_TRY(const auto has_row, from.step());
    if (!has_row) return {};
    const auto row = from.number(0);
    const auto size = static_cast<std::uint64_t>(from.number(1));
    from.reset();
    HONDANA_TRY(auto gone, file_.writer.prepare("DELETE FROM contents WHERE rowid=?"));
    HONDANA_TRY(gone.bind(1, row).run());
    content_bytes_ -= std::min(content_bytes_, size);
  }
  return file_.writer.run("PRAGMA incremental_vacuum(256)");
}

result<void> kept::put_content(const std::string& id, std::string_view part, const kept_content& what) {
  if (what.bytes->size() > most_content_ / share_of_one) return {};
  const std::lock_guard lock(mutex_);
  if (!file_.writer.is_open()) return {};
  HONDANA_TRY(auto before, file_.writer.prepare("DELETE FROM contents WHERE id=? AND part=?"));
  HONDANA_TRY(before.bind_text(1, id).bind_text(2, part).run());
  HONDANA_TRY(auto to, file_.writer.prepare("INSERT INTO contents VALUES(?,?,?,?,?,?,?,?,?)"));
  to.bind_text(1, id).bind_text(2, part).bind_text(3, what.version).bind_text(4, what.mime_type);
  to.bind(5, milliseconds_of(what.read_at)).bind(6, milliseconds_of(std::chrono::system_clock::now()));
  to.bind(7, static_cast<std::int64_t>(what.bytes->size())).bind(8, std::string_view(*what.bytes));
  to.bind(9, std::int64_t{what.is_by_link});
  HONDANA_TRY(to.run());
  HONDANA_TRY(count_content());
  return make_room();
}

}  // namespace hondana::gdrive
