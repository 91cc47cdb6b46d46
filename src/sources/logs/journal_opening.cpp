/// Folders, and matches as journalctl makes them.
#include "sources/logs/journal_opening.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

namespace hondana::logs {
namespace {

std::string errno_text(int code) { return std::generic_category().message(code < 0 ? -code : code); }

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
  return {
      is_denied ? errc::access_denied : errc::source_unavailable,
      "The journal cannot be " + std::string(doing) +
          (is_denied ? ": the server's user has no permission. Add it to the group systemd-journal." : " now. Retry later."),
      errno_text(code)};
}

result<journal_handle> open_matching(const journal_library& by, const journal_options& what) {
  sd_journal* raw = nullptr;
  const int code = what.folder.empty() ? by.open(&raw, SD_JOURNAL_LOCAL_ONLY) : by.open_directory(&raw, what.folder.c_str(), 0);
  if (code < 0) return tl::unexpected(journal_failure("opened", code));
  journal_handle opened(raw, closes_journal(&by));
  static_cast<void>(by.set_data_threshold(raw, longest_datum));
  if (const int refused = add_matches(by, raw, what); refused < 0) return tl::unexpected(journal_failure("searched", refused));
  return opened;
}

}  // namespace hondana::logs
