/// Operations of clients, answers of the catalog, and changes, independent of protocol revisions.
#include "protocol/model/operations.hpp"

namespace hondana::model {

const value* find_argument(const value& arguments, const std::vector<std::string>& path) noexcept {
  const auto* current = &arguments;
  for (const auto& name : path) {
    if (current != nullptr) current = current->find(name);
  }
  return current != nullptr && current->is_null() ? nullptr : current;
}

}  // namespace hondana::model
