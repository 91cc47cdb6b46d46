/// What callers may see and read: by their views, and by the scopes that they have.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/uri.hpp>

#include "base/bytes/prepare.hpp"
#include "server/catalog/catalog.hpp"

namespace hondana::catalog {
namespace {

// Of one URI under which a source may know a resource that it does not know by its own; nobody writes one that has more.
constexpr std::size_t most_asked = 8;

/// Whether a source that failed so may have an answer at another time.
bool is_passing(errc why) noexcept {
  return why == errc::timed_out || why == errc::cancelled || why == errc::overloaded || why == errc::source_unavailable;
}

}  // namespace

bool is_told_apart(const caller& who) noexcept { return who.view != nullptr || who.proof != nullptr; }

result<void> catalog::has_scopes_for(const caller& who, std::string_view uri) const {
  if (!who.proof) return {};
  return rules_->admit(who, model::read_resource{std::string(uri), std::string(uri)});
}

result<bool> catalog::grants(const call& by, const std::string& uri, purpose what_for) const {
  const auto* through = by.who.view.get();
  const auto may = [&](const auto& what) {
    return what_for == purpose::reading ? rules_->may_read(through, what) : rules_->may_see(through, what);
  };
  if (!may(uri)) return false;
  if (through == nullptr || !through->looks_at_entries()) return true;
  const auto* way = route_of(uri);
  std::optional<bool> said;
  // What the source says of `one`, which is as good as said of the URI.
  const auto ask = [&](std::string one) -> result<void> {
    if (way == nullptr) return {};
    const auto match = match_of(*way->to, one);
    auto entry = way->to->what()->describe({by, std::move(one), match, {}});
    if (!entry && is_passing(entry.error().code)) return tl::unexpected(std::move(entry.error()));
    if (!entry) return {};
    entry->uri = uri;
    said = said.value_or(true) && may(*entry);
    return {};
  };
  HONDANA_TRY(ask(uri));
  // What is said of the whole holds for its parts.
  if (const auto whole = access::whole_of(uri); whole.size() != uri.size() && said != false) {
    HONDANA_TRY(ask(std::string(whole)));
  }
  if (said) return *said;
  // It may be listed as it is written otherwise.
  const auto others = rules_->other_spellings(uri);
  if (!others || others->size() > most_asked) return false;
  for (const auto& one : *others) {
    HONDANA_TRY(ask(one));
    if (said) return *said;
  }
  resource bare;
  bare.uri = uri;
  return may(bare);
}

result<void> catalog::keep_readable(const read_request& request, bytes::prepared_reading& found) const {
  result<void> last;
  const auto is_withheld = [&](const bytes::prepared& one) {
    if (one.uri == request.asked_uri || one.uri == request.uri) return false;
    // As the provider wrote it, which need not be how rules are.
    const auto canonical = canonical_uri(one.uri);
    const auto& uri = canonical ? *canonical : one.uri;
    const auto granted = grants(request, uri, purpose::reading);
    if (granted && *granted) return false;
    last = has_scopes_for(request.who, uri);
    if (last) last = fail(errc::resource_not_found, "Resource not found");
    return true;
  };
  if (std::erase_if(found.contents, is_withheld) == 0) return {};
  // The version is that of the whole: who may read more later must not be told that nothing has changed.
  found.version.clear();
  return found.contents.empty() ? last : result<void>();
}

void catalog::veil(const caller& who, resource& entry) const {
  if (rules_->may_read(who.view.get(), entry)) return;
  // Sources make these of contents; a version may be a digest of them.
  entry.title.clear();
  entry.description.clear();
  entry.version.clear();
  entry.annotations.priority.reset();
  entry.metadata.clear();
}

}  // namespace hondana::catalog
