/// Subscriptions of the versioned dialect, whose changes are told with the entry.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "session/announcements.hpp"
#include "session/session.hpp"

namespace hondana::session {

/// All or none: nothing is taken down before there is room for everything.
result<void> session::subscribe(const model::subscribe_entries& what, const caller& who, const context& with) {
  for (std::size_t i = 0; i < what.uris.size(); ++i) {
    if (with.catalog->could_serve(what.uris[i])) continue;
    return fail(errc::invalid_argument, "params.uris[" + std::to_string(i) +
                                            "]: No source of this server could ever serve this URI, so nothing of the list "
                                            "was subscribed to.");
  }
  const auto notes = own_notes();
  if (!notes->has_room_for(what.uris, with.subscriptions)) {
    return fail(errc::overloaded, "A peer may watch " + std::to_string(with.subscriptions) +
                                      " resources, and with these it would watch more. Nothing of the list was subscribed to.");
  }
  if (conversation_.settled != nullptr) notes->begin(*conversation_.settled);
  std::vector<std::string_view> fresh;
  for (const auto& uri : what.uris) {
    if (notes->watches(uri)) continue;
    if (with.feed->watch(notes, uri)) {
      fresh.emplace_back(uri);
      continue;
    }
    for (const auto one : fresh) with.feed->unwatch(*notes, std::string(one));
    return fail(errc::overloaded,
                "The peers of this server together watch as many resources as it can. Nothing of the list was subscribed to: "
                "subscribe to fewer, or try again later.");
  }
  for (std::size_t i = 0; i < what.uris.size(); ++i) {
    notes->unwatch(what.uris[i]);
    if (notes->watch_entry(what.uris[i], what.asked_uris[i], who.view, with.lookups, with.subscriptions)) continue;
    return fail(errc::internal, "Internal error", "there was room for URIs, and then there was none");
  }
  return {};
}

void session::unsubscribe(const std::string& uri, const context& with) {
  const auto notes = own_notes();
  with.feed->unwatch(*notes, uri);
  notes->unwatch(uri);
  notes->unwatch_entry(uri);
}

}  // namespace hondana::session
