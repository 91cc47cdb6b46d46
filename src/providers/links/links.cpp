/// Links as an immutable snapshot.
#include "providers/links/links.hpp"

#include <cstddef>
#include <utility>

#include <hondana/uri.hpp>

namespace hondana::links {

result<resource> make_link(resource link) {
  auto uri = canonical_uri(link.uri);
  if (!uri) return tl::unexpected(std::move(uri.error()));
  const auto parts = split_uri(*uri);
  if (parts.scheme != "https" || !parts.authority || parts.authority->empty()) {
    return fail(errc::invalid_argument,
                "The link " + *uri + " is not an https:// URL with a host. Write it as https://host/path.");
  }
  if (link.name.empty()) link.name = *uri;
  link.uri = std::move(*uri);
  link.kind = "link";
  return link;
}

links_provider::links_provider(std::vector<resource> links) : links_(std::move(links)) {}

std::string links_provider::name() const { return "links"; }

std::vector<std::string> links_provider::claims() const {
  std::vector<std::string> urls;
  urls.reserve(links_.size());
  for (std::size_t index = 0; index < links_.size(); ++index) urls.push_back(links_.at(index).uri);
  return urls;
}

scheme_documentation links_provider::documentation() const {
  return {"https",
          "Pages of the web that the configuration names; clients fetch them, this server never does.",
          {{"link", "A configured URL."}},
          {{"https://{+host_and_path}", "Exactly as configured; a read answers that the client fetches it itself."}}};
}

result<list_result> links_provider::list(const list_request& request) { return links_.page(request); }

result<reading> links_provider::read(const read_request& request) {
  if (!links_.find(request.uri)) return fail(errc::resource_not_found, "Resource not found");
  return fail(errc::fetch_directly,
              "This server does not fetch web pages. Fetch " + request.asked_uri + " directly over HTTPS.");
}

bool links_provider::never_blocks() const noexcept { return true; }

}  // namespace hondana::links
