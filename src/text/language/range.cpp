/// Basic filtering of language tags.
#include "text/language/language.hpp"

#include "base/ascii/characters.hpp"

namespace hondana::language {

bool is_in_range(std::string_view tag, std::string_view range) noexcept {
  if (range == "*") return true;
  if (range.empty() || !ascii::begins_with(tag, range)) return false;
  return tag.size() == range.size() || tag[range.size()] == '-';
}

}  // namespace hondana::language
