/// Naming places by what stands there.
#include "sources/logs/records/cursor.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace hondana::records {
namespace {

constexpr std::string_view mark = "1";  // of this way of writing it
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
  // One way to write each.
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

}  // namespace hondana::records
