/// What access rules grant of tools and prompts.
#pragma once

#include <hondana/access.hpp>
#include <hondana/provider.hpp>

#include "server/access/decisions.hpp"
#include "server/gate/gate.hpp"
#include "server/handlers/table.hpp"

namespace hondana::session {

[[nodiscard]] inline grant granted_of(const access::decisions& by, const handlers::offered_tool& one) {
  return by.of_tool(one.entry->name, one.manners.is_built_in);
}
[[nodiscard]] inline grant granted_of(const access::decisions& by, const handlers::offered_prompt& one) {
  return by.of_prompt(one.entry->name);
}

/// Whether there is such a tool or prompt for this caller. `one`: null, where there is none for anybody.
template <class Offered>
[[nodiscard]] bool may_use(const gate::gate& rules, const caller& who, const Offered* one) {
  if (one == nullptr) return false;
  const auto granted = rules.decisions_of(who);
  return !granted || granted_of(*granted, *one) >= grant::read;
}

}  // namespace hondana::session
