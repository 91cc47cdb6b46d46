/// Naming the sheets that there are.
#include "providers/gdrive/sheets.hpp"

#include <cstddef>

#include "model/index_caller.hpp"
#include "providers/gdrive/describe.hpp"
#include "providers/gdrive/naming.hpp"

namespace hondana::gdrive {
namespace {

std::string names_of(const workbook& of, const caller& who) {
  constexpr std::size_t most_named = 20;
  std::string out;
  std::size_t count = 0;
  for (const auto& one : of.sheets) {
    if (who.view && !who.view->may_read(uri_of_sheet(of.uri, one.sheet))) continue;
    if (count++ == most_named) return out + ", …";
    (out += out.empty() ? "" : ", ") += '"' + shown(one.sheet) + '"';
  }
  return out.empty() ? "none that you may read" : out;
}

}  // namespace

tl::unexpected<failure> no_such_sheet(const workbook& of, const std::string& asked, const caller& who) {
  // Peers are told nothing but "not found" of what is not there, and so not what there is. The index has to let go of it.
  return fail(model::is_index(who) ? errc::resource_not_found : errc::invalid_argument,
              "sheet: \"" + of.name + "\" has no sheet \"" + shown(asked) + "\"; it has " + names_of(of, who) +
                  ". Ask for one of them, or leave the parameter out for all.");
}

}  // namespace hondana::gdrive
