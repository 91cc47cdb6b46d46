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
std::string own_loader() {
  struct looking {
    unsigned long at;
    std::string name;
  };
  looking loader{::getauxval(AT_BASE), {}};
  ::dl_iterate_phdr(
      [](dl_phdr_info* one, std::size_t, void* into) {
        auto& wanted = *static_cast<looking*>(into);
        if (one->dlpi_addr != wanted.at || one->dlpi_name == nullptr) return 0;
        wanted.name = one->dlpi_name;
        return 1;
      },
      &loader);
  return loader.name;
}

}  // namespace

std::string program_at(std::string_view name) {
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
  sandbox::permissions made;
  made.only_computes = true;
  made.paths.reserve(read.size() + 2);
  for (const auto* one : read) made.paths.push_back({one, access::read});
  made.paths.push_back({program, access::execute});
  if (auto loader = own_loader(); loader.starts_with('/')) made.paths.push_back({std::move(loader), access::execute});
  return made;
}

namespace {

constexpr std::size_t longest_pdf_fact = 1000;

/// The text on one line, without control characters, cut to the limit.
std::string shown_fact(std::string_view text) {
  std::string repaired;
  json::append_replacing(repaired, text.substr(0, longest_pdf_fact));
  std::erase_if(repaired, [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; });
  return on_one_line(repaired);
}

}  // namespace

document pdf_facts_in(std::string_view text) {
  document made;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto name = line.substr(0, colon);
    const auto said = trimmed(line.substr(colon + 1));
    const bool is_text = name == "Title" || name == "Author" || name == "Subject" || name == "Keywords";
    if (is_text) (made.beside += said) += '\n';
    if (name == "Title" && made.title.empty()) made.title = shown_fact(said);
    if (name == "Author" && made.author.empty()) made.author = shown_fact(said);
    if (name != "Pages") continue;
    // The last `Pages` line is from pdfinfo itself; earlier ones may come from the file.
    std::uint32_t pages = 0;
    const auto read = std::from_chars(said.data(), said.data() + said.size(), pages);
    if (read.ec == std::errc() && read.ptr == said.data() + said.size()) made.pages = pages;
  }
  return made;
}

}  // namespace hondana::rendering
