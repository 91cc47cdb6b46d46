/// Reads one page of a log in files, the newest record first.
#pragma once

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/logs/records/log.hpp"
#include "sources/logs/records/matcher.hpp"
#include "sources/logs/records/opened_files.hpp"
#include "sources/logs/records/rotated_files.hpp"

namespace hondana::records {

struct page_request {
  const query& what;
  const matcher& wanted;
  const budget& most;
  const call& by;
  bool redact = true;
};

/// Errors: as `log::read`, and content_changed when the files were rotated or truncated just now: then it is to be begun anew.
[[nodiscard]] result<page> read_page(const listed_set& all, members& with, const page_request& request);

/// What a failure says of a member that is left out.
[[nodiscard]] std::string left_out(const std::string& name, const failure& why);
/// What the trouble of a member says of it.
[[nodiscard]] std::string read_in_part(const member& of);

/// Members that were changed last so long before `since` are not looked at: times without zones, and clocks, may be wrong by a
/// day and some hours. What a member begins with says nothing of those before: clocks that are set later begin with any time.
inline constexpr instant write_slack = 26 * 3'600'000'000ll;

}  // namespace hondana::records
