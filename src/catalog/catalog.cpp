/// Reading, completing and listing templates.
#include "catalog/catalog.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "bytes/prepare.hpp"
#include "catalog/cursor.hpp"
#include "catalog/owed.hpp"

namespace hondana::catalog {
namespace {

constexpr std::size_t values_sent = 100;

tl::unexpected<failure> not_found(std::string private_text = {}) {
  return fail(errc::resource_not_found, "Resource not found", std::move(private_text));
}

/// A resource is hidden with all its parts: a rule about a file holds for its lines and fragments too.
bool may_see(const caller& who, std::string_view uri) {
  if (!who.view) return true;
  const auto whole = uri.substr(0, uri.find_first_of("?#"));
  return who.view->may_see(uri) && (whole.size() == uri.size() || who.view->may_see(whole));
}

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

}  // namespace

void catalog::templates(const call& by, const std::optional<std::string>& cursor, completion<model::template_page> done) const {
  const auto scope = cursor_scope("templates", "", by.who.view.get());
  auto next = templates_.begin();
  if (cursor) {
    const auto key = read_cursor(*cursor, scope);
    if (!key) return done(tl::unexpected(key.error()));
    next = std::upper_bound(templates_.begin(), templates_.end(), *key,
                            [](const std::string& text, const offered_template& one) { return text < one.entry.uriTemplate; });
  }
  model::template_page page;
  page.cache.is_private = by.who.view != nullptr;
  for (; next != templates_.end() && page.templates.size() < limits_.page_size; ++next) page.templates.push_back(next->entry);
  if (next != templates_.end()) page.next_cursor = write_cursor(scope, page.templates.back().uriTemplate);
  done(std::move(page));
}

namespace {

/// Reads and makes ready to send; a change found before the first byte is retried once.
result<bytes::prepared_reading> read_stable(provider& from, const read_request& request) {
  for (bool is_last = false;; is_last = true) {
    auto ready = from.read(request).and_then([&](reading found) { return bytes::prepare(std::move(found), request); });
    if (ready || is_last || ready.error().code != errc::content_changed) return ready;
  }
}

}  // namespace

void catalog::read(const call& by, std::string uri, std::string asked_uri, completion<read_answer> done) const {
  const auto* way = route_of(uri);
  if (way == nullptr) return done(not_found());
  // The view is asked where the source is: a hidden URI then differs in nothing from one the source does not have.
  auto job = [self = shared_from_this(), to = way->to,
              request = read_request{
                  by, std::move(uri), std::move(asked_uri), {}, {}, limits_.read_limit}]() mutable -> result<read_answer> {
    if (!may_see(request.who, request.uri)) return not_found();
    request.match = self->match_of(*to, request.uri);
    auto ready = read_stable(*to->what(), request);
    if (!ready) {
      if (ready.error().code == errc::resource_not_found) return not_found(std::move(ready.error().private_text));
      return tl::unexpected(std::move(ready.error()));
    }
    const model::cache_hint cache{ready->ttl, request.who.view != nullptr};
    return read_answer{std::move(*ready), to->lane(), cache};
  };
  ask<read_answer>(*way->to, by, timers_, std::move(job), std::move(done));
}

void catalog::complete(const call& by, model::complete what, completion<complete_result> done) const {
  const auto place =
      std::lower_bound(templates_.begin(), templates_.end(), what.template_uri,
                       [](const offered_template& one, const std::string& text) { return one.entry.uriTemplate < text; });
  if (place == templates_.end() || place->entry.uriTemplate != what.template_uri) {
    return done(fail(errc::invalid_argument,
                     "ref.uri: no template is written like this. Use a uriTemplate of resources/templates/list, unchanged."));
  }
  const auto& names = place->compiled.variables();
  if (std::find(names.begin(), names.end(), what.argument) == names.end()) {
    return done(fail(errc::invalid_argument, "argument.name: the template " + place->entry.uriTemplate +
                                                 " has no such variable. Its variables: " + listed(names) + "."));
  }
  auto job = [to = place->to,
              request = complete_request{by, std::move(what.template_uri), std::move(what.argument), std::move(what.value),
                                         std::move(what.context)}]() -> result<complete_result> {
    return to->what()->complete(request).map(capped);
  };
  ask<complete_result>(*place->to, by, timers_, std::move(job), std::move(done));
}

}  // namespace hondana::catalog
