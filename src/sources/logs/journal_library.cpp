/// Loads libsystemd at run time, and opens a journal with the matches of a source.
#include "sources/logs/journal_library.hpp"

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace hondana::logs {
result<const journal_library*> loaded_journal_library() {
  return libraries::load_once<journal_library>({"libsystemd.so.0", "journals require", "libsystemd0"});
}

namespace {

std::string errno_text(int code) { return std::generic_category().message(code < 0 ? -code : code); }

/// Adds matches to a journal. Remembers the first failure.
class match_builder {
 public:
  match_builder(const journal_library& library, sd_journal* journal) : library_(library), journal_(journal) {}

  void add(const std::string& text) { record_error(library_.add_match(journal_, text.data(), text.size())); }
  void add_or() { record_error(library_.add_disjunction(journal_)); }
  void add_and() { record_error(library_.add_conjunction(journal_)); }
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  void record_error(int code) noexcept {
    if (code < 0 && code_ == 0) code_ = code;
  }
  const journal_library& library_;
  sd_journal* journal_;
  int code_ = 0;
};

int add_matches(const journal_library& library, sd_journal* journal, const journal_options& options) {
  match_builder matches(library, journal);
  for (const auto& unit : options.units) {
    matches.add("_SYSTEMD_UNIT=" + unit);
    matches.add_or();
    matches.add("_PID=1");
    matches.add("UNIT=" + unit);
    matches.add_or();
    matches.add("_UID=0");
    matches.add("OBJECT_SYSTEMD_UNIT=" + unit);
    matches.add_or();
  }
  if (!options.units.empty()) matches.add_and();
  for (const auto& identifier : options.identifiers) matches.add("SYSLOG_IDENTIFIER=" + identifier);
  if (!options.identifiers.empty()) matches.add_and();
  if (options.min_level)
    for (int i = 0; i <= priority_of(*options.min_level); ++i) matches.add("PRIORITY=" + std::to_string(i));
  return matches.code();
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

failure journal_failure(std::string_view operation, int code) {
  const bool is_denied = code == -EACCES || code == -EPERM;
  return {
      is_denied ? errc::access_denied : errc::source_unavailable,
      "The journal cannot be " + std::string(operation) +
          (is_denied ? ": the server's user has no permission. Add it to the group systemd-journal." : " now. Retry later."),
      errno_text(code)};
}

result<journal_handle> open_journal_handle(const journal_library& library, const journal_options& options) {
  sd_journal* raw = nullptr;
  const int code = options.folder.empty() ? library.open(&raw, SD_JOURNAL_LOCAL_ONLY)
                                          : library.open_directory(&raw, options.folder.c_str(), 0);
  if (code < 0) return tl::unexpected(journal_failure("opened", code));
  journal_handle opened(raw, journal_closer(&library));
  static_cast<void>(library.set_data_threshold(raw, max_field_bytes));
  if (const int match_code = add_matches(library, raw, options); match_code < 0)
    return tl::unexpected(journal_failure("searched", match_code));
  return opened;
}

}  // namespace hondana::logs
