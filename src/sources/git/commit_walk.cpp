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

constexpr auto all_known = std::numeric_limits<std::uint64_t>::max();
// How many are stored before the list is reduced to the oldest half.
constexpr std::size_t most_kept = std::size_t{64} * walk_state::most_recent;
// Parents of one commit, which may have any number.
constexpr std::size_t parents_between_questions = 64;

/// Keeps the oldest, at most `most`, and of equally old ones all or none. Returns the time below which none was dropped.
std::uint64_t keep_oldest(std::vector<passed_commit>& of, std::size_t most) {
  if (of.size() <= most) return all_known;
  const auto older = [](const passed_commit& a, const passed_commit& b) { return a.time < b.time; };
  const auto first_out = of.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(of.begin(), first_out, of.end(), older);
  const auto bound = first_out->time;
  std::erase_if(of, [&](const passed_commit& one) { return one.time >= bound; });
  return bound;
}

tl::unexpected<failure> foreign_state() { return fail(errc::invalid_argument, std::string(foreign_cursor)); }

tl::unexpected<failure> stopped() { return fail(errc::cancelled, "the walk through the history was cancelled"); }

}  // namespace

walk::walk(const commit_store& in, const git_oid& from, limits with) : in_(in), from_(from), limits_(std::move(with)) {}

void walk::clear() {
  queue_.clear();
  seen_.clear();
  recent_.clear();
  recent_below_ = known_below_ = all_known;
  passed_ = order_ = 0;
  has_passed_end_ = false;
}

result<void> walk::begin() {
  clear();
  HONDANA_TRY(auto node, in_.read(from_));
  if (is_too_old(node)) return {};
  seen_.insert(from_);
  add(std::move(node));
  return {};
}

result<void> walk::go_on(const walk_state& at) {
  if (at.frontier.empty()) {
    passed_ = at.passed;
    HONDANA_TRY(walk_again());
    return {};
  }
  clear();
  for (const auto& id : at.frontier) {
    auto node = in_.read(id);
    if (!node || !seen_.insert(id).second) return foreign_state();
    add(std::move(*node));
  }
  for (const auto& one : at.recent) seen_.insert(one.id);
  recent_ = at.recent;
  recent_below_ = known_below_ = at.known_below;
  passed_ = at.passed;
  has_passed_end_ = at.has_passed_end;
  return {};
}

bool walk::is_too_old(const commit_node& node) const noexcept {
  return limits_.since && *limits_.since > 0 && node.time < static_cast<std::uint64_t>(*limits_.since);
}

void walk::add(commit_node node) {
  queue_.push_back({std::move(node), order_++});
  std::push_heap(queue_.begin(), queue_.end(), comes_later());
}

/// Every path from a returned commit leads to a waiting one, or to an end. If no end was reached and one commit waits alone,
/// all returned ones are its descendants. They cannot come up again, so they are forgotten.
void walk::pass(const commit_node& node) {
  ++passed_;
  if (queue_.empty() && !has_passed_end_) {
    seen_.clear();
    recent_.clear();
    recent_below_ = known_below_ = all_known;
    return;
  }
  if (node.time >= recent_below_) return;
  recent_.push_back({node.time, node.id});
  if (recent_.size() > most_kept) recent_below_ = std::min(recent_below_, keep_oldest(recent_, most_kept / 2));
}

/// Those that have not been seen.
result<std::vector<commit_node>> walk::parents_of(const commit_node& node) const {
  std::vector<commit_node> parents;
  for (std::size_t i = 0; i < node.parents.size(); ++i) {
    if (i % parents_between_questions == 0 && limits_.is_stopped && limits_.is_stopped()) return stopped();
    if (seen_.contains(node.parents[i])) continue;
    auto parent = in_.read(node.parents[i]);
    if (!parent) {
      auto error = std::move(parent.error());
      error.code = errc::source_unavailable;
      error.public_text =
          "the history cannot be followed beyond commit " + text_of(node.id) + ": its parent " + error.public_text;
      return tl::unexpected(std::move(error));
    }
    parents.push_back(std::move(*parent));
  }
  return parents;
}

/// False: it is unknown whether one of them was returned before.
bool walk::add_all(std::vector<commit_node> parents) {
  for (auto& parent : parents) {
    if (is_too_old(parent)) {
      has_passed_end_ = true;
      continue;
    }
    if (known_below_ != all_known && parent.time >= known_below_) return false;
    if (seen_.insert(parent.id).second) add(std::move(parent));
  }
  return true;
}

result<std::optional<commit_node>> walk::next() {
  if (is_over()) return std::nullopt;
  HONDANA_TRY(auto parents, parents_of(queue_.front().node));
  std::pop_heap(queue_.begin(), queue_.end(), comes_later());
  auto node = std::move(queue_.back().node);
  queue_.pop_back();
  pass(node);
  if (node.parents.empty()) has_passed_end_ = true;
  if (!add_all(std::move(parents))) {
    HONDANA_TRY(auto last, walk_again());
    if (git_oid_equal(&last, &node.id) == 0) return foreign_state();
  }
  return node;
}

result<git_oid> walk::walk_again() {
  const auto place = passed_;
  HONDANA_TRY(begin());
  git_oid last{};
  while (passed_ < place) {
    HONDANA_TRY(auto node, next());
    if (!node) return foreign_state();
    last = node->id;
  }
  return last;
}

walk_state walk::state() const {
  walk_state now;
  now.passed = passed_;
  now.has_passed_end = has_passed_end_;
  if (queue_.size() > walk_state::widest_frontier) return now;
  auto in_order = queue_;
  std::sort(in_order.begin(), in_order.end(), [](const waiting& a, const waiting& b) { return comes_later()(b, a); });
  for (const auto& one : in_order) now.frontier.push_back(one.node.id);
  now.recent = recent_;
  now.known_below = std::min(recent_below_, keep_oldest(now.recent, walk_state::most_recent));
  return now;
}

namespace {

constexpr char cursor_format = 1;
constexpr std::size_t check_bytes = 8;
constexpr std::size_t longest_note = 4096;
constexpr std::size_t longest_cursor = std::size_t{32} << 10;

void append_number(std::string& out, std::uint64_t value, int bytes = 8) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out.push_back(static_cast<char>((value >> shift) & 0xFFU));
}

void append_id(std::string& out, const git_oid& id) { out.append(reinterpret_cast<const char*>(id.id), GIT_OID_RAWSZ); }

void append_check(std::string& out) { append_number(out, bytes::digest_of(out)[0]); }

/// Takes values from the front. Once bytes are missing, it has failed for good.
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
  /// A number of items, at most `most`.
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
  std::string out(1, cursor_format);
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
  if (take.number(1) != static_cast<std::uint64_t>(cursor_format) || take.number() != log[0] || take.number() != log[1])
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
