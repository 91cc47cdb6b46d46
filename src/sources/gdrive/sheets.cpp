/// Naming the sheets that there are, and what rules let be read of a file's parts.
#include "sources/gdrive/sheets.hpp"

#include <algorithm>
#include <cstddef>

#include "sources/gdrive/describe.hpp"
#include "sources/gdrive/naming.hpp"
#include "sources/gdrive/provider.hpp"

namespace hondana::gdrive {
namespace {

std::string names_of(const std::vector<part>& sheets) {
  constexpr std::size_t most_named = 20;
  std::string out;
  std::size_t count = 0;
  for (const auto& one : sheets) {
    if (count++ == most_named) return out + ", …";
    (out += out.empty() ? "" : ", ") += '"' + shown(one.sheet) + '"';
  }
  return out;
}

}  // namespace

tl::unexpected<failure> no_such_sheet(const std::string& name, const std::vector<part>& sheets, const std::string& asked,
                                      const caller& who) {
  const auto there = "it has " + names_of(sheets);
  // To whom rules may hide a sheet one that is not there looks alike; the index has to let go of it.
  if (who.view) return fail(errc::resource_not_found, "The spreadsheet has no such sheet.", there);
  return fail(errc::invalid_argument, "sheet: \"" + name + "\" has no sheet \"" + shown(asked) + "\"; " + there +
                                          ". Use one of them, or leave out the parameter for all.");
}

bool may_read_sheet(const caller& who, const std::vector<resource>& wholes, const std::string& sheet) {
  return std::all_of(wholes.begin(), wholes.end(),
                     [&](const auto& whole) { return is_readable(who, entry_of_sheet(whole, sheet)); });
}

bool may_read_sheets(const caller& who, const std::vector<resource>& wholes, const std::vector<std::string>& all) {
  return std::all_of(all.begin(), all.end(), [&](const auto& sheet) { return may_read_sheet(who, wholes, sheet); });
}

bool may_read_original(const caller& who, const std::vector<resource>& wholes) {
  return std::all_of(wholes.begin(), wholes.end(), [&who](resource whole) {
    whole.uri += "?format=original";
    return is_readable(who, whole);
  });
}

}  // namespace hondana::gdrive
