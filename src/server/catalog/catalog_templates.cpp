/// Lists URI templates, and completes their variables.

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/uri.hpp>

#include "base/match/fuzzy_match.hpp"
#include "server/catalog/catalog.hpp"
#include "server/catalog/cursor.hpp"
#include "server/catalog/merge.hpp"
#include "server/catalog/secret_masking.hpp"
#include "server/catalog/source_call.hpp"
#include "server/gate/gate.hpp"

namespace hondana::catalog {

/// Completes a variable from listed entries. Each entry that the caller may list and that matches `of` provides a value, if its
/// other variables are those of the context. Values are ranked as by `complete_from`; among equal matches, by priority, then by
/// recency.
///
/// At most 100 000 visible entries are examined, for at most 250 ms. If this does not cover all, there is no total, and
/// `has_more` is set. Entries that the caller may not list are ignored. `is_claimed`: whether a URI belongs to the source.
/// Errors: those of `provider::list`; internal if the source breaks its contract; cancelled.
[[nodiscard]] result<complete_result> values_of_entries(provider& from, const uri_template& of, const complete_request& request,
                                                        const std::function<bool(std::string_view uri)>& is_claimed,
                                                        const gate::gate& rules);

namespace {

constexpr std::size_t entries_scanned = 100'000;
constexpr std::size_t entries_at_once = 500;
constexpr std::size_t values_kept = 100;
constexpr std::chrono::milliseconds longest_scan{250};

/// A value, with the best rank of its entries.
struct ranked_value {
  match::rank how;
  std::string text;

  bool operator<(const ranked_value& other) const noexcept {
    if (how < other.how) return true;
    return !(other.how < how) && text < other.text;
  }
};

class gatherer {
 public:
  gatherer(const uri_template& of, const complete_request& request) : of_(of), request_(request), fits_(request.value) {}

  void take(const resource& entry) {
    const auto values = of_.match(entry.uri);
    if (!values || !is_in_context(*values)) return;
    const auto found = values->find(request_.argument);
    if (found == values->end()) return;
    if (const auto* one = std::get_if<std::string>(&found->second)) add(*one, entry);
    if (const auto* list = std::get_if<std::vector<std::string>>(&found->second)) {
      for (const auto& one : *list) add(one, entry);
    }
  }

  complete_result finish(bool is_all) {
    match::best<ranked_value> best(values_kept);
    for (auto& [text, how] : ranks_) best.add({how, text});
    complete_result answer;
    if (is_all) answer.total = best.count();
    answer.has_more = !is_all || best.count() > values_kept;
    for (auto& one : best.take()) answer.values.push_back(std::move(one.text));
    return answer;
  }

 private:
  bool is_in_context(const uri_template_values& values) const {
    return std::all_of(request_.context.begin(), request_.context.end(), [&](const auto& chosen) {
      const auto found = values.find(chosen.first);
      if (chosen.first == request_.argument || found == values.end()) return true;
      const auto* text = std::get_if<std::string>(&found->second);
      return text == nullptr || *text == chosen.second;
    });
  }

  void add(const std::string& text, const resource& entry) {
    const auto how = fits_(text);
    if (!how) return;
    const match::rank rank{*how, entry.annotations.priority.value_or(0.5),
                           match::recency_of(entry.annotations.lastModified, now_)};
    const auto [place, is_new] = ranks_.emplace(text, rank);
    if (!is_new && rank < place->second) place->second = rank;
  }

  const uri_template& of_;
  const complete_request& request_;
  match::matcher fits_;
  const std::chrono::system_clock::time_point now_ = std::chrono::system_clock::now();
  std::map<std::string, match::rank> ranks_;
};

}  // namespace

result<complete_result> values_of_entries(provider& from, const uri_template& of, const complete_request& request,
                                          const std::function<bool(std::string_view uri)>& is_claimed,
                                          const gate::gate& rules) {
  const auto until = executor::clock::now() + longest_scan;
  const auto prefix = of.literal_prefix();
  const auto is_behind = [prefix](std::string_view uri) {
    return !uri.starts_with(prefix) && std::is_gt(compare_by_segment(uri, prefix));
  };
  gatherer values(of, request);
  // All URIs with the prefix follow it directly, without gaps. The prefix itself has no value.
  list_request page_wanted{static_cast<const call&>(request), std::string(prefix), entries_at_once};
  for (std::size_t looks = 0;;) {
    auto page = from.list(page_wanted);
    if (!page) return tl::unexpected(std::move(page.error()));
    if (auto kept = check_page(*page, page_wanted, from.name(), is_claimed); !kept) {
      return tl::unexpected(std::move(kept.error()));
    }
    apply_view(*page, request.who.view.get(), rules);
    for (const auto& entry : page->entries) {
      if (is_behind(entry.uri)) return values.finish(true);
      values.take(entry);
    }
    looks += page->entries.size();
    if (!page->resume || is_behind(*page->resume)) return values.finish(true);
    if (request.stop.stop_requested()) return tl::unexpected(was_cancelled());
    if (looks >= entries_scanned || executor::clock::now() >= until) return values.finish(false);
    page_wanted.after = std::move(*page->resume);
  }
}

namespace {

constexpr std::size_t values_sent = 100;

/// Cuts the values to the number that may be sent, and corrects total and `has_more`.
complete_result capped(complete_result found) {
  const std::uint64_t count = found.values.size();
  if (found.total && *found.total < count) found.total = count;
  if (count > values_sent) {
    if (!found.total && !found.has_more) found.total = count;
    found.values.resize(values_sent);
    found.has_more = true;
  }
  if (found.total && *found.total > found.values.size()) found.has_more = true;
  return found;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

/// Valid for the lifetime of the catalog.
class lasting final : public validity {
 public:
  [[nodiscard]] bool holds() const noexcept override { return true; }
};

bool by_text(const resource_template& a, const resource_template& b) { return a.uriTemplate < b.uriTemplate; }

failure not_offered() {
  return {errc::part_not_found, "ref.uri: unknown template. Use a uriTemplate of resources/templates/list, unchanged.", {}};
}

/// Decides as for the URIs: a template is shown if the caller may see any of them.
bool is_shown(const resource_template& one, const view& through) {
  const auto compiled = uri_template::compile(one.uriTemplate);
  return compiled && through.may_see_some(*compiled);
}

/// Whether a value of a variable belongs to a resource that the caller may see.
bool leads_somewhere(const std::string& value, const uri_template& of, const complete_request& request,
                     const gate::gate& rules) {
  // Placeholder for variables without a value; the URI is known up to it.
  constexpr std::string_view open = "0-not-chosen-0";
  const auto& through = *request.who.view;
  uri_template_values values;
  for (const auto& name : of.variables()) values[name] = std::string(open);
  for (const auto& [name, chosen] : request.context) values[name] = chosen;
  values[request.argument] = value;
  const auto expanded = of.expand(values);
  if (!expanded) return false;
  const auto known = expanded->substr(0, expanded->find(open));
  const auto whole = known.substr(0, known.find_first_of("?#"));
  if (known.size() == expanded->size() || whole.size() != known.size()) {
    const auto uri = canonical_uri(known.size() == expanded->size() ? *expanded : whole);
    return uri && rules.may_see(&through, *uri);
  }
  const auto rest = uri_template::compile(known + "{+rest}");
  return rest && through.may_see_some(*rest);
}

/// Removes values without a visible resource, in case the provider has not. The total is then removed too.
complete_result shown(complete_result found, const uri_template& of, const complete_request& request, const gate::gate& rules) {
  const auto leads_nowhere = [&](const std::string& one) { return !leads_somewhere(one, of, request, rules); };
  if (!request.who.view || std::erase_if(found.values, leads_nowhere) == 0) return found;
  found.total.reset();
  found.has_more = false;
  return found;
}

result<void> has_variable(const uri_template& compiled, const std::string& argument) {
  const auto& names = compiled.variables();
  if (std::find(names.begin(), names.end(), argument) != names.end()) return {};
  return fail(errc::invalid_argument, "argument.name: the template " + compiled.text() +
                                          " has no variable of that name. Its variables: " + listed(names) + ".");
}

}  // namespace

bool catalog::has_variables() const noexcept {
  const auto changes = [](const std::shared_ptr<source>& one) { return one->what()->templates_change(); };
  return std::any_of(sources_.begin(), sources_.end(), changes) ||
         std::any_of(templates_.begin(), templates_.end(),
                     [](const offered_template& one) { return !one.compiled.variables().empty(); });
}

std::vector<resource_template> catalog::usable(std::vector<resource_template> offered, const source& from) const {
  std::erase_if(offered, [&](const resource_template& one) {
    const auto compiled = uri_template::compile(one.uriTemplate);
    const auto* way = compiled ? route_of(compiled->literal_prefix()) : nullptr;
    return one.name.empty() || way == nullptr || way->to.get() != &from;
  });
  for (auto& one : offered) mask_secrets(*from.what(), one);
  return offered;
}

void catalog::templates(const call& by, const std::optional<std::string>& cursor, completion<model::template_page> done) const {
  const auto scope = cursor_scope("templates", "", by.who.view.get());
  std::string after;
  if (cursor) {
    auto key = read_cursor(*cursor, scope);
    if (!key) return done(tl::unexpected(std::move(key.error())));
    after = std::move(*key);
  }
  std::vector<resource_template> constant;
  constant.reserve(templates_.size());
  for (const auto& one : templates_) constant.push_back(one.entry);
  std::vector<std::shared_ptr<source>> asked;
  std::copy_if(sources_.begin(), sources_.end(), std::back_inserter(asked),
               [](const auto& one) { return one->what()->templates_change(); });
  const std::shared_ptr<const validity> valid = asked.empty() ? std::make_shared<const lasting>() : nullptr;
  const auto finish = [scope, valid, after = std::move(after), limit = limits_.page_size, is_private = is_told_apart(by.who),
                       through = by.who.view, done](std::vector<resource_template> all) {
    std::unordered_set<std::string> seen;
    if (through) std::erase_if(all, [&through](const resource_template& one) { return !is_shown(one, *through); });
    std::erase_if(all, [&seen](const resource_template& one) { return !seen.insert(one.uriTemplate).second; });
    std::sort(all.begin(), all.end(), by_text);
    const auto first =
        std::upper_bound(all.begin(), all.end(), after,
                         [](const std::string& text, const resource_template& one) { return text < one.uriTemplate; });
    all.erase(all.begin(), first);
    model::template_page page;
    page.cache.is_private = is_private;
    const bool has_more = all.size() > limit;
    if (has_more) all.resize(limit);
    page.templates = std::move(all);
    if (has_more) page.next_cursor = write_cursor(scope, page.templates.back().uriTemplate);
    page.valid = valid;
    done(std::move(page));
  };
  if (asked.empty()) return finish(std::move(constant));
  using offered = std::vector<resource_template>;
  const auto pages = std::make_shared<gathering<offered>>(
      asked.size(), [constant = std::move(constant), finish, done](result<std::vector<offered>> found) {
        if (!found) return done(tl::unexpected(std::move(found.error())));
        auto all = constant;
        for (auto& page : *found) std::move(page.begin(), page.end(), std::back_inserter(all));
        finish(std::move(all));
      });
  for (std::size_t place = 0; place < asked.size(); ++place) {
    auto opened = asked[place]->open(doing::templates, by);
    ask<offered>(
        *asked[place], by, timers_,
        [self = shared_from_this(), from = asked[place], by = std::move(opened.by)]() -> result<offered> {
          auto now = from->what()->templates_now(by);
          if (!now) return now;
          return self->usable(std::move(*now), *from);
        },
        [pages, place](result<offered> page) { pages->take(place, std::move(page)); }, opened.account);
  }
}

result<complete_result> catalog::complete_at(const std::shared_ptr<source>& to, const uri_template& compiled,
                                             const complete_request& request) const {
  if (to->what()->templates_change()) {
    HONDANA_TRY(const auto now, to->what()->templates_now(request));
    const auto is_it = [&](const resource_template& one) { return one.uriTemplate == request.uriTemplate; };
    if (std::none_of(now.begin(), now.end(), is_it)) return tl::unexpected(not_offered());
    HONDANA_TRY(has_variable(compiled, request.argument));
  }
  // A source cannot check the entries behind its values, so it is not called if entries decide.
  const bool looks_at_entries = request.who.view && request.who.view->looks_at_entries();
  auto found = looks_at_entries ? fail(errc::unsupported, {}) : to->what()->complete(request);
  if (found) {
    found = shown(std::move(*found), compiled, request, *rules_);
  } else if (found.error().code == errc::unsupported) {
    const auto is_claimed = [&](std::string_view uri) {
      const auto* way = route_of(uri);
      return way != nullptr && way->to == to;
    };
    found = values_of_entries(*to->what(), compiled, request, is_claimed, *rules_);
  }
  if (found) mask_secrets(*to->what(), *found);
  return std::move(found).map(capped);
}

void catalog::complete(const call& by, model::complete what, completion<complete_result> done) const {
  const auto place =
      std::lower_bound(templates_.begin(), templates_.end(), what.template_uri,
                       [](const offered_template& one, const std::string& text) { return one.entry.uriTemplate < text; });
  const auto start = [&](const std::shared_ptr<source>& to, uri_template compiled) {
    auto opened = to->open(doing::complete, by);
    const auto kind = kind_of(doing::complete, what.template_uri + what.argument);
    auto job = [self = shared_from_this(), to, compiled = std::move(compiled),
                request = complete_request{std::move(opened.by), std::move(what.template_uri), std::move(what.argument),
                                           std::move(what.value), std::move(what.context)}] {
      return self->complete_at(to, compiled, request);
    };
    ask<complete_result>(*to, by, timers_, std::move(job), std::move(done), opened.account, kind);
  };
  const auto is_hidden = [&by](const uri_template& one) { return by.who.view && !by.who.view->may_see_some(one); };
  if (place != templates_.end() && place->entry.uriTemplate == what.template_uri) {
    if (is_hidden(place->compiled)) return done(tl::unexpected(not_offered()));
    if (auto there = has_variable(place->compiled, what.argument); !there)
      return done(tl::unexpected(std::move(there.error())));
    return start(place->to, place->compiled);
  }
  auto compiled = uri_template::compile(what.template_uri);
  const auto* way = compiled ? route_of(compiled->literal_prefix()) : nullptr;
  if (way == nullptr || is_hidden(*compiled) || !way->to->what()->templates_change())
    return done(tl::unexpected(not_offered()));
  start(way->to, std::move(*compiled));
}

}  // namespace hondana::catalog
