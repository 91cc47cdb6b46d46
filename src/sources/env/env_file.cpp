/// A file of variables on disk: its name in URIs, reading it completely, and watching it.
#include "sources/env/env_file.hpp"

#include <fcntl.h>
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
#include "os/disk/confined_dir.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/disk/whole_file.hpp"
#include "protocol/model/caller_checks.hpp"
#include "text/located/format.hpp"
#include "text/secrets/redactor.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::env {
namespace {

constexpr std::size_t max_slug_bytes = 40;

bool is_slug_char(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }

}  // namespace

bool is_slug(std::string_view text) noexcept {
  return !text.empty() && text.size() <= max_slug_bytes && text.front() != '-' && text.back() != '-' &&
         std::all_of(text.begin(), text.end(), is_slug_char);
}

std::string make_slug(std::string_view path) {
  auto name = path.substr(path.rfind('/') + 1);  // 0 if there is none
  std::string slug;
  while (!name.empty()) {
    const auto part = name.substr(0, name.find('.'));
    name.remove_prefix(std::min(name.size(), part.size() + 1));
    if (part.empty() || ascii::equals_ignore_case(part, "env")) continue;
    if (!slug.empty() && slug.back() != '-') slug += '-';
    for (const char letter : part) {
      const char c = ascii::to_lower(letter);
      if (is_slug_char(c) && c != '-') {
        slug += c;
      } else if (!slug.empty() && slug.back() != '-') {
        slug += '-';
      }
    }
  }
  slug.resize(std::min(slug.size(), max_slug_bytes));
  while (slug.ends_with('-')) slug.pop_back();
  return slug.empty() ? "env" : slug;
}

namespace {

constexpr int max_attempts = 3;

using read_status = file_read_result::read_status;

std::string errno_text(int error) { return std::error_code(error, std::generic_category()).message(); }

file_read_result read_failure(read_status status, std::string detail) {
  file_read_result out;
  out.status = status;
  out.detail = std::move(detail);
  return out;
}

file_read_result open_failure(const disk::lookup_error& error) {
  switch (error.kind) {
    case disk::lookup_error_kind::missing:
      return read_failure(read_status::missing, errno_text(error.error));
    case disk::lookup_error_kind::outside:
    case disk::lookup_error_kind::loop:
    case disk::lookup_error_kind::kernel_data:
      return read_failure(read_status::not_regular, "its link leads out of its folder");
    case disk::lookup_error_kind::forbidden:
      return read_failure(read_status::access_denied, errno_text(error.error));
    case disk::lookup_error_kind::system_error:
      break;
  }
  return read_failure(read_status::failed, errno_text(error.error));
}

file_read_result read_file(int file) {
  for (int i = 0; i < max_attempts; ++i) {
    const auto start = disk::wall_clock();
    auto whole = disk::read_whole(file, max_file_bytes);
    if (!whole) return read_failure(read_status::failed, errno_text(whole.error()));
    if (whole->outcome == disk::whole_file::read_outcome::changed) continue;
    file_read_result out;
    out.status = whole->is_too_large() ? read_status::too_large : read_status::loaded;
    out.bytes = std::move(whole->bytes);
    out.stamp = whole->state;
    out.is_racy = disk::is_racy(out.stamp, start);
    return out;
  }
  return read_failure(read_status::changing, "it changed during every read");
}

}  // namespace

result<std::unique_ptr<env_file>> env_file::open(const std::string& path, std::vector<std::string> own_files) {
  std::error_code error;
  const auto absolute_path = std::filesystem::absolute(path, error).lexically_normal();
  const auto name = absolute_path.filename().string();
  if (error || name.empty() || name == "." || name == "..") {
    return fail(errc::invalid_argument,
                "\"" + path + "\" is not the path of a file. Name a file with variables, such as prod.env.");
  }
  // The folder need not be readable: its file is opened by name.
  auto dir = disk::served_dir::open(absolute_path.parent_path().string(), own_files, F_OK);
  if (!dir) {
    return fail(errc::source_unavailable, "The folder of \"" + path + "\" cannot be opened: " + errno_text(dir.error()) +
                                              ". Check its path and permissions.");
  }
  return std::unique_ptr<env_file>(new env_file(std::move(*dir), name, std::move(own_files)));
}

bool env_file::is_in_same_folder(const env_file& other) const {
  const auto own_folder = dir_.current();
  const auto other_folder = other.dir_.current();
  struct stat own_attributes{};
  struct stat other_attributes{};
  if (!own_folder || !other_folder || ::fstat((*own_folder)->dir.descriptor(), &own_attributes) != 0 ||
      ::fstat((*other_folder)->dir.descriptor(), &other_attributes) != 0)
    return folder() == other.folder();
  return own_attributes.st_dev == other_attributes.st_dev && own_attributes.st_ino == other_attributes.st_ino;
}

bool env_file::is_own_file(const struct stat& attributes) const {
  return std::any_of(own_files_.begin(), own_files_.end(), [&attributes](const std::string& path) {
    struct stat own_attributes{};
    return ::stat(path.c_str(), &own_attributes) == 0 && own_attributes.st_dev == attributes.st_dev &&
           own_attributes.st_ino == attributes.st_ino;
  });
}

file_read_result env_file::read(const std::optional<disk::stamp>& known_stamp,
                                const std::function<void(int)>& add_folder) const {
  const auto folder = dir_.current();
  if (!folder) {
    auto out = read_failure(read_status::failed, "its folder is gone");
    out.has_folder = false;
    return out;
  }
  const auto& [dir, own] = **folder;
  if (add_folder) add_folder(dir.descriptor());
  const auto own_file_failure = [] { return read_failure(read_status::missing, "it is one of the server's own files"); };
  if (own.has_name(name_)) return own_file_failure();
  struct stat link_attributes{};
  const bool is_link = ::fstatat(dir.descriptor(), name_.c_str(), &link_attributes, AT_SYMLINK_NOFOLLOW) == 0 &&
                       S_ISLNK(link_attributes.st_mode);
  const auto with_link_flag = [is_link](file_read_result out) {
    out.is_link = is_link;
    return out;
  };
  const auto resolved = dir.resolve(name_);
  if (!resolved) return with_link_flag(open_failure(resolved.error()));
  if (own.has_name(resolved->path) || is_own_file(resolved->attributes)) return with_link_flag(own_file_failure());
  if (!S_ISREG(resolved->attributes.st_mode))
    return with_link_flag(read_failure(read_status::not_regular, "it is not a regular file"));
  const auto file = dir.open_file(*resolved);
  if (!file) return with_link_flag(open_failure(file.error()));
  struct stat attributes{};
  if (::fstat(file->get(), &attributes) != 0) return with_link_flag(read_failure(read_status::failed, errno_text(errno)));
  if (known_stamp && disk::stamp_of(attributes) == *known_stamp)
    return with_link_flag(read_failure(read_status::unchanged, {}));
  return with_link_flag(read_file(file->get()));
}

namespace {

constexpr std::size_t max_warnings = 10;  // per read, in the log

using read_status = file_read_result::read_status;

std::string first_bad_line(std::string_view text, bool (*is_bad)(std::string_view)) {
  std::size_t line = 1;
  for (std::size_t begin = 0; begin <= text.size(); ++line) {
    const auto end = std::min(text.find('\n', begin), text.size());
    if (is_bad(text.substr(begin, end - begin))) break;
    begin = end + 1;
  }
  return ", line " + std::to_string(line);
}

/// The secrets of a file that overlap with `range`, in order.
std::span<const secrets::span> spans_within(const std::vector<secrets::span>& spans, const located::source_range& range) {
  const auto first =
      std::partition_point(spans.begin(), spans.end(), [&range](const auto& span) { return span.end <= range.begin; });
  const auto last = std::partition_point(first, spans.end(), [&range](const auto& span) { return span.begin < range.end; });
  return {first, last};
}

/// The variables with the secrets found in the file's text. For example, a private key pasted without quotes spans several
/// variables.
variable_set::raw_variables extract_variables(located::node table, std::string_view bytes) {
  std::vector<secrets::span> secret_spans;
  secrets::find(bytes, secrets::masking_policy::settings, secret_spans);
  variable_set::raw_variables result_variables;
  result_variables.reserve(table.members.size());
  for (auto& member : table.members) {
    raw_variable variable{std::move(member.key), std::move(member.value.text)};
    variable.has_secret_name = !spans_within(secret_spans, member.key_range).empty();
    const auto& range = member.value.range;
    const auto raw_value = bytes.substr(range.begin, range.end - range.begin);
    const auto offset = raw_value.find(variable.text);
    for (const auto& secret : spans_within(secret_spans, range)) {
      // The value is spelled differently in the file, so the position of the secret in it is unknown.
      if (offset > 1) {
        variable.secret_parts.push_back({0, variable.text.size()});
        break;
      }
      const auto begin = range.begin + offset;
      const auto part_begin = std::max(secret.begin, begin) - begin;
      const auto part_end = std::min(std::max(secret.end, begin) - begin, variable.text.size());
      if (part_begin < part_end) variable.secret_parts.push_back({part_begin, part_end});
    }
    result_variables.push_back(std::move(variable));
  }
  return result_variables;
}

}  // namespace

watched_file::watched_file(std::string slug, std::unique_ptr<env_file> file, variable_rules rules,
                           std::function<void(std::string_view)> log)
    : slug_(std::move(slug)),
      prefix_("env://" + slug_ + '/'),
      file_(std::move(file)),
      rules_(std::move(rules)),
      log_(std::move(log)),
      state_(std::make_shared<const file_state>()) {}

void watched_file::set_listener(std::shared_ptr<change_listener> listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

void watched_file::set_watch_callbacks(std::function<void(int)> add_folder,
                                       std::function<void(const std::string&)> switch_to_polling) {
  add_folder_ = std::move(add_folder);
  switch_to_polling_ = std::move(switch_to_polling);
}

void watched_file::disable_log() {
  const std::lock_guard lock(log_mutex_);
  log_ = {};
}

void watched_file::log_line(const std::string& line) {
  const std::lock_guard lock(log_mutex_);
  if (log_) log_(secrets::redact_text(line));
}

std::shared_ptr<const file_state> watched_file::latest() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

bool watched_file::is_stable() const {
  const std::lock_guard lock(mutex_);
  return is_stable_;
}

std::shared_ptr<const file_state> watched_file::with_error(const file_state& previous, errc code, const std::string& problem,
                                                           std::string detail) const {
  auto next = std::make_shared<file_state>();
  next->current = previous.current;
  auto text = "The file " + slug_ + ' ' + problem + ". ";
  text += previous.current ? "Its previous contents are served. Correct it." : "Correct it and retry.";
  next->error = failure{code, std::move(text), std::move(detail)};
  return next;
}

std::shared_ptr<const file_state> watched_file::parse(file_read_result read, const file_state& previous) {
  const auto unavailable = [&](errc code, const std::string& problem) {
    auto next = std::make_shared<file_state>();
    next->error = failure{code, "The file " + slug_ + ' ' + problem, std::move(read.detail)};
    return next;
  };
  switch (read.status) {
    case read_status::too_large:
      return with_error(previous, errc::response_too_large, "has more than 8 MiB, the limit", {});
    case read_status::changing:
      return with_error(previous, errc::content_changed, "changed during every read", std::move(read.detail));
    case read_status::missing:
      return unavailable(errc::source_unavailable, "does not exist now. Retry when it exists.");
    case read_status::not_regular:
      return unavailable(errc::source_unavailable, "is not a regular file inside its folder. Replace it with one.");
    case read_status::access_denied:
      return unavailable(errc::access_denied, "cannot be read: the operating system denied access. Check its permissions.");
    case read_status::failed:
      return unavailable(errc::source_unavailable, "cannot be read: the disk or network behind it fails. Retry later.");
    case read_status::unchanged:
    case read_status::loaded:
      break;
  }
  const auto is_not_utf8 = [](std::string_view line) { return !json::is_utf8(line); };
  if (json::has_nul(read.bytes)) {
    const auto location = first_bad_line(read.bytes, [](std::string_view line) { return json::has_nul(line); });
    return with_error(previous, errc::source_unavailable, "contains a NUL byte" + location, {});
  }
  if (is_not_utf8(read.bytes)) {
    return with_error(previous, errc::source_unavailable, "is not UTF-8" + first_bad_line(read.bytes, is_not_utf8), {});
  }
  auto parsed = located::read(rules_.file_format, read.bytes);
  if (!parsed) {
    // The parser's message may contain names of variables that callers may not see.
    const auto location = parsed.error().subject.empty() ? std::string() : ", line " + parsed.error().subject;
    return with_error(previous, errc::source_unavailable, "has invalid syntax" + location,
                      std::move(parsed.error().public_text));
  }
  log_warnings(std::move(parsed->warnings));
  auto next = std::make_shared<file_state>();
  next->current = std::make_shared<const variable_set>(prefix_, extract_variables(std::move(parsed->root), read.bytes), rules_);
  return next;
}

void watched_file::log_warnings(std::vector<std::string> warnings) {
  if (warnings == warnings_) return;
  for (std::size_t i = 0; i < std::min(warnings.size(), max_warnings); ++i) log_line("env: " + slug_ + ": " + warnings[i]);
  if (warnings.size() > max_warnings) {
    log_line("env: " + slug_ + ": and " + std::to_string(warnings.size() - max_warnings) + " more such lines");
  }
  warnings_ = std::move(warnings);
}

void watched_file::log_transition(const file_state& previous, const file_state& current) {
  const auto error_text = [](const file_state& state) { return state.error ? state.error->public_text : std::string(); };
  if (error_text(previous) == error_text(current)) return;
  const auto& path = file_->name();
  if (!current.error) return log_line("env: " + slug_ + " (" + path + ") can be read again");
  log_line("env: " + error_text(current) +
           (current.error->private_text.empty() ? "" : " (" + path + ": " + current.error->private_text + ')'));
}

result<std::shared_ptr<const file_state>> watched_file::refresh(const request_context& context) {
  HONDANA_TRY(check_cancellation(context));
  std::unique_lock lock(read_mutex_, std::defer_lock);
  // At most a day, since the system clock cannot wait for arbitrarily long.
  const auto deadline = std::min(context.deadline, monotonic_clock::now() + std::chrono::hours(24));
  if (!monotonic_clock::try_lock_until(lock, deadline))
    return fail(errc::timed_out, "The file " + slug_ + " is still being read. Retry later.");
  auto previous = latest();
  auto read = file_->read(known_stamp_, add_folder_);
  if (read.is_link && switch_to_polling_) switch_to_polling_("it is a symbolic link");
  if (read.status == read_status::unchanged) return previous;
  // Many writers empty a file before they write to it.
  const bool is_being_written = read.status == read_status::loaded && read.bytes.empty() && read.is_racy && previous->current;
  const bool has_folder = read.has_folder;
  const bool is_read = read.status == read_status::loaded || read.status == read_status::too_large;
  known_stamp_ = is_read && !read.is_racy ? std::optional(read.stamp) : std::nullopt;
  // A removed folder sends no event through an open descriptor, so a missing file must be looked for.
  const bool is_lost = read.status == read_status::missing || read.status == read_status::failed;
  const bool is_done = has_folder && !is_being_written && !is_lost && read.status != read_status::changing;
  auto current = is_being_written ? previous : parse(std::move(read), *previous);
  std::unique_lock state_lock(mutex_);
  state_ = current;
  is_stable_ = is_done;
  const auto listener = listener_;
  state_lock.unlock();
  log_transition(*previous, *current);
  if (listener && previous->current != current->current)
    notify_changes(previous->current.get(), current->current.get(), *listener);
  return current;
}

}  // namespace hondana::env
