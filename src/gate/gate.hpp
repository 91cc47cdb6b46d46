/// Decides whether a caller may do an operation, before anything else looks at it.
#pragma once

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "model/operation.hpp"

namespace hondana::gate {

/// The place where access rules, rates and the audit record stand. Threads: any.
class gate {
 public:
  /// Passes every operation of every caller.
  [[nodiscard]] result<void> admit(const caller& who, const model::operation& what) const;
};

}  // namespace hondana::gate
