/// Values by variable.
#include "sources/analyses/completing.hpp"

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <hondana/completion.hpp>

#include "sources/analyses/analyses_provider.hpp"
#include "sources/analyses/cache/key.hpp"
#include "sources/analyses/describe.hpp"

namespace hondana::analyses_source {
namespace {

using naming = analyses::store::naming;

constexpr std::size_t most_named = 100;
/// Of analyses, when each has to be asked whether the caller may see it: the newest.
constexpr std::size_t most_seen = 2'000;
/// The same when their contents have to be read, too.
constexpr std::size_t most_opened = 50;

using predicate = std::function<bool(const analyses::summary&)>;

/// Goes through the newest that are `shown` to the caller, until `each` says that it is enough.
result<void> each_shown(const complete_request& request, const analyses::cache& in, const predicate& shown,
                        const predicate& each) {
  constexpr std::size_t at_once = 500;
  std::string behind;
  for (std::size_t looked = 0; looked < most_seen;) {
    const auto page = in.in().list({}, behind, at_once);
    if (!page) return tl::unexpected(page.error());
    for (const auto& one : page->all) {
      if (shown(one) && !each(one)) return {};
    }
    looked += at_once;
    behind = page->next;
    if (page->is_last || request.stop.stop_requested()) break;
  }
  return {};
}

result<std::vector<std::string>> texts_of(const complete_request& request, const analyses::cache& in, const predicate& shown,
                                          const std::function<std::string(const analyses::summary&)>& text) {
  std::vector<std::string> out;
  std::set<std::string, std::less<>> known;
  auto done = each_shown(request, in, shown, [&](const analyses::summary& one) {
    auto made = text(one);
    if (!made.empty() && known.insert(made).second) out.push_back(std::move(made));
    return true;
  });
  if (!done) return tl::unexpected(std::move(done.error()));
  return out;
}

result<void> add_providers(const analyses::cache& in, const std::string& id, std::set<std::string, std::less<>>& into) {
  HONDANA_TRY(const auto found, in.get(id));
  if (!found) return {};
  const auto whole = analyses::analysis_of(*found);
  if (!whole) return tl::unexpected(whole.error());
  for (const auto& one : whole->votes) into.insert(one.provider);
  return {};
}

result<std::vector<std::string>> providers_for(const complete_request& request, const analyses::cache& in,
                                               const predicate& is_readable) {
  std::set<std::string, std::less<>> names;
  const auto id = request.chosen("id");
  result<void> done;
  if (is_id(id)) {
    HONDANA_TRY(const auto about, in.in().about(id));
    if (about && is_readable(*about)) done = add_providers(in, id, names);
  } else {
    std::size_t opened = 0;
    result<void> read;
    done = each_shown(request, in, is_readable, [&](const analyses::summary& one) {
      read = add_providers(in, one.id, names);
      return read && ++opened < most_opened;
    });
    if (done) done = std::move(read);
  }
  if (!done) return tl::unexpected(std::move(done.error()));
  return std::vector<std::string>(names.begin(), names.end());
}

result<std::vector<std::string>> values_for(const complete_request& request, const ground& on, const analyses::cache& in) {
  const auto& name = request.argument;
  const bool sees_all = request.who.view == nullptr;
  const auto now = about_now();
  const predicate is_seen = [&](const analyses::summary& one) { return ground::may_see(request.who, entry_of(one, now)); };
  // All but ids stands in the analyses.
  const predicate is_readable = [&](const analyses::summary& one) {
    return on.may_read(request.who, entry_of(one, now)).has_value();
  };
  if (name == "id" || name == "after") {
    if (sees_all) return in.in().names(naming::id, request.value, most_named);
    return texts_of(request, in, is_seen, [](const analyses::summary& one) { return one.id; });
  }
  if (name == "session") {
    if (sees_all) return in.in().names(naming::session, request.value, most_named);
    return texts_of(request, in, is_readable, [](const analyses::summary& one) { return one.session; });
  }
  if (name == "provider") {
    if (sees_all && !is_id(request.chosen("id"))) return in.in().names(naming::provider, request.value, most_named);
    return providers_for(request, in, is_readable);
  }
  // Which analyses have a tag is not told with them, so that nobody who may not see all of them is told tags.
  if (name == "tag") {
    if (sees_all) return in.in().names(naming::tag, request.value, most_named);
    return std::vector<std::string>();
  }
  if (name == "digest")
    return texts_of(request, in, is_readable, [](const analyses::summary& one) { return analyses::spelled(one.of.prompt); });
  return std::vector<std::string>();
}

}  // namespace

result<complete_result> completed(const complete_request& request, const ground& on, analyses::cache& in) {
  HONDANA_TRY(auto values, values_for(request, on, in));
  return complete_from(request.value, values);
}

result<complete_result> analyses_provider::complete(const complete_request& request) {
  static const std::vector<std::string> formats{"markdown", "json"};
  static const std::vector<std::string> tasks{"basic", "premium", "critical"};
  static const std::vector<std::string> limits{"10", "50", "100", "500"};
  if (request.argument == "format") return complete_from(request.value, formats);
  if (request.argument == "task") return complete_from(request.value, tasks);
  if (request.argument == "limit") return complete_from(request.value, limits);
  HONDANA_TRY(auto kept, on_->kept());
  return completed(request, *on_, *kept);
}

}  // namespace hondana::analyses_source
