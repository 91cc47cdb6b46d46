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

bool before(std::string_view a, std::string_view b) noexcept { return std::is_lt(compare_by_segment(a, b)); }

tl::unexpected<failure> broken(const std::string& source_name, const std::string& what, std::string_view uri) {
  return fail(errc::internal, "The source \"" + source_name + "\" returned an invalid list; the reason is in the server's log.",
              "the source \"" + source_name + "\" listed " + what + ": " + std::string(uri));
}

/// Valid while all of several validities are.
class joint_validity final : public validity {
 public:
  explicit joint_validity(std::vector<std::shared_ptr<const validity>> all) : all_(std::move(all)) {}
  [[nodiscard]] bool holds() const noexcept override {
    return std::all_of(all_.begin(), all_.end(), [](const auto& one) { return one->holds(); });
  }

 private:
  std::vector<std::shared_ptr<const validity>> all_;
};

/// Null if a page has no validity.
std::shared_ptr<const validity> validity_of(const std::vector<list_result>& pages) {
  std::vector<std::shared_ptr<const validity>> all;
  for (const auto& one : pages) {
    if (!one.valid) return nullptr;
    all.push_back(one.valid);
  }
  return std::make_shared<const joint_validity>(std::move(all));
}

/// Removes entries after `resume` and beyond `limit`.
list_result cut(list_result page, std::size_t limit) {
  auto& entries = page.entries;
  const auto is_behind = [&page](const resource& entry) { return before(*page.resume, entry.uri); };
  if (page.resume) {
    while (!entries.empty() && is_behind(entries.back())) entries.pop_back();
  }
  if (entries.size() > limit) {
    entries.resize(limit);
    page.resume = entries.back().uri;
  }
  return page;
}

}  // namespace

result<void> check_page(const list_result& page, const list_request& asked, const std::string& source_name,
                        const std::function<bool(std::string_view uri)>& is_claimed) {
  if (page.entries.size() > asked.limit) return broken(source_name, "more entries than requested", page.entries.back().uri);
  std::string_view last = asked.after;
  for (const auto& entry : page.entries) {
    if (entry.uri.empty() || !before(last, entry.uri)) return broken(source_name, "an entry out of order", entry.uri);
    if (entry.uri.size() > max_key_bytes) return broken(source_name, "an entry whose URI is too long", entry.uri);
    if (!is_claimed(entry.uri)) return broken(source_name, "an entry outside its URI prefixes", entry.uri);
    last = entry.uri;
  }
  if (page.resume) {
    const bool goes_back = before(*page.resume, last);
    const bool stands_still = page.entries.empty() && !before(asked.after, *page.resume);
    if (goes_back || stands_still || page.resume->size() > max_key_bytes) {
      return broken(source_name, "a resume position that does not advance", *page.resume);
    }
  }
  return {};
}

void apply_view(list_result& page, const view* through, const gate::gate& rules) {
  if (through == nullptr) return;
  std::erase_if(page.entries, [&](const resource& entry) { return !rules.may_see(through, entry); });
}

list_result merge(std::vector<list_result> pages, std::size_t limit) {
  if (pages.size() == 1) return cut(std::move(pages.front()), limit);
  list_result merged;
  merged.valid = validity_of(pages);
  for (const auto& page : pages) {
    if (page.resume && (!merged.resume || before(*page.resume, *merged.resume))) merged.resume = page.resume;
  }
  struct head {
    list_result* page;
    std::size_t next;
    [[nodiscard]] resource& entry() const { return page->entries[next]; }
  };
  const auto later = [](const head& a, const head& b) { return before(b.entry().uri, a.entry().uri); };
  std::priority_queue<head, std::vector<head>, decltype(later)> heads(later);
  for (auto& page : pages) {
    if (!page.entries.empty()) heads.push({&page, 0});
  }
  while (!heads.empty()) {
    const auto first = heads.top();
    if (merged.resume && before(*merged.resume, first.entry().uri)) break;
    if (merged.entries.size() == limit) {
      merged.resume = merged.entries.back().uri;
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
