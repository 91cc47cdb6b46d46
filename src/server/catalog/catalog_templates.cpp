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

#include <hondana/capabilities.hpp>
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

/// Completes a variable from listed entries. Each entry that the caller may list and that matches `compiled` provides a value,
/// if its other variables are those of the context. Values are ranked as by `complete_from`; among equal matches, by priority,
/// then by recency.
///
/// At most 100 000 visible entries are examined, for at most 250 ms. If this does not cover all, there is no total, and
/// `has_more` is set. Entries that the caller may not list are ignored. `is_claimed`: whether a URI belongs to the source.
/// Errors: those of `provider::list`; internal if the source breaks its contract; cancelled.
[[nodiscard]] result<complete_result> values_of_entries(provider& provider, const uri_template& compiled,
                                                        const complete_request& request,
                                                        const std::function<bool(std::string_view uri)>& is_claimed,
                                                        const gate::gate& gate);

namespace {

constexpr std::size_t max_scanned_entries = 100'000;
constexpr std::size_t scan_page_entries = 500;
constexpr std::size_t max_ranked_values = 100;
constexpr std::chrono::milliseconds max_scan_time{250};

/// A value, with the best rank of its entries.
struct ranked_value {
  match::rank rank;
  std::string text;

  bool operator<(const ranked_value& other) const noexcept {
    if (rank < other.rank) return true;
    return !(other.rank < rank) && text < other.text;
  }
};

class value_collector {
 public:
  value_collector(const uri_template& compiled, const complete_request& request)
      : compiled_(compiled), request_(request), matcher_(request.value) {}

  void add_entry(const resource& entry) {
    const auto values = compiled_.match(entry.uri);
    if (!values || !is_in_context(*values)) return;
    const auto position = values->find(request_.argument);
    if (position == values->end()) return;
    if (const auto* text = std::get_if<std::string>(&position->second)) add(*text, entry);
    if (const auto* list = std::get_if<std::vector<std::string>>(&position->second)) {
      for (const auto& item : *list) add(item, entry);
    }
  }

  complete_result finish(bool is_complete) {
    match::top_k<ranked_value> best(max_ranked_values);
    for (auto& [text, rank] : ranks_) best.add({rank, text});
    complete_result answer;
    if (is_complete) answer.total = best.count();
    answer.has_more = !is_complete || best.count() > max_ranked_values;
    for (auto& value : best.extract_sorted()) answer.values.push_back(std::move(value.text));
    return answer;
  }

 private:
  bool is_in_context(const uri_template_values& values) const {
    return std::all_of(request_.context.begin(), request_.context.end(), [&](const auto& chosen) {
      const auto position = values.find(chosen.first);
      if (chosen.first == request_.argument || position == values.end()) return true;
      const auto* text = std::get_if<std::string>(&position->second);
      return text == nullptr || *text == chosen.second;
    });
  }

  void add(const std::string& text, const resource& entry) {
    const auto quality = matcher_(text);
    if (!quality) return;
    const match::rank rank{*quality, entry.annotations.priority.value_or(0.5),
                           match::recency_of(entry.annotations.last_modified, now_)};
    const auto [position, is_new] = ranks_.emplace(text, rank);
    if (!is_new && rank < position->second) position->second = rank;
  }

  const uri_template& compiled_;
  const complete_request& request_;
  match::matcher matcher_;
  const std::chrono::system_clock::time_point now_ = std::chrono::system_clock::now();
  std::map<std::string, match::rank> ranks_;
};

}  // namespace

result<complete_result> values_of_entries(provider& provider, const uri_template& compiled, const complete_request& request,
                                          const std::function<bool(std::string_view uri)>& is_claimed, const gate::gate& gate) {
  const auto deadline = executor::clock::now() + max_scan_time;
  const auto prefix = compiled.literal_prefix();
  const auto is_past_prefix = [prefix](std::string_view uri) {
    return !uri.starts_with(prefix) && std::is_gt(compare_by_segment(uri, prefix));
  };
  value_collector values(compiled, request);
  // All URIs with the prefix follow it directly, without gaps. The prefix itself has no value.
  list_request page_request{static_cast<const request_context&>(request), std::string(prefix), scan_page_entries};
  for (std::size_t examined = 0;;) {
    auto page = provider.list(page_request);
    if (!page) return tl::unexpected(std::move(page.error()));
    if (auto checked = check_page(*page, page_request, provider.name(), is_claimed); !checked) {
      return tl::unexpected(std::move(checked.error()));
    }
    apply_filter(*page, request.caller.access_filter.get(), gate);
    for (const auto& entry : page->entries) {
      if (is_past_prefix(entry.uri)) return values.finish(true);
      values.add_entry(entry);
    }
    examined += page->entries.size();
    if (!page->next_key || is_past_prefix(*page->next_key)) return values.finish(true);
    if (request.stop.stop_requested()) return tl::unexpected(cancelled_error());
    if (examined >= max_scanned_entries || executor::clock::now() >= deadline) return values.finish(false);
    page_request.after_key = std::move(*page->next_key);
  }
}

namespace {

constexpr std::size_t max_sent_values = 100;

/// Cuts the values to the number that may be sent, and corrects total and `has_more`.
complete_result cap_values(complete_result answer) {
  const std::uint64_t count = answer.values.size();
  if (answer.total && *answer.total < count) answer.total = count;
  if (count > max_sent_values) {
    if (!answer.total && !answer.has_more) answer.total = count;
    answer.values.resize(max_sent_values);
    answer.has_more = true;
  }
  if (answer.total && *answer.total > answer.values.size()) answer.has_more = true;
  return answer;
}

std::string join_names(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

/// Valid for the lifetime of the catalog.
class permanent_validator final : public cache_validator {
 public:
  [[nodiscard]] bool is_valid() const noexcept override { return true; }
};

bool precedes_by_text(const resource_template& a, const resource_template& b) { return a.uri_template < b.uri_template; }

failure unknown_template() {
  return {errc::part_not_found, "ref.uri: unknown template. Use a uriTemplate of resources/templates/list, unchanged.", {}};
}

/// Decides as for the URIs: a template is shown if the caller may see any of them.
bool is_visible(const resource_template& entry, const access_filter& filter) {
  const auto compiled = uri_template::compile(entry.uri_template);
  return compiled && filter.may_see_any(*compiled);
}

/// Whether a value of a variable belongs to a resource that the caller may see.
bool has_visible_resource(const std::string& value, const uri_template& compiled, const complete_request& request,
                          const gate::gate& gate) {
  // Placeholder for variables without a value; the URI is known up to it.
  constexpr std::string_view placeholder = "0-not-chosen-0";
  const auto& filter = *request.caller.access_filter;
  uri_template_values values;
  for (const auto& name : compiled.variables()) values[name] = std::string(placeholder);
  for (const auto& [name, chosen] : request.context) values[name] = chosen;
  values[request.argument] = value;
  const auto expanded = compiled.expand(values);
  if (!expanded) return false;
  const auto resolved = expanded->substr(0, expanded->find(placeholder));
  const auto resource_uri = resolved.substr(0, resolved.find_first_of("?#"));
  if (resolved.size() == expanded->size() || resource_uri.size() != resolved.size()) {
    const auto uri = canonical_uri(resolved.size() == expanded->size() ? *expanded : resource_uri);
    return uri && gate.may_see(&filter, *uri);
  }
  const auto remainder = uri_template::compile(resolved + "{+rest}");
  return remainder && filter.may_see_any(*remainder);
}

/// Removes values without a visible resource, in case the provider has not. The total is then removed too.
complete_result filter_values(complete_result answer, const uri_template& compiled, const complete_request& request,
                              const gate::gate& gate) {
  const auto is_hidden = [&](const std::string& value) { return !has_visible_resource(value, compiled, request, gate); };
  if (!request.caller.access_filter || std::erase_if(answer.values, is_hidden) == 0) return answer;
  answer.total.reset();
  answer.has_more = false;
  return answer;
}

bool has_dynamic_templates(const std::shared_ptr<source>& source) {
  return source->capabilities().dynamic_templates != nullptr;
}

result<void> check_variable(const uri_template& compiled, const std::string& argument) {
  const auto& names = compiled.variables();
  if (std::find(names.begin(), names.end(), argument) != names.end()) return {};
  return fail(errc::invalid_argument, "argument.name: the template " + compiled.text() +
                                          " has no variable of that name. Its variables: " + join_names(names) + ".");
}

}  // namespace

bool catalog::has_variables() const noexcept {
  return std::any_of(sources_.begin(), sources_.end(), has_dynamic_templates) ||
         std::any_of(templates_.begin(), templates_.end(),
                     [](const offered_template& offered) { return !offered.compiled.variables().empty(); });
}

std::vector<resource_template> catalog::usable_templates(std::vector<resource_template> offered, const source& source) const {
  std::erase_if(offered, [&](const resource_template& entry) {
    const auto compiled = uri_template::compile(entry.uri_template);
    const auto* route = compiled ? route_of(compiled->literal_prefix()) : nullptr;
    return entry.name.empty() || route == nullptr || route->owner.get() != &source;
  });
  for (auto& entry : offered) mask_secrets(source.masking(), entry);
  return offered;
}

void catalog::templates(const request_context& context, const std::optional<std::string>& cursor,
                        completion<model::template_page> callback) const {
  const auto scope = cursor_scope("templates", "", context.caller.access_filter.get());
  std::string after_key;
  if (cursor) {
    auto key = read_cursor(*cursor, scope);
    if (!key) return callback(tl::unexpected(std::move(key.error())));
    after_key = std::move(*key);
  }
  std::vector<resource_template> static_templates;
  static_templates.reserve(templates_.size());
  for (const auto& offered : templates_) static_templates.push_back(offered.entry);
  std::vector<std::shared_ptr<source>> dynamic_sources;
  std::copy_if(sources_.begin(), sources_.end(), std::back_inserter(dynamic_sources), has_dynamic_templates);
  const std::shared_ptr<const cache_validator> valid =
      dynamic_sources.empty() ? std::make_shared<const permanent_validator>() : nullptr;
  const auto finish = [scope, valid, start_key = std::move(after_key), limit = limits_.page_size,
                       is_private = is_caller_specific(context.caller), filter = context.caller.access_filter,
                       callback](std::vector<resource_template> candidates) {
    std::unordered_set<std::string> known_texts;
    if (filter) std::erase_if(candidates, [&filter](const resource_template& entry) { return !is_visible(entry, *filter); });
    std::erase_if(candidates,
                  [&known_texts](const resource_template& entry) { return !known_texts.insert(entry.uri_template).second; });
    std::sort(candidates.begin(), candidates.end(), precedes_by_text);
    const auto first =
        std::upper_bound(candidates.begin(), candidates.end(), start_key,
                         [](const std::string& text, const resource_template& entry) { return text < entry.uri_template; });
    candidates.erase(candidates.begin(), first);
    model::template_page page;
    page.cache.is_private = is_private;
    const bool has_more = candidates.size() > limit;
    if (has_more) candidates.resize(limit);
    page.templates = std::move(candidates);
    if (has_more) page.next_cursor = write_cursor(scope, page.templates.back().uri_template);
    page.validator = valid;
    callback(std::move(page));
  };
  if (dynamic_sources.empty()) return finish(std::move(static_templates));
  using template_list = std::vector<resource_template>;
  const auto collector = std::make_shared<page_collector<template_list>>(
      dynamic_sources.size(),
      [base_templates = std::move(static_templates), finish, callback](result<std::vector<template_list>> pages) {
        if (!pages) return callback(tl::unexpected(std::move(pages.error())));
        auto candidates = base_templates;
        for (auto& page : *pages) std::move(page.begin(), page.end(), std::back_inserter(candidates));
        finish(std::move(candidates));
      });
  for (std::size_t position = 0; position < dynamic_sources.size(); ++position) {
    auto opened = dynamic_sources[position]->open(operation::templates, context);
    call_source<template_list>(
        *dynamic_sources[position], context, timers_,
        [catalog_ptr = shared_from_this(), source = dynamic_sources[position],
         source_context = std::move(opened.context)]() -> result<template_list> {
          auto current = source->capabilities().dynamic_templates->current_templates(source_context);
          if (!current) return current;
          return catalog_ptr->usable_templates(std::move(*current), *source);
        },
        [collector, position](result<template_list> page) { collector->accept(position, std::move(page)); }, opened.record);
  }
}

result<complete_result> catalog::complete_with(const std::shared_ptr<source>& source, const uri_template& compiled,
                                               const complete_request& request) const {
  const auto& provided = source->capabilities();
  if (provided.dynamic_templates != nullptr) {
    HONDANA_TRY(const auto current, provided.dynamic_templates->current_templates(request));
    const auto is_requested = [&](const resource_template& entry) { return entry.uri_template == request.uri_template; };
    if (std::none_of(current.begin(), current.end(), is_requested)) return tl::unexpected(unknown_template());
    HONDANA_TRY(check_variable(compiled, request.argument));
  }
  // A source cannot check the entries behind its values, so it is not called if entries decide.
  const bool uses_entries = request.caller.access_filter && request.caller.access_filter->uses_entries();
  auto answer =
      uses_entries || provided.completion == nullptr ? fail(errc::unsupported, {}) : provided.completion->complete(request);
  if (answer) {
    answer = filter_values(std::move(*answer), compiled, request, *gate_);
  } else if (answer.error().code == errc::unsupported) {
    const auto is_claimed = [&](std::string_view uri) {
      const auto* route = route_of(uri);
      return route != nullptr && route->owner == source;
    };
    answer = values_of_entries(*source->get_provider(), compiled, request, is_claimed, *gate_);
  }
  if (answer) mask_secrets(source->masking(), *answer);
  return std::move(answer).map(cap_values);
}

void catalog::complete(const request_context& context, model::complete params, completion<complete_result> callback) const {
  const auto position = std::lower_bound(
      templates_.begin(), templates_.end(), params.template_uri,
      [](const offered_template& offered, const std::string& text) { return offered.entry.uri_template < text; });
  const auto start = [&](const std::shared_ptr<source>& source, uri_template compiled) {
    auto opened = source->open(operation::complete, context);
    const auto kind = make_job_kind(operation::complete, params.template_uri + params.argument);
    auto job = [catalog_ptr = shared_from_this(), source, compiled = std::move(compiled),
                request = complete_request{std::move(opened.context), std::move(params.template_uri),
                                           std::move(params.argument), std::move(params.value), std::move(params.context)}] {
      return catalog_ptr->complete_with(source, compiled, request);
    };
    call_source<complete_result>(*source, context, timers_, std::move(job), std::move(callback), opened.record, kind);
  };
  const auto is_hidden = [&context](const uri_template& compiled) {
    return context.caller.access_filter && !context.caller.access_filter->may_see_any(compiled);
  };
  if (position != templates_.end() && position->entry.uri_template == params.template_uri) {
    if (is_hidden(position->compiled)) return callback(tl::unexpected(unknown_template()));
    if (auto variable = check_variable(position->compiled, params.argument); !variable)
      return callback(tl::unexpected(std::move(variable.error())));
    return start(position->owner, position->compiled);
  }
  auto compiled = uri_template::compile(params.template_uri);
  const auto* route = compiled ? route_of(compiled->literal_prefix()) : nullptr;
  if (route == nullptr || is_hidden(*compiled) || !has_dynamic_templates(route->owner))
    return callback(tl::unexpected(unknown_template()));
  start(route->owner, std::move(*compiled));
}

}  // namespace hondana::catalog
