/// Asking another server for our peers.
#include "sources/mcp/mcp_provider.hpp"

#include <algorithm>
#include <chrono>
#include <compare>
#include <unordered_set>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "sources/mcp/foreign.hpp"
#include "sources/mcp/gathering.hpp"

namespace hondana::mcp {
namespace {

bool comes_before(std::string_view a, std::string_view b) { return std::is_lt(compare_by_segment(a, b)); }

std::string_view key_of(const resource& one) { return one.uri; }
std::string_view key_of(const skill& one) { return one.uri; }

/// The page of sorted items that a request asks for: what its caller may see, after the key.
template <class T>
std::vector<T> page_of(const std::vector<T>& all, const std::string& after, std::size_t limit, const view* through,
                       std::optional<std::string>& resume) {
  std::vector<T> page;
  auto next = std::upper_bound(all.begin(), all.end(), after,
                               [](const std::string& key, const T& one) { return comes_before(key, key_of(one)); });
  for (; next != all.end(); ++next) {
    if (through != nullptr && !through->may_see(key_of(*next))) continue;
    if (page.size() == limit) {
      resume = key_of(page.back());
      break;
    }
    page.push_back(*next);
  }
  return page;
}

call_options how(const call& by, upstream& to_ask) {
  const auto& of = to_ask.options();
  call_options made;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(by.deadline - monotonic_clock::now());
  made.time = std::clamp(left, std::chrono::milliseconds(1), of.timeout);
  made.whole_time = made.time;
  made.stop = by.stop;
  made.trace = by.trace;
  if (by.report) {
    made.report = [&to_ask, to = by.report, masks = of.redact](const progress& now) {
      to_ask.heard();
      to({now.done, now.total, clean_shown(now.message, longest_line, masks)});
    };
  }
  return made;
}

bool has_open_variables(const complete_request& request) {
  const auto compiled = uri_template::compile(request.uriTemplate);
  if (!compiled) return true;
  const auto& names = compiled->variables();
  return std::any_of(names.begin(), names.end(), [&request](const std::string& name) {
    const auto is_it = [&name](const auto& chosen) { return chosen.first == name; };
    return name != request.argument && std::none_of(request.context.begin(), request.context.end(), is_it);
  });
}

/// The URI that a template gives with the other variables' values and this one; nothing while some are open.
std::optional<std::string> completed_uri(const uri_template& compiled, const complete_request& request,
                                         const std::string& value) {
  uri_template_values values;
  for (const auto& [name, chosen] : request.context) values[name] = chosen;
  values[request.argument] = value;
  auto uri = compiled.expand(values);
  return uri ? std::optional(std::move(*uri)) : std::nullopt;
}

tl::unexpected<failure> not_found() { return fail(errc::resource_not_found, "Resource not found"); }

}  // namespace

scheme_documentation describe() {
  return {"mcp",
          "Other MCP servers, each mounted under a prefix. Their resources, templates and skills are served here.",
          {{"*", "The kind that the mounted server declares, if any."}},
          {{"mcp://NAME/URI",
            "The resource URI of the server that is configured as NAME, for example mcp://everything/demo://resource/1. Its "
            "templates have the same prefix."}}};
}

scheme_documentation mcp_provider::documentation() const {
  auto document = mcp::describe();
  document.scheme = split_uri(upstream_.names().prefix()).scheme;
  document.forms.push_back({upstream_.names().prefix() + "URI", "The resource URI of \"" + name() + "\"."});
  return document;
}

failure mcp_provider::ended(const failure& why, const std::string& theirs) {
  upstream_.ended(why);
  auto said = passed_on(why, name(), upstream_.options().redact);
  const bool is_web = theirs.starts_with("https://");
  if (is_web && (why.code == errc::resource_not_found || why.code == errc::refused)) {
    return {errc::fetch_directly,
            "The mounted server \"" + name() + "\" does not read web pages. Fetch " + clean(theirs, longest_line) +
                " directly over HTTPS.",
            std::move(said.private_text)};
  }
  return said;
}

result<mcp_provider::place> mcp_provider::find(const call& by, const std::string& ours) {
  auto theirs = upstream_.names().theirs(ours);
  if (!theirs) return not_found();
  if (const auto why = upstream_.circle(by); !why.empty()) {
    return fail(errc::source_unavailable,
                "The mount \"" + name() + "\" forms a circle: " + why + ". Read the resource from the server that owns it.");
  }
  HONDANA_TRY(auto with, upstream_.reach(by));
  if (const auto known = upstream_.known()) {
    if (auto spelled = known->spelling_of(ours)) theirs = std::move(spelled);
  }
  if (!upstream_.which().reason_against(*theirs).empty()) return not_found();
  return place{std::move(with), std::move(*theirs), how(by, upstream_), upstream_.begin_call()};
}

result<list_result> mcp_provider::list(const list_request& request) {
  if (!upstream_.circle(request).empty()) return list_result{};
  const auto all = upstream_.lists(request);
  return all ? all->entries().page(request) : list_result{};
}

result<std::vector<resource_template>> mcp_provider::templates_now(const call& request) {
  if (!upstream_.circle(request).empty()) return std::vector<resource_template>{};
  const auto all = upstream_.lists(request);
  return all ? all->templates() : std::vector<resource_template>{};
}

result<skills_result> mcp_provider::skills(const list_request& request) {
  skills_result page;
  if (!upstream_.circle(request).empty()) return page;
  const auto all = upstream_.lists(request);
  if (all) page.skills = page_of(all->skills(), request.after, request.limit, request.who.view.get(), page.resume);
  return page;
}

result<skill> mcp_provider::find_skill(const skill_request& request) {
  HONDANA_TRY(const auto at, find(request, request.uri));
  if (const auto known = upstream_.known()) {
    const auto& all = known->skills();
    const auto found = std::find_if(all.begin(), all.end(), [&](const skill& one) { return one.uri == request.uri; });
    if (found != all.end()) return *found;
  }
  if (!at.with->server().has_skills) return not_found();
  auto got = at.with->find_skill(at.theirs, at.how);
  if (!got) return tl::unexpected(ended(got.error(), at.theirs));
  upstream_.succeeded();
  auto ours = mcp::adopted(std::move(*got), upstream_.names(), upstream_.which());
  if (!ours || ours->uri != request.uri) return not_found();
  return std::move(*ours);
}

std::vector<resource> mcp_provider::adopted(std::vector<resource> theirs) const {
  std::vector<resource> ours;
  std::unordered_set<std::string> seen;
  for (auto& one : theirs) {
    auto uri = upstream_.names().ours(one.uri);
    if (!uri || !upstream_.which().reason_against(one.uri).empty() || !seen.insert(*uri).second) continue;
    one.uri = std::move(*uri);
    ours.push_back(std::move(one));
  }
  std::sort(ours.begin(), ours.end(), [](const resource& a, const resource& b) { return comes_before(a.uri, b.uri); });
  return ours;
}

result<list_result> mcp_provider::children(const children_request& request) {
  HONDANA_TRY(const auto at, find(request, request.uri));
  if (!at.with->server().has_folders)
    return fail(errc::unsupported, "The mounted server \"" + name() + "\" does not list folders. Use resources/list.");
  allowance room;
  room.until = request.deadline;
  gathering<resource> all(upstream_.options().max_entries, room, upstream_.options().redact);
  auto done = take_all(at.with->children(at.theirs, at.how), all);
  if (done && all.has_more())
    done = fail(errc::response_too_large, "the folder has more than " + std::to_string(upstream_.options().max_entries) +
                                              " entries, or its list is larger than " + std::to_string(most_list_bytes >> 20) +
                                              " MiB");
  if (!done) return tl::unexpected(ended(done.error(), at.theirs));
  upstream_.succeeded();
  list_result page;
  page.entries = page_of(adopted(std::move(all).taken()), request.after, request.limit, request.who.view.get(), page.resume);
  return page;
}

result<resource> mcp_provider::describe(const describe_request& request) {
  HONDANA_TRY(const auto at, find(request, request.uri));
  if (!at.with->server().has_versions) {
    const auto known = upstream_.known();
    auto listed = known ? known->entry_of(request.uri) : std::nullopt;
    if (!listed) return not_found();
    listed->uri = request.uri;
    return std::move(*listed);
  }
  auto got = at.with->describe(at.theirs, at.how);
  if (!got) return tl::unexpected(ended(got.error(), at.theirs));
  upstream_.succeeded();
  make_fit(*got, upstream_.options().redact);
  got->uri = request.uri;
  return std::move(*got);
}

result<complete_result> mcp_provider::complete(const complete_request& request) {
  HONDANA_TRY(const auto at, find(request, request.uriTemplate));
  // While other variables are open, a value leads to many resources, and only entries say whether the caller may see one.
  if (!at.with->server().has_completion || (request.who.view && has_open_variables(request)))
    return provider::complete(request);
  auto got = at.with->complete(at.theirs, request.argument, request.value, request.context, at.how);
  if (!got) return tl::unexpected(ended(got.error(), {}));
  upstream_.succeeded();
  make_fit(*got);
  if (const auto compiled = uri_template::compile(at.theirs); compiled && !has_open_variables(request)) {
    const auto removed = std::erase_if(got->values, [&](const std::string& value) {
      const auto uri = completed_uri(*compiled, request, value);
      return uri && !upstream_.which().reason_against(*uri).empty();
    });
    if (removed != 0) got->total.reset();
  }
  // They counted what our caller may not see.
  if (request.who.view) {
    got->total.reset();
    got->has_more = false;
  }
  return std::move(*got);
}

result<void> mcp_provider::survey(const call& request, const std::function<void(const survey_item&)>& each) {
  if (const auto why = upstream_.circle(request); !why.empty())
    return fail(errc::source_unavailable, "The mount \"" + name() + "\" forms a circle: " + why + '.');
  const auto all = upstream_.lists(request);
  if (auto why = upstream_.trouble()) return tl::unexpected(std::move(*why));
  if (!all) {
    return fail(errc::timed_out,
                "The mounted server \"" + name() +
                    "\" did not list its resources in time. Raise list_wait_ms, or check its output in the log.");
  }
  for (std::size_t i = 0; i < all->entries().size(); ++i) {
    const auto entry = all->entries().at(i);
    each({entry.name, entry.uri, true, {}});
  }
  for (const auto& one : all->left_out()) each(one);
  return {};
}

}  // namespace hondana::mcp
