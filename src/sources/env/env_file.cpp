/// A file of variables on disk: its name in URIs, reading it completely, and watching it.
#include "sources/env/env_file.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include <hondana/clock.hpp>

#include "base/ascii/ascii.hpp"
#include "base/json/utf8.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/disk/opened_folder.hpp"
#include "os/disk/private_file.hpp"
#include "protocol/model/caller_checks.hpp"
#include "text/located/format.hpp"
#include "text/secrets/redactor.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::env {
namespace {

constexpr std::size_t longest_slug = 40;

bool is_of_slug(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }

}  // namespace

bool is_slug(std::string_view text) noexcept {
  return !text.empty() && text.size() <= longest_slug && text.front() != '-' && text.back() != '-' &&
         std::all_of(text.begin(), text.end(), is_of_slug);
}

std::string slug_of(std::string_view path) {
  auto name = path.substr(path.rfind('/') + 1);  // 0 if there is none
  std::string slug;
  while (!name.empty()) {
    const auto part = name.substr(0, name.find('.'));
    name.remove_prefix(std::min(name.size(), part.size() + 1));
    if (part.empty() || ascii::is_same(part, "env")) continue;
    if (!slug.empty() && slug.back() != '-') slug += '-';
    for (const char one : part) {
      const char c = ascii::lower(one);
      if (is_of_slug(c) && c != '-') {
        slug += c;
      } else if (!slug.empty() && slug.back() != '-') {
        slug += '-';
      }
    }
  }
  slug.resize(std::min(slug.size(), longest_slug));
  while (slug.ends_with('-')) slug.pop_back();
  return slug.empty() ? "env" : slug;
}

namespace {

constexpr int tries = 3;
// O_NONBLOCK: the name may be a pipe's, and opening must not wait for a writer.
constexpr int file_flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

using outcome = look_at_file::what;

std::string errno_text(int error) { return std::error_code(error, std::generic_category()).message(); }

disk::handle open_folder(const std::string& path) {
  return disk::handle(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

disk::handle open_beneath(int folder, const std::string& name) {
  const int descriptor = disk::open_resolved(folder, name, file_flags, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
  // An old kernel cannot confine links to the folder, so none are followed.
  if (descriptor < 0 && (errno == ENOSYS || errno == EPERM)) return disk::open_without_links(folder, name, file_flags);
  return disk::handle(descriptor);
}

look_at_file unread(outcome came, std::string detail) {
  look_at_file out;
  out.came = came;
  out.detail = std::move(detail);
  return out;
}

look_at_file unopened(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return unread(outcome::missing, errno_text(error));
    case ELOOP:
    case EXDEV:
    case ENXIO:
      return unread(outcome::no_file, error == ENXIO ? "it is a socket" : "its link leads out of its folder");
    case EACCES:
    case EPERM:
      return unread(outcome::refused, errno_text(error));
    default:
      return unread(outcome::failing, errno_text(error));
  }
}

look_at_file read_whole(int file, const struct stat& first) {
  auto facts = first;
  for (int i = 0; i < tries; ++i) {
    look_at_file out;
    out.state = disk::stamp_of(facts);
    out.is_racy = disk::is_racy(out.state, disk::wall_clock());
    if (out.state.size > most_file_bytes) {
      out.came = outcome::too_large;
      return out;
    }
    // One more byte than expected, to detect appended data.
    out.bytes.resize(static_cast<std::size_t>(out.state.size) + 1);
    const auto count = disk::read_at(file, out.bytes.data(), out.bytes.size(), 0);
    if (!count) return unread(outcome::failing, errno_text(count.error()));
    out.bytes.resize(*count);
    if (::fstat(file, &facts) != 0) return unread(outcome::failing, errno_text(errno));
    if (disk::stamp_of(facts) == out.state && *count == out.state.size) {
      out.came = outcome::taken;
      return out;
    }
  }
  return unread(outcome::changing, "it changed during every read");
}

}  // namespace

result<std::unique_ptr<env_file>> env_file::open(const std::string& path, std::vector<std::string> kept_back) {
  std::error_code problem;
  const auto whole = std::filesystem::absolute(path, problem).lexically_normal();
  const auto name = whole.filename().string();
  if (problem || name.empty() || name == "." || name == "..") {
    return fail(errc::invalid_argument,
                "\"" + path + "\" is not the path of a file. Name a file with variables, such as prod.env.");
  }
  const auto folder = whole.parent_path().string();
  auto at = open_folder(folder);
  if (!at.is_open()) {
    return fail(errc::source_unavailable,
                "The folder of \"" + path + "\" cannot be opened: " + errno_text(errno) + ". Check its path and permissions.");
  }
  return std::unique_ptr<env_file>(new env_file(folder, name, std::move(kept_back), std::move(at)));
}

bool env_file::is_beside(const env_file& other) const {
  const auto mine = held();
  const auto its = other.held();
  struct stat here{};
  struct stat there{};
  if (!mine || !its || ::fstat(mine->get(), &here) != 0 || ::fstat(its->get(), &there) != 0) return folder_ == other.folder_;
  return here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

std::shared_ptr<const disk::handle> env_file::held() const {
  const std::lock_guard lock(mutex_);
  if (disk::is_in_place(at_->get(), folder_)) return at_;
  auto again = open_folder(folder_);
  if (!again.is_open()) return nullptr;
  at_ = std::make_shared<disk::handle>(std::move(again));
  return at_;
}

bool env_file::is_kept_back(const struct stat& facts) const {
  return std::any_of(kept_back_.begin(), kept_back_.end(), [&facts](const std::string& one) {
    struct stat own{};
    return ::stat(one.c_str(), &own) == 0 && own.st_dev == facts.st_dev && own.st_ino == facts.st_ino;
  });
}

look_at_file env_file::look(const std::optional<disk::stamp>& known, const std::function<void(int)>& entering) const {
  const auto at = held();
  if (!at) {
    auto out = unread(outcome::failing, "its folder is gone");
    out.has_folder = false;
    return out;
  }
  if (entering) entering(at->get());
  std::error_code problem;
  const auto folder = std::filesystem::canonical(folder_, problem).string();
  if (!problem && disk::own_files(kept_back_, folder).has_name(name_))
    return unread(outcome::missing, "it is one of the server's own files");
  struct stat named{};
  const bool is_link = ::fstatat(at->get(), name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(named.st_mode);
  const auto done = [is_link](look_at_file out) {
    out.is_elsewhere = is_link;
    return out;
  };
  if (is_link && !problem) {
    // Copies and rotated versions of the server's own files are recognized by name.
    const auto target = std::filesystem::canonical(std::filesystem::path(folder_) / name_, problem);
    const auto beside = target.parent_path().string();
    if (!problem && disk::own_files(kept_back_, beside).has_name(target.filename().string())) {
      return done(unread(outcome::missing, "it is one of the server's own files"));
    }
  }
  const auto file = open_beneath(at->get(), name_);
  if (!file.is_open()) return done(unopened(errno));
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0) return done(unread(outcome::failing, errno_text(errno)));
  if (!S_ISREG(facts.st_mode)) return done(unread(outcome::no_file, "it is not a regular file"));
  if (is_kept_back(facts)) return done(unread(outcome::missing, "it is one of the server's own files"));
  if (known && disk::stamp_of(facts) == *known) return done(unread(outcome::same, {}));
  return done(read_whole(file.get(), facts));
}

namespace {

constexpr std::size_t most_remarks = 10;  // per read, in the log

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

/// The variables with the secrets found in the file's text. For example, a private key pasted without quotes spans several
/// variables.
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
      // The value is spelled differently in the file, so the position of the secret in it is unknown.
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
    // The parser's message may contain names of variables that callers may not see.
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
  // At most a day, since the system clock cannot wait for arbitrarily long.
  const auto until = std::min(by.deadline, monotonic_clock::now() + std::chrono::hours(24));
  if (!monotonic_clock::try_lock_until(looking, until))
    return fail(errc::timed_out, "The file " + slug_ + " is still being read. Retry later.");
  auto before = latest();
  auto found = file_->look(known_, entering_);
  if (found.is_elsewhere && giving_up_) giving_up_("it is a symbolic link");
  if (found.came == outcome::same) return before;
  // Many writers empty a file before they write to it.
  const bool is_being_written = found.came == outcome::taken && found.bytes.empty() && found.is_racy && before->now;
  const bool has_folder = found.has_folder;
  const bool is_read = found.came == outcome::taken || found.came == outcome::too_large;
  known_ = is_read && !found.is_racy ? std::optional(found.state) : std::nullopt;
  // A removed folder sends no event through an open descriptor, so a missing file must be looked for.
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
