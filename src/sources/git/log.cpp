/// Pages of a log.
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes/digest.hpp"
#include "sources/git/commit_store.hpp"
#include "sources/git/history.hpp"
#include "sources/git/log_filter.hpp"
#include "sources/git/log_pages.hpp"
#include "sources/git/walk.hpp"
#include "sources/git/walk_cursor.hpp"

namespace hondana::git {
namespace {

result<log_page> page_of(walk& through, commit_filter& filter, const commit_store& store, const log_request& request) {
  const auto limit = limit_of(request), budget = budget_of(request);
  log_page page;
  for (std::size_t looked_at = 0; page.commits.size() < limit && looked_at < budget; ++looked_at) {
    auto node = through.next();
    if (!node) {
      // What comes before a broken place is told; the next page says what is wrong.
      if (node.error().code == errc::source_unavailable && !page.commits.empty()) break;
      return tl::unexpected(std::move(node.error()));
    }
    if (!*node) break;
    HONDANA_TRY(const auto is_wanted, filter.takes(**node));
    if (!is_wanted) continue;
    HONDANA_TRY(auto facts, facts_of(store, (*node)->id));
    page.commits.push_back(std::move(facts));
  }
  return page;
}

}  // namespace

bytes::digest digest_of(const commit_store& store, const log_request& request, std::string_view kind) {
  std::string all;
  const auto add = [&all](std::string_view text) { all.append(std::to_string(text.size())).append(":").append(text); };
  const auto add_time = [&add](const std::optional<std::int64_t>& time) { add(time ? std::to_string(*time) : std::string()); };
  add(kind);
  add(text_of(request.from));
  add(store.shallow_stamp());
  add(request.filter.path);
  add(request.filter.author);
  add(request.filter.grep);
  add_time(request.filter.since);
  add_time(request.filter.until);
  return bytes::digest_of(all);
}

result<log_page> log(git_repository* in, const log_request& request) {
  HONDANA_TRY(const auto store, commit_store::open(in));
  HONDANA_TRY(auto filter, commit_filter::make(store, request.filter, request.mask));
  const auto digest = digest_of(store, request, "log");
  walk through(store, request.from, {request.filter.since, request.is_stopped});
  HONDANA_TRY(begin_walk(through, request.cursor, digest));
  auto page = page_of(through, filter, store, request);
  if (page && !through.is_over()) page->next = cursor_of(through.state(), digest);
  return page;
}

}  // namespace hondana::git
