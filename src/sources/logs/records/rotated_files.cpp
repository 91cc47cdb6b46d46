/// Lists the files of a log: recognizes rotated names, orders them and opens them.
#include "sources/logs/records/rotated_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <re2/re2.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "os/disk/confined_dir.hpp"
#include "os/disk/file_descriptor.hpp"

namespace hondana::records {
namespace {

constexpr std::size_t max_digits = 18;

/// Parses numbers separated by '-', '_', '.', ':', 'T' or nothing. Returns nothing for other texts. Dates without separators
/// (20260131) are split, so that all forms of dates are comparable.
std::optional<file_rank> parse_middle(std::string_view middle) {
  file_rank rank;
  bool is_date = false;
  for (std::size_t offset = 0; offset < middle.size();) {
    const auto begin = offset;
    std::uint64_t number = 0;
    while (offset < middle.size() && ascii::is_digit(middle[offset])) {
      if (offset - begin == max_digits) return std::nullopt;
      number = number * 10 + static_cast<std::uint64_t>(middle[offset++] - '0');
    }
    const auto digits = offset - begin;
    if (digits == 0) return std::nullopt;
    if (rank.numbers.empty() && (digits == 8 || digits == 10 || digits == 12 || digits == 14) && number >= 1970'00'00 &&
        middle.starts_with('2')) {
      // A date, possibly with hours and so on.
      std::uint64_t scale = 1;
      for (auto i = digits; i > 8; i -= 2) scale *= 100;
      const auto date = number / scale;
      rank.numbers = {date / 10000, date / 100 % 100, date % 100};
      for (auto remaining = scale; remaining > 1; remaining /= 100) rank.numbers.push_back(number / (remaining / 100) % 100);
      is_date = true;
    } else {
      is_date = is_date || (rank.numbers.empty() && digits == 4 && offset < middle.size());
      is_date = is_date || (rank.numbers.empty() && digits == 10);  // seconds since 1970
      rank.numbers.push_back(number);
    }
    if (offset == middle.size()) break;
    constexpr std::string_view separators = "-_.:T";
    if (separators.find(middle[offset]) == std::string_view::npos) return std::nullopt;
    if (++offset == middle.size()) return std::nullopt;
  }
  if (rank.numbers.empty()) return std::nullopt;
  if (!is_date && rank.numbers.size() > 1) return std::nullopt;
  rank.scheme = is_date ? file_rank::rotation_scheme::dated : file_rank::rotation_scheme::numbered;
  return rank;
}

}  // namespace

bool file_rank::precedes(const file_rank& other) const noexcept {
  if (scheme == rotation_scheme::numbered) return numbers > other.numbers;
  return numbers < other.numbers;
}

std::string_view uncompressed_name(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 4> suffixes{".gz", ".xz", ".zst", ".zstd"};
  for (const auto suffix : suffixes) {
    if (name.size() > suffix.size() && name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  }
  return name;
}

std::optional<file_rank> parse_rank(std::string_view name, std::string_view live_name) {
  if (name == live_name) return file_rank{};
  name = uncompressed_name(name);
  const auto parse_between = [&](std::string_view prefix, std::string_view suffix) -> std::optional<file_rank> {
    if (name.size() < prefix.size() + suffix.size() + 2 || !name.starts_with(prefix) || !name.ends_with(suffix))
      return std::nullopt;
    const char separator = name[prefix.size()];
    if (separator != '.' && separator != '-' && separator != '_') return std::nullopt;
    return parse_middle(name.substr(prefix.size() + 1, name.size() - prefix.size() - suffix.size() - 1));
  };
  if (auto rank = parse_between(live_name, "")) return rank;
  const auto dot = live_name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return std::nullopt;
  return parse_between(live_name.substr(0, dot), live_name.substr(dot));
}

namespace {

constexpr int max_scans = 50;
constexpr std::size_t max_names = 1'000'000;  // checked in the folder

tl::unexpected<failure> file_error(int error, const std::string& operation, std::string_view noun = "file") {
  const std::string text = operation + ": " + std::strerror(error);
  const std::string subject(noun);
  if (error == ENOENT || error == ENOTDIR) {
    return fail(errc::resource_not_found,
                "The " + subject + " of this log does not exist (yet). Retry when it does, or correct path in its table.",
                text);
  }
  if (error == EACCES || error == EPERM) {
    return fail(errc::access_denied,
                "The " + subject + " of this log is not readable: give the server's user permission to read it.", text);
  }
  return fail(errc::source_unavailable, "The log cannot be read now. Retry later.", text);
}

using stamps_by_name = std::map<std::string, disk::stamp>;

/// The server's own files, by their names in the folder.
disk::own_files find_own_files(const log_file_set& set) {
  if (set.own_files.empty()) return {};
  std::error_code error;
  const auto real = std::filesystem::canonical(set.folder, error);
  return {set.own_files, error ? set.folder : real.string()};
}

/// Lists the files that belong to the log now. Ignores links, folders, pipes, devices and the server's own files.
result<stamps_by_name> scan_folder(const log_file_set& set, const disk::handle& folder, const disk::own_files& own_files,
                                   std::optional<mode_t>& irregular_mode) {
  disk::dir_stream names(disk::handle(::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  if (!names.is_open()) return file_error(names.error(), "opening the folder", "folder");
  stamps_by_name stamps;
  for (std::size_t count = 0; count < max_names; ++count) {
    const auto* const entry = names.next();
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    const bool is_member = set.pattern ? name == set.live_name || re2::RE2::FullMatch(name, *set.pattern)
                                       : parse_rank(name, set.live_name).has_value();
    if (!is_member || own_files.has_name(name)) continue;
    struct stat attributes{};
    if (::fstatat(folder.get(), name.c_str(), &attributes, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) continue;  // it was just deleted
      return file_error(errno, "looking at " + name);
    }
    if (own_files.is_hard_link(attributes)) continue;
    if (S_ISREG(attributes.st_mode)) {
      stamps.emplace(name, disk::stamp_of(attributes));
    } else if (name == set.live_name) {
      irregular_mode = attributes.st_mode;
    }
  }
  if (names.error() != 0) return file_error(names.error(), "reading the folder", "folder");
  return stamps;
}

/// Whether no file was created, deleted or renamed.
bool has_same_names(const stamps_by_name& a, const stamps_by_name& b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& left, const auto& right) {
    return left.first == right.first && left.second.device == right.second.device && left.second.inode == right.second.inode;
  });
}

bool is_ordered_by_rank(const std::vector<listed_file>& files) {
  std::set<file_rank::rotation_scheme> schemes;
  for (const auto& file : files) {
    if (file.rank.scheme != file_rank::rotation_scheme::live) schemes.insert(file.rank.scheme);
  }
  return schemes.empty() || (schemes.size() == 1 && *schemes.begin() != file_rank::rotation_scheme::other);
}

void sort_files(std::vector<listed_file>& files) {
  const auto is_live_file = [](const listed_file& file) { return file.rank.scheme == file_rank::rotation_scheme::live; };
  if (is_ordered_by_rank(files)) {
    std::sort(files.begin(), files.end(), [&](const listed_file& a, const listed_file& b) {
      if (is_live_file(a) || is_live_file(b)) return !is_live_file(a) && is_live_file(b);
      if (a.rank.precedes(b.rank)) return true;
      return !b.rank.precedes(a.rank) && a.name < b.name;
    });
    return;
  }
  // Programs that compress files preserve the modification time, but only in whole seconds.
  constexpr std::int64_t second = 1'000'000'000;
  std::sort(files.begin(), files.end(), [&](const listed_file& a, const listed_file& b) {
    if (is_live_file(a) || is_live_file(b)) return !is_live_file(a) && is_live_file(b);
    if (a.stamp.modified / second != b.stamp.modified / second) return a.stamp.modified < b.stamp.modified;
    if (a.rank.scheme == b.rank.scheme && a.rank.scheme != file_rank::rotation_scheme::other &&
        a.rank.numbers != b.rank.numbers) {
      return a.rank.precedes(b.rank);
    }
    if (a.rank.scheme != b.rank.scheme) return a.rank.scheme < b.rank.scheme;
    return a.name < b.name;
  });
}

/// Removes duplicates: keeps the first of hard links, and uncompressed files instead of compressed ones.
std::vector<listed_file> remove_duplicates(const stamps_by_name& stamps, const log_file_set& set) {
  std::vector<listed_file> files;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  for (const auto& [name, stamp] : stamps) {
    const auto base_name = uncompressed_name(name);
    if (base_name != name && stamps.contains(std::string(base_name))) continue;
    if (!seen.insert({stamp.device, stamp.inode}).second) continue;
    auto parsed_rank = parse_rank(name, set.live_name);
    files.push_back({name, parsed_rank ? std::move(*parsed_rank) : file_rank{file_rank::rotation_scheme::other, {}}, stamp});
  }
  return files;
}

}  // namespace

result<file_listing> list_files(const log_file_set& set) {
  file_listing listing;
  const int folder = ::open(set.folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return file_error(errno, "opening " + set.folder, "folder");
  listing.folder = std::make_shared<const disk::handle>(folder);
  listing.own_files = find_own_files(set);
  std::optional<mode_t> irregular_mode;  // the type of the file in the place of the live file, if it is not a regular one
  auto previous = scan_folder(set, *listing.folder, listing.own_files, irregular_mode);
  if (!previous) return tl::unexpected(std::move(previous.error()));
  // Names that are changed during a listing may be seen twice or not at all.
  for (int i = 0; i < max_scans; ++i) {
    auto current = scan_folder(set, *listing.folder, listing.own_files, irregular_mode);
    if (!current) return tl::unexpected(std::move(current.error()));
    const bool is_stable = has_same_names(*previous, *current);
    previous = std::move(current);
    if (is_stable) break;
    if (i + 1 == max_scans) return fail(errc::content_changed, "The log files kept being renamed. Retry.");
  }
  listing.files = remove_duplicates(*previous, set);
  sort_files(listing.files);
  if (listing.files.size() > set.max_files) {
    listing.files.erase(listing.files.begin(), listing.files.end() - static_cast<std::ptrdiff_t>(set.max_files));
    listing.notes.push_back("Only the newest " + std::to_string(set.max_files) + " log files are read.");
  }
  const bool has_live_file = previous->contains(set.live_name);
  if (irregular_mode && !has_live_file) {
    const std::string type_text = S_ISDIR(*irregular_mode)   ? "a folder"
                                  : S_ISLNK(*irregular_mode) ? "a link"
                                                             : "a pipe, a socket or a device";
    if (listing.files.empty()) {
      return fail(errc::access_denied, "path in this log's table is " + type_text + "; set the path of a file.",
                  set.live_name + " is " + type_text);
    }
    listing.notes.push_back(set.live_name + " is not read: it is " + type_text +
                            ". The records are those of the rotated files beside it.");
  }
  if (listing.files.empty()) return file_error(ENOENT, "finding " + set.live_name);
  if (!has_live_file && !irregular_mode) {
    listing.notes.push_back(set.live_name + " does not exist (now). The records are those of its rotated files.");
  }
  return listing;
}

result<disk::handle> open_listed(const file_listing& listing, const listed_file& file) {
  auto opened =
      disk::open_without_links(listing.folder->get(), file.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (!opened.is_open()) return file_error(errno, "opening " + file.name);
  struct stat attributes{};
  if (::fstat(opened.get(), &attributes) != 0) return file_error(errno, "looking at " + file.name);
  if (listing.own_files.is_hard_link(attributes)) return file_error(ENOENT, file.name + " is the server's own");
  const auto stamp = disk::stamp_of(attributes);
  if (!S_ISREG(attributes.st_mode) || stamp.device != file.stamp.device || stamp.inode != file.stamp.inode) {
    return fail(errc::content_changed, "The log files were rotated while they were read. Retry.");
  }
  return opened;
}

}  // namespace hondana::records
