/// What views show of resources, however their URIs are written.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/uri/spellings.hpp"
#include "server/gate/gate.hpp"

namespace hondana::gate {
namespace {

using by_uri = bool (view::*)(std::string_view) const;
using by_entry = bool (view::*)(const resource&) const;

template <class Allows>
bool holds_however_written(const gate& by, std::string_view uri, const Allows& allows) {
  const auto holds = [&](std::string_view one) {
    const auto whole = access::whole_of(one);
    return allows(one) && (whole.size() == one.size() || allows(whole));
  };
  if (!holds(uri)) return false;
  const auto others = by.other_spellings(uri);
  return others && std::all_of(others->begin(), others->end(), holds);
}

bool shows(const gate& by, const view* through, std::string_view uri, by_uri granted) {
  if (through == nullptr) return true;
  return holds_however_written(by, uri, [&](std::string_view one) { return (through->*granted)(one); });
}

bool shows(const gate& by, const view* through, const resource& entry, by_uri granted, by_entry granted_with) {
  if (through == nullptr || !through->looks_at_entries()) return shows(by, through, entry.uri, granted);
  std::optional<resource> other;
  return holds_however_written(by, entry.uri, [&](std::string_view one) {
    if (!(through->*granted)(one)) return false;
    if (one == entry.uri) return (through->*granted_with)(entry);
    if (!other) other = entry;
    other->uri = one;
    return (through->*granted_with)(*other);
  });
}

}  // namespace

std::optional<std::vector<std::string>> gate::other_spellings(std::string_view uri) const {
  std::size_t spent = 0;
  return uri::spellings_inside(uri, mounts_, spent);
}

bool gate::may_see(const view* through, std::string_view uri) const { return shows(*this, through, uri, &view::may_see); }

bool gate::may_read(const view* through, std::string_view uri) const { return shows(*this, through, uri, &view::may_read); }

bool gate::may_see(const view* through, const resource& entry) const {
  return shows(*this, through, entry, &view::may_see, &view::may_see_entry);
}

bool gate::may_read(const view* through, const resource& entry) const {
  return shows(*this, through, entry, &view::may_read, &view::may_read_entry);
}

}  // namespace hondana::gate
