/// Base64url of a version byte, the log's digest, the state and a check over them; numbers are big-endian.
#include "sources/git/walk_cursor.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/json/base64.hpp"

namespace hondana::git {
namespace {

constexpr char version = 1;
constexpr std::size_t check_bytes = 8;
constexpr std::size_t longest_note = 4096;
constexpr std::size_t longest_cursor = std::size_t{32} << 10;

void append_number(std::string& out, std::uint64_t value, int bytes = 8) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out.push_back(static_cast<char>((value >> shift) & 0xFFU));
}

void append_id(std::string& out, const git_oid& id) { out.append(reinterpret_cast<const char*>(id.id), GIT_OID_RAWSZ); }

void append_check(std::string& out) { append_number(out, bytes::digest_of(out)[0]); }

/// Takes from the front; once something is lacking, it has failed for good.
class taker {
 public:
  explicit taker(std::string_view from) noexcept : rest_(from) {}

  std::string_view bytes(std::size_t count) noexcept {
    if (count > rest_.size()) {
      has_failed_ = true;
      return {};
    }
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::uint64_t number(std::size_t size = 8) noexcept {
    std::uint64_t value = 0;
    for (const char c : bytes(size)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  /// A number of things, no more than `most`.
  std::size_t count(std::size_t most) noexcept {
    const auto value = static_cast<std::size_t>(number(2));
    if (value > most) has_failed_ = true;
    return has_failed_ ? 0 : value;
  }
  git_oid id() noexcept {
    git_oid taken{};
    const auto raw = bytes(GIT_OID_RAWSZ);
    std::copy(raw.begin(), raw.end(), reinterpret_cast<char*>(taken.id));
    return taken;
  }
  [[nodiscard]] bool has_ended_well() const noexcept { return !has_failed_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool has_failed_ = false;
};

}  // namespace

std::string cursor_of(const walk_state& at, const bytes::digest& log, std::string_view note) {
  std::string out(1, version);
  append_number(out, log[0]);
  append_number(out, log[1]);
  append_number(out, at.passed);
  append_number(out, at.has_passed_end ? 1 : 0, 1);
  append_number(out, at.known_below);
  append_number(out, at.recent.size(), 2);
  for (const auto& one : at.recent) {
    append_number(out, one.time);
    append_id(out, one.id);
  }
  append_number(out, at.frontier.size(), 2);
  for (const auto& id : at.frontier) append_id(out, id);
  append_number(out, note.size(), 2);
  out += note;
  append_check(out);
  return json::base64url(out);
}

std::optional<parsed_cursor> parse_cursor(std::string_view text, const bytes::digest& log) {
  if (text.size() > longest_cursor) return std::nullopt;
  const auto raw = json::decode_base64url(text);
  if (!raw || raw->size() < check_bytes) return std::nullopt;
  auto checked = raw->substr(0, raw->size() - check_bytes);
  append_check(checked);
  if (checked != *raw) return std::nullopt;

  taker take(std::string_view(*raw).substr(0, raw->size() - check_bytes));
  if (take.number(1) != static_cast<std::uint64_t>(version) || take.number() != log[0] || take.number() != log[1])
    return std::nullopt;
  parsed_cursor parsed;
  parsed.at.passed = take.number();
  const auto flags = take.number(1);
  parsed.at.has_passed_end = flags == 1;
  parsed.at.known_below = take.number();
  for (auto left = take.count(walk_state::most_recent); left > 0; --left) {
    const auto time = take.number();
    parsed.at.recent.push_back({time, take.id()});
  }
  for (auto left = take.count(walk_state::widest_frontier); left > 0; --left) parsed.at.frontier.push_back(take.id());
  parsed.note = take.bytes(take.count(longest_note));
  if (!take.has_ended_well() || flags > 1) return std::nullopt;
  return parsed;
}

result<std::string> begin_walk(walk& through, std::string_view cursor, const bytes::digest& log) {
  if (cursor.empty()) {
    HONDANA_TRY(through.begin());
    return std::string();
  }
  auto parsed = parse_cursor(cursor, log);
  if (!parsed) return fail(errc::invalid_argument, std::string(foreign_cursor));
  HONDANA_TRY(through.go_on(parsed->at));
  return std::move(parsed->note);
}

}  // namespace hondana::git
