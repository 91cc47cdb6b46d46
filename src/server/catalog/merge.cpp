/// Merges pages of several sources: order, access, and where the next page starts.
#include "server/catalog/merge.hpp"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>

#include "server/catalog/catalog.hpp"
#include "server/catalog/cursor.hpp"

namespace hondana::catalog {
namespace {

bool precedes(std::string_view a, std::string_view b) noexcept { return std::is_lt(compare_by_segment(a, b)); }

tl::unexpected<failure> contract_error(const std::string& source_name, const std::string& defect, std::string_view uri) {
  return fail(errc::internal, "The source \"" + source_name + "\" returned an invalid list; the reason is in the server's log.",
              "the source \"" + source_name + "\" listed " + defect + ": " + std::string(uri));
}

/// Valid while all of several validators are.
class joint_validator final : public cache_validator {
 public:
  explicit joint_validator(std::vector<std::shared_ptr<const cache_validator>> parts) : parts_(std::move(parts)) {}
  [[nodiscard]] bool is_valid() const noexcept override {
    return std::all_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->is_valid(); });
  }

 private:
  std::vector<std::shared_ptr<const cache_validator>> parts_;
};

/// Null if a page has no validator.
std::shared_ptr<const cache_validator> combine_validators(const std::vector<list_result>& pages) {
  std::vector<std::shared_ptr<const cache_validator>> parts;
  for (const auto& page : pages) {
    if (!page.validator) return nullptr;
    parts.push_back(page.validator);
  }
  return std::make_shared<const joint_validator>(std::move(parts));
}

/// Removes entries after `next_key` and beyond `limit`.
list_result truncate(list_result page, std::size_t limit) {
  auto& entries = page.entries;
  const auto is_past_next_key = [&page](const resource& entry) { return precedes(*page.next_key, entry.uri); };
  if (page.next_key) {
    while (!entries.empty() && is_past_next_key(entries.back())) entries.pop_back();
  }
  if (entries.size() > limit) {
    entries.resize(limit);
    page.next_key = entries.back().uri;
  }
  return page;
}

}  // namespace

result<void> check_page(const list_result& page, const list_request& request, const std::string& source_name,
                        const std::function<bool(std::string_view uri)>& is_claimed) {
  if (page.entries.size() > request.limit)
    return contract_error(source_name, "more entries than requested", page.entries.back().uri);
  std::string_view last = request.after_key;
  for (const auto& entry : page.entries) {
    if (entry.uri.empty() || !precedes(last, entry.uri)) return contract_error(source_name, "an entry out of order", entry.uri);
    if (entry.uri.size() > max_key_bytes) return contract_error(source_name, "an entry whose URI is too long", entry.uri);
    if (!is_claimed(entry.uri)) return contract_error(source_name, "an entry outside its URI prefixes", entry.uri);
    last = entry.uri;
  }
  if (page.next_key) {
    const bool goes_back = precedes(*page.next_key, last);
    const bool stands_still = page.entries.empty() && !precedes(request.after_key, *page.next_key);
    if (goes_back || stands_still || page.next_key->size() > max_key_bytes) {
      return contract_error(source_name, "a resume position that does not advance", *page.next_key);
    }
  }
  return {};
}

void apply_filter(list_result& page, const access_filter* filter, const gate::gate& gate) {
  if (filter == nullptr) return;
  std::erase_if(page.entries, [&](const resource& entry) { return !gate.may_see(filter, entry); });
}

list_result merge(std::vector<list_result> pages, std::size_t limit) {
  if (pages.size() == 1) return truncate(std::move(pages.front()), limit);
  list_result merged;
  merged.validator = combine_validators(pages);
  for (const auto& page : pages) {
    if (page.next_key && (!merged.next_key || precedes(*page.next_key, *merged.next_key))) merged.next_key = page.next_key;
  }
  struct head {
    list_result* page;
    std::size_t next;
    [[nodiscard]] resource& entry() const { return page->entries[next]; }
  };
  const auto is_later = [](const head& a, const head& b) { return precedes(b.entry().uri, a.entry().uri); };
  std::priority_queue<head, std::vector<head>, decltype(is_later)> heads(is_later);
  for (auto& page : pages) {
    if (!page.entries.empty()) heads.push({&page, 0});
  }
  while (!heads.empty()) {
    const auto first = heads.top();
    if (merged.next_key && precedes(*merged.next_key, first.entry().uri)) break;
    if (merged.entries.size() == limit) {
      merged.next_key = merged.entries.back().uri;
      break;
    }
    heads.pop();
    auto& entry = first.entry();
    merged.entries.push_back(std::move(entry));
    if (first.next + 1 < first.page->entries.size()) heads.push({first.page, first.next + 1});
  }
  return merged;
}

}  // namespace hondana::catalog
