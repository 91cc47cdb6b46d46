/// Counting one record.
#include "sources/logs/slice.hpp"

#include <algorithm>

namespace hondana::logs {

void slice::add(const records::record& one) {
  ++total;
  const bool is_bad = is_error(one.level);
  if (is_bad) ++errors;
  ++levels[one.level ? static_cast<std::size_t>(*one.level) : severities];
  messages.add(one);
  if (!one.time) return;
  if (!first || *one.time < *first) first = one.time;
  if (!last || *one.time > *last) last = one.time;
  if (end <= begin) return;
  const auto since = std::clamp<records::instant>(*one.time - begin, 0, end - begin - 1);
  auto& at = parts[static_cast<std::size_t>(since * static_cast<records::instant>(parts_count) / (end - begin))];
  ++at.total;
  if (is_bad) ++at.errors;
  if (one.level == records::severity::critical) ++at.critical;
}

}  // namespace hondana::logs
