/// Making tables, listing them and finding in them.
#include "server/handlers/table.hpp"

#include <algorithm>
#include <utility>

#include "base/json/base64.hpp"
#include "server/catalog/cursor.hpp"
#include "server/handlers/mirrored.hpp"

namespace hondana::handlers {
namespace {

constexpr std::size_t longest_name = 128;

tl::unexpected<failure> refuse(std::string_view what, const std::string& name, const std::string& why) {
  return fail(errc::invalid_argument, "The " + std::string(what) + " \"" + name + "\" cannot be added: " + why);
}

bool is_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_name && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '-' || c == '.' ||
           c == '/';
  });
}

bool is_prompt_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_name &&
         std::none_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; });
}

bool is_meta(const value& meta) { return meta.is_null() || meta.as_object() != nullptr; }

/// One page of a map of entries. A cursor holds the last name in an alphabet that cursors can carry.
template <class Page, class Entries, class Sight>
result<Page> page_of(std::string_view list, const Entries& entries, std::size_t size,
                     std::vector<typename Entries::mapped_type>& out, const std::optional<std::string>& cursor,
                     const Sight& is_shown) {
  const auto scope = catalog::cursor_scope(list, "", nullptr);
  auto next = entries.begin();
  if (cursor) {
    HONDANA_TRY(const auto key, catalog::read_cursor(*cursor, scope));
    const auto name = json::decode_base64url(key);
    if (!name) return fail(errc::invalid_argument, "cursor: not issued by this server for this list.");
    next = entries.upper_bound(*name);
  }
  Page page;
  std::string last;
  const auto is_hidden = [&is_shown](const auto& one) { return is_shown && !is_shown(*one.second); };
  const auto skip_hidden = [&] { next = std::find_if_not(next, entries.end(), is_hidden); };
  for (skip_hidden(); next != entries.end() && out.size() < size; skip_hidden()) {
    last = next->first;
    out.push_back(next->second);
    ++next;
  }
  if (next != entries.end()) page.next_cursor = catalog::write_cursor(scope, json::base64url(last));
  return page;
}

}  // namespace

std::shared_ptr<const table> table::empty(workshop where, std::size_t page_size) {
  return std::shared_ptr<const table>(new table(std::move(where), std::max<std::size_t>(page_size, 1)));
}

result<std::shared_ptr<const table>> table::with(tool entry, tool_handler handler, tool_manners how) const {
  const auto name = entry.name;
  const auto* present = find_tool(name);
  if (present != nullptr && (present->manners.is_of_source || how.is_of_source)) {
    return refuse("tool", name, "a source already has a tool of that name. Rename one of the two, or remove one.");
  }
  if (present != nullptr && present->manners.is_built_in != how.is_built_in) {
    return refuse("tool", name,
                  "the server's own tool \"" + name +
                      "\" for resources (server_options::resource_tools) and the application's \"" + name +
                      "\" have the same name. Rename the application's tool, or turn off the server's.");
  }
  if (!is_tool_name(name)) {
    return refuse("tool", name, "its name must be 1 to 128 characters of A-Z, a-z, 0-9, '_', '-', '.' and '/'.");
  }
  if (!handler) return refuse("tool", name, "it has no handler.");
  if (!is_meta(entry.meta)) return refuse("tool", name, "meta must be an object.");
  const auto type = entry.inputSchema.string_at("type");
  if (!type || *type != "object") return refuse("tool", name, "the root of inputSchema must say \"type\": \"object\".");
  if (entry.outputSchema && entry.outputSchema->as_object() == nullptr) {
    return refuse("tool", name, "outputSchema must be an object.");
  }
  auto mirrored = mirrored_arguments(entry.inputSchema);
  if (!mirrored) return refuse("tool", name, mirrored.error().public_text);
  auto input = schema::schema::compile(entry.inputSchema);
  if (!input) return refuse("tool", name, "inputSchema: " + input.error().public_text);
  std::optional<schema::schema> output;
  if (entry.outputSchema) {
    auto compiled = schema::schema::compile(*entry.outputSchema);
    if (!compiled) return refuse("tool", name, "outputSchema: " + compiled.error().public_text);
    output = std::move(*compiled);
  }
  auto shown = std::make_shared<const tool>(std::move(entry));
  auto offered = std::make_shared<offered_tool>(offered_tool{std::move(shown), std::move(handler), std::move(how),
                                                             std::move(*mirrored), std::move(*input), std::move(output)});
  const std::shared_ptr<table> made(new table(*this));
  made->may_log_ = may_log_ || offered->manners.is_of_application();
  made->tools_[name] = std::move(offered);
  made->has_tools_ = true;
  return std::shared_ptr<const table>(made);
}

result<std::shared_ptr<const table>> table::with(prompt entry, prompt_handler handler) const {
  const auto name = entry.name;
  if (!is_prompt_name(name)) return refuse("prompt", name, "its name must be 1 to 128 bytes without control characters.");
  if (!handler) return refuse("prompt", name, "it has no handler.");
  if (!is_meta(entry.meta)) return refuse("prompt", name, "meta must be an object.");
  for (auto one = entry.arguments.begin(); one != entry.arguments.end(); ++one) {
    const auto is_same = [one](const prompt_argument& other) { return other.name == one->name; };
    if (one->name.empty()) return refuse("prompt", name, "an argument has no name.");
    if (std::any_of(entry.arguments.begin(), one, is_same)) {
      return refuse("prompt", name, "two arguments are named \"" + one->name + "\".");
    }
  }
  const std::shared_ptr<table> made(new table(*this));
  made->has_prompts_ = made->may_log_ = true;
  made->has_completions_ = has_completions_ || std::any_of(entry.arguments.begin(), entry.arguments.end(),
                                                           [](const prompt_argument& one) { return bool(one.complete); });
  auto offered = std::make_shared<offered_prompt>();
  offered->entry = std::make_shared<const prompt>(std::move(entry));
  offered->handler = std::move(handler);
  made->prompts_[name] = std::move(offered);
  return std::shared_ptr<const table>(made);
}

std::shared_ptr<const table> table::without_tool(std::string_view name) const {
  const auto* present = find_tool(name);
  if (present == nullptr || !present->manners.is_of_application()) return nullptr;
  const std::shared_ptr<table> made(new table(*this));
  made->tools_.erase(std::string(name));
  return made;
}

std::shared_ptr<const table> table::without_built_in_tools() const {
  const std::shared_ptr<table> made(new table(*this));
  std::erase_if(made->tools_, [](const auto& one) { return one.second->manners.is_built_in; });
  return made;
}

std::shared_ptr<const table> table::without_tools_of_sources() const {
  const std::shared_ptr<table> made(new table(*this));
  std::erase_if(made->tools_, [](const auto& one) { return one.second->manners.is_of_source; });
  return made;
}

std::shared_ptr<const table> table::without_prompt(std::string_view name) const {
  if (find_prompt(name) == nullptr) return nullptr;
  const std::shared_ptr<table> made(new table(*this));
  made->prompts_.erase(std::string(name));
  return made;
}

std::shared_ptr<const table> table::with_page_size(std::size_t entries) const {
  const std::shared_ptr<table> made(new table(*this));
  made->page_size_ = std::max<std::size_t>(entries, 1);
  return made;
}

result<model::tool_page> table::tools(const std::optional<std::string>& cursor, const tool_sight& is_shown) const {
  std::vector<std::shared_ptr<const offered_tool>> found;
  auto page = page_of<model::tool_page>("tools", tools_, page_size_, found, cursor, is_shown);
  if (page) {
    for (const auto& one : found) page->tools.push_back(one->entry);
  }
  return page;
}

result<model::prompt_page> table::prompts(const std::optional<std::string>& cursor, const prompt_sight& is_shown) const {
  std::vector<std::shared_ptr<const offered_prompt>> found;
  auto page = page_of<model::prompt_page>("prompts", prompts_, page_size_, found, cursor, is_shown);
  if (page) {
    for (const auto& one : found) page->prompts.push_back(one->entry);
  }
  return page;
}

const offered_tool* table::find_tool(std::string_view name) const {
  const auto found = tools_.find(name);
  return found == tools_.end() ? nullptr : found->second.get();
}

const offered_prompt* table::find_prompt(std::string_view name) const {
  const auto found = prompts_.find(name);
  return found == prompts_.end() ? nullptr : found->second.get();
}

}  // namespace hondana::handlers
