/// Reading so that no mix of two states is given away.
#include "sources/config_files/file_text.hpp"

#include <sys/stat.h>

#include <utility>

#include "os/disk/read_at.hpp"

namespace hondana::config_files {
namespace {

constexpr int most_attempts = 3;

/// What it holds now; the state goes with it. Nothing when it changed meanwhile.
result<bool> read_once(const opened_file& from, std::string_view name, file_text& into) {
  struct stat before{};
  struct stat after{};
  if (::fstat(from.file.get(), &before) != 0) return refused_by_system(errno, name);
  into.state = disk::stamp_of(before);
  if (into.state.size > most_file_bytes) {
    return fail(errc::response_too_large,
                '"' + std::string(name) +
                    "\" is larger than 8 MiB, the limit for configuration files. Serve it with a source of type files.");
  }
  into.bytes.assign(into.state.size, '\0');
  const auto count = disk::read_at(from.file.get(), into.bytes.data(), into.bytes.size(), 0);
  if (!count) return refused_by_system(count.error(), name);
  if (::fstat(from.file.get(), &after) != 0) return refused_by_system(errno, name);
  return *count == into.bytes.size() && disk::stamp_of(after) == into.state;
}

}  // namespace

result<file_text> read_text(const opened_file& from, std::string_view name) {
  file_text read;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const auto begun = disk::wall_clock();
    HONDANA_TRY(const auto whole, read_once(from, name, read));
    if (!whole) continue;
    // As of before it was read: a thread may be held up after that for longer than a tick.
    read.is_racy = is_racy(read.state, begun);
    if (!read.is_racy) return read;
    file_text again;
    HONDANA_TRY(const auto same, read_once(from, name, again));
    if (same && again.bytes == read.bytes) return read;
  }
  return fail(errc::content_changed, '"' + std::string(name) + "\" changed while it was being read. Read it again.");
}

}  // namespace hondana::config_files
