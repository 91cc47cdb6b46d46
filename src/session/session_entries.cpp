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
  if (!standing_->has_room_for(what.uris, with.subscriptions)) {
    return fail(errc::overloaded, "A peer may watch " + std::to_string(with.subscriptions) +
                                      " resources, and with these it would watch more. Nothing of the list was subscribed to.");
  }
  if (conversation_.settled != nullptr) standing_->begin(*conversation_.settled);
  std::vector<std::string_view> fresh;
  for (const auto& uri : what.uris) {
    if (standing_->watches(uri)) continue;
    if (with.feed->watch(standing_, uri)) {
      fresh.emplace_back(uri);
      continue;
    }
    for (const auto one : fresh) with.feed->unwatch(*standing_, std::string(one));
    return fail(errc::overloaded,
                "The peers of this server together watch as many resources as it can. Nothing of the list was subscribed to: "
                "subscribe to fewer, or try again later.");
  }
  for (std::size_t i = 0; i < what.uris.size(); ++i) {
    standing_->unwatch(what.uris[i]);
    if (standing_->watch_entry(what.uris[i], what.asked_uris[i], who.view, with.lookups, with.subscriptions)) continue;
    return fail(errc::internal, "Internal error", "there was room for URIs, and then there was none");
  }
  return {};
}

void session::unsubscribe(const std::string& uri, const context& with) {
  with.feed->unwatch(*standing_, uri);
  standing_->unwatch(uri);
  standing_->unwatch_entry(uri);
}

}  // namespace hondana::session
