/// Reads and describes resources, from the cache or the source, within the caller's rights.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/uri.hpp>

#include "base/bytes/prepared_content.hpp"
#include "server/catalog/catalog.hpp"
#include "server/catalog/read_cache.hpp"
#include "server/catalog/secret_masking.hpp"
#include "server/catalog/source_call.hpp"

namespace hondana::catalog {
namespace {

// Limit of other spellings of a URI for which the source is called. Ordinary URIs have fewer.
constexpr std::size_t most_asked = 8;

/// Whether a retry may succeed after this failure of a source.
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
  // Combines the decision for the source's entry of `one` into `said`, as an entry of `uri`.
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
  // A rule for the whole resource applies to its parts.
  if (const auto whole = access::whole_of(uri); whole.size() != uri.size() && said != false) {
    HONDANA_TRY(ask(std::string(whole)));
  }
  if (said) return *said;
  // The source may list it under another spelling.
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
    // The provider's spelling may differ from that of rules.
    const auto canonical = canonical_uri(one.uri);
    const auto& uri = canonical ? *canonical : one.uri;
    const auto granted = grants(request, uri, purpose::reading);
    if (granted && *granted) return false;
    last = has_scopes_for(request.who, uri);
    if (last) last = fail(errc::resource_not_found, "Resource not found");
    return true;
  };
  if (std::erase_if(found.contents, is_withheld) == 0) return {};
  // The version belongs to all contents. A caller that gains rights later must not get "not modified".
  found.version.clear();
  return found.contents.empty() ? last : result<void>();
}

void catalog::veil(const caller& who, resource& entry) const {
  if (rules_->may_read(who.view.get(), entry)) return;
  // Sources derive these members from contents; a version may be a digest.
  entry.title.clear();
  entry.description.clear();
  entry.version.clear();
  entry.annotations.priority.reset();
  entry.metadata.clear();
}

std::optional<held_answer> catalog::read_at_hand(const caller& who, std::string_view uri, std::string_view asked_uri) const {
  if (!cache_) return std::nullopt;
  const auto* way = route_of(uri);
  // A source that never blocks is as fast as the cache.
  if (way == nullptr || way->to->never_blocks()) return std::nullopt;
  const auto* through = who.view.get();
  // Decisions by entry need a call of the source.
  if (through != nullptr && through->looks_at_entries()) return std::nullopt;
  auto found = cache_->find_vouched({way->to->id(), uri, asked_uri, through});
  if (!found.what || !is_within(limits_.read_limit, *found.what)) return std::nullopt;
  // `read` returns the error.
  if (through != nullptr && !rules_->may_read(through, uri)) return std::nullopt;
  // Contents that are resources of their own are subject to rules.
  const auto& contents = found.what->contents;
  if (contents.size() != 1 || (contents.front().uri != asked_uri && contents.front().uri != uri)) return std::nullopt;
  // Checked last, because only the state at the end counts.
  if (!found.by || !found.by->holds()) return std::nullopt;
  cache_->confirmed();
  return held_answer{std::move(found.what), way->to->lane(), {found.ttl, is_told_apart(who)}};
}

namespace {

tl::unexpected<failure> not_found(std::string private_text = {}) {
  return fail(errc::resource_not_found, "Resource not found", std::move(private_text));
}

bool is_unmodified(const read_request& request, const reading& found) {
  return request.if_version && !found.version.empty() && found.version == *request.if_version;
}

/// `Found`: a reading, prepared or not.
template <class Found>
read_answer unmodified(Found found) {
  return {{{}, std::move(found.version), found.ttl, found.is_racy, std::move(found.valid)}, {}, {}, true, {}};
}

/// Reads and prepares contents, unless the caller's version is current. After a change before the first byte, retries once.
result<read_answer> read_stable(provider& from, const read_request& request) {
  const auto ready = [&from, &request](reading found) -> result<read_answer> {
    if (is_unmodified(request, found)) return unmodified(std::move(found));
    mask_secrets(from, found, request.uri);
    return bytes::prepare(std::move(found), request).map([](bytes::prepared_reading one) {
      return read_answer{std::move(one), {}, {}, false, {}};
    });
  };
  for (bool is_last = false;; is_last = true) {
    auto answer = from.read(request).and_then(ready);
    if (answer || is_last || answer.error().code != errc::content_changed) return answer;
  }
}

/// Reads, or returns cached contents if the source confirms their version.
result<read_answer> read_through(read_cache& cache, const source& from, read_request request, bool as_bytes) {
  const read_cache::key place{from.id(), request.uri, request.asked_uri, request.who.view, as_bytes};
  auto kept = cache.find(place);
  if (kept && !is_within(request.max_bytes, *kept)) kept = nullptr;
  const auto had = request.if_version;
  if (kept) request.if_version = kept->version;
  auto answer = read_stable(*from.what(), request);
  if (!answer) return answer;
  if (!answer->is_unmodified) {
    cache.missed();
    // Large contents are sent from the cache's encoded copy.
    const auto copy = answer->reading.is_racy ? nullptr : cache.keep(place, answer->reading);
    if (copy) answer->reading = *copy;
  } else if (kept && had != kept->version) {
    const auto ttl = answer->reading.ttl;
    const bool is_racy = answer->reading.is_racy;
    cache.vouch(place, kept, ttl, std::move(answer->reading.valid));
    cache.confirmed();
    answer->reading = *kept;
    answer->reading.ttl = ttl;
    answer->reading.is_racy = is_racy;
    answer->is_unmodified = false;
    return answer;
  } else if (kept) {
    cache.vouch(place, kept, answer->reading.ttl, std::move(answer->reading.valid));
  }
  if (had && !answer->reading.version.empty() && answer->reading.version == *had) {
    answer->reading.valid = nullptr;
    return unmodified(std::move(answer->reading));
  }
  return answer;
}

/// Adds members of a reading to an entry. With an empty entry, describes an unlisted resource as far as possible.
template <class Content>
resource completed(resource entry, const std::string& uri, const Content& whole, const std::string& version) {
  entry.uri = uri;
  if (entry.name.empty()) entry.name = whole.name.empty() ? uri : whole.name;
  if (entry.title.empty()) entry.title = whole.title;
  if (!whole.mimeType.empty()) entry.mimeType = whole.mimeType;  // the detected type
  entry.version = version;
  return entry;
}

/// The entry of a resource that was read.
result<resource> entry_of(provider& from, const read_request& request, const bytes::prepared_reading& reading) {
  auto entry = from.describe({static_cast<const call&>(request), request.uri, request.match, reading.version});
  if (!entry && entry.error().code != errc::resource_not_found) return entry;
  auto known = entry ? std::move(*entry) : resource{};
  mask_secrets(from, known);
  return completed(std::move(known), request.asked_uri, reading.contents.front(), reading.version);
}

/// The entry of a resource that a template generates.
result<resource> described_by_reading(provider& from, const read_request& request) {
  return from.read(request).and_then([&from, &request](const reading& found) -> result<resource> {
    if (found.contents.empty()) return not_found("the source returned no contents");
    auto made = completed({}, request.uri, found.contents.front(), found.version);
    mask_secrets(from, made);
    return made;
  });
}

}  // namespace

void catalog::read(const call& by, std::string uri, std::string asked_uri, read_options how,
                   completion<read_answer> done) const {
  const auto* way = route_of(uri);
  if (way == nullptr) return done(not_found());
  // The access filter is checked on the source's thread, so that a hidden URI cannot be distinguished from a missing one.
  auto asked = way->to->open(doing::read, by);
  const auto kind = kind_of(doing::read, uri);
  auto job = [self = shared_from_this(), to = way->to, with_entry = how.with_entry, as_bytes = how.as_bytes,
              is_once = how.is_once,
              request = read_request{std::move(asked.by),
                                     std::move(uri),
                                     std::move(asked_uri),
                                     {},
                                     std::move(how.if_version),
                                     limits_.read_limit}]() mutable -> result<read_answer> {
    HONDANA_TRY(const auto granted, self->grants(request, request.uri, purpose::reading));
    if (!granted) return not_found();
    request.match = self->match_of(*to, request.uri);
    // Contents of a source that never blocks are in memory anyway.
    auto ready = self->cache_ && !to->never_blocks() && !is_once ? read_through(*self->cache_, *to, request, as_bytes)
                                                                 : read_stable(*to->what(), request);
    if (!ready) {
      if (ready.error().code == errc::resource_not_found) return not_found(std::move(ready.error().private_text));
      return tl::unexpected(std::move(ready.error()));
    }
    ready->home = to->lane();
    HONDANA_TRY(self->keep_readable(request, ready->reading));
    ready->cache = {ready->reading.ttl, is_told_apart(request.who)};
    if (with_entry && !ready->is_unmodified) {
      HONDANA_TRY(auto entry, entry_of(*to->what(), request, ready->reading));
      ready->entry = std::move(entry);
    }
    return ready;
  };
  ask<read_answer>(*way->to, by, timers_, std::move(job), std::move(done), asked.account, kind);
}

void catalog::describe(const call& by, std::string uri, completion<resource> done) const {
  const auto* way = route_of(uri);
  if (way == nullptr) return done(not_found());
  auto asked = way->to->open(doing::describe, by);
  const auto kind = kind_of(doing::describe, uri);
  auto job = [self = shared_from_this(), to = way->to,
              request = describe_request{std::move(asked.by), std::move(uri), {}, {}}]() mutable -> result<resource> {
    HONDANA_TRY(const auto granted, self->grants(request, request.uri, purpose::seeing));
    if (!granted) return not_found();
    request.match = self->match_of(*to, request.uri);
    auto entry = to->what()->describe(request);
    if (!entry && entry.error().code == errc::resource_not_found && request.match) {
      HONDANA_TRY(const auto readable, self->grants(request, request.uri, purpose::reading));
      if (!readable) return not_found();
      entry = described_by_reading(
          *to->what(),
          {static_cast<const call&>(request), request.uri, request.uri, request.match, {}, self->limits_.read_limit});
    }
    if (entry) {
      mask_secrets(*to->what(), *entry);
      self->veil(request.who, *entry);
    } else if (entry.error().code == errc::resource_not_found) {
      return not_found(std::move(entry.error().private_text));
    }
    return entry;
  };
  ask<resource>(*way->to, by, timers_, std::move(job), std::move(done), asked.account, kind);
}

}  // namespace hondana::catalog
