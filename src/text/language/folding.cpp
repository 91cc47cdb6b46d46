/// Text in the form that is compared, or shown.
#include "text/language/language.hpp"

#include "text/language/compatible.hpp"
#include "text/language/normalising.hpp"

namespace hondana::language {

std::string folded(std::string_view text) {
  std::string out;
  normalise(text, form::compared, out, nullptr);
  return out;
}

folded_text folded_with_sources(std::string_view text) {
  folded_text out;
  normalise(text, form::compared, out.text, &out.source);
  out.source.push_back(text.size());
  return out;
}

std::string composed(std::string_view text) {
  std::string out;
  normalise(text, form::shown, out, nullptr);
  return out;
}

std::string compatible(std::string_view text) {
  std::string out;
  normalise(text, form::compatible, out, nullptr);
  return out;
}

}  // namespace hondana::language
