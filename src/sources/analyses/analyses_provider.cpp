/// The contract of a provider; what is read is made in reading.cpp.
#include "sources/analyses/analyses_provider.hpp"

#include <algorithm>
#include <compare>
#include <utility>

#include <hondana/uri.hpp>

#include "protocol/model/index_caller.hpp"
#include "sources/analyses/describe.hpp"
#include "sources/analyses/lookup.hpp"
#include "sources/analyses/tools.hpp"

namespace hondana::analyses_source {
namespace {

constexpr std::size_t most_of_a_page = 1000;

}  // namespace

analyses_provider::analyses_provider(provider_options from)
    : on_(std::make_shared<ground>(std::move(from))), follower_(std::make_shared<follower>(on_)) {}

analyses_provider::~analyses_provider() { follower_->end(); }

std::vector<std::string> analyses_provider::claims() const {
  return {std::string(index_uri), std::string(by_prompt_claim), std::string(statistics_uri)};
}

scheme_documentation analyses_provider::documentation() const { return analyses_source::describe(); }

std::vector<resource_template> analyses_provider::templates() const { return analyses_source::templates(); }

result<list_result> analyses_provider::list(const list_request& request) {
  auto page = page_of(request);
  // Lists of other sources go on without a store that cannot be had; health, the log, `hondana check` and reads say why. When
  // it is back, a change of the list is told.
  const bool is_out_of_reach = !page && (page.error().code == errc::source_unavailable || page.error().code == errc::timed_out);
  if (!is_out_of_reach || model::is_index(request.who)) return page;
  on_->left_out(page.error());
  return list_result{};
}

result<void> analyses_provider::survey(const call& request, const std::function<void(const survey_item&)>& each) {
  list_request asked;
  static_cast<call&>(asked) = request;
  for (;;) {
    const auto page = page_of(asked);
    if (!page) return tl::unexpected(page.error());
    for (const auto& one : page->entries) each({one.name, one.uri, true, {}});
    if (!page->resume) return {};
    asked.after = *page->resume;
  }
}

result<list_result> analyses_provider::page_of(const list_request& request) const {
  if (auto why = on_->watched_problem()) return tl::unexpected(std::move(*why));
  list_result out;
  const auto is_after = [&](std::string_view uri) {
    return request.after.empty() || std::is_gt(compare_by_segment(uri, request.after));
  };
  if (request.limit == 0) return out;
  HONDANA_TRY(auto kept, on_->kept());
  if (is_after(index_uri)) out.entries.push_back(index_entry());
  auto behind = request.after.empty() ? std::optional(std::string()) : id_behind(request.after);
  if (behind) {
    const auto now = about_now();
    for (bool is_last = false; !is_last;) {
      if (out.entries.size() >= request.limit) {
        out.resume = out.entries.back().uri;
        return out;
      }
      if (request.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
      auto page = kept->in().list({}, *behind, std::min(request.limit - out.entries.size(), most_of_a_page));
      if (!page) return tl::unexpected(std::move(page.error()));
      is_last = page->is_last;
      behind = page->next;
      for (const auto& one : page->all) {
        if (is_after(analysis_uri(one.id))) out.entries.push_back(entry_of(on_->shown(one), now));
      }
    }
  }
  if (is_after(statistics_uri)) {
    if (out.entries.size() >= request.limit) {
      out.resume = out.entries.back().uri;
      return out;
    }
    out.entries.push_back(statistics_entry());
  }
  return out;
}

result<resource> analyses_provider::describe(const describe_request& request) {
  HONDANA_TRY(const auto at, parse_address(request.uri));
  if (at.of == place::index || at.of == place::statistics) {
    auto entry = at.of == place::index ? index_entry() : statistics_entry();
    entry.uri = request.uri;
    if (at.as == format::json) entry.mimeType = mime_of(format::json);
    return entry;
  }
  HONDANA_TRY(auto kept, on_->kept());
  const auto with_uri = [&](resource entry) {
    entry.uri = request.uri;
    return entry;
  };
  if (at.of == place::by_prompt) {
    HONDANA_TRY(const auto found, find_by_prompt(*on_, *follower_, request, at.prompt, *kept));
    return with_uri(entry_of(at, on_->shown(found.about), about_now()));
  }
  HONDANA_TRY(auto about, kept->in().about(at.id));
  if (!about) return no_analysis();
  if (at.of == place::vote) {
    HONDANA_TRY(auto whole, kept->get(at.id));
    if (!whole) return no_analysis();
    const auto has_it = analyses::analysis_of(*whole).map([&](const analyses::analysis& one) {
      return std::any_of(one.votes.begin(), one.votes.end(), [&](const auto& vote) { return vote.provider == at.provider; });
    });
    if (!has_it) return tl::unexpected(has_it.error());
    if (!*has_it) return fail(errc::resource_not_found, "Vote not found: this analysis has no vote of that provider.");
  }
  return with_uri(entry_of(at, on_->shown(*about), about_now()));
}

void analyses_provider::watch(std::shared_ptr<change_listener> to) { follower_->tell_to(std::move(to)); }
void analyses_provider::attach(const std::string& uri) { follower_->attach(uri); }
void analyses_provider::detach(const std::string& uri) { follower_->detach(uri); }

hondana::needs analyses_provider::needs() const { return on_->how.needs; }

hondana::masking analyses_provider::masking() const noexcept { return on_->how.redact ? masking::by_server : masking::none; }

hondana::health analyses_provider::health() const {
  const auto problem = on_->problem();
  return problem ? hondana::health{false, problem->public_text} : hondana::health{};
}

std::vector<source_tool> analyses_provider::tools() { return make_tools(on_, follower_); }

void analyses_provider::settle(std::shared_ptr<neighbourhood> in) { follower_->settle(std::move(in)); }

void analyses_provider::resource_changed(std::string_view uri) { follower_->heard_of(uri); }

}  // namespace hondana::analyses_source
