/// Looking, understanding and telling.
#include "sources/env/watched_file.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include <hondana/clock.hpp>

#include "base/json/utf8.hpp"
#include "protocol/model/still_wanted.hpp"
#include "text/located/format.hpp"
#include "text/secrets/redactor.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::env {
namespace {

constexpr std::size_t most_remarks = 10;  // of one look, in the log

using outcome = look_at_file::what;

std::string line_of_first(std::string_view text, bool (*is_wrong)(std::string_view)) {
  std::size_t line = 1;
  for (std::size_t begin = 0; begin <= text.size(); ++line) {
    const auto end = std::min(text.find('\n', begin), text.size());
    if (is_wrong(text.substr(begin, end - begin))) break;
    begin = end + 1;
  }
  return ", line " + std::to_string(line);
}

/// The secrets of a file that overlap with `at`, in order.
std::span<const secrets::span> within(const std::vector<secrets::span>& found, const located::place& at) {
  const auto first = std::partition_point(found.begin(), found.end(), [&at](const auto& one) { return one.end <= at.begin; });
  const auto last = std::partition_point(first, found.end(), [&at](const auto& one) { return one.begin < at.end; });
  return {first, last};
}

/// Variables with what the text of their file says is secret: a key that was pasted into it without quotes becomes several.
variables::given given_by(located::node table, std::string_view bytes) {
  std::vector<secrets::span> found;
  secrets::find(bytes, secrets::policy::settings, found);
  variables::given all;
  all.reserve(table.members.size());
  for (auto& one : table.members) {
    given_variable made{std::move(one.key), std::move(one.value.text)};
    made.has_secret_name = !within(found, one.key_at).empty();
    const auto& at = one.value.at;
    const auto written = bytes.substr(at.begin, at.end - at.begin);
    const auto offset = written.find(made.text);
    for (const auto& secret : within(found, at)) {
      // Where it is written otherwise than it reads, nobody knows which part is meant.
      if (offset > 1) {
        made.secret_parts.push_back({0, made.text.size()});
        break;
      }
      const auto begin = at.begin + offset;
      const auto from = std::max(secret.begin, begin) - begin;
      const auto to = std::min(std::max(secret.end, begin) - begin, made.text.size());
      if (from < to) made.secret_parts.push_back({from, to});
    }
    all.push_back(std::move(made));
  }
  return all;
}

}  // namespace

watched_file::watched_file(std::string slug, std::unique_ptr<env_file> file, rules by,
                           std::function<void(std::string_view)> log)
    : slug_(std::move(slug)),
      prefix_("env://" + slug_ + '/'),
      file_(std::move(file)),
      by_(std::move(by)),
      log_(std::move(log)),
      state_(std::make_shared<const file_state>()) {}

void watched_file::watch(std::shared_ptr<change_listener> to) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(to);
}

void watched_file::cover_with(std::function<void(int)> entering, std::function<void(const std::string&)> giving_up) {
  entering_ = std::move(entering);
  giving_up_ = std::move(giving_up);
}

void watched_file::be_silent() {
  const std::lock_guard lock(log_mutex_);
  log_ = {};
}

void watched_file::say(const std::string& line) {
  const std::lock_guard lock(log_mutex_);
  if (log_) log_(secrets::redact_text(line));
}

std::shared_ptr<const file_state> watched_file::latest() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

bool watched_file::is_settled() const {
  const std::lock_guard lock(mutex_);
  return is_settled_;
}

std::shared_ptr<const file_state> watched_file::keep(const file_state& before, errc code, const std::string& wrong,
                                                     std::string detail) const {
  auto next = std::make_shared<file_state>();
  next->now = before.now;
  auto text = "The file " + slug_ + ' ' + wrong + ". ";
  text += before.now ? "Its previous contents are served. Correct it." : "Correct it and retry.";
  next->trouble = failure{code, std::move(text), std::move(detail)};
  return next;
}

std::shared_ptr<const file_state> watched_file::understand(look_at_file found, const file_state& before) {
  const auto lost = [&](errc code, const std::string& wrong) {
    auto next = std::make_shared<file_state>();
    next->trouble = failure{code, "The file " + slug_ + ' ' + wrong, std::move(found.detail)};
    return next;
  };
  switch (found.came) {
    case outcome::too_large:
      return keep(before, errc::response_too_large, "has more than 8 MiB, the limit", {});
    case outcome::changing:
      return keep(before, errc::content_changed, "changed during every read", std::move(found.detail));
    case outcome::missing:
      return lost(errc::source_unavailable, "does not exist now. Retry when it exists.");
    case outcome::no_file:
      return lost(errc::source_unavailable, "is not a regular file inside its folder. Replace it with one.");
    case outcome::refused:
      return lost(errc::access_denied, "cannot be read: the operating system denied access. Check its permissions.");
    case outcome::failing:
      return lost(errc::source_unavailable, "cannot be read: the disk or network behind it fails. Retry later.");
    case outcome::same:
    case outcome::taken:
      break;
  }
  const auto is_no_text = [](std::string_view line) { return !json::is_utf8(line); };
  if (json::has_nul(found.bytes)) {
    const auto place = line_of_first(found.bytes, [](std::string_view line) { return json::has_nul(line); });
    return keep(before, errc::source_unavailable, "contains a NUL byte" + place, {});
  }
  if (is_no_text(found.bytes)) {
    return keep(before, errc::source_unavailable, "is not UTF-8" + line_of_first(found.bytes, is_no_text), {});
  }
  auto read = located::read(located::format::dotenv, found.bytes);
  if (!read) {
    // Its text may name variables that callers may not see.
    const auto place = read.error().about.empty() ? std::string() : ", line " + read.error().about;
    return keep(before, errc::source_unavailable, "has invalid syntax" + place, std::move(read.error().public_text));
  }
  tell_remarks(std::move(read->remarks));
  auto next = std::make_shared<file_state>();
  next->now = std::make_shared<const variables>(prefix_, given_by(std::move(read->root), found.bytes), by_);
  return next;
}

void watched_file::tell_remarks(std::vector<std::string> remarks) {
  if (remarks == remarks_) return;
  for (std::size_t i = 0; i < std::min(remarks.size(), most_remarks); ++i) say("env: " + slug_ + ": " + remarks[i]);
  if (remarks.size() > most_remarks) {
    say("env: " + slug_ + ": and " + std::to_string(remarks.size() - most_remarks) + " more such lines");
  }
  remarks_ = std::move(remarks);
}

void watched_file::tell_log(const file_state& before, const file_state& now) {
  const auto text_of = [](const file_state& one) { return one.trouble ? one.trouble->public_text : std::string(); };
  if (text_of(before) == text_of(now)) return;
  const auto& path = file_->name();
  if (!now.trouble) return say("env: " + slug_ + " (" + path + ") can be read again");
  say("env: " + text_of(now) + (now.trouble->private_text.empty() ? "" : " (" + path + ": " + now.trouble->private_text + ')'));
}

result<std::shared_ptr<const file_state>> watched_file::refreshed(const call& by) {
  HONDANA_TRY(still_wanted(by));
  std::unique_lock looking(looking_, std::defer_lock);
  // Longer than a day would overflow what the system's clock can wait for.
  const auto until = std::min(by.deadline, monotonic_clock::now() + std::chrono::hours(24));
  if (!monotonic_clock::try_lock_until(looking, until))
    return fail(errc::timed_out, "The file " + slug_ + " is still being read. Retry later.");
  auto before = latest();
  auto found = file_->look(known_, entering_);
  if (found.is_elsewhere && giving_up_) giving_up_("it is a symbolic link");
  if (found.came == outcome::same) return before;
  // Writers empty a file before they write to it.
  const bool is_being_written = found.came == outcome::taken && found.bytes.empty() && found.is_racy && before->now;
  const bool has_folder = found.has_folder;
  const bool is_read = found.came == outcome::taken || found.came == outcome::too_large;
  known_ = is_read && !found.is_racy ? std::optional(found.state) : std::nullopt;
  // A folder that we hold open tells nobody of its own end, so that a missing file is looked for.
  const bool is_lost = found.came == outcome::missing || found.came == outcome::failing;
  const bool is_done = has_folder && !is_being_written && !is_lost && found.came != outcome::changing;
  auto now = is_being_written ? before : understand(std::move(found), *before);
  std::unique_lock lock(mutex_);
  state_ = now;
  is_settled_ = is_done;
  const auto to = listener_;
  lock.unlock();
  tell_log(*before, *now);
  if (to && before->now != now->now) tell_changes(before->now.get(), now->now.get(), *to);
  return now;
}

}  // namespace hondana::env
