/// The view of a caller by access rules, for tests of sources.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "server/gate/gate.hpp"

namespace hondana::test {

/// What rules about everybody leave to a caller without a proof.
inline std::shared_ptr<const access_filter> view_by(std::vector<access_rule> rules) {
  access_rules all;
  all.rules = std::move(rules);
  return gate::gate::make({}, all).value()->filter_of({"bob", {}, nullptr});
}

}  // namespace hondana::test
