/// What a caller's view grants of a resource, for sources that have its entry.
#pragma once

#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

namespace hondana::model {

/// Whether a view shows a resource: by its URI and, where the view looks at entries, by its entry. Null shows everything.
[[nodiscard]] inline bool may_see(const view* through, const resource& entry) {
  return through == nullptr || (through->may_see(entry.uri) && (!through->looks_at_entries() || through->may_see_entry(entry)));
}

/// The same for reading it.
[[nodiscard]] inline bool may_read(const view* through, const resource& entry) {
  return through == nullptr ||
         (through->may_read(entry.uri) && (!through->looks_at_entries() || through->may_read_entry(entry)));
}

}  // namespace hondana::model
