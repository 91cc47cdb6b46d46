/// What servers send, as a client reads it: whatever it is, each reader takes it or says why not, and what was taken is sound.
///
/// A line is a message. A result is read as an answer to each method there is.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <variant>

#include "base/json/reader.hpp"
#include "base/value/value.hpp"
#include "protocol/rpc/message.hpp"
#include "protocol/wire/asking/requests.hpp"
#include "protocol/wire/asking/results.hpp"
#include "protocol/wire/asking/server_errors.hpp"
#include "protocol/wire/asking/server_messages.hpp"

namespace {

using namespace hondana;
namespace asking = wire::asking;

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const resource& one) {
  require(!one.uri.empty() || one.name == one.uri);
  if (one.annotations.priority) require(*one.annotations.priority >= 0 && *one.annotations.priority <= 1);
}

template <class T>
void check_why(const result<T>& got) {
  if (!got) require(got.error().code == errc::protocol_error && !got.error().public_text.empty());
}

void read_question(const std::string& method, const value& params) {
  const auto what = asking::parse_server_request(method, params);
  if (!what) return require((what.error().code == -32601 || what.error().code == -32602) && !what.error().text.empty());
  const auto* link = std::get_if<url_request>(&*what);
  if (link != nullptr) require(link->url.starts_with("http"));
}

void read_as_everything(const json::value& result) {
  const auto object = result.as_object("result");
  if (!object) return;
  const auto wanted = asking::parse_input_requirement(*object);
  check_why(wanted);
  if (wanted) {
    require(wanted->requests.size() <= 64);
    for (const auto& one : wanted->requests) read_question(one.method, one.params);
  }
  const auto fresh = asking::parse_freshness(*object);
  require(fresh.ttl.count() >= 0);
  const auto entries = asking::parse_resources(*object);
  check_why(entries);
  if (entries) {
    for (const auto& one : entries->items) check(one);
  }
  check_why(asking::parse_templates(*object));
  check_why(asking::parse_tools(*object));
  check_why(asking::parse_prompts(*object));
  check_why(asking::parse_resource(*object));
  check_why(asking::parse_tool_response(result));
  check_why(asking::parse_prompt(*object));
  check_why(asking::parse_completion(*object));
  const auto contents = asking::parse_contents(*object);
  check_why(contents);
  if (contents) {
    for (const auto& one : contents->contents) require(one.size == one.bytes.size());
  }
  const auto skills = asking::parse_skills(*object);
  check_why(skills);
  if (skills) {
    for (const auto& one : skills->items) require(one.frontmatter.as_object() != nullptr);
  }
  check_why(asking::parse_skill(*object));
  for (const auto* revision : {"2024-11-05", "2026-07-28"}) {
    const bool is_modern = std::string_view(revision) == "2026-07-28";
    require(asking::parse_server_description(*object, {revision, is_modern}).revision == revision);
  }
}

void read_error(const json::object& error) {
  const auto why = asking::make_failure(error, 0, "resources/read", "file:///a");
  require(why.server_error && !why.public_text.empty());
  for (const char c : why.public_text) require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  static_cast<void>(asking::supported_revisions(why));
}

void read_message(std::string_view line) {
  const auto document = json::document::parse(line);
  if (!document) return;
  const auto message = rpc::read_message(document->root());
  if (const auto* told = std::get_if<rpc::notification>(&message)) {
    const auto news = asking::parse_notification(*told);
    if (const auto* changed = std::get_if<watch_event>(&news.event)) {
      require(changed->kind != watch_event_kind::resource || !changed->uri.empty() || changed->entry);
      if (changed->entry) check(*changed->entry);
    }
  }
  if (const auto* asked = std::get_if<rpc::request>(&message)) {
    if (const auto envelope = document->root().as_object({})) {
      const auto params = envelope->find("params");
      const auto taken = params && *params ? copy_value(**params) : result<value>(value());
      if (taken) read_question(asked->method, *taken);
    }
  }
  const auto* answered = std::get_if<rpc::response>(&message);
  if (answered == nullptr) return;
  if (answered->result) {
    read_as_everything(*answered->result);
  } else if (const auto envelope = document->root().as_object({})) {
    const auto error = envelope->find_object("error");
    if (error && *error) read_error(**error);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    read_message(rest.substr(0, end));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return 0;
}
