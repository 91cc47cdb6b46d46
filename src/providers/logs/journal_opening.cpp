/// Folders, and matches as journalctl makes them.
#include "providers/logs/journal_opening.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "disk/handle.hpp"

namespace hondana::logs {
namespace {

std::string errno_text(int code) { return std::generic_category().message(code < 0 ? -code : code); }

result<void> check_folder(const std::string& path) {
  const disk::handle folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open()) return {};
  const auto code = errno;
  if (code == EACCES || code == EPERM)
    return fail(errc::access_denied, "The folder of the journal may not be read by the server's user.",
                path + ": " + errno_text(code));
  if (code == ENOENT || code == ENOTDIR)
    return fail(errc::resource_not_found, "There is no journal (yet): its folder is not there.",
                path + ": " + errno_text(code));
  return fail(errc::source_unavailable, "The folder of the journal cannot be opened now.", path + ": " + errno_text(code));
}

/// Adds matches one after the other; the first failure counts.
class matching {
 public:
  matching(const journal_library& by, sd_journal* to) : by_(by), to_(to) {}

  void match(const std::string& text) { note(by_.add_match(to_, text.data(), text.size())); }
  void alternative() { note(by_.add_disjunction(to_)); }
  void and_also() { note(by_.add_conjunction(to_)); }
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  void note(int code) noexcept {
    if (code < 0 && code_ == 0) code_ = code;
  }
  const journal_library& by_;
  sd_journal* to_;
  int code_ = 0;
};

int add_matches(const journal_library& by, sd_journal* to, const journal_options& what) {
  matching all(by, to);
  for (const auto& unit : what.units) {
    all.match("_SYSTEMD_UNIT=" + unit);
    all.alternative();
    all.match("_PID=1");
    all.match("UNIT=" + unit);
    all.alternative();
    all.match("_UID=0");
    all.match("OBJECT_SYSTEMD_UNIT=" + unit);
    all.alternative();
  }
  if (!what.units.empty()) all.and_also();
  for (const auto& one : what.identifiers) all.match("SYSLOG_IDENTIFIER=" + one);
  if (!what.identifiers.empty()) all.and_also();
  if (what.at_least)
    for (int i = 0; i <= priority_of(*what.at_least); ++i) all.match("PRIORITY=" + std::to_string(i));
  return all.code();
}

}  // namespace

int priority_of(records::severity level) noexcept {
  switch (level) {
    case records::severity::critical:
      return 2;
    case records::severity::error:
      return 3;
    case records::severity::warning:
      return 4;
    case records::severity::notice:
      return 5;
    case records::severity::info:
      return 6;
    case records::severity::debug:
    case records::severity::trace:
      break;
  }
  return 7;
}

failure journal_failure(std::string_view doing, int code) {
  const bool is_denied = code == -EACCES || code == -EPERM;
  return {is_denied ? errc::access_denied : errc::source_unavailable,
          "The journal cannot be " + std::string(doing) +
              (is_denied ? ": the server's user may not; the group systemd-journal may." : " now. Ask again later."),
          errno_text(code)};
}

result<journal_handle> open_matching(const journal_library& by, const journal_options& what) {
  if (!what.folder.empty())
    if (auto fits = check_folder(what.folder); !fits) return tl::unexpected(std::move(fits.error()));
  sd_journal* raw = nullptr;
  const int code = what.folder.empty() ? by.open(&raw, SD_JOURNAL_LOCAL_ONLY) : by.open_directory(&raw, what.folder.c_str(), 0);
  if (code < 0) return tl::unexpected(journal_failure("opened", code));
  journal_handle opened(raw, closes_journal(&by));
  if (what.folder.empty() && by.has_persistent_files(raw) <= 0 && by.has_runtime_files(raw) <= 0)
    return fail(
        errc::resource_not_found,
        "There is no journal that the server's user may read. Members of the group systemd-journal may read the system's.");
  static_cast<void>(by.set_data_threshold(raw, longest_datum));
  if (const int refused = add_matches(by, raw, what); refused < 0) return tl::unexpected(journal_failure("searched", refused));
  return opened;
}

}  // namespace hondana::logs
