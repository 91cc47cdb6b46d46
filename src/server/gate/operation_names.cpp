/// The method names of an operation, and the resources that it concerns, for scope rules.
#include "server/gate/operation_names.hpp"

#include <algorithm>
#include <array>
#include <variant>

namespace hondana::gate {
namespace {

using method_names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 1> listing{"resources/list"};
constexpr std::array<std::string_view, 1> listing_templates{"resources/templates/list"};
constexpr std::array<std::string_view, 1> reading{"resources/read"};
constexpr std::array<std::string_view, 2> getting{"resources/get", "resources/read"};
constexpr std::array<std::string_view, 1> reading_directory{"resources/directory/read"};
constexpr std::array<std::string_view, 1> listing_skills{"skills/list"};
constexpr std::array<std::string_view, 1> getting_skill{"skills/get"};
constexpr std::array<std::string_view, 1> completing{"completion/complete"};
constexpr std::array<std::string_view, 1> listing_tools{"tools/list"};
constexpr std::array<std::string_view, 1> calling{"tools/call"};
constexpr std::array<std::string_view, 1> listing_prompts{"prompts/list"};
constexpr std::array<std::string_view, 1> getting_prompt{"prompts/get"};
constexpr std::array<std::string_view, 1> logging{"logging/setLevel"};
constexpr std::array<std::string_view, 1> subscribing{"resources/subscribe"};
constexpr std::array<std::string_view, 2> listening{"subscriptions/listen", "resources/subscribe"};
// Notifications with entries include members that sources derive from contents, so they require the scopes for reading.
constexpr std::array<std::string_view, 2> subscribing_entries{"resources/subscribe", "resources/read"};
constexpr std::array<std::string_view, 3> listening_entries{"subscriptions/listen", "resources/subscribe", "resources/read"};

constexpr std::array<method_names, 15> all_methods{listing,           listing_templates, reading,         getting,
                                                   reading_directory, listing_skills,    getting_skill,   completing,
                                                   listing_tools,     calling,           listing_prompts, getting_prompt,
                                                   logging,           subscribing,       listening};

struct subject_visitor {
  subject operator()(const model::list_resources&) const { return {listing}; }
  subject operator()(const model::list_templates&) const { return {listing_templates}; }
  subject operator()(const model::read_resource& request) const { return {reading, {request.uri}}; }
  subject operator()(const model::get_resource& request) const { return {getting, {request.uri}}; }
  subject operator()(const model::read_directory& request) const { return {reading_directory, {request.uri}}; }
  subject operator()(const model::list_skills&) const { return {listing_skills}; }
  subject operator()(const model::get_skill& request) const { return {getting_skill, {request.uri}}; }
  subject operator()(const model::complete& request) const {
    return {completing, {}, request.prompt ? std::string_view(*request.prompt) : std::string_view()};
  }
  subject operator()(const model::list_tools&) const { return {listing_tools}; }
  subject operator()(const model::call_tool& request) const { return {calling, {}, request.name}; }
  subject operator()(const model::list_prompts&) const { return {listing_prompts}; }
  subject operator()(const model::get_prompt& request) const { return {getting_prompt, {}, request.name}; }
  subject operator()(const model::set_log_level&) const { return {logging}; }
  subject operator()(const model::subscribe& request) const { return {subscribing, {request.uri}}; }
  subject operator()(const model::subscribe_entries& request) const {
    return {subscribing_entries, {request.uris.begin(), request.uris.end()}};
  }
  subject operator()(const model::listen& request) const {
    subject out{request.canonical_entries.empty() ? method_names(listening) : method_names(listening_entries),
                {request.canonical_uris.begin(), request.canonical_uris.end()}};
    out.uris.insert(out.uris.end(), request.canonical_entries.begin(), request.canonical_entries.end());
    // Without URIs, it does not subscribe to resources.
    if (out.uris.empty()) out.methods = out.methods.first(1);
    return out;
  }
  // Operations with which every client begins, that revoke something, or that are not requests.
  subject operator()(const model::initialize&) const { return {}; }
  subject operator()(const model::initialized&) const { return {}; }
  subject operator()(const model::discover&) const { return {}; }
  subject operator()(const model::ping&) const { return {}; }
  subject operator()(const model::unsubscribe&) const { return {}; }
  subject operator()(const model::unsubscribe_entries&) const { return {}; }
  subject operator()(const model::cancel&) const { return {}; }
  subject operator()(const model::no_operation&) const { return {}; }
};

}  // namespace

subject subject_of(const model::operation& operation) { return std::visit(subject_visitor{}, operation); }

std::vector<std::string_view> known_methods() {
  std::vector<std::string_view> names;
  for (const auto& methods : all_methods) names.push_back(methods.front());
  return names;
}

bool is_method(std::string_view name) noexcept {
  return std::any_of(all_methods.begin(), all_methods.end(), [name](method_names names) { return names.front() == name; });
}

}  // namespace hondana::gate
