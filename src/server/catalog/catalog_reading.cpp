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
constexpr std::size_t max_alternate_forms = 8;

/// Whether a retry may succeed after this failure of a source.
bool is_transient(errc code) noexcept {
  return code == errc::timed_out || code == errc::cancelled || code == errc::overloaded || code == errc::source_unavailable;
}

tl::unexpected<failure> not_found(std::string private_text = {}) {
  return fail(errc::resource_not_found, "Resource not found", std::move(private_text));
}

/// The current entry of a resource. A source without an `entry_source` has only the listed entries.
result<resource> describe_with(const source& source, const describe_request& request) {
  if (auto* const entries = source.capabilities().entries) return entries->describe(request);
  list_request page_request{static_cast<const request_context&>(request), key_before(request.uri), 1};
  HONDANA_TRY(auto listed, source.get_provider()->list(page_request));
  if (listed.entries.empty() || listed.entries.front().uri != request.uri) return not_found();
  return std::move(listed.entries.front());
}

}  // namespace

bool is_caller_specific(const caller_info& caller) noexcept {
  return caller.access_filter != nullptr || caller.auth_info != nullptr;
}

result<void> catalog::check_scopes(const caller_info& caller, std::string_view uri) const {
  if (!caller.auth_info) return {};
  return gate_->admit(caller, model::read_resource{std::string(uri), std::string(uri)});
}

result<bool> catalog::grants(const request_context& context, const std::string& uri, purpose intent) const {
  const auto* filter = context.caller.access_filter.get();
  const auto is_permitted = [&](const auto& subject) {
    return intent == purpose::reading ? gate_->may_read(filter, subject) : gate_->may_see(filter, subject);
  };
  if (!is_permitted(uri)) return false;
  if (filter == nullptr || !filter->uses_entries()) return true;
  const auto* route = route_of(uri);
  std::optional<bool> decision;
  // Combines the decision for the source's entry of `form` into `decision`, as an entry of `uri`.
  const auto check_entry = [&](std::string form) -> result<void> {
    if (route == nullptr) return {};
    const auto match = match_of(*route->owner, form);
    auto entry = describe_with(*route->owner, {context, std::move(form), match, {}});
    if (!entry && is_transient(entry.error().code)) return tl::unexpected(std::move(entry.error()));
    if (!entry) return {};
    entry->uri = uri;
    decision = decision.value_or(true) && is_permitted(*entry);
    return {};
  };
  HONDANA_TRY(check_entry(uri));
  // A rule for the whole resource applies to its parts.
  if (const auto resource_uri = access::strip_query_and_fragment(uri); resource_uri.size() != uri.size() && decision != false) {
    HONDANA_TRY(check_entry(std::string(resource_uri)));
  }
  if (decision) return *decision;
  // The source may list it under another spelling.
  const auto alternates = gate_->other_forms(uri);
  if (!alternates || alternates->size() > max_alternate_forms) return false;
  for (const auto& form : *alternates) {
    HONDANA_TRY(check_entry(form));
    if (decision) return *decision;
  }
  resource bare;
  bare.uri = uri;
  return is_permitted(bare);
}

result<void> catalog::remove_unreadable(const read_request& request, bytes::prepared_read_result& reading) const {
  result<void> rejection;
  const auto is_withheld = [&](const bytes::prepared_content& content) {
    if (content.uri == request.requested_uri || content.uri == request.uri) return false;
    // The provider's spelling may differ from that of rules.
    const auto canonical = canonical_uri(content.uri);
    const auto& uri = canonical ? *canonical : content.uri;
    const auto granted = grants(request, uri, purpose::reading);
    if (granted && *granted) return false;
    rejection = check_scopes(request.caller, uri);
    if (rejection) rejection = fail(errc::resource_not_found, "Resource not found");
    return true;
  };
  if (std::erase_if(reading.contents, is_withheld) == 0) return {};
  // The version belongs to all contents. A caller that gains rights later must not get "not modified".
  reading.version.clear();
  return reading.contents.empty() ? rejection : result<void>();
}

void catalog::redact(const caller_info& caller, resource& entry) const {
  if (gate_->may_read(caller.access_filter.get(), entry)) return;
  // Sources derive these members from contents; a version may be a digest.
  entry.title.clear();
  entry.description.clear();
  entry.version.clear();
  entry.annotations.priority.reset();
  entry.metadata.clear();
}

std::optional<cached_answer> catalog::read_cached(const caller_info& caller, std::string_view uri,
                                                  std::string_view requested_uri) const {
  if (!cache_) return std::nullopt;
  const auto* route = route_of(uri);
  // A source that never blocks is as fast as the cache.
  if (route == nullptr || route->owner->never_blocks()) return std::nullopt;
  const auto* filter = caller.access_filter.get();
  // Decisions by entry need a call of the source.
  if (filter != nullptr && filter->uses_entries()) return std::nullopt;
  auto cached = cache_->find_validated({route->owner->id(), uri, requested_uri, filter});
  if (!cached.reading || !is_within(limits_.max_read_bytes, *cached.reading)) return std::nullopt;
  // `read` returns the error.
  if (filter != nullptr && !gate_->may_read(filter, uri)) return std::nullopt;
  // Contents that are resources of their own are subject to rules.
  const auto& contents = cached.reading->contents;
  if (contents.size() != 1 || (contents.front().uri != requested_uri && contents.front().uri != uri)) return std::nullopt;
  // Checked last, because only the state at the end counts.
  if (!cached.validator || !cached.validator->is_valid()) return std::nullopt;
  cache_->count_hit();
  return cached_answer{std::move(cached.reading), route->owner->executor(), {cached.ttl, is_caller_specific(caller)}};
}

namespace {

bool is_unmodified(const read_request& request, const read_result& reading) {
  return request.cached_version && !reading.version.empty() && reading.version == *request.cached_version;
}

/// `Reading`: a reading, prepared or not.
template <class Reading>
read_answer unmodified(Reading reading) {
  return {{{}, std::move(reading.version), reading.ttl, reading.is_racy, std::move(reading.validator)}, {}, {}, true, {}};
}

/// Reads and prepares contents, unless the caller's version is current. After a change before the first byte, retries once.
result<read_answer> read_stable(const source& source, const read_request& request) {
  const auto prepare = [&source, &request](read_result reading) -> result<read_answer> {
    if (is_unmodified(request, reading)) return unmodified(std::move(reading));
    mask_secrets(source.masking(), reading, request.uri);
    return bytes::prepare_content(std::move(reading), request).map([](bytes::prepared_read_result prepared) {
      return read_answer{std::move(prepared), {}, {}, false, {}};
    });
  };
  for (bool is_last = false;; is_last = true) {
    auto answer = source.get_provider()->read(request).and_then(prepare);
    if (answer || is_last || answer.error().code != errc::content_changed) return answer;
  }
}

/// Reads, or returns cached contents if the source confirms their version.
result<read_answer> read_through(read_cache& cache, const source& source, read_request request, bool as_bytes) {
  const read_cache::cache_key key{source.id(), request.uri, request.requested_uri, request.caller.access_filter, as_bytes};
  auto cached = cache.find(key);
  if (cached && !is_within(request.max_bytes, *cached)) cached = nullptr;
  const auto client_version = request.cached_version;
  if (cached) request.cached_version = cached->version;
  auto answer = read_stable(source, request);
  if (!answer) return answer;
  if (!answer->is_unmodified) {
    cache.count_miss();
    // Large contents are sent from the cache's encoded copy.
    const auto copy = answer->reading.is_racy ? nullptr : cache.store(key, answer->reading);
    if (copy) answer->reading = *copy;
  } else if (cached && client_version != cached->version) {
    const auto ttl = answer->reading.ttl;
    const bool is_racy = answer->reading.is_racy;
    cache.revalidate(key, cached, ttl, std::move(answer->reading.validator));
    cache.count_hit();
    answer->reading = *cached;
    answer->reading.ttl = ttl;
    answer->reading.is_racy = is_racy;
    answer->is_unmodified = false;
    return answer;
  } else if (cached) {
    cache.revalidate(key, cached, answer->reading.ttl, std::move(answer->reading.validator));
  }
  if (client_version && !answer->reading.version.empty() && answer->reading.version == *client_version) {
    answer->reading.validator = nullptr;
    return unmodified(std::move(answer->reading));
  }
  return answer;
}

/// Adds members of a reading to an entry. With an empty entry, describes an unlisted resource as far as possible.
template <class Content>
resource complete_entry(resource entry, const std::string& uri, const Content& content, const std::string& version) {
  entry.uri = uri;
  if (entry.name.empty()) entry.name = content.name.empty() ? uri : content.name;
  if (entry.title.empty()) entry.title = content.title;
  if (!content.mime_type.empty()) entry.mime_type = content.mime_type;  // the detected type
  entry.version = version;
  return entry;
}

/// The entry of a resource that was read.
result<resource> entry_of(const source& source, const read_request& request, const bytes::prepared_read_result& reading) {
  auto known_version = reading.version.empty() ? std::nullopt : std::optional(reading.version);
  auto entry = describe_with(
      source, {static_cast<const request_context&>(request), request.uri, request.match, std::move(known_version)});
  if (!entry && entry.error().code != errc::resource_not_found) return entry;
  auto described = entry ? std::move(*entry) : resource{};
  mask_secrets(source.masking(), described);
  return complete_entry(std::move(described), request.requested_uri, reading.contents.front(), reading.version);
}

/// The entry of a resource that a template generates.
result<resource> describe_by_reading(const source& source, const read_request& request) {
  return source.get_provider()->read(request).and_then([&source, &request](const read_result& reading) -> result<resource> {
    if (reading.contents.empty()) return not_found("the source returned no contents");
    auto entry = complete_entry({}, request.uri, reading.contents.front(), reading.version);
    mask_secrets(source.masking(), entry);
    return entry;
  });
}

}  // namespace

void catalog::read(const request_context& context, std::string uri, std::string requested_uri, read_options options,
                   completion<read_answer> callback) const {
  const auto* route = route_of(uri);
  if (route == nullptr) return callback(not_found());
  // The access filter is checked on the source's thread, so that a hidden URI cannot be distinguished from a missing one.
  auto opened = route->owner->open(operation::read, context);
  const auto kind = make_job_kind(operation::read, uri);
  auto job = [catalog_ptr = shared_from_this(), source = route->owner, with_entry = options.with_entry,
              as_bytes = options.as_bytes, is_once = options.is_once,
              request = read_request{std::move(opened.context),
                                     std::move(uri),
                                     std::move(requested_uri),
                                     {},
                                     std::move(options.cached_version),
                                     limits_.max_read_bytes}]() mutable -> result<read_answer> {
    HONDANA_TRY(const auto granted, catalog_ptr->grants(request, request.uri, purpose::reading));
    if (!granted) return not_found();
    request.match = catalog_ptr->match_of(*source, request.uri);
    // Contents of a source that never blocks are in memory anyway.
    auto answer = catalog_ptr->cache_ && !source->never_blocks() && !is_once
                      ? read_through(*catalog_ptr->cache_, *source, request, as_bytes)
                      : read_stable(*source, request);
    if (!answer) {
      if (answer.error().code == errc::resource_not_found) return not_found(std::move(answer.error().private_text));
      return tl::unexpected(std::move(answer.error()));
    }
    answer->executor = source->executor();
    HONDANA_TRY(catalog_ptr->remove_unreadable(request, answer->reading));
    answer->cache = {answer->reading.ttl, is_caller_specific(request.caller)};
    if (with_entry && !answer->is_unmodified) {
      HONDANA_TRY(auto entry, entry_of(*source, request, answer->reading));
      answer->entry = std::move(entry);
    }
    return answer;
  };
  call_source<read_answer>(*route->owner, context, timers_, std::move(job), std::move(callback), opened.record, kind);
}

void catalog::describe(const request_context& context, std::string uri, completion<resource> callback) const {
  const auto* route = route_of(uri);
  if (route == nullptr) return callback(not_found());
  auto opened = route->owner->open(operation::describe, context);
  const auto kind = make_job_kind(operation::describe, uri);
  auto job = [catalog_ptr = shared_from_this(), source = route->owner,
              request = describe_request{std::move(opened.context), std::move(uri), {}, {}}]() mutable -> result<resource> {
    HONDANA_TRY(const auto granted, catalog_ptr->grants(request, request.uri, purpose::seeing));
    if (!granted) return not_found();
    request.match = catalog_ptr->match_of(*source, request.uri);
    auto entry = describe_with(*source, request);
    if (!entry && entry.error().code == errc::resource_not_found && request.match) {
      HONDANA_TRY(const auto readable, catalog_ptr->grants(request, request.uri, purpose::reading));
      if (!readable) return not_found();
      entry = describe_by_reading(*source, {static_cast<const request_context&>(request),
                                            request.uri,
                                            request.uri,
                                            request.match,
                                            {},
                                            catalog_ptr->limits_.max_read_bytes});
    }
    if (entry) {
      mask_secrets(source->masking(), *entry);
      catalog_ptr->redact(request.caller, *entry);
    } else if (entry.error().code == errc::resource_not_found) {
      return not_found(std::move(entry.error().private_text));
    }
    return entry;
  };
  call_source<resource>(*route->owner, context, timers_, std::move(job), std::move(callback), opened.record, kind);
}

}  // namespace hondana::catalog
