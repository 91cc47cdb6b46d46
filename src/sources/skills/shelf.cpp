/// Comparing what is there with what was, and reading what differs.
#include "sources/skills/shelf.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <hondana/clock.hpp>

#include "base/bytes/sha256.hpp"
#include "protocol/model/still_wanted.hpp"
#include "sources/skills/naming.hpp"
#include "text/front_matter/frontmatter.hpp"
#include "text/secrets/masking_reader.hpp"
#include "text/secrets/policy.hpp"

namespace hondana::skills {
namespace {

using clock = monotonic_clock;

std::string_view first_name(std::string_view path) noexcept { return path.substr(0, path.find('/')); }

std::chrono::sys_time<std::chrono::milliseconds> time_of(const disk::stamp& state) {
  return std::chrono::sys_time<std::chrono::milliseconds>(
      std::chrono::floor<std::chrono::milliseconds>(std::chrono::nanoseconds(state.modified)));
}

}  // namespace

shelf::shelf(std::string prefix, std::vector<folder> folders, std::function<void(std::string_view)> log, bool masks)
    : prefix_(std::move(prefix)),
      folders_(std::move(folders)),
      log_(std::move(log)),
      masks_(masks),
      is_out_of_reach_(folders_.size(), false) {}

void shelf::watch(std::shared_ptr<change_listener> to) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(to);
}

void shelf::attach_list() {
  const std::lock_guard lock(mutex_);
  if (!told_since_) told_since_ = disk::wall_clock();
}

std::shared_ptr<const collection> shelf::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

std::string shelf::with_prefix(std::string_view path) const {
  return prefix_.empty() ? std::string(path) : prefix_ + '/' + std::string(path);
}

void shelf::be_silent() {
  const std::lock_guard lock(log_mutex_);
  is_silent_ = true;
}

void shelf::say(const std::string& line) {
  const std::lock_guard lock(log_mutex_);
  if (log_ && !is_silent_) log_(line);
}

void shelf::tell_of(std::size_t place, const result<walked>& found) {
  if (!found && found.error().code != errc::source_unavailable) return;  // the caller gave up
  if (is_out_of_reach_[place] == !found) return;
  is_out_of_reach_[place] = !found;
  const auto what = "the skills in " + folders_[place].path();
  say(found ? what + " can be read again" : what + " cannot be read: " + found.error().private_text);
}

result<shelf::snapshot> shelf::look(const call& by) {
  snapshot now;
  std::set<std::string> mentioned;
  for (std::size_t place = 0; place < folders_.size(); ++place) {
    auto found = folders_[place].walk(by, [this, place](const std::string& path, int descriptor) {
      if (entering_) entering_(place, path, descriptor);
    });
    tell_of(place, found);
    if (!found) return tl::unexpected(std::move(found.error()));
    folders_changed_ = std::max(folders_changed_, found->changed);
    const auto is_its_own = [&](std::string_view path) {
      const std::string name(first_name(path));
      const auto owner = now.owners.emplace(name, place).first->second;
      if (owner != place && mentioned.insert(std::to_string(place) + '/' + name).second) {
        now.left_out.push_back(
            {with_prefix(name),
             "it is in " + folders_[place].path() + " and in " + folders_[owner].path() + ", which takes precedence", false});
      }
      return owner == place;
    };
    for (auto& file : found->files) {
      if (is_its_own(file.path)) now.files.emplace(with_prefix(file.path), file.state);
    }
    for (auto& other : found->left_out) {
      if (is_its_own(other.path)) now.left_out.push_back({with_prefix(other.path), std::move(other.reason), other.is_skill});
    }
  }
  return now;
}

bool shelf::has_racy() const {
  return std::any_of(records_.begin(), records_.end(), [](const auto& one) { return one.second.is_racy; });
}

result<std::shared_ptr<const collection>> shelf::refreshed(const call& by) {
  const auto arrived = clock::now();
  std::unique_lock looking(looking_, std::defer_lock);
  // Longer than a day would overflow what the system's clock can wait for.
  const auto until = std::min(by.deadline, arrived + std::chrono::hours(24));
  if (!monotonic_clock::try_lock_until(looking, until))
    return fail(errc::timed_out, "The skills are still being read. Retry later.");
  if (begun_ > arrived) {
    if (auto made = latest()) return made;  // somebody looked since
  }
  const auto begun = clock::now();
  auto now = look(by);
  if (!now) return tl::unexpected(std::move(now.error()));
  if (auto made = latest(); made && *now == seen_ && !has_racy()) {
    begun_ = begun;
    const std::lock_guard lock(mutex_);
    looked_at_ = clock::now();
    return made;
  }
  std::vector<found_file> files;
  files.reserve(now->files.size());
  for (const auto& [path, when] : now->files) files.push_back({path, when.size, time_of(when)});
  // Arranging reads with the stamps of this look, so that what was read for it is found again by the next.
  seen_ = std::move(*now);
  {
    const std::lock_guard lock(mutex_);
    owners_ = seen_.owners;
    std::erase_if(records_, [this](const auto& one) { return !seen_.files.contains(one.first); });
  }
  auto made = collection::arrange(
      prefix_, std::move(files), [this, &by](const found_file& file) { return read_through(file, by); }, seen_.left_out);
  if (!made) {
    seen_ = {};
    return made;
  }
  tell(**made);
  begun_ = begun;
  std::unique_lock lock(mutex_);
  const auto before = std::exchange(latest_, *made);
  looked_at_ = clock::now();
  const auto to = listener_;
  // The first look has nothing to compare with; but folders that have not changed have the names they had.
  const bool may_have_missed = !before && told_since_ && is_racy(disk::stamp{.changed = folders_changed_}, *told_since_);
  lock.unlock();
  if (before && to) (*made)->tell_changes_since(*before, *to);
  if (may_have_missed && to) to->list_changed();
  return made;
}

result<std::shared_ptr<const looked_at>> shelf::read_through(const found_file& file, const call& by) {
  const auto known = records_.find(file.path);
  if (known != records_.end() && !known->second.is_racy && known->second.state == seen_.files.at(file.path)) {
    return known->second.known;
  }
  HONDANA_TRY(auto opened, open_file(file.path));
  const auto begun = disk::wall_clock();
  auto read = look_at(opened, file.path, by);
  if (!read) return tl::unexpected(std::move(read.error()));
  struct stat after{};
  const bool is_same = ::fstat(opened.file.get(), &after) == 0 && disk::stamp_of(after) == opened.state;
  auto shared = std::make_shared<const looked_at>(std::move(*read));
  // What changed while it was read, or may change without a trace, is read again by the next who asks.
  const std::lock_guard lock(mutex_);
  records_.insert_or_assign(file.path, record{opened.state, shared, !is_same || is_racy(opened.state, begun)});
  return std::shared_ptr<const looked_at>(std::move(shared));
}

void shelf::tell(const collection& made) {
  for (const auto& one : made.what_is_left_out()) {
    if (!one.is_skill || std::find(told_.begin(), told_.end(), one) != told_.end()) continue;
    say("the skill " + one.path + " is left out: " + one.reason);
  }
  told_ = made.what_is_left_out();
}

result<opened_file> shelf::open_file(std::string_view path) const {
  if (!prefix_.empty()) path.remove_prefix(prefix_.size() + 1);
  std::unique_lock lock(mutex_);
  const auto owner = owners_.find(first_name(path));
  const auto place = owner == owners_.end() ? 0 : owner->second;
  lock.unlock();
  auto opened = folders_[place].open_file(path);
  if (opened) opened->masks = masks_;
  return opened;
}

bool shelf::may_hold(std::string_view path) const {
  if (!prefix_.empty()) {
    if (path == prefix_) return true;
    if (!lies_in(path, prefix_)) return false;
    path.remove_prefix(prefix_.size() + 1);
  }
  if (path.empty()) return true;
  // What a path cannot have, and what is never served.
  if (path.find('\0') != std::string_view::npos || path.starts_with('.') || path.find("/.") != std::string_view::npos)
    return false;
  return std::any_of(folders_.begin(), folders_.end(), [path](const folder& one) { return one.may_hold(path); });
}

clock::time_point shelf::looked_at_last() const {
  const std::lock_guard lock(mutex_);
  return looked_at_;
}

std::string shelf::digest_of(const std::string& path, const disk::stamp& state) const {
  const std::lock_guard lock(mutex_);
  const auto known = records_.find(path);
  return known != records_.end() && !known->second.is_racy && known->second.state == state ? known->second.known->digest : "";
}

namespace {

/// Pulls a file to wherever it ends by then.
class growing_reader final : public byte_reader {
 public:
  explicit growing_reader(const opened_file& file) noexcept : file_(file) {}

  [[nodiscard]] std::uint64_t size() const noexcept override { return file_.state.size; }
  [[nodiscard]] result<std::size_t> read(std::span<char> into) override {
    auto count = read_at(file_.file.get(), into, done_);
    if (count) done_ += *count;
    return count;
  }
  [[nodiscard]] result<void> rewind() override {
    done_ = 0;
    return {};
  }

 private:
  const opened_file& file_;
  std::uint64_t done_ = 0;
};

}  // namespace

result<looked_at> look_at(const opened_file& file, std::string_view path, const call& by) {
  constexpr std::size_t window_bytes = 256 * 1024;
  const auto window = std::make_unique_for_overwrite<char[]>(window_bytes);
  const bool is_skill = last_name(path) == skill_file_name;
  std::shared_ptr<byte_reader> from = std::make_shared<growing_reader>(file);
  if (file.masks) from = std::make_shared<secrets::masking_reader>(std::move(from), secrets::policy_of(path));
  bytes::sha256 digest;
  std::string front;
  looked_at found;
  // A file that grows while it is read is read no further than a skill may be large.
  while (found.size <= max_skill_bytes) {
    HONDANA_TRY(still_wanted(by));
    HONDANA_TRY(const auto count, from->read(std::span(window.get(), window_bytes)));
    const std::string_view piece(window.get(), count);
    digest.feed(piece);
    found.size += piece.size();
    if (is_skill && front.size() < front_matter::front_bytes)
      front += piece.substr(0, front_matter::front_bytes - front.size());
    if (piece.empty()) break;
  }
  found.digest = digest.finish();
  if (is_skill) {
    found.frontmatter = front_matter::parse_frontmatter(front).map_error([](failure why) { return why.public_text; });
  }
  return found;
}

}  // namespace hondana::skills
