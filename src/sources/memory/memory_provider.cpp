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

#include <hondana/memory_provider.hpp>
#include <hondana/uri.hpp>

#include "protocol/model/entry_snapshot.hpp"

namespace hondana::inline v0 {
namespace {

/// How many entries one page may check against an access filter.
constexpr std::size_t max_scanned_entries = 10'000;

/// A packed entry and the source of its content. Entries are packed because there may be a million of them.
struct stored_entry {
  std::string packed_entry;
  std::variant<memory_provider::read_handler, shared_bytes> content;

  [[nodiscard]] std::string_view uri() const noexcept { return model::packed_uri(packed_entry); }
};

struct segment_less {
  using is_transparent = void;
  static std::string_view key(const stored_entry& entry) noexcept { return entry.uri(); }
  static std::string_view key(std::string_view uri) noexcept { return uri; }
  template <class A, class B>
  bool operator()(const A& a, const B& b) const noexcept {
    return std::is_lt(compare_by_segment(key(a), key(b)));
  }
};

std::string pack_entry(const resource& entry) {
  std::string buffer;
  model::pack(buffer, entry);
  return {buffer.data(), buffer.size()};  // a copy, without the spare capacity
}

/// The fixed content of an entry as the result of a read.
read_result make_read_result(const resource& entry, shared_bytes bytes) {
  resource_content content;
  content.mime_type = entry.mime_type;
  content.data = std::move(bytes);
  read_result response;
  response.contents.push_back(std::move(content));
  response.version = entry.version;
  return response;
}

/// Counts the changes of the set. Shared with the pages that were made from it.
using change_counter = std::atomic<std::uint64_t>;

/// Valid while the set is unchanged since a page was made from it.
class unchanged_validator final : public cache_validator {
 public:
  unchanged_validator(std::shared_ptr<const change_counter> changes, std::uint64_t expected)
      : changes_(std::move(changes)), expected_(expected) {}
  [[nodiscard]] bool is_valid() const noexcept override { return changes_->load(std::memory_order_acquire) == expected_; }

 private:
  std::shared_ptr<const change_counter> changes_;
  std::uint64_t expected_;
};

/// A template and its functions.
struct template_record {
  resource_template entry;
  memory_provider::read_handler read_handler;
  memory_provider::complete_handler complete_handler;
};

}  // namespace

struct memory_provider::state {
  std::string name;
  std::string prefix;

  mutable std::shared_mutex mutex;
  std::set<stored_entry, segment_less> items;
  std::map<std::string, std::shared_ptr<const template_record>> templates;
  std::shared_ptr<change_listener> listener;
  const std::shared_ptr<change_counter> changes = std::make_shared<change_counter>(0);  // incremented under `mutex`

  /// Notifies the listener of a change. Call it without holding the lock.
  void notify(const std::string& uri, std::string_view title) const {
    std::shared_lock lock(mutex);
    const auto current_listener = listener;
    lock.unlock();
    if (!current_listener) return;
    current_listener->content_changed(uri, title);
    current_listener->list_changed();
  }

  /// Up to `limit` packed entries after a key. Returns copies, so that no lock is held while an access filter runs.
  std::vector<std::string> list_after(std::string_view key, std::size_t limit) const {
    std::vector<std::string> matches;
    const std::shared_lock lock(mutex);
    auto it = key.empty() ? items.begin() : items.upper_bound(key);
    for (; it != items.end() && matches.size() < limit; ++it) matches.push_back(it->packed_entry);
    return matches;
  }

  /// The first packed entry after a key.
  std::optional<std::string> next(std::string_view key) const {
    const std::shared_lock lock(mutex);
    const auto match = items.upper_bound(key);
    return match == items.end() ? std::nullopt : std::optional(match->packed_entry);
  }

  std::optional<stored_entry> find(std::string_view uri) const {
    const std::shared_lock lock(mutex);
    const auto match = items.find(uri);
    return match == items.end() ? std::nullopt : std::optional(*match);
  }

  /// Errors: as `memory_provider::add`.
  result<void> add(resource entry, decltype(stored_entry::content) content) {
    HONDANA_TRY(auto uri, canonical_uri(entry.uri));
    if (!uri_covers(prefix, uri)) {
      return fail(errc::invalid_argument, "The entry " + uri + " is not under " + prefix + ", the prefix of the source \"" +
                                              name + "\". Change its URI.");
    }
    if (entry.name.empty()) return fail(errc::invalid_argument, "The entry " + uri + " has no name. Give it one.");
    entry.uri = std::move(uri);
    stored_entry stored{pack_entry(entry), std::move(content)};
    {
      const std::unique_lock lock(mutex);
      if (const auto existing = items.find(std::string_view(entry.uri)); existing != items.end()) items.erase(existing);
      items.insert(std::move(stored));
      changes->fetch_add(1, std::memory_order_release);
    }
    notify(entry.uri, entry.title);
    return {};
  }

  std::shared_ptr<const template_record> find_template(const std::string& text) const {
    const std::shared_lock lock(mutex);
    const auto match = templates.find(text);
    return match == templates.end() ? nullptr : match->second;
  }
};

memory_provider::memory_provider(std::string name, std::string prefix) : state_(std::make_unique<state>()) {
  state_->name = std::move(name);
  state_->prefix = std::move(prefix);
}

memory_provider::~memory_provider() = default;

result<void> memory_provider::add(resource entry, read_handler handler) {
  if (!handler) return fail(errc::invalid_argument, "The entry " + entry.uri + " has no function that produces its content.");
  return state_->add(std::move(entry), std::move(handler));
}

result<void> memory_provider::add(resource entry, std::string bytes) {
  if (!entry.size) entry.size = bytes.size();
  return state_->add(std::move(entry), std::make_shared<const std::string>(std::move(bytes)));
}

result<void> memory_provider::add_template(resource_template entry, read_handler handler, complete_handler completer) {
  HONDANA_TRY(uri_template::compile(entry.uri_template));
  if (entry.name.empty()) {
    return fail(errc::invalid_argument, "The template " + entry.uri_template + " has no name. Give it one.");
  }
  if (!handler) {
    return fail(errc::invalid_argument, "The template " + entry.uri_template + " has no function that produces its content.");
  }
  auto text = entry.uri_template;
  auto record =
      std::make_shared<const template_record>(template_record{std::move(entry), std::move(handler), std::move(completer)});
  const std::unique_lock lock(state_->mutex);
  state_->templates.insert_or_assign(std::move(text), std::move(record));
  return {};
}

bool memory_provider::remove(const std::string& uri) {
  const auto canonical = canonical_uri(uri);
  if (!canonical) return false;
  {
    const std::unique_lock lock(state_->mutex);
    const auto match = state_->items.find(std::string_view(*canonical));
    if (match == state_->items.end()) return false;
    state_->items.erase(match);
    state_->changes->fetch_add(1, std::memory_order_release);
  }
  state_->notify(*canonical, {});
  return true;
}

void memory_provider::set_listener(std::shared_ptr<change_listener> listener) {
  const std::unique_lock lock(state_->mutex);
  state_->listener = std::move(listener);
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
  for (const auto& item : state_->items) {
    if (auto kind = model::unpack(item.packed_entry).kind; !kind.empty()) kinds.insert(std::move(kind));
  }
  for (const auto& kind : kinds) document.kinds.push_back({kind, "Defined by the program that added it."});
  for (const auto& [text, record] : state_->templates) {
    document.forms.push_back({text, record->entry.description.empty() ? record->entry.name : record->entry.description});
  }
  return document;
}

result<list_result> memory_provider::list(const list_request& request) {
  list_result page;
  page.validator =
      std::make_shared<const unchanged_validator>(state_->changes, state_->changes->load(std::memory_order_acquire));
  std::string last = request.after_key;
  std::size_t scanned = 0;
  while (page.entries.size() < request.limit && scanned < max_scanned_entries) {
    const auto batch_size = std::min(request.limit - page.entries.size(), max_scanned_entries - scanned);
    const auto batch = state_->list_after(last, batch_size);
    for (const auto& packed : batch) {
      if (!request.caller.access_filter || request.caller.access_filter->may_see(model::packed_uri(packed)))
        page.entries.push_back(model::unpack(packed));
    }
    if (batch.size() < batch_size) return page;
    scanned += batch.size();
    last = model::packed_uri(batch.back());
  }
  if (!state_->list_after(last, 1).empty()) page.next_key = std::move(last);
  return page;
}

result<read_result> memory_provider::read(const read_request& request) {
  if (const auto item = state_->find(request.uri)) {
    const auto entry = model::unpack(item->packed_entry);
    if (const auto* bytes = std::get_if<shared_bytes>(&item->content)) return make_read_result(entry, *bytes);
    auto response = std::get<read_handler>(item->content)(request);
    if (response && response->version.empty()) response->version = entry.version;
    return response;
  }
  if (request.match) {
    if (const auto record = state_->find_template(request.match->uri_template)) return record->read_handler(request);
  }
  return fail(errc::resource_not_found, "Resource not found");
}

result<list_result> memory_provider::children(const children_request& request) {
  const auto folder = state_->find(request.uri);
  if (!folder) return fail(errc::resource_not_found, "Resource not found");
  if (model::unpack(folder->packed_entry).mime_type != "inode/directory")
    return fail(errc::invalid_argument, request.uri + " is not a folder.");
  const auto prefix = model::folder_prefix(request.uri);
  list_result page;
  std::string last = request.after_key;
  auto packed = state_->next(last.empty() ? prefix : last);
  for (std::size_t scanned = 0; packed && model::packed_uri(*packed).starts_with(prefix); ++scanned) {
    if (page.entries.size() == request.limit || scanned == max_scanned_entries) {
      page.next_key = std::move(last);
      return page;
    }
    const auto uri = model::packed_uri(*packed);
    const auto child = model::child_of(prefix, uri);
    const bool is_visible = !request.caller.access_filter || request.caller.access_filter->may_see(child);
    if (child.size() == uri.size() && is_visible) page.entries.push_back(model::unpack(*packed));
    last = child;
    packed = state_->next(model::end_of_subtree(last));
  }
  return page;
}

result<resource> memory_provider::describe(const describe_request& request) {
  if (const auto item = state_->find(request.uri)) return model::unpack(item->packed_entry);
  return fail(errc::resource_not_found, "Resource not found");
}

std::vector<resource_template> memory_provider::templates() const {
  std::vector<resource_template> entries;
  const std::shared_lock lock(state_->mutex);
  entries.reserve(state_->templates.size());
  for (const auto& [text, record] : state_->templates) entries.push_back(record->entry);
  return entries;
}

result<complete_result> memory_provider::complete(const complete_request& request) {
  const auto record = state_->find_template(request.uri_template);
  if (!record || !record->complete_handler)
    return fail(errc::unsupported, "The source \"" + name() + "\" has no completion of its own.");
  return record->complete_handler(request);
}

}  // namespace hondana::inline v0
