/// Reads that are answered from memory, on whatever thread asks.
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "server/catalog/catalog.hpp"
#include "server/catalog/read_cache.hpp"

namespace hondana::catalog {

std::optional<held_answer> catalog::read_at_hand(const caller& who, std::string_view uri, std::string_view asked_uri) const {
  if (!cache_) return std::nullopt;
  const auto* way = route_of(uri);
  // What never blocks is asked itself, and as quickly.
  if (way == nullptr || way->to->never_blocks()) return std::nullopt;
  const auto* through = who.view.get();
  // Where entries decide, the source is asked for one.
  if (through != nullptr && through->looks_at_entries()) return std::nullopt;
  auto found = cache_->find_vouched({way->to->id(), uri, asked_uri, through});
  if (!found.what || !is_within(limits_.read_limit, *found.what)) return std::nullopt;
  // Who may not read is told so in one place alone.
  if (through != nullptr && !rules_->may_read(through, uri)) return std::nullopt;
  // Contents that are resources of their own are each subject to rules.
  const auto& contents = found.what->contents;
  if (contents.size() != 1 || (contents.front().uri != asked_uri && contents.front().uri != uri)) return std::nullopt;
  // Last, since what is true now is what counts.
  if (!found.by || !found.by->holds()) return std::nullopt;
  cache_->confirmed();
  return held_answer{std::move(found.what), way->to->lane(), {found.ttl, is_told_apart(who)}};
}

}  // namespace hondana::catalog
