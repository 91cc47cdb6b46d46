/// Requests, entries and messages of prompts.
#include "protocol/wire/prompts.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "protocol/wire/blocks.hpp"
#include "protocol/wire/inputs.hpp"
#include "protocol/wire/params.hpp"

namespace hondana::wire {

decoded<model::operation> decode_list_prompts(std::string_view method, const json::object& params) {
  return decode_list<model::list_prompts>(method, params);
}

decoded<model::operation> decode_get_prompt(std::string_view method, const json::object& params) {
  const auto name = params.get_string("name");
  if (!name) return tl::unexpected(invalid_params(method, name.error()));
  model::get_prompt what{std::string(*name), {}, {}};
  const auto arguments = params.find_object("arguments");
  if (!arguments) return tl::unexpected(invalid_params(method, arguments.error()));
  if (*arguments) {
    for (const auto& [key, given] : (*arguments)->members()) {
      const auto path = (*arguments)->path_of(key);
      const auto text = given.as_string(path);
      if (!text) return tl::unexpected(invalid_params(method, text.error()));
      const auto is_same = [&name = key](const auto& one) { return one.first == name; };
      if (std::any_of(what.arguments.begin(), what.arguments.end(), is_same)) {
        return tl::unexpected(invalid_params(method, {path, "occurs twice"}));
      }
      what.arguments.emplace_back(std::string(key), std::string(*text));
    }
  }
  auto round = round_of(params);
  if (!round) return tl::unexpected(invalid_params(method, round.error()));
  what.round = std::move(*round);
  return model::operation{std::move(what)};
}

void write(json::writer& to, const prompt& entry, const entry_members& members) {
  to.begin_object().member("name", entry.name);
  if (members.title) to.member_if("title", entry.title);
  to.member_if("description", entry.description);
  if (!entry.arguments.empty()) {
    to.key("arguments").begin_array();
    for (const auto& one : entry.arguments) {
      to.begin_object().member("name", one.name);
      if (members.title) to.member_if("title", one.title);
      to.member_if("description", one.description);
      if (one.required) to.key("required").boolean(true);
      to.end_object();
    }
    to.end_array();
  }
  write_icons(to, entry.icons, members);
  if (members.meta && !entry.meta.is_null()) to.key("_meta").raw(entry.meta.to_text());
  to.end_object();
}

void write(json::writer& to, const prompt_result& result, const entry_members& members) {
  to.member_if("description", result.description);
  to.key("messages").begin_array();
  for (const auto& one : result.messages) write(to, one, members);
  to.end_array();
}

}  // namespace hondana::wire
