/// Putting changes that wait in order, and what becomes of too many.
#include "client/changes.hpp"

#include <iterator>
#include <variant>

namespace hondana::outbound {
namespace {

std::size_t size_of(const resource& entry) {
  auto all = sizeof(resource) + entry.uri.size() + entry.name.size() + entry.title.size() + entry.description.size() +
             entry.mimeType.size() + entry.kind.size() + entry.version.size();
  for (const auto& one : entry.icons) {
    all += sizeof(icon) + one.src.size() + one.mimeType.size() + one.theme.size();
    for (const auto& size : one.sizes) all += sizeof(std::string) + size.size();
  }
  for (const auto& one : entry.metadata) {
    const auto* text = std::get_if<std::string>(&one.second);
    all += sizeof(one) + one.first.size() + (text == nullptr ? 0 : text->size());
  }
  return all;
}

std::size_t size_of(const change& news) {
  // Its URI is in the key, too.
  return sizeof(change) + 2 * news.uri.size() + news.title.size() + news.text.size() + (news.entry ? size_of(*news.entry) : 0);
}

}  // namespace

void waiting_changes::add(change news, const watch_request& what) {
  const auto bytes = size_of(news);
  if (bytes_ + bytes > most_bytes) overflow(what);
  put(std::move(news), bytes);
}

void waiting_changes::put(change news, std::size_t bytes) {
  key mine(news.kind, news.uri);
  if (const auto found = by_key_.find(mine); found != by_key_.end()) {
    bytes_ -= found->second->bytes;
    order_.erase(found->second);
    by_key_.erase(found);
  }
  bytes_ += bytes;
  order_.push_back({std::move(news), bytes});
  by_key_.emplace(std::move(mine), std::prev(order_.end()));
}

void waiting_changes::overflow(const watch_request& what) {
  const auto is_of_server = [](const waiting& one) {
    return one.news.kind != change_kind::connection_lost && one.news.kind != change_kind::connection_back &&
           one.news.kind != change_kind::refused;
  };
  for (auto one = order_.begin(); one != order_.end();) {
    const auto next = std::next(one);
    if (is_of_server(*one)) {
      by_key_.erase(key(one->news.kind, one->news.uri));
      bytes_ -= one->bytes;
      order_.erase(one);
    }
    one = next;
  }
  // A handler that is this far behind hears that it may have missed anything. The application named these itself, so that they
  // are not counted.
  const auto missed = [this](change_kind kind, const std::string& uri) {
    change news;
    news.kind = kind;
    news.uri = uri;
    news.was_missed = true;
    put(std::move(news), 0);
  };
  for (const auto& uri : what.uris) missed(change_kind::resource, uri);
  if (what.resource_list) missed(change_kind::resource_list, {});
  if (what.tool_list) missed(change_kind::tool_list, {});
  if (what.prompt_list) missed(change_kind::prompt_list, {});
}

change waiting_changes::take() {
  auto first = std::move(order_.front());
  order_.pop_front();
  by_key_.erase(key(first.news.kind, first.news.uri));
  bytes_ -= first.bytes;
  return std::move(first.news);
}

void waiting_changes::clear() {
  order_.clear();
  by_key_.clear();
  bytes_ = 0;
}

}  // namespace hondana::outbound
