/// Few elements of many.
#include "text/rendering/office/open_styles.hpp"

namespace hondana::rendering {
namespace {

/// "ja" and "JP": "ja-JP".
std::string language_tag(const std::string& language, const std::string& country) {
  if (language.empty() || language == "none" || language == "zxx") return {};
  return country.empty() || country == "none" ? language : language + '-' + country;
}

}  // namespace

void open_styles::begin(const element& what, const attributes& with) {
  if (what.is(space::style, "style") || what.is(space::style, "default-style")) {
    style_ = with.text(space::style, "name");
  } else if (what.is(space::style, "table-properties")) {
    if (with.text(space::table, "display") == "false") hidden_.insert(style_);
  } else if (what.is(space::style, "text-properties")) {
    // The first that says one is the default.
    if (found_.western_language.empty())
      found_.western_language = language_tag(with.text(space::format, "language"), with.text(space::format, "country"));
    if (found_.eastern_language.empty())
      found_.eastern_language =
          language_tag(with.text(space::style, "language-asian"), with.text(space::style, "country-asian"));
  } else if (what.is(space::text, "list-style")) {
    list_ = with.text(space::style, "name");
  } else if (what.is(space::text, "list-level-style-number")) {
    if (with.text(space::text, "level") == "1") counting_.insert(list_);
  }
}

}  // namespace hondana::rendering
