/// The provider of resources held in memory, which may change while clients page through them.

#include <algorithm>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/memory.hpp>
#include <hondana/uri.hpp>

#include "protocol/model/entry_snapshot.hpp"

namespace hondana::inline v0 {
namespace {

/// How many entries one page may check against an access filter.
constexpr std::size_t looks_a_page = 10'000;

/// A packed entry and the source of its content. Entries are packed because there may be a million of them.
struct item {
  std::string packed;
  std::variant<memory_provider::maker, shared_bytes> content;

  [[nodiscard]] std::string_view uri() const noexcept { return model::packed_uri(packed); }
};

struct by_segment {
  using is_transparent = void;
  static std::string_view key(const item& one) noexcept { return one.uri(); }
  static std::string_view key(std::string_view uri) noexcept { return uri; }
  template <class A, class B>
  bool operator()(const A& a, const B& b) const noexcept {
    return std::is_lt(compare_by_segment(key(a), key(b)));
  }
};

std::string packed(const resource& entry) {
  std::string grown;
  model::pack(grown, entry);
  return {grown.data(), grown.size()};  // a copy, without the spare capacity
}

/// The fixed content of an entry as a reading.
reading whole(const resource& entry, shared_bytes bytes) {
  content only;
  only.mimeType = entry.mimeType;
  only.data = std::move(bytes);
  reading made;
  made.contents.push_back(std::move(only));
  made.version = entry.version;
  return made;
}

/// Counts the changes of the set. Shared with the pages that were made from it.
using change_count = std::atomic<std::uint64_t>;

/// Holds while the set is unchanged since a page was made from it.
class uncounted final : public validity {
 public:
  uncounted(std::shared_ptr<const change_count> changes, std::uint64_t then) : changes_(std::move(changes)), then_(then) {}
  [[nodiscard]] bool holds() const noexcept override { return changes_->load(std::memory_order_acquire) == then_; }

 private:
  std::shared_ptr<const change_count> changes_;
  std::uint64_t then_;
};

/// A template and its functions.
struct offered {
  resource_template entry;
  memory_provider::maker make;
  memory_provider::completer complete;
};

}  // namespace

struct memory_provider::state {
  std::string name;
  std::string prefix;

  mutable std::shared_mutex mutex;
  std::set<item, by_segment> items;
  std::map<std::string, std::shared_ptr<const offered>> templates;
  std::shared_ptr<change_listener> listener;
  const std::shared_ptr<change_count> changes = std::make_shared<change_count>(0);  // incremented under `mutex`

  /// Notifies the listener of a change. Call it without holding the lock.
  void tell(const std::string& uri, std::string_view title) const {
    std::shared_lock lock(mutex);
    const auto to = listener;
    lock.unlock();
    if (!to) return;
    to->content_changed(uri, title);
    to->list_changed();
  }

  /// Up to `limit` packed entries after a key. Returns copies, so that no lock is held while an access filter runs.
  std::vector<std::string> after(std::string_view key, std::size_t limit) const {
    std::vector<std::string> found;
    const std::shared_lock lock(mutex);
    auto place = key.empty() ? items.begin() : items.upper_bound(key);
    for (; place != items.end() && found.size() < limit; ++place) found.push_back(place->packed);
    return found;
  }

  /// The first packed entry after a key.
  std::optional<std::string> next(std::string_view key) const {
    const std::shared_lock lock(mutex);
    const auto place = items.upper_bound(key);
    return place == items.end() ? std::nullopt : std::optional(place->packed);
  }

  std::optional<item> find(std::string_view uri) const {
    const std::shared_lock lock(mutex);
    const auto place = items.find(uri);
    return place == items.end() ? std::nullopt : std::optional(*place);
  }

  /// Errors: as `memory_provider::add`.
  result<void> add(resource entry, decltype(item::content) from) {
    HONDANA_TRY(auto uri, canonical_uri(entry.uri));
    if (!covers(prefix, uri)) {
      return fail(errc::invalid_argument, "The entry " + uri + " is not under " + prefix + ", the prefix of the source \"" +
                                              name + "\". Change its URI.");
    }
    if (entry.name.empty()) return fail(errc::invalid_argument, "The entry " + uri + " has no name. Give it one.");
    entry.uri = std::move(uri);
    item added{packed(entry), std::move(from)};
    {
      const std::unique_lock lock(mutex);
      if (const auto before = items.find(std::string_view(entry.uri)); before != items.end()) items.erase(before);
      items.insert(std::move(added));
      changes->fetch_add(1, std::memory_order_release);
    }
    tell(entry.uri, entry.title);
    return {};
  }

  std::shared_ptr<const offered> find_template(const std::string& text) const {
    const std::shared_lock lock(mutex);
    const auto place = templates.find(text);
    return place == templates.end() ? nullptr : place->second;
  }
};

memory_provider::memory_provider(std::string name, std::string prefix) : state_(std::make_unique<state>()) {
  state_->name = std::move(name);
  state_->prefix = std::move(prefix);
}

memory_provider::~memory_provider() = default;

result<void> memory_provider::add(resource entry, maker make) {
  if (!make) return fail(errc::invalid_argument, "The entry " + entry.uri + " has no function that produces its content.");
  return state_->add(std::move(entry), std::move(make));
}

result<void> memory_provider::add(resource entry, std::string bytes) {
  if (!entry.size) entry.size = bytes.size();
  return state_->add(std::move(entry), std::make_shared<const std::string>(std::move(bytes)));
}

result<void> memory_provider::add_template(resource_template entry, maker make, completer complete) {
  HONDANA_TRY(uri_template::compile(entry.uriTemplate));
  if (entry.name.empty()) {
    return fail(errc::invalid_argument, "The template " + entry.uriTemplate + " has no name. Give it one.");
  }
  if (!make) {
    return fail(errc::invalid_argument, "The template " + entry.uriTemplate + " has no function that produces its content.");
  }
  auto text = entry.uriTemplate;
  auto added = std::make_shared<const offered>(offered{std::move(entry), std::move(make), std::move(complete)});
  const std::unique_lock lock(state_->mutex);
  state_->templates.insert_or_assign(std::move(text), std::move(added));
  return {};
}

bool memory_provider::remove(const std::string& uri) {
  const auto canonical = canonical_uri(uri);
  if (!canonical) return false;
  {
    const std::unique_lock lock(state_->mutex);
    const auto place = state_->items.find(std::string_view(*canonical));
    if (place == state_->items.end()) return false;
    state_->items.erase(place);
    state_->changes->fetch_add(1, std::memory_order_release);
  }
  state_->tell(*canonical, {});
  return true;
}

void memory_provider::watch(std::shared_ptr<change_listener> to) {
  const std::unique_lock lock(state_->mutex);
  state_->listener = std::move(to);
}

std::string memory_provider::name() const { return state_->name; }

std::vector<std::string> memory_provider::claims() const { return {state_->prefix}; }

scheme_documentation memory_provider::documentation() const {
  scheme_documentation document;
  document.scheme = split_uri(state_->prefix).scheme;
  document.summary = "Entries in the memory of the program.";
  document.forms.push_back({state_->prefix, "The prefix of the entries of the source \"" + state_->name + "\"."});
  std::set<std::string> kinds;
  const std::shared_lock lock(state_->mutex);
  for (const auto& one : state_->items) {
    if (auto kind = model::unpack(one.packed).kind; !kind.empty()) kinds.insert(std::move(kind));
  }
  for (const auto& kind : kinds) document.kinds.push_back({kind, "Defined by the program that added it."});
  for (const auto& [text, one] : state_->templates) {
    document.forms.push_back({text, one->entry.description.empty() ? one->entry.name : one->entry.description});
  }
  return document;
}

result<list_result> memory_provider::list(const list_request& request) {
  list_result page;
  page.valid = std::make_shared<const uncounted>(state_->changes, state_->changes->load(std::memory_order_acquire));
  std::string last = request.after;
  std::size_t looks = 0;
  while (page.entries.size() < request.limit && looks < looks_a_page) {
    const auto wanted = std::min(request.limit - page.entries.size(), looks_a_page - looks);
    const auto found = state_->after(last, wanted);
    for (const auto& one : found) {
      if (!request.who.view || request.who.view->may_see(model::packed_uri(one))) page.entries.push_back(model::unpack(one));
    }
    if (found.size() < wanted) return page;
    looks += found.size();
    last = model::packed_uri(found.back());
  }
  if (!state_->after(last, 1).empty()) page.resume = std::move(last);
  return page;
}

result<reading> memory_provider::read(const read_request& request) {
  if (const auto found = state_->find(request.uri)) {
    const auto entry = model::unpack(found->packed);
    if (const auto* bytes = std::get_if<shared_bytes>(&found->content)) return whole(entry, *bytes);
    auto made = std::get<maker>(found->content)(request);
    if (made && made->version.empty()) made->version = entry.version;
    return made;
  }
  if (request.match) {
    if (const auto found = state_->find_template(request.match->uriTemplate)) return found->make(request);
  }
  return fail(errc::resource_not_found, "Resource not found");
}

bool memory_provider::lists_folders() const noexcept { return true; }

result<list_result> memory_provider::children(const children_request& request) {
  const auto folder = state_->find(request.uri);
  if (!folder) return fail(errc::resource_not_found, "Resource not found");
  if (model::unpack(folder->packed).mimeType != "inode/directory")
    return fail(errc::invalid_argument, request.uri + " is not a folder.");
  const auto prefix = model::folder_prefix(request.uri);
  list_result page;
  std::string last = request.after;
  auto one = state_->next(last.empty() ? prefix : last);
  for (std::size_t looks = 0; one && model::packed_uri(*one).starts_with(prefix); ++looks) {
    if (page.entries.size() == request.limit || looks == looks_a_page) {
      page.resume = std::move(last);
      return page;
    }
    const auto uri = model::packed_uri(*one);
    const auto child = model::child_of(prefix, uri);
    const bool is_visible = !request.who.view || request.who.view->may_see(child);
    if (child.size() == uri.size() && is_visible) page.entries.push_back(model::unpack(*one));
    last = child;
    one = state_->next(model::end_of_subtree(last));
  }
  return page;
}

result<resource> memory_provider::describe(const describe_request& request) {
  if (const auto found = state_->find(request.uri)) return model::unpack(found->packed);
  return fail(errc::resource_not_found, "Resource not found");
}

std::vector<resource_template> memory_provider::templates() const {
  std::vector<resource_template> all;
  const std::shared_lock lock(state_->mutex);
  all.reserve(state_->templates.size());
  for (const auto& [text, one] : state_->templates) all.push_back(one->entry);
  return all;
}

result<complete_result> memory_provider::complete(const complete_request& request) {
  const auto found = state_->find_template(request.uriTemplate);
  if (!found || !found->complete) return provider::complete(request);
  return found->complete(request);
}

}  // namespace hondana::inline v0
