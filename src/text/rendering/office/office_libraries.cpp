/// The libraries libarchive and libxml2, loaded on first use.
#include "text/rendering/office/office_libraries.hpp"

#include <string>

namespace hondana::rendering {
namespace {

constexpr libraries::optional_library archive_file{"libarchive.so.13", "Office files require", "libarchive13", "",
                                                   errc::unsupported};
constexpr libraries::optional_library xml_file{"libxml2.so.2", "Office files require", "libxml2", "", errc::unsupported};

}  // namespace

result<const office_libraries*> load_office_libraries() {
  return libraries::make_once<office_libraries>([]() -> result<office_libraries> {
    HONDANA_TRY(const auto archive, libraries::load<archive_library>(archive_file));
    HONDANA_TRY(const auto xml, libraries::load<xml_library>(xml_file));
    xml.init_parser();
    return office_libraries{archive, xml};
  });
}

std::string missing_office_libraries() {
  for (const auto& library : {archive_file, xml_file}) {
    if (const auto installed = libraries::check_installed(library); !installed) return installed.error().public_text;
  }
  return {};
}

}  // namespace hondana::rendering
