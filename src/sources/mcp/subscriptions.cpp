/// Subscriptions at the mounted server.
#include "sources/mcp/subscriptions.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "sources/mcp/sanitizer.hpp"

namespace hondana::mcp {
namespace {

// Each may use an event stream of its own.
constexpr std::size_t max_groups = 8;
constexpr std::size_t max_group_uris = 5'000;

/// Whether the same call may succeed later without another change.
bool is_temporary(const failure& error) {
  return error.code == errc::source_unavailable || error.code == errc::timed_out || error.code == errc::cancelled ||
         error.code == errc::overloaded || error.code == errc::unauthorized;
}

std::set<std::string> difference(const std::set<std::string>& uris, const std::set<std::string>& removed) {
  std::set<std::string> remaining;
  std::set_difference(uris.begin(), uris.end(), removed.begin(), removed.end(), std::inserter(remaining, remaining.end()));
  return remaining;
}

std::set<std::string> intersection(const std::set<std::string>& a, const std::set<std::string>& b) {
  std::set<std::string> common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(common, common.end()));
  return common;
}

}  // namespace

bool subscription_manager::watches_lists() const {
  return std::any_of(groups_.begin(), groups_.end(), [](const watch_group& group) { return group.has_lists; });
}

std::set<std::string> subscription_manager::missing_uris(const desired_subscriptions& desired) const {
  auto missing = difference(desired.uris, rejected_);
  for (const auto& group : groups_) missing = difference(missing, group.uris);
  return missing;
}

result<void> subscription_manager::update(client& server, const desired_subscriptions& desired, const call_options& options) {
  if (desired.retries_rejected) {
    rejected_.clear();
    lists_rejected_ = false;
    for (auto& group : groups_) remove_rejected(group);
  }
  rejected_ = intersection(rejected_, desired.uris);
  std::erase_if(groups_, [&desired](const watch_group& candidate) {
    return intersection(candidate.uris, desired.uris).empty() && !(candidate.has_lists && desired.wants_lists);
  });
  const bool needs_lists = desired.wants_lists && !watches_lists() && !lists_rejected_;
  auto missing = missing_uris(desired);
  if (missing.empty() && !needs_lists) return {};
  // The old subscriptions end after the new one is active, so that no change is missed.
  std::vector<watch_group> merged;
  if (groups_.size() >= max_groups + desired.uris.size() / (max_group_uris / 2)) {
    const auto is_large = [](const watch_group& candidate) { return candidate.uris.size() >= max_group_uris / 2; };
    const auto small = std::partition(groups_.begin(), groups_.end(), is_large);
    std::move(small, groups_.end(), std::back_inserter(merged));
    groups_.erase(small, groups_.end());
    missing = missing_uris(desired);
  }
  const bool with_lists = needs_lists || std::any_of(merged.begin(), merged.end(),
                                                     [](const watch_group& candidate) { return candidate.has_lists; });
  auto outcome = add(server, missing, with_lists && desired.wants_lists, options);
  if (!outcome) std::move(merged.begin(), merged.end(), std::back_inserter(groups_));
  return outcome;
}

result<subscription_manager::watch_group> subscription_manager::create_group(client& server, std::set<std::string> uris,
                                                                             bool with_lists,
                                                                             const call_options& options) const {
  watch_request request;
  std::map<std::string, std::string> remote_uris;
  for (const auto& uri : uris) {
    request.uris.push_back(callbacks_.to_remote_uri(uri));
    remote_uris.emplace(uri, request.uris.back());
  }
  request.resource_list = with_lists;
  HONDANA_TRY(auto handle, server.watch(request, callbacks_.on_event, options));
  watch_group created{std::move(uris), with_lists, std::move(handle), std::move(remote_uris)};
  remove_rejected(created);
  return created;
}

/// Removes URIs that the server no longer watches. After a reconnect it may accept less than before.
void subscription_manager::remove_rejected(watch_group& group) {
  const auto accepted = group.handle.accepted();
  const std::set<std::string> accepted_uris(accepted.uris.begin(), accepted.uris.end());
  group.has_lists = group.has_lists && accepted.resource_list;
  std::erase_if(group.uris, [&](const std::string& uri) { return !accepted_uris.contains(group.remote_uris.at(uri)); });
}

void subscription_manager::store_group(watch_group created, const std::set<std::string>& requested) {
  for (const auto& rejected_uri : difference(requested, created.uris))
    note_rejection(rejected_uri, "it rejected the subscription");
  for (const auto& uri : created.uris) callbacks_.on_watched(uri);
  groups_.push_back(std::move(created));
}

void subscription_manager::note_rejection(const std::string& uri, const std::string& reason) {
  if (rejected_.insert(uri).second)
    callbacks_.log("clients are not notified of changes of " + sanitize(uri, max_line_bytes) + ": " +
                   sanitize_masked(reason, max_line_bytes));
}

result<void> subscription_manager::add(client& server, const std::set<std::string>& uris, bool with_lists,
                                       const call_options& options) {
  const auto info = server.server();
  if (with_lists && !info.has_list_changes) {
    with_lists = false;
    lists_rejected_ = true;
  }
  if (!info.has_subscriptions) {
    if (!uris.empty() && !std::exchange(has_logged_unsupported_, true))
      callbacks_.log("it does not support subscriptions; clients are not notified of changed contents");
    rejected_.insert(uris.begin(), uris.end());
  }
  const auto watchable = info.has_subscriptions ? uris : std::set<std::string>();
  for (auto next = watchable.begin(); next != watchable.end() || with_lists;) {
    std::set<std::string> part;
    while (next != watchable.end() && part.size() < max_group_uris) part.insert(*next++);
    auto created = create_group(server, part, with_lists, options);
    if (created) {
      lists_rejected_ = lists_rejected_ || (with_lists && !created->has_lists);
      store_group(std::move(*created), part);
    } else if (is_temporary(created.error())) {
      return tl::unexpected(std::move(created.error()));
    } else {
      // A rejected URI must not prevent watching the others or the lists.
      if (with_lists && !part.empty()) {
        auto lists_group = create_group(server, {}, true, options);
        if (lists_group) store_group(std::move(*lists_group), {});
        lists_rejected_ = !lists_group;
      } else if (with_lists) {
        lists_rejected_ = true;
        callbacks_.log("clients are not notified of changed lists: " +
                       sanitize_masked(created.error().public_text, max_line_bytes));
      }
      HONDANA_TRY(add_individually(server, part, options));
    }
    with_lists = false;
  }
  return {};
}

result<void> subscription_manager::add_individually(client& server, const std::set<std::string>& uris,
                                                    const call_options& options) {
  std::set<std::string> accepted;
  std::vector<watch_group> groups;
  for (const auto& uri : uris) {
    auto created = create_group(server, {uri}, false, options);
    if (created) {
      accepted.insert(uri);
      groups.push_back(std::move(*created));
    } else if (is_temporary(created.error())) {
      return tl::unexpected(std::move(created.error()));
    } else {
      note_rejection(uri, created.error().public_text);
    }
  }
  if (accepted.empty()) return {};
  if (accepted.size() == 1) {
    store_group(std::move(groups.front()), accepted);
    return {};
  }
  HONDANA_TRY(auto combined, create_group(server, accepted, false, options));
  store_group(std::move(combined), accepted);
  return {};
}

}  // namespace hondana::mcp
