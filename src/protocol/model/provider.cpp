/// Default implementations of the interfaces that applications implement, inventories of listed entries, and read results with
/// one text or blob.
#include "protocol/model/provider_extensions.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>
#include <hondana/uri.hpp>

namespace hondana::inline v0 {

std::string complete_request::context_value(std::string_view variable) const {
  const auto is_chosen = [variable](const auto& argument) { return argument.first == variable; };
  const auto match = std::find_if(context.begin(), context.end(), is_chosen);
  return match == context.end() ? std::string() : match->second;
}

void change_listener::alias_changed(std::string_view uri, std::string_view title) { content_changed(uri, title); }

provider_traits provider::traits() const noexcept { return {}; }

hondana::system_requirements provider::requirements() const { return {}; }

bool access_filter::may_read(std::string_view uri) const { return may_see(uri); }

bool access_filter::uses_entries() const noexcept { return false; }

bool access_filter::may_see_entry(const resource& entry) const { return may_see(entry.uri); }

bool access_filter::may_read_entry(const resource& entry) const { return may_read(entry.uri); }

bool access_filter::may_see_any(const uri_template&) const { return true; }

namespace {

read_result make_reading(std::string bytes, std::string mime_type, content_kind form) {
  resource_content item;
  item.mime_type = std::move(mime_type);
  item.kind = form;
  item.data = std::make_shared<const std::string>(std::move(bytes));
  read_result out;
  out.contents.push_back(std::move(item));
  return out;
}

}  // namespace

read_result text_read_result(std::string text, std::string mime_type) {
  if (mime_type.empty()) mime_type = "text/plain";
  return make_reading(std::move(text), std::move(mime_type), content_kind::text);
}

read_result blob_read_result(std::string bytes, std::string mime_type) {
  if (mime_type.empty()) mime_type = "application/octet-stream";
  return make_reading(std::move(bytes), std::move(mime_type), content_kind::blob);
}

}  // namespace hondana::inline v0

namespace hondana::model {

result<void> visit_listed(provider& source, const request_context& request,
                          const std::function<void(const inventory_item&)>& visitor) {
  list_request page;
  static_cast<request_context&>(page) = request;
  while (true) {
    HONDANA_TRY(const auto listed, source.list(page));
    for (const auto& entry : listed.entries) visitor({entry.name, entry.uri, true, {}});
    if (!listed.next_key) return {};
    page.after_key = *listed.next_key;
  }
}

}  // namespace hondana::model
