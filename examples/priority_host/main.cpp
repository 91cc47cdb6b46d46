/// A host that fills a model's context: of all resources of a server those that are not for people alone, what matters most
/// first, as long as they fit in a budget of bytes.
///
/// `priority_host BYTES URL` asks a server; without arguments it makes one, asks that, and checks what it chose.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <hondana/client.hpp>
#include <hondana/memory.hpp>
#include <hondana/server.hpp>

namespace {

struct chosen {
  std::string uri;
  std::string text;
};

/// What belongs into the context. A resource that does not fit is passed over, since a smaller one may.
hondana::result<std::vector<chosen>> choose(hondana::client& server, std::uint64_t budget) {
  auto entries = server.resources().all();
  if (!entries) return tl::unexpected(entries.error());
  std::erase_if(*entries, [](const hondana::resource& one) {
    const auto& audience = one.annotations.audience;  // empty: it is not said, and so for everybody
    return !audience.empty() && std::find(audience.begin(), audience.end(), hondana::role::assistant) == audience.end();
  });
  hondana::sort_entries(*entries, hondana::entry_order::priority);
  std::vector<chosen> context;
  for (const auto& entry : *entries) {
    if (entry.size && *entry.size > budget) continue;  // need not even be read
    std::string text;
    const auto read = server.read_to(entry.uri, [&](std::size_t, std::string_view bytes) -> hondana::result<void> {
      if (text.size() + bytes.size() > budget) return hondana::fail(hondana::errc::response_too_large, "over the budget");
      text += bytes;
      return {};
    });
    if (!read &&
        (read.error().code == hondana::errc::response_too_large || read.error().code == hondana::errc::resource_not_found))
      continue;  // too big, or gone since the list
    if (!read) return tl::unexpected(read.error());
    if (std::any_of(read->items.begin(), read->items.end(), [](const auto& item) { return !item.is_text; })) continue;
    budget -= text.size();
    context.push_back({entry.uri, std::move(text)});
  }
  return context;
}

int complain(const std::string& why) {
  std::fprintf(stderr, "priority_host: %s\n", why.c_str());
  return 1;
}

hondana::resource entry(const std::string& name, double priority, std::vector<hondana::role> audience = {}) {
  return {.uri = "memo:///" + name, .name = name, .annotations = {.audience = std::move(audience), .priority = priority}};
}

/// A server whose resources show each rule.
hondana::result<void> fill(hondana::memory_provider& memos) {
  using enum hondana::role;
  auto large = entry("large", 0.9);
  large.size = 1000;
  auto unsized = entry("unsized", 0.8);
  for (auto& [one, text] : std::vector<std::pair<hondana::resource, std::string>>{
           {entry("for-people", 1.0, {user}), "people"},
           {entry("rules", 1.0, {assistant}), std::string(40, 'r')},
           {std::move(large), std::string(1000, 'l')},
           {std::move(unsized), std::string(500, 'u')},
           {entry("picture", 0.7, {assistant}), std::string("\x89PN\0G", 5)},
           {entry("guide", 0.5, {user, assistant}), std::string(50, 'g')},
           {entry("changes", 0.1), std::string(20, 'c')},
           {entry("last", 0.0), "0123456789"},
       }) {
    if (auto added = memos.add(std::move(one), std::move(text)); !added) return added;
  }
  return {};
}

int check() {
  const auto memos = std::make_shared<hondana::memory_provider>("memos", "memo:///");
  hondana::server here;
  if (const auto added = fill(*memos); !added) return complain(added.error().public_text);
  if (const auto added = here.add(memos); !added) return complain(added.error().public_text);
  auto server = hondana::client::connect(hondana::memory_target{&here});
  if (!server) return complain(server.error().public_text);
  const auto context = choose(*server, 100);
  if (!context) return complain(context.error().public_text);
  std::string uris;
  std::size_t bytes = 0;
  for (const auto& one : *context) {
    uris += one.uri + ' ';
    bytes += one.text.size();
  }
  // 40 and 50 bytes fit; then there is no room for 20, but for 10.
  if (uris != "memo:///rules memo:///guide memo:///last ") return complain("it chose " + uris);
  if (bytes != 100) return complain("it took " + std::to_string(bytes) + " bytes of 100");
  std::printf("chose %s\n", uris.c_str());
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 1) return check();
  if (count != 3) return complain("usage: priority_host BYTES URL");
  auto server = hondana::client::connect(hondana::http_target{.url = arguments[2]});
  if (!server) return complain(server.error().public_text);
  const auto context = choose(*server, std::strtoull(arguments[1], nullptr, 10));
  if (!context) return complain(context.error().public_text);
  for (const auto& one : *context) std::printf("=== %s\n%s\n", one.uri.c_str(), one.text.c_str());
  return 0;
}
