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
#include "os/disk/file_descriptor.hpp"
#include "os/disk/opened_folder.hpp"

namespace hondana::records {
namespace {

constexpr std::size_t most_figures = 18;

/// Parses numbers separated by '-', '_', '.', ':', 'T' or nothing. Returns nothing for other texts. Dates without separators
/// (20260131) are split, so that all forms of dates are comparable.
std::optional<file_rank> rank_of_middle(std::string_view middle) {
  file_rank out;
  bool is_date = false;
  for (std::size_t at = 0; at < middle.size();) {
    const auto begin = at;
    std::uint64_t number = 0;
    while (at < middle.size() && ascii::is_digit(middle[at])) {
      if (at - begin == most_figures) return std::nullopt;
      number = number * 10 + static_cast<std::uint64_t>(middle[at++] - '0');
    }
    const auto figures = at - begin;
    if (figures == 0) return std::nullopt;
    if (out.numbers.empty() && (figures == 8 || figures == 10 || figures == 12 || figures == 14) && number >= 1970'00'00 &&
        middle.starts_with('2')) {
      // A date, possibly with hours and so on.
      std::uint64_t scale = 1;
      for (auto i = figures; i > 8; i -= 2) scale *= 100;
      const auto date = number / scale;
      out.numbers = {date / 10000, date / 100 % 100, date % 100};
      for (auto rest = scale; rest > 1; rest /= 100) out.numbers.push_back(number / (rest / 100) % 100);
      is_date = true;
    } else {
      is_date = is_date || (out.numbers.empty() && figures == 4 && at < middle.size());
      is_date = is_date || (out.numbers.empty() && figures == 10);  // seconds since 1970
      out.numbers.push_back(number);
    }
    if (at == middle.size()) break;
    constexpr std::string_view between = "-_.:T";
    if (between.find(middle[at]) == std::string_view::npos) return std::nullopt;
    if (++at == middle.size()) return std::nullopt;
  }
  if (out.numbers.empty()) return std::nullopt;
  if (!is_date && out.numbers.size() > 1) return std::nullopt;
  out.how = is_date ? file_rank::scheme::dated : file_rank::scheme::numbered;
  return out;
}

}  // namespace

bool file_rank::is_before(const file_rank& than) const noexcept {
  if (how == scheme::numbered) return numbers > than.numbers;
  return numbers < than.numbers;
}

std::string_view unpacked_name(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 4> endings{".gz", ".xz", ".zst", ".zstd"};
  for (const auto ending : endings) {
    if (name.size() > ending.size() && name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  }
  return name;
}

std::optional<file_rank> rank_of(std::string_view name, std::string_view live) {
  if (name == live) return file_rank{};
  name = unpacked_name(name);
  const auto middle_of = [&](std::string_view front, std::string_view back) -> std::optional<file_rank> {
    if (name.size() < front.size() + back.size() + 2 || !name.starts_with(front) || !name.ends_with(back)) return std::nullopt;
    const char separator = name[front.size()];
    if (separator != '.' && separator != '-' && separator != '_') return std::nullopt;
    return rank_of_middle(name.substr(front.size() + 1, name.size() - front.size() - back.size() - 1));
  };
  if (auto found = middle_of(live, "")) return found;
  const auto dot = live.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return std::nullopt;
  return middle_of(live.substr(0, dot), live.substr(dot));
}

namespace {

constexpr int most_looks = 50;
constexpr std::size_t most_names = 1'000'000;  // checked in the folder

tl::unexpected<failure> not_there(int error, const std::string& what, std::string_view thing = "file") {
  const std::string text = what + ": " + std::strerror(error);
  const std::string subject(thing);
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

using facts_by_name = std::map<std::string, disk::stamp>;

/// The server's own files, by their names in the folder.
disk::own_files own_in(const set_place& where) {
  if (where.kept_back.empty()) return {};
  std::error_code problem;
  const auto real = std::filesystem::canonical(where.folder, problem);
  return {where.kept_back, problem ? where.folder : real.string()};
}

/// Lists the files that belong to the log now. Ignores links, folders, pipes, devices and the server's own files.
result<facts_by_name> look_once(const set_place& where, const disk::handle& folder, const disk::own_files& own,
                                std::optional<mode_t>& refused) {
  auto names = disk::stream_of(disk::handle(::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  if (!names) return not_there(errno, "opening the folder", "folder");
  facts_by_name out;
  for (std::size_t count = 0; count < most_names; ++count) {
    errno = 0;
    const dirent* one = ::readdir(names.get());
    if (one == nullptr) {
      if (errno != 0) return not_there(errno, "reading the folder", "folder");
      break;
    }
    const std::string name = one->d_name;
    const bool is_one =
        where.pattern ? name == where.live || re2::RE2::FullMatch(name, *where.pattern) : rank_of(name, where.live).has_value();
    if (!is_one || own.has_name(name)) continue;
    struct stat facts{};
    if (::fstatat(folder.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) continue;  // it was just deleted
      return not_there(errno, "looking at " + name);
    }
    if (own.is_one(facts)) continue;
    if (S_ISREG(facts.st_mode)) {
      out.emplace(name, disk::stamp_of(facts));
    } else if (name == where.live) {
      refused = facts.st_mode;
    }
  }
  return out;
}

/// Whether no file was created, deleted or renamed.
bool has_same_names(const facts_by_name& a, const facts_by_name& b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.device == y.second.device && x.second.inode == y.second.inode;
  });
}

bool is_by_rank(const std::vector<listed_file>& files) {
  std::set<file_rank::scheme> found;
  for (const auto& one : files) {
    if (one.rank.how != file_rank::scheme::live) found.insert(one.rank.how);
  }
  return found.empty() || (found.size() == 1 && *found.begin() != file_rank::scheme::other);
}

void put_in_order(std::vector<listed_file>& files) {
  const auto is_live = [](const listed_file& one) { return one.rank.how == file_rank::scheme::live; };
  if (is_by_rank(files)) {
    std::sort(files.begin(), files.end(), [&](const listed_file& a, const listed_file& b) {
      if (is_live(a) || is_live(b)) return !is_live(a) && is_live(b);
      if (a.rank.is_before(b.rank)) return true;
      return !b.rank.is_before(a.rank) && a.name < b.name;
    });
    return;
  }
  // Programs that compress files preserve the modification time, but only in whole seconds.
  constexpr std::int64_t second = 1'000'000'000;
  std::sort(files.begin(), files.end(), [&](const listed_file& a, const listed_file& b) {
    if (is_live(a) || is_live(b)) return !is_live(a) && is_live(b);
    if (a.facts.modified / second != b.facts.modified / second) return a.facts.modified < b.facts.modified;
    if (a.rank.how == b.rank.how && a.rank.how != file_rank::scheme::other && a.rank.numbers != b.rank.numbers) {
      return a.rank.is_before(b.rank);
    }
    if (a.rank.how != b.rank.how) return a.rank.how < b.rank.how;
    return a.name < b.name;
  });
}

/// Removes duplicates: keeps the first of hard links, and uncompressed files instead of compressed ones.
std::vector<listed_file> without_twins(const facts_by_name& all, const set_place& where) {
  std::vector<listed_file> out;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  for (const auto& [name, facts] : all) {
    const auto plain = unpacked_name(name);
    if (plain != name && all.contains(std::string(plain))) continue;
    if (!seen.insert({facts.device, facts.inode}).second) continue;
    auto rank = rank_of(name, where.live);
    out.push_back({name, rank ? std::move(*rank) : file_rank{file_rank::scheme::other, {}}, facts});
  }
  return out;
}

}  // namespace

result<listed_set> list_files(const set_place& where) {
  listed_set out;
  const int folder = ::open(where.folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return not_there(errno, "opening " + where.folder, "folder");
  out.folder = std::make_shared<const disk::handle>(folder);
  out.own = own_in(where);
  std::optional<mode_t> refused;  // the type of the file in the place of the live file, if it is not a regular one
  auto before = look_once(where, *out.folder, out.own, refused);
  if (!before) return tl::unexpected(std::move(before.error()));
  // Names that are changed during a listing may be seen twice or not at all.
  for (int i = 0; i < most_looks; ++i) {
    auto again = look_once(where, *out.folder, out.own, refused);
    if (!again) return tl::unexpected(std::move(again.error()));
    const bool is_settled = has_same_names(*before, *again);
    before = std::move(again);
    if (is_settled) break;
    if (i + 1 == most_looks) return fail(errc::content_changed, "The log files kept being renamed. Retry.");
  }
  out.files = without_twins(*before, where);
  put_in_order(out.files);
  if (out.files.size() > where.most) {
    out.files.erase(out.files.begin(), out.files.end() - static_cast<std::ptrdiff_t>(where.most));
    out.remarks.push_back("Only the newest " + std::to_string(where.most) + " log files are read.");
  }
  const bool is_live_there = before->contains(where.live);
  if (refused && !is_live_there) {
    const std::string what = S_ISDIR(*refused) ? "a folder" : S_ISLNK(*refused) ? "a link" : "a pipe, a socket or a device";
    if (out.files.empty()) {
      return fail(errc::access_denied, "path in this log's table is " + what + "; set the path of a file.",
                  where.live + " is " + what);
    }
    out.remarks.push_back(where.live + " is not read: it is " + what +
                          ". The records are those of the rotated files beside it.");
  }
  if (out.files.empty()) return not_there(ENOENT, "finding " + where.live);
  if (!is_live_there && !refused) {
    out.remarks.push_back(where.live + " does not exist (now). The records are those of its rotated files.");
  }
  return out;
}

result<disk::handle> open_listed(const listed_set& in, const listed_file& which) {
  auto opened =
      disk::open_without_links(in.folder->get(), which.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (!opened.is_open()) return not_there(errno, "opening " + which.name);
  struct stat facts{};
  if (::fstat(opened.get(), &facts) != 0) return not_there(errno, "looking at " + which.name);
  if (in.own.is_one(facts)) return not_there(ENOENT, which.name + " is the server's own");
  const auto now = disk::stamp_of(facts);
  if (!S_ISREG(facts.st_mode) || now.device != which.facts.device || now.inode != which.facts.inode) {
    return fail(errc::content_changed, "The log files were rotated while they were read. Retry.");
  }
  return opened;
}

}  // namespace hondana::records
