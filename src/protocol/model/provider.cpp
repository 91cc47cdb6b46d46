/// Default implementations of `provider` and `view`, and readings of one text or blob.

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

bool provider::lists_folders() const noexcept { return false; }

bool provider::tells_parts() const noexcept { return false; }

bool provider::has_skills() const noexcept { return false; }

result<skills_result> provider::skills(const list_request&) { return skills_result{}; }

result<skill> provider::find_skill(const skill_request&) {
  return fail(errc::resource_not_found, "The source \"" + name() + "\" has no skills.");
}

result<resource> provider::describe(const describe_request& request) {
  list_request place;
  static_cast<call&>(place) = static_cast<const call&>(request);
  place.after = key_before(request.uri);
  place.limit = 1;
  HONDANA_TRY(auto listed, list(place));
  if (listed.entries.empty() || listed.entries.front().uri != request.uri) {
    return fail(errc::resource_not_found, "Resource not found");
  }
  return std::move(listed.entries.front());
}

std::vector<resource_template> provider::templates() const { return {}; }

bool provider::templates_change() const noexcept { return false; }

result<std::vector<resource_template>> provider::templates_now(const call&) { return templates(); }

result<complete_result> provider::complete(const complete_request&) {
  return fail(errc::unsupported, "The source \"" + name() + "\" has no completion of its own.");
}

result<void> provider::survey(const call& request, const std::function<void(const survey_item&)>& each) {
  list_request page;
  static_cast<call&>(page) = static_cast<const call&>(request);
  for (;;) {
    const auto listed = list(page);
    if (!listed) return tl::unexpected(listed.error());
    for (const auto& entry : listed->entries) each({entry.name, entry.uri, true, {}});
    if (!listed->resume) return {};
    page.after = *listed->resume;
  }
}

std::string complete_request::chosen(std::string_view variable) const {
  const auto is_meant = [variable](const auto& one) { return one.first == variable; };
  const auto found = std::find_if(context.begin(), context.end(), is_meant);
  return found == context.end() ? std::string() : found->second;
}

void change_listener::alias_changed(std::string_view uri, std::string_view title) { content_changed(uri, title); }

void provider::watch(std::shared_ptr<change_listener>) {}

void provider::attach(const std::string&) {}

void provider::detach(const std::string&) {}

void provider::attach_list() {}

void provider::detach_list() {}

bool provider::never_blocks() const noexcept { return false; }

std::size_t provider::concurrency() const noexcept { return 4; }

hondana::needs provider::needs() const { return {}; }

hondana::masking provider::masking() const noexcept { return hondana::masking::by_server; }

hondana::health provider::health() const { return {}; }

bool view::may_read(std::string_view uri) const { return may_see(uri); }

bool view::looks_at_entries() const noexcept { return false; }

bool view::may_see_entry(const resource& entry) const { return may_see(entry.uri); }

bool view::may_read_entry(const resource& entry) const { return may_read(entry.uri); }

bool view::may_see_some(const uri_template&) const { return true; }

namespace {

reading single(std::string bytes, std::string mime_type, content_form form) {
  content one;
  one.mimeType = std::move(mime_type);
  one.form = form;
  one.data = std::make_shared<const std::string>(std::move(bytes));
  reading whole;
  whole.contents.push_back(std::move(one));
  return whole;
}

}  // namespace

reading text_reading(std::string text, std::string mime_type) {
  if (mime_type.empty()) mime_type = "text/plain";
  return single(std::move(text), std::move(mime_type), content_form::text);
}

reading blob_reading(std::string bytes, std::string mime_type) {
  if (mime_type.empty()) mime_type = "application/octet-stream";
  return single(std::move(bytes), std::move(mime_type), content_form::blob);
}

}  // namespace hondana::inline v0
