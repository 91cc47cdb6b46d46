/// Walks from a commit to its ancestors in the order of `git log`, with cursors to resume from.
#include "sources/git/commit_walk.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/json/base64.hpp"

namespace hondana::git {
namespace {

constexpr auto no_bound = std::numeric_limits<std::uint64_t>::max();
// How many are stored before the list is reduced to the oldest half.
constexpr std::size_t max_stored_recent = std::size_t{64} * walk_state::max_recent;
// Parents of one commit, which may have any number.
constexpr std::size_t parents_per_check = 64;

/// Keeps the oldest, at most `max_count`, and of equally old ones all or none. Returns the time below which none was dropped.
std::uint64_t retain_oldest(std::vector<visited_commit>& commits, std::size_t max_count) {
  if (commits.size() <= max_count) return no_bound;
  const auto is_older = [](const visited_commit& a, const visited_commit& b) { return a.time < b.time; };
  const auto first_removed = commits.begin() + static_cast<std::ptrdiff_t>(max_count);
  std::nth_element(commits.begin(), first_removed, commits.end(), is_older);
  const auto bound = first_removed->time;
  std::erase_if(commits, [&](const visited_commit& commit) { return commit.time >= bound; });
  return bound;
}

tl::unexpected<failure> foreign_cursor_error() { return fail(errc::invalid_argument, std::string(foreign_cursor_message)); }

tl::unexpected<failure> cancelled_error() { return fail(errc::cancelled, "the walk through the history was cancelled"); }

}  // namespace

commit_walk::commit_walk(const commit_store& store, const git_oid& start, options walk_options)
    : store_(store), start_(start), options_(std::move(walk_options)) {}

void commit_walk::clear() {
  queue_.clear();
  seen_.clear();
  recent_.clear();
  recent_complete_before_ = seen_complete_before_ = no_bound;
  visited_count_ = next_order_ = 0;
  has_reached_end_ = false;
}

result<void> commit_walk::begin() {
  clear();
  HONDANA_TRY(auto node, store_.read(start_));
  if (is_too_old(node)) return {};
  seen_.insert(start_);
  enqueue(std::move(node));
  return {};
}

result<void> commit_walk::resume(const walk_state& saved) {
  if (saved.frontier.empty()) {
    visited_count_ = saved.visited_count;
    HONDANA_TRY(replay());
    return {};
  }
  clear();
  for (const auto& id : saved.frontier) {
    auto node = store_.read(id);
    if (!node || !seen_.insert(id).second) return foreign_cursor_error();
    enqueue(std::move(*node));
  }
  for (const auto& commit : saved.recent) seen_.insert(commit.id);
  recent_ = saved.recent;
  recent_complete_before_ = seen_complete_before_ = saved.complete_before;
  visited_count_ = saved.visited_count;
  has_reached_end_ = saved.has_reached_end;
  return {};
}

bool commit_walk::is_too_old(const commit_node& node) const noexcept {
  return options_.since && *options_.since > 0 && node.time < static_cast<std::uint64_t>(*options_.since);
}

void commit_walk::enqueue(commit_node node) {
  queue_.push_back({std::move(node), next_order_++});
  std::push_heap(queue_.begin(), queue_.end(), queue_order());
}

/// Every path from a returned commit leads to a waiting one, or to an end. If no end was reached and one commit waits alone,
/// all returned ones are its descendants. They cannot come up again, so they are forgotten.
void commit_walk::mark_visited(const commit_node& node) {
  ++visited_count_;
  if (queue_.empty() && !has_reached_end_) {
    seen_.clear();
    recent_.clear();
    recent_complete_before_ = seen_complete_before_ = no_bound;
    return;
  }
  if (node.time >= recent_complete_before_) return;
  recent_.push_back({node.time, node.id});
  if (recent_.size() > max_stored_recent)
    recent_complete_before_ = std::min(recent_complete_before_, retain_oldest(recent_, max_stored_recent / 2));
}

/// Those that have not been seen.
result<std::vector<commit_node>> commit_walk::read_parents(const commit_node& node) const {
  std::vector<commit_node> parents;
  for (std::size_t i = 0; i < node.parents.size(); ++i) {
    if (i % parents_per_check == 0 && options_.is_stopped && options_.is_stopped()) return cancelled_error();
    if (seen_.contains(node.parents[i])) continue;
    auto parent = store_.read(node.parents[i]);
    if (!parent) {
      auto error = std::move(parent.error());
      error.code = errc::source_unavailable;
      error.public_text =
          "the history cannot be followed beyond commit " + to_hex(node.id) + ": its parent " + error.public_text;
      return tl::unexpected(std::move(error));
    }
    parents.push_back(std::move(*parent));
  }
  return parents;
}

/// False: it is unknown whether one of them was returned before.
bool commit_walk::enqueue_parents(std::vector<commit_node> parents) {
  for (auto& parent : parents) {
    if (is_too_old(parent)) {
      has_reached_end_ = true;
      continue;
    }
    if (seen_complete_before_ != no_bound && parent.time >= seen_complete_before_) return false;
    if (seen_.insert(parent.id).second) enqueue(std::move(parent));
  }
  return true;
}

result<std::optional<commit_node>> commit_walk::next() {
  if (is_finished()) return std::nullopt;
  HONDANA_TRY(auto parents, read_parents(queue_.front().node));
  std::pop_heap(queue_.begin(), queue_.end(), queue_order());
  auto node = std::move(queue_.back().node);
  queue_.pop_back();
  mark_visited(node);
  if (node.parents.empty()) has_reached_end_ = true;
  if (!enqueue_parents(std::move(parents))) {
    HONDANA_TRY(auto last, replay());
    if (git_oid_equal(&last, &node.id) == 0) return foreign_cursor_error();
  }
  return node;
}

result<git_oid> commit_walk::replay() {
  const auto target_count = visited_count_;
  HONDANA_TRY(begin());
  git_oid last{};
  while (visited_count_ < target_count) {
    HONDANA_TRY(auto node, next());
    if (!node) return foreign_cursor_error();
    last = node->id;
  }
  return last;
}

walk_state commit_walk::state() const {
  walk_state saved;
  saved.visited_count = visited_count_;
  saved.has_reached_end = has_reached_end_;
  if (queue_.size() > walk_state::max_frontier) return saved;
  auto sorted = queue_;
  std::sort(sorted.begin(), sorted.end(), [](const queued_commit& a, const queued_commit& b) { return queue_order()(b, a); });
  for (const auto& queued : sorted) saved.frontier.push_back(queued.node.id);
  saved.recent = recent_;
  saved.complete_before = std::min(recent_complete_before_, retain_oldest(saved.recent, walk_state::max_recent));
  return saved;
}

namespace {

constexpr char cursor_format = 1;
constexpr std::size_t checksum_bytes = 8;
constexpr std::size_t max_note_bytes = 4096;
constexpr std::size_t max_cursor_bytes = std::size_t{32} << 10;

void append_number(std::string& out, std::uint64_t value, int bytes = 8) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out.push_back(static_cast<char>((value >> shift) & 0xFFU));
}

void append_id(std::string& out, const git_oid& id) { out.append(reinterpret_cast<const char*>(id.id), GIT_OID_RAWSZ); }

void append_checksum(std::string& out) { append_number(out, bytes::digest_of(out)[0]); }

/// Reads values from the front. Once bytes are missing, it has failed for good.
class cursor_reader {
 public:
  explicit cursor_reader(std::string_view text) noexcept : remaining_(text) {}

  std::string_view read_bytes(std::size_t count) noexcept {
    if (count > remaining_.size()) {
      has_failed_ = true;
      return {};
    }
    const auto value = remaining_.substr(0, count);
    remaining_.remove_prefix(count);
    return value;
  }
  std::uint64_t read_number(std::size_t size = 8) noexcept {
    std::uint64_t value = 0;
    for (const char c : read_bytes(size)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  /// A number of items, at most `max_count`.
  std::size_t read_count(std::size_t max_count) noexcept {
    const auto value = static_cast<std::size_t>(read_number(2));
    if (value > max_count) has_failed_ = true;
    return has_failed_ ? 0 : value;
  }
  git_oid read_id() noexcept {
    git_oid value{};
    const auto raw = read_bytes(GIT_OID_RAWSZ);
    std::copy(raw.begin(), raw.end(), reinterpret_cast<char*>(value.id));
    return value;
  }
  [[nodiscard]] bool is_complete() const noexcept { return !has_failed_ && remaining_.empty(); }

 private:
  std::string_view remaining_;
  bool has_failed_ = false;
};

}  // namespace

std::string encode_cursor(const walk_state& state, const bytes::digest& log_digest, std::string_view note) {
  std::string out(1, cursor_format);
  append_number(out, log_digest[0]);
  append_number(out, log_digest[1]);
  append_number(out, state.visited_count);
  append_number(out, state.has_reached_end ? 1 : 0, 1);
  append_number(out, state.complete_before);
  append_number(out, state.recent.size(), 2);
  for (const auto& commit : state.recent) {
    append_number(out, commit.time);
    append_id(out, commit.id);
  }
  append_number(out, state.frontier.size(), 2);
  for (const auto& id : state.frontier) append_id(out, id);
  append_number(out, note.size(), 2);
  out += note;
  append_checksum(out);
  return json::encode_base64url(out);
}

std::optional<parsed_cursor> parse_cursor(std::string_view text, const bytes::digest& log_digest) {
  if (text.size() > max_cursor_bytes) return std::nullopt;
  const auto raw = json::decode_base64url(text);
  if (!raw || raw->size() < checksum_bytes) return std::nullopt;
  auto checked = raw->substr(0, raw->size() - checksum_bytes);
  append_checksum(checked);
  if (checked != *raw) return std::nullopt;

  cursor_reader reader(std::string_view(*raw).substr(0, raw->size() - checksum_bytes));
  if (reader.read_number(1) != static_cast<std::uint64_t>(cursor_format) || reader.read_number() != log_digest[0] ||
      reader.read_number() != log_digest[1])
    return std::nullopt;
  parsed_cursor parsed;
  parsed.state.visited_count = reader.read_number();
  const auto flags = reader.read_number(1);
  parsed.state.has_reached_end = flags == 1;
  parsed.state.complete_before = reader.read_number();
  for (auto commits_left = reader.read_count(walk_state::max_recent); commits_left > 0; --commits_left) {
    const auto time = reader.read_number();
    parsed.state.recent.push_back({time, reader.read_id()});
  }
  for (auto ids_left = reader.read_count(walk_state::max_frontier); ids_left > 0; --ids_left)
    parsed.state.frontier.push_back(reader.read_id());
  parsed.note = reader.read_bytes(reader.read_count(max_note_bytes));
  if (!reader.is_complete() || flags > 1) return std::nullopt;
  return parsed;
}

result<std::string> resume_walk(commit_walk& walk, std::string_view cursor, const bytes::digest& log_digest) {
  if (cursor.empty()) {
    HONDANA_TRY(walk.begin());
    return std::string();
  }
  auto parsed = parse_cursor(cursor, log_digest);
  if (!parsed) return fail(errc::invalid_argument, std::string(foreign_cursor_message));
  HONDANA_TRY(walk.resume(parsed->state));
  return std::move(parsed->note);
}

}  // namespace hondana::git
