/// Going through the folders as libsystemd does.
#include "sources/logs/journal_files.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "os/disk/folder_stream.hpp"
#include "os/disk/handle.hpp"

namespace hondana::logs {
namespace {

constexpr std::size_t most_journal_names = 100'000;  // in one folder
constexpr std::size_t machine_digits = 32;

bool is_machine(std::string_view name) noexcept {
  return name.size() == machine_digits && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
         });
}

/// Empty where it cannot be told.
std::string this_machine() {
  std::ifstream in("/etc/machine-id");
  std::string out;
  if (!(in >> out) || !is_machine(out)) out.clear();
  return out;
}

/// Counts files of one folder; of those in it, whose names are machines', too. Returns 0, or what opening it said.
int count_files(int at, const char* path, const std::string& machine, bool goes_in, journal_files& into) {
  const auto names = disk::stream_of(disk::handle(::openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  if (!names) {
    const int problem = errno;
    if (problem == EACCES || problem == EPERM) ++into.refused;
    return problem;
  }
  into.has_folder = true;
  const int here = ::dirfd(names.get());
  for (std::size_t count = 0; count < most_journal_names; ++count) {
    const dirent* const one = ::readdir(names.get());
    if (one == nullptr) break;
    const std::string_view name = one->d_name;
    if (name.ends_with(".journal") || name.ends_with(".journal~")) {
      const disk::handle file(::openat(here, one->d_name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
      ++(file.is_open() ? into.readable : into.refused);
    } else if (goes_in && is_machine(name.substr(0, name.find('.'))) && (machine.empty() || name == machine)) {
      static_cast<void>(count_files(here, one->d_name, machine, false, into));
    }
  }
  return 0;
}

}  // namespace

std::string journal_files::remark() const {
  if (refused == 0 || readable == 0) return {};
  return std::to_string(refused) + " of " + std::to_string(refused + readable) +
         " journal files are left out: the server's user has no permission to read them. Add it to the group systemd-journal.";
}

result<journal_files> look_at_journal(const std::string& folder) {
  journal_files out;
  std::string tried;
  int problem = 0;
  const auto look = [&](const std::string& path, const std::string& machine) {
    const int said = count_files(AT_FDCWD, path.c_str(), machine, true, out);
    if (said != 0) tried += (tried.empty() ? "" : "; ") + path + ": " + std::strerror(said);
    if (said != 0 && said != ENOENT && said != ENOTDIR && problem == 0) problem = said;
  };
  if (folder.empty()) {
    const auto machine = this_machine();
    for (const auto* path : {"/var/log/journal", "/run/log/journal"}) look(path, machine);
  } else {
    look(folder, {});
  }
  if (out.readable != 0) return out;
  if (out.refused != 0) {
    return fail(
        errc::access_denied,
        "The server's user has no permission to read the journal. Add it to the group systemd-journal, and restart the server.",
        tried);
  }
  if (problem != 0) {
    return fail(errc::source_unavailable, "The journal's folder cannot be opened now. Retry later.", tried);
  }
  if (!folder.empty() && !out.has_folder) {
    return fail(errc::resource_not_found,
                "The journal's folder does not exist (yet). Retry when it does, or correct journal_folder in its table.",
                tried);
  }
  return fail(
      errc::resource_not_found,
      folder.empty()
          ? "The system journal has no files (yet). Check that systemd-journald is running and stores its journal."
          : "The journal's folder contains no journal files (yet). Retry when it does, or correct journal_folder in its table.",
      tried);
}

}  // namespace hondana::logs
