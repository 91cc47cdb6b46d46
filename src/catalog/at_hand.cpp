/// Reads that are answered from memory, on whatever thread asks.
#include <memory>
#include <optional>
#include <string>

#include "catalog/catalog.hpp"
#include "catalog/read_cache.hpp"

namespace hondana::catalog {

std::optional<read_answer> catalog::read_at_hand(const caller& who, const std::string& uri, const std::string& asked_uri,
                                                 const read_options& how) const {
  if (!cache_ || how.with_entry) return std::nullopt;
  const auto* way = route_of(uri);
  // What never blocks is asked itself, and as quickly.
  if (way == nullptr || way->to->never_blocks()) return std::nullopt;
  const auto* through = who.view.get();
  // Where entries decide, the source is asked for one; and who may not read is told so in one place alone.
  if (through != nullptr && (through->looks_at_entries() || !rules_->may_read(through, uri))) return std::nullopt;
  const auto found = cache_->find_vouched({way->to->id(), uri, asked_uri, through});
  if (!found.what || !is_within(limits_.read_limit, *found.what)) return std::nullopt;
  // Contents that are resources of their own are each subject to rules.
  const auto& contents = found.what->contents;
  if (contents.size() != 1 || (contents.front().uri != asked_uri && contents.front().uri != uri)) return std::nullopt;
  // Last, since what is true now is what counts.
  if (!found.by || !found.by->holds()) return std::nullopt;
  cache_->confirmed();
  read_answer out;
  out.cache = {found.ttl, is_told_apart(who)};
  if (how.if_version && *how.if_version == found.what->version) {
    out.reading.version = found.what->version;
    out.is_unmodified = true;
  } else {
    out.reading = *found.what;
    out.home = way->to->lane();
  }
  out.reading.ttl = found.ttl;
  return out;
}

}  // namespace hondana::catalog
