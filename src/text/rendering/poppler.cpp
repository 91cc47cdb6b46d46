/// The programs of Poppler: their paths, their permissions, and the output of pdfinfo.
#include "text/rendering/poppler.hpp"

#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <utility>

#include "base/json/utf8.hpp"
#include "text/rendering/office/text_output.hpp"

namespace hondana::rendering {
namespace {

/// The dynamic loader of this process, which other programs of the machine use, too; "" if there is none.
std::string find_dynamic_loader() {
  struct loader_search {
    unsigned long base_address;
    std::string name;
  };
  loader_search loader{::getauxval(AT_BASE), {}};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& search = *static_cast<loader_search*>(data);
        if (info->dlpi_addr != search.base_address || info->dlpi_name == nullptr) return 0;
        search.name = info->dlpi_name;
        return 1;
      },
      &loader);
  return loader.name;
}

}  // namespace

std::string find_program(std::string_view name) {
  for (const auto* folder : {"/usr/local/bin/", "/usr/bin/", "/bin/"}) {
    auto path = folder + std::string(name);
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

sandbox::permissions permissions_for(const std::string& program) {
  using sandbox::access;
  constexpr std::array read{"/lib",
                            "/lib64",
                            "/usr/lib",
                            "/usr/lib64",
                            "/usr/local/lib",
                            "/etc/ld.so.cache",
                            "/usr/share/poppler",
                            "/etc/localtime",
                            "/usr/share/zoneinfo"};
  sandbox::permissions result;
  result.is_compute_only = true;
  result.paths.reserve(read.size() + 2);
  for (const auto* path : read) result.paths.push_back({path, access::read});
  result.paths.push_back({program, access::execute});
  if (auto loader = find_dynamic_loader(); loader.starts_with('/'))
    result.paths.push_back({std::move(loader), access::execute});
  return result;
}

namespace {

constexpr std::size_t max_pdf_property_bytes = 1000;

/// The text on one line, without control characters, cut to the limit.
std::string clean_property(std::string_view text) {
  std::string repaired;
  json::append_replacing(repaired, text.substr(0, max_pdf_property_bytes));
  std::erase_if(repaired, [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; });
  return to_single_line(repaired);
}

}  // namespace

document parse_pdf_info(std::string_view text) {
  document properties;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto name = line.substr(0, colon);
    const auto value = trim(line.substr(colon + 1));
    const bool is_text = name == "Title" || name == "Author" || name == "Subject" || name == "Keywords";
    if (is_text) (properties.extra_text += value) += '\n';
    if (name == "Title" && properties.title.empty()) properties.title = clean_property(value);
    if (name == "Author" && properties.author.empty()) properties.author = clean_property(value);
    if (name != "Pages") continue;
    // The last `Pages` line is from pdfinfo itself; earlier ones may come from the file.
    std::uint32_t pages = 0;
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), pages);
    if (parsed.ec == std::errc() && parsed.ptr == value.data() + value.size()) properties.pages = pages;
  }
  return properties;
}

}  // namespace hondana::rendering
