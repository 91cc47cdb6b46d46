/// The gate with no rules: everything passes.
#include "gate/gate.hpp"

namespace hondana::gate {

result<void> gate::admit(const caller&, const model::operation&) const { return {}; }

}  // namespace hondana::gate
