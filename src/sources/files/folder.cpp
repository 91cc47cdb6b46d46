/// Reading folders and examining what is in them.
#include "sources/files/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include <hondana/uri.hpp>

#include "base/uri/escapes.hpp"
#include "os/disk/folder_kinds.hpp"
#include "os/disk/folder_stream.hpp"
#include "os/disk/shortage.hpp"

namespace hondana::files {
namespace {

constexpr const char* not_shown = "access rules hide it from the caller";

bool is_dots(const char* name) noexcept { return std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0; }

}  // namespace

folder_names folder_names::of(std::string_view name) {
  folder_names one;
  one.text_ = uri::escaped_file_path(name);
  one.names_.push_back({0, static_cast<std::uint16_t>(one.text_.size())});
  return one;
}

tl::expected<folder_names, int> folder_names::read(int folder, std::size_t limit) {
  // A stream of its own: it closes what it was given.
  const auto stream = disk::stream_of(disk::handle(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  if (!stream) return tl::unexpected(errno);

  constexpr std::size_t text_limit = std::numeric_limits<std::uint32_t>::max() / 2;
  folder_names found;
  for (;;) {
    errno = 0;
    const auto* entry = ::readdir(stream.get());
    if (entry == nullptr) {
      if (errno != 0) return tl::unexpected(errno);
      break;
    }
    if (is_dots(entry->d_name)) continue;
    if (found.names_.size() >= limit || found.text_.size() > text_limit) {
      found.is_cut_ = true;
      break;
    }
    const auto encoded_name = uri::escaped_file_path(entry->d_name);
    found.names_.push_back({static_cast<std::uint32_t>(found.text_.size()), static_cast<std::uint16_t>(encoded_name.size())});
    found.text_ += encoded_name;
  }
  std::sort(found.names_.begin(), found.names_.end(),
            [&found](const name& a, const name& b) { return found.encoded(a) < found.encoded(b); });
  return found;
}

std::string folder_names::at(std::size_t index) const {
  const auto escaped = encoded(names_[index]);
  if (escaped.find('%') == std::string_view::npos) return std::string(escaped);
  return percent_decode(escaped).value();
}

examined examine(const root& of, int folder, const std::string& path, const char* name, const ignore::stack& ignored_by,
                 const call* by) {
  examined found;
  if (::fstatat(folder, name, &found.facts, AT_SYMLINK_NOFOLLOW) != 0) {
    disk::throw_if_short(errno);
    found.other_reason = errno == ENOENT ? "it has just disappeared" : std::strerror(errno);
    found.is_unsure = obstacle_of(errno).why == obstacle::trouble;
    return found;
  }
  const bool is_folder = S_ISDIR(found.facts.st_mode);
  found.decision = of.decisions().decide(path, is_folder, ignored_by);
  if (found.decision.is_served() && of.decisions().is_kept_back(found.facts)) found.decision.why = denial::kept_back;
  if (!found.decision.is_served()) return found;
  if (path.size() * 3 + of.uri().size() >= max_uri_bytes && of.uri_of(path).size() > max_uri_bytes) {
    found.other_reason = "its URI would be longer than " + std::to_string(max_uri_bytes) + " bytes";
    return found;
  }
  if (by != nullptr && by->who.view && !by->who.view->may_see(of.uri_of(path))) {
    found.other_reason = not_shown;
    return found;
  }
  if (S_ISLNK(found.facts.st_mode)) {
    const auto target = of.find(path, by);
    if (target && by != nullptr && !of.is_visible(path, *target, by->who)) {
      found.other_reason = not_shown;
      return found;
    }
    if (!target) {
      const auto& why = target.error();
      disk::throw_if_short(why.error);
      found.is_unsure = why.why == obstacle::trouble;
      found.other_reason = why.why != obstacle::missing ? why.reason
                           : why.error != 0             ? "broken link"
                                                        : "link to something left out: " + why.reason;
      return found;
    }
  } else if (is_folder) {
    const disk::handle inside(::openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!inside.is_open()) disk::throw_if_short(errno);
    if (inside.is_open() && disk::is_bare_repository(inside.get()) && !of.decisions().allows(path, true)) {
      found.decision.why = denial::version_control;
      return found;
    }
    if (inside.is_open() && of.below()->is_kernel_data(inside.get(), found.facts)) {
      found.other_reason = "kernel file system";
      return found;
    }
  }
  found.is_served = true;
  return found;
}

}  // namespace hondana::files
