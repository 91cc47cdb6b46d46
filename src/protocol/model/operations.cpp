/// Operations of clients, answers of the catalog, and changes, independent of protocol revisions.
#include "protocol/model/operations.hpp"

namespace hondana::model {

const value* argument_at(const value& arguments, const std::vector<std::string>& path) noexcept {
  const auto* place = &arguments;
  for (const auto& step : path) {
    if (place != nullptr) place = place->find(step);
  }
  return place != nullptr && place->is_null() ? nullptr : place;
}

}  // namespace hondana::model
