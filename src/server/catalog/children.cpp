/// Listing the direct children of a folder.
#include <memory>
#include <string>
#include <utility>

#include <hondana/provider.hpp>

#include "server/catalog/catalog.hpp"
#include "server/catalog/cursor.hpp"
#include "server/catalog/masking.hpp"
#include "server/catalog/merge.hpp"
#include "server/catalog/owed.hpp"

namespace hondana::catalog {

void catalog::children(const call& by, std::string uri, const std::optional<std::string>& cursor,
                       completion<model::directory_page> done) const {
  // What is hidden and what is not there have one answer, whatever the source would say.
  const auto not_found = [](std::string private_text) {
    return fail(errc::resource_not_found, "Resource not found", std::move(private_text));
  };
  const auto* way = route_of(uri);
  if (way == nullptr) return done(not_found({}));
  if (uri.ends_with('/') && uri != way->prefix) uri.pop_back();
  // The folder is part of what the cursor belongs to, so that a cursor of another folder is refused.
  const auto scope = cursor_scope("children", uri, by.who.view.get());
  std::string after;
  if (cursor) {
    auto key = read_cursor(*cursor, scope, sealer_for(by.who));
    if (!key) return done(tl::unexpected(std::move(key.error())));
    after = std::move(*key);
  }
  auto opened = way->to->open(doing::children, by);
  const auto kind = kind_of(doing::children, uri);
  auto job = [self = shared_from_this(), from = way->to, scope, not_found,
              request = children_request{std::move(opened.by), std::move(uri), std::move(after),
                                         limits_.page_size}]() -> result<model::directory_page> {
    HONDANA_TRY(const auto granted, self->grants(request, request.uri, purpose::seeing));
    if (!granted) return not_found({});
    auto found = from->what()->children(request);
    if (!found && found.error().code == errc::resource_not_found) return not_found(std::move(found.error().private_text));
    if (!found) return tl::unexpected(std::move(found.error()));
    const auto is_claimed = [&](std::string_view one) {
      const auto* there = self->route_of(one);
      return there != nullptr && there->to == from;
    };
    const list_request asked{static_cast<const call&>(request), request.after, request.limit};
    HONDANA_TRY(check_page(*found, asked, from->what()->name(), is_claimed));
    apply_view(*found, request.who.view.get(), *self->rules_);
    mask_secrets(*from->what(), found->entries);
    self->veil(request.who, found->entries);
    model::directory_page page;
    page.resources = std::move(found->entries);
    if (found->resume) page.next_cursor = write_cursor(scope, *found->resume, self->sealer_for(request.who));
    return page;
  };
  ask<model::directory_page>(*way->to, by, timers_, std::move(job), std::move(done), opened.account, kind);
}

}  // namespace hondana::catalog
