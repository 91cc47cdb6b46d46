/// Templates: listing them, and completing their variables.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <hondana/provider.hpp>
#include <hondana/uri.hpp>

#include "catalog/catalog.hpp"
#include "catalog/cursor.hpp"
#include "catalog/entry_values.hpp"
#include "catalog/gathering.hpp"
#include "catalog/owed.hpp"

namespace hondana::catalog {
namespace {

constexpr std::size_t values_sent = 100;

/// Cuts the values to what may be sent, and makes what is said about the rest true.
complete_result capped(complete_result found) {
  const std::uint64_t count = found.values.size();
  if (found.total && *found.total < count) found.total = count;
  if (count > values_sent) {
    if (!found.total && !found.has_more) found.total = count;
    found.values.resize(values_sent);
    found.has_more = true;
  }
  if (found.total && *found.total > found.values.size()) found.has_more = true;
  return found;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

bool by_text(const resource_template& a, const resource_template& b) { return a.uriTemplate < b.uriTemplate; }

failure not_offered() {
  return {errc::invalid_argument,
          "ref.uri: no template is written like this. Use a uriTemplate of resources/templates/list, unchanged.",
          {}};
}

result<void> has_variable(const uri_template& compiled, const std::string& argument) {
  const auto& names = compiled.variables();
  if (std::find(names.begin(), names.end(), argument) != names.end()) return {};
  return fail(errc::invalid_argument, "argument.name: the template " + compiled.text() +
                                          " has no such variable. Its variables: " + listed(names) + ".");
}

}  // namespace

bool catalog::has_variables() const noexcept {
  const auto changes = [](const std::shared_ptr<source>& one) { return one->what()->templates_change(); };
  return std::any_of(sources_.begin(), sources_.end(), changes) ||
         std::any_of(templates_.begin(), templates_.end(),
                     [](const offered_template& one) { return !one.compiled.variables().empty(); });
}

std::vector<resource_template> catalog::usable(std::vector<resource_template> offered, const source& from) const {
  std::erase_if(offered, [&](const resource_template& one) {
    const auto compiled = uri_template::compile(one.uriTemplate);
    const auto* way = compiled ? route_of(compiled->literal_prefix()) : nullptr;
    return one.name.empty() || way == nullptr || way->to.get() != &from;
  });
  return offered;
}

void catalog::templates(const call& by, const std::optional<std::string>& cursor, completion<model::template_page> done) const {
  const auto scope = cursor_scope("templates", "", by.who.view.get());
  std::string after;
  if (cursor) {
    auto key = read_cursor(*cursor, scope);
    if (!key) return done(tl::unexpected(std::move(key.error())));
    after = std::move(*key);
  }
  std::vector<resource_template> constant;
  constant.reserve(templates_.size());
  for (const auto& one : templates_) constant.push_back(one.entry);
  const auto finish = [scope, after = std::move(after), limit = limits_.page_size, is_private = is_told_apart(by.who),
                       done](std::vector<resource_template> all) {
    std::unordered_set<std::string> seen;
    std::erase_if(all, [&seen](const resource_template& one) { return !seen.insert(one.uriTemplate).second; });
    std::sort(all.begin(), all.end(), by_text);
    const auto first =
        std::upper_bound(all.begin(), all.end(), after,
                         [](const std::string& text, const resource_template& one) { return text < one.uriTemplate; });
    all.erase(all.begin(), first);
    model::template_page page;
    page.cache.is_private = is_private;
    const bool has_more = all.size() > limit;
    if (has_more) all.resize(limit);
    page.templates = std::move(all);
    if (has_more) page.next_cursor = write_cursor(scope, page.templates.back().uriTemplate);
    done(std::move(page));
  };
  std::vector<std::shared_ptr<source>> asked;
  std::copy_if(sources_.begin(), sources_.end(), std::back_inserter(asked),
               [](const auto& one) { return one->what()->templates_change(); });
  if (asked.empty()) return finish(std::move(constant));
  using offered = std::vector<resource_template>;
  const auto pages = std::make_shared<gathering<offered>>(
      asked.size(), [constant = std::move(constant), finish, done](result<std::vector<offered>> found) {
        if (!found) return done(tl::unexpected(std::move(found.error())));
        auto all = constant;
        for (auto& page : *found) std::move(page.begin(), page.end(), std::back_inserter(all));
        finish(std::move(all));
      });
  for (std::size_t place = 0; place < asked.size(); ++place) {
    ask<offered>(
        *asked[place], by, timers_,
        [self = shared_from_this(), from = asked[place], by]() -> result<offered> {
          auto now = from->what()->templates_now(by);
          if (!now) return now;
          return self->usable(std::move(*now), *from);
        },
        [pages, place](result<offered> page) { pages->take(place, std::move(page)); });
  }
}

result<complete_result> catalog::complete_at(const std::shared_ptr<source>& to, const uri_template& compiled,
                                             const complete_request& request) const {
  if (to->what()->templates_change()) {
    const auto now = to->what()->templates_now(request);
    if (!now) return tl::unexpected(now.error());
    const auto is_it = [&](const resource_template& one) { return one.uriTemplate == request.uriTemplate; };
    if (std::none_of(now->begin(), now->end(), is_it)) return tl::unexpected(not_offered());
    if (auto there = has_variable(compiled, request.argument); !there) return tl::unexpected(std::move(there.error()));
  }
  auto found = to->what()->complete(request);
  if (!found && found.error().code == errc::unsupported) {
    found = values_of_entries(*to->what(), compiled, request, [&](std::string_view uri) {
      const auto* way = route_of(uri);
      return way != nullptr && way->to == to;
    });
  }
  return std::move(found).map(capped);
}

void catalog::complete(const call& by, model::complete what, completion<complete_result> done) const {
  const auto place =
      std::lower_bound(templates_.begin(), templates_.end(), what.template_uri,
                       [](const offered_template& one, const std::string& text) { return one.entry.uriTemplate < text; });
  const auto start = [&](const std::shared_ptr<source>& to, uri_template compiled) {
    auto job = [self = shared_from_this(), to, compiled = std::move(compiled),
                request = complete_request{by, std::move(what.template_uri), std::move(what.argument), std::move(what.value),
                                           std::move(what.context)}] { return self->complete_at(to, compiled, request); };
    ask<complete_result>(*to, by, timers_, std::move(job), std::move(done));
  };
  if (place != templates_.end() && place->entry.uriTemplate == what.template_uri) {
    if (auto there = has_variable(place->compiled, what.argument); !there)
      return done(tl::unexpected(std::move(there.error())));
    return start(place->to, place->compiled);
  }
  auto compiled = uri_template::compile(what.template_uri);
  const auto* way = compiled ? route_of(compiled->literal_prefix()) : nullptr;
  if (way == nullptr || !way->to->what()->templates_change()) return done(tl::unexpected(not_offered()));
  start(way->to, std::move(*compiled));
}

}  // namespace hondana::catalog
