/// Filters from peers: what is refused names its member, what is taken has one digest and bounded cost.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json/reader.hpp"
#include "protocol/wire/versioned_resources.hpp"
#include "server/catalog/list_filter.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hondana;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto document = json::document::parse(input);
  if (!document) return 0;
  const auto object = document->root().as_object("params.filter");
  if (!object) return 0;
  const auto decoded = wire::versioned::parse_filter(*object);
  if (!decoded) {
    if (!decoded.error().path.starts_with("params.filter.") || decoded.error().text().size() > 1000) std::abort();
    return 0;
  }

  const catalog::list_filter made(*decoded);
  if (made.digest() != catalog::list_filter(*decoded).digest()) std::abort();
  if (made.accepts_all() != made.digest().empty() || made.accepts_all() != (*decoded == model::resource_filter{})) std::abort();

  resource entry;
  entry.uri = made.prefix() + "src/main.rs";
  entry.name = input.substr(0, 300);
  entry.mime_type = "text/x-rust; charset=utf-8";
  entry.kind = "file";
  entry.annotations = {{chat_role::user}, 0.5, std::chrono::sys_time<std::chrono::milliseconds>{}};
  std::uint64_t steps = 0;
  const bool passes = made.matches(entry, steps);
  // Of a URI with escapes what they spell is looked at, too; NFC makes of a letter three at most.
  const auto text = 4 * entry.uri.size() + 3 * entry.name.size();
  if (steps > 1 + 3 * 257 * (text + 3) + 16 * (text + 4)) std::abort();
  if (passes && made.is_unsatisfiable()) std::abort();

  // Outside of the prefix nothing passes.
  entry.uri = "elsewhere:" + entry.uri;
  if (!made.prefix().empty() && !entry.uri.starts_with(made.prefix()) && made.matches(entry, steps)) std::abort();
  return 0;
}
