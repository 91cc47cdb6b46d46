/// Looking up a member.
#include "text/located/node.hpp"

#include <algorithm>

namespace hondana::located {

const node* node::find(std::string_view key) const noexcept {
  const auto found = std::find_if(members.begin(), members.end(), [key](const member& one) { return one.key == key; });
  return is != kind::table || found == members.end() ? nullptr : &found->value;
}

}  // namespace hondana::located
