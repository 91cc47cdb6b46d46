/// Default implementations of `provider` and `access_filter`, and read results with one text or blob.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <hondana/provider.hpp>
#include <hondana/resource.hpp>
#include <hondana/uri.hpp>

namespace hondana::inline v0 {

result<list_result> provider::children(const children_request&) {
  return fail(errc::unsupported, "The source \"" + name() + "\" does not list folders. Use resources/list.");
}

bool provider::has_folders() const noexcept { return false; }

bool provider::watches_parts() const noexcept { return false; }

bool provider::has_skills() const noexcept { return false; }

result<skills_result> provider::skills(const list_request&) { return skills_result{}; }

result<skill> provider::find_skill(const skill_request&) {
  return fail(errc::resource_not_found, "The source \"" + name() + "\" has no skills.");
}

result<resource> provider::describe(const describe_request& request) {
  list_request page_request;
  static_cast<request_context&>(page_request) = static_cast<const request_context&>(request);
  page_request.after_key = key_before(request.uri);
  page_request.limit = 1;
  HONDANA_TRY(auto listed, list(page_request));
  if (listed.entries.empty() || listed.entries.front().uri != request.uri) {
    return fail(errc::resource_not_found, "Resource not found");
  }
  return std::move(listed.entries.front());
}

std::vector<resource_template> provider::templates() const { return {}; }

bool provider::has_dynamic_templates() const noexcept { return false; }

result<std::vector<resource_template>> provider::current_templates(const request_context&) { return templates(); }

result<complete_result> provider::complete(const complete_request&) {
  return fail(errc::unsupported, "The source \"" + name() + "\" has no completion of its own.");
}

result<void> provider::inventory(const request_context& request, const std::function<void(const inventory_item&)>& visitor) {
  list_request page;
  static_cast<request_context&>(page) = static_cast<const request_context&>(request);
  for (;;) {
    const auto listed = list(page);
    if (!listed) return tl::unexpected(listed.error());
    for (const auto& entry : listed->entries) visitor({entry.name, entry.uri, true, {}});
    if (!listed->next_key) return {};
    page.after_key = *listed->next_key;
  }
}

std::string complete_request::context_value(std::string_view variable) const {
  const auto is_chosen = [variable](const auto& argument) { return argument.first == variable; };
  const auto match = std::find_if(context.begin(), context.end(), is_chosen);
  return match == context.end() ? std::string() : match->second;
}

void change_listener::alias_changed(std::string_view uri, std::string_view title) { content_changed(uri, title); }

void provider::set_listener(std::shared_ptr<change_listener>) {}

void provider::watch(const std::string&) {}

void provider::unwatch(const std::string&) {}

void provider::watch_list() {}

void provider::unwatch_list() {}

bool provider::never_blocks() const noexcept { return false; }

std::size_t provider::max_concurrency() const noexcept { return 4; }

hondana::system_requirements provider::requirements() const { return {}; }

hondana::secret_masking provider::masking() const noexcept { return hondana::secret_masking::by_server; }

hondana::provider_health provider::health() const { return {}; }

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
