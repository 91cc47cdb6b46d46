/// A host that fills a model's context with resources of a server, highest priority first, up to a budget of bytes. It skips
/// resources that are for users only.
///
/// `priority_host BYTES URL` reads from a server. Without arguments, it starts a server, reads from it, and checks the
/// selection.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <hondana/client.hpp>
#include <hondana/memory_provider.hpp>
#include <hondana/server.hpp>

namespace {

struct selected_resource {
  std::string uri;
  std::string text;
};

/// Selects the resources for the context. Skips a resource that does not fit, because a later, smaller one may fit.
hondana::result<std::vector<selected_resource>> select_resources(hondana::client& client, std::uint64_t budget) {
  auto entries = client.resources().collect();
  if (!entries) return tl::unexpected(entries.error());
  std::erase_if(*entries, [](const hondana::resource& entry) {
    const auto& audience = entry.annotations.audience;  // empty: not stated, so for everyone
    return !audience.empty() && std::find(audience.begin(), audience.end(), hondana::chat_role::assistant) == audience.end();
  });
  hondana::sort_entries(*entries, hondana::entry_order::priority);
  std::vector<selected_resource> context;
  for (const auto& entry : *entries) {
    if (entry.size && *entry.size > budget) continue;  // too large; no read is needed
    std::string text;
    const auto response = client.read_to(entry.uri, [&](std::size_t, std::string_view bytes) -> hondana::result<void> {
      if (text.size() + bytes.size() > budget) return hondana::fail(hondana::errc::response_too_large, "over the budget");
      text += bytes;
      return {};
    });
    if (!response && (response.error().code == hondana::errc::response_too_large ||
                      response.error().code == hondana::errc::resource_not_found))
      continue;  // too large, or removed since it was listed
    if (!response) return tl::unexpected(response.error());
    if (std::any_of(response->contents.begin(), response->contents.end(), [](const auto& item) { return !item.is_text; }))
      continue;
    budget -= text.size();
    context.push_back({entry.uri, std::move(text)});
  }
  return context;
}

int report_error(const std::string& message) {
  std::fprintf(stderr, "priority_host: %s\n", message.c_str());
  return 1;
}

hondana::resource make_entry(const std::string& name, double priority, std::vector<hondana::chat_role> audience = {}) {
  return {.uri = "memo:///" + name, .name = name, .annotations = {.audience = std::move(audience), .priority = priority}};
}

/// Adds resources that test each rule of the selection.
hondana::result<void> add_resources(hondana::memory_provider& memos) {
  using enum hondana::chat_role;
  auto large = make_entry("large", 0.9);
  large.size = 1000;
  auto unsized = make_entry("unsized", 0.8);
  for (auto& [resource, text] : std::vector<std::pair<hondana::resource, std::string>>{
           {make_entry("for-people", 1.0, {user}), "people"},
           {make_entry("rules", 1.0, {assistant}), std::string(40, 'r')},
           {std::move(large), std::string(1000, 'l')},
           {std::move(unsized), std::string(500, 'u')},
           {make_entry("picture", 0.7, {assistant}), std::string("\x89PN\0G", 5)},
           {make_entry("guide", 0.5, {user, assistant}), std::string(50, 'g')},
           {make_entry("changes", 0.1), std::string(20, 'c')},
           {make_entry("last", 0.0), "0123456789"},
       }) {
    if (auto added = memos.add(std::move(resource), std::move(text)); !added) return added;
  }
  return {};
}

int self_test() {
  const auto memos = std::make_shared<hondana::memory_provider>("memos", "memo:///");
  auto server = hondana::server::create();
  if (!server) return report_error(server.error().public_text);
  if (const auto added = add_resources(*memos); !added) return report_error(added.error().public_text);
  if (const auto added = server->add(memos); !added) return report_error(added.error().public_text);
  auto client = hondana::client::connect(hondana::memory_target{&*server});
  if (!client) return report_error(client.error().public_text);
  const auto context = select_resources(*client, 100);
  if (!context) return report_error(context.error().public_text);
  std::string uris;
  std::size_t bytes = 0;
  for (const auto& selected : *context) {
    uris += selected.uri + ' ';
    bytes += selected.text.size();
  }
  // 40 and 50 bytes fit. Then 20 do not fit, but 10 do.
  if (uris != "memo:///rules memo:///guide memo:///last ") return report_error("it chose " + uris);
  if (bytes != 100) return report_error("it took " + std::to_string(bytes) + " bytes of 100");
  std::printf("chose %s\n", uris.c_str());
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 1) return self_test();
  if (count != 3) return report_error("usage: priority_host BYTES URL");
  auto client = hondana::client::connect(hondana::http_target{.url = arguments[2]});
  if (!client) return report_error(client.error().public_text);
  const auto context = select_resources(*client, std::strtoull(arguments[1], nullptr, 10));
  if (!context) return report_error(context.error().public_text);
  for (const auto& selected : *context) std::printf("=== %s\n%s\n", selected.uri.c_str(), selected.text.c_str());
  return 0;
}
