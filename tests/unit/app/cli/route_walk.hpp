/// All requests that a server answers, found by asking it: from lists, templates, completion, tools, and URIs in answers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/server.hpp>
#include <hondana/uri.hpp>
#include <hondana/value.hpp>

#include "base/json/base64.hpp"
#include "unit/transport/memory/asker.hpp"

namespace hondana::cli {

/// One request of the stateless revision.
struct route {
  std::string method;
  std::string parameters;  ///< The members of `params` as JSON, without braces.
  auto operator<=>(const route&) const = default;
};

/// Sends a request; the answer as it came, a line feed, and what its blobs hold.
inline std::string ask(transport::asker& peer, const route& request) {
  constexpr std::string_view mark = R"("blob":")";
  const auto answer = peer.ask(transport::asker::modern(request.method, request.parameters));
  std::string blobs;
  for (auto at = answer.find(mark); at != std::string::npos; at = answer.find(mark, at + 1)) {
    const auto begin = at + mark.size();
    blobs += json::decode_base64(std::string_view(answer).substr(begin, answer.find('"', begin) - begin)).value_or("");
  }
  return answer + '\n' + blobs;
}

/// Finds the routes of a server. A source that gets a new template, parameter, tool or listed URI has it tried by this, too.
class route_walk {
 public:
  /// Asks as `owner`, who may read everything. `stem` is typed into completions, parameters and searches.
  route_walk(server& to, const caller_info& owner, std::string_view stem) : peer_(to, owner), stem_(stem) {
    for (const auto* method : {"resources/list", "resources/templates/list", "skills/list", "tools/list", "prompts/list"})
      read_pages(method);
    try_route({"resources/list", R"("filter":{"text":")" + stem_ + "\"}"});
    try_tools();
    for (const auto& form : templates_) try_template(form);
    while (!waiting_.empty()) {
      const auto uri = std::move(waiting_.front());
      waiting_.pop_front();
      try_uri(uri);
    }
  }

  [[nodiscard]] const std::set<route>& routes() const noexcept { return routes_; }
  /// All answers, one after the other.
  [[nodiscard]] const std::string& answers() const noexcept { return answers_; }

 private:
  static constexpr std::size_t most_uris = 4'000;  // a test that reaches it fails
  static constexpr std::size_t most_values = 12;   // of a variable, for one choice of those before it

  static std::string member(std::string_view name, std::string_view text) {
    return value(name).to_text() + ':' + value(text).to_text();
  }

  /// The result, or nothing for an error. Errors are answers, too, which may tell something; `keeps_errors` is false for
  /// requests that most URIs are not made for.
  std::optional<value> try_route(const route& request, bool keeps_errors = true) {
    const auto answer = ask(peer_, request);
    const auto whole = value::parse(answer.substr(0, answer.find('\n')));
    const auto result = whole ? whole->at("result") : tl::unexpected(whole.error());
    if (!result && !keeps_errors) return std::nullopt;
    routes_.insert(request);
    answers_ += answer;
    note_uris(answer);
    return result ? std::optional(*result) : std::nullopt;
  }

  void add_uri(std::string_view text) {
    const auto uri = canonical_uri(text);
    if (!uri || !schemes_.contains(uri->substr(0, uri->find(':')))) return;
    EXPECT_LT(uris_.size(), most_uris) << *uri;
    if (uris_.size() < most_uris && uris_.insert(*uri).second) waiting_.push_back(*uri);
  }
  void note_uris(const std::string& answer) {
    const auto is_of_scheme = [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; };
    for (auto at = answer.find("://"); at != std::string::npos; at = answer.find("://", at)) {
      auto begin = at;
      while (begin > 0 && is_of_scheme(answer[begin - 1])) --begin;
      auto end = std::min(answer.find_first_of("\"\\ <>)]}`'{,", at), answer.size());
      while (end > at && std::string_view(".;:").find(answer[end - 1]) != std::string_view::npos) --end;
      add_uri(std::string_view(answer).substr(begin, end - begin));
      at = std::max(end, at + 3);
    }
  }

  void read_pages(const std::string& method) {
    std::string cursor;
    do {
      const auto page = try_route({method, cursor.empty() ? "" : member("cursor", cursor)});
      if (!page) return;
      cursor = page->string_at("nextCursor").value_or("");
      const auto entries = [&](const char* name) { return page->array_at(name).value_or(value::array()); };
      for (const auto* name : {"resources", "skills"})
        for (const auto& entry : entries(name)) {
          const auto uri = entry.string_at("uri").value();
          schemes_.insert(uri.substr(0, uri.find(':')));
          listed_.insert(uri);
          add_uri(uri);
        }
      for (const auto& entry : entries("resourceTemplates")) {
        const auto text = entry.string_at("uriTemplate").value();
        schemes_.insert(text.substr(0, text.find(':')));
        templates_.push_back(uri_template::compile(text).value());
      }
      for (const auto& tool : entries("tools")) tools_.push_back(tool);
    } while (!cursor.empty());
  }

  void try_uri(const std::string& uri) {
    const auto about = member("uri", uri);
    try_route({"resources/read", about});
    try_route({"resources/directory/read", about}, false);
    if (!listed_.contains(uri)) return;
    try_route({"resources/get", about}, false);
    if (uri.ends_with("/SKILL.md")) try_route({"skills/get", about});
    for (const auto& name : tools_by_uri_) try_route(call_of(name, about), false);
  }

  static route call_of(const std::string& tool, const std::string& arguments) {
    return {"tools/call", member("name", tool) + R"(,"arguments":{)" + arguments + '}'};
  }
  /// Calls tools that change nothing; those that take a URI are called for each one.
  void try_tools() {
    for (const auto& tool : tools_) {
      const auto name = tool.string_at("name").value();
      if (!tool.boolean_at("/annotations/readOnlyHint").value_or(false)) continue;
      const auto takes = [&](const std::string& argument) {
        return tool.at("/inputSchema/properties/" + argument).has_value();
      };
      if (takes("uri")) tools_by_uri_.push_back(name);
      for (const std::string argument : {"q", "text"})
        if (takes(argument))
          for (const auto& words : {stem_, std::string("yak")})
            try_route(call_of(name, member(argument, words) + R"(,"limit":50)"));
      if (!takes("uri") && !takes("q")) try_route(call_of(name, {}));
    }
  }

  /// Variables of the path are filled in one after the other, then each parameter of the query by itself.
  void try_template(const uri_template& form) {
    const auto query = form.text().find("{?");
    const auto parameters = query == std::string::npos ? std::set<std::string>() : names_in(form.text().substr(query));
    std::vector<uri_template_values> choices{{}};
    for (const auto& variable : form.variables()) {
      if (parameters.contains(variable)) continue;
      std::vector<uri_template_values> longer;
      for (const auto& chosen : choices)
        for (const auto& offered : complete(form, variable, chosen, true)) {
          longer.push_back(chosen);
          longer.back()[variable] = offered;
        }
      choices = std::move(longer);
    }
    for (auto& chosen : choices) {
      add_uri(form.expand(chosen).value());
      for (const auto& parameter : parameters) {
        auto values = complete(form, parameter, chosen, false);
        values.push_back(stem_);
        for (const auto& offered : values) {
          chosen[parameter] = offered;
          add_uri(form.expand(chosen).value());
          chosen.erase(parameter);
        }
      }
    }
  }
  /// Of `{?a,b}`: a and b.
  static std::set<std::string> names_in(const std::string& expression) {
    std::set<std::string> names;
    for (std::size_t begin = 2; begin < expression.size() && expression[begin - 1] != '}';) {
      const auto end = expression.find_first_of(",}", begin);
      names.insert(expression.substr(begin, end - begin));
      begin = end + 1;
    }
    return names;
  }

  /// What is offered where nothing or the stem was typed and, if `enters_folders`, where a folder was that was offered.
  std::vector<std::string> complete(const uri_template& form, const std::string& variable, const uri_template_values& chosen,
                                    bool enters_folders) {
    std::string context;
    for (const auto& [name, text] : chosen) context += (context.empty() ? "" : ",") + member(name, std::get<std::string>(text));
    std::vector<std::string> values;
    std::deque<std::string> to_type{"", stem_};
    while (!to_type.empty() && values.size() < most_values) {
      const auto typed = std::move(to_type.front());
      to_type.pop_front();
      const auto answer =
          try_route({"completion/complete", R"("ref":{"type":"ref/resource",)" + member("uri", form.text()) +
                                                R"(},"argument":{)" + member("name", variable) + ',' + member("value", typed) +
                                                R"(},"context":{"arguments":{)" + context + "}}"});
      if (!answer) continue;
      for (const auto& entry : answer->array_at("/completion/values").value_or(value::array())) {
        const auto& offered = *entry.as_string();
        if (values.size() == most_values || std::find(values.begin(), values.end(), offered) != values.end()) continue;
        values.push_back(offered);
        if (enters_folders && offered.ends_with('/')) to_type.push_back(offered);
      }
    }
    return values;
  }

  transport::asker peer_;
  const std::string stem_;
  std::set<std::string> schemes_;  // of all that is served
  std::vector<uri_template> templates_;
  std::vector<value> tools_;
  std::vector<std::string> tools_by_uri_;
  std::set<std::string> listed_;
  std::set<std::string> uris_;
  std::deque<std::string> waiting_;
  std::set<route> routes_;
  std::string answers_;
};

}  // namespace hondana::cli
