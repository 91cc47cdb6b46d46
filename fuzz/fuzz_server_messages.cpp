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
  if (!got) require(got.error().code == errc::broken_protocol && !got.error().public_text.empty());
}

void read_question(const std::string& method, const value& params) {
  const auto what = asking::question_of(method, params);
  if (!what) return require((what.error().code == -32601 || what.error().code == -32602) && !what.error().text.empty());
  const auto* link = std::get_if<link_request>(&*what);
  if (link != nullptr) require(link->url.starts_with("http"));
}

void read_as_everything(const json::value& result) {
  const auto object = result.as_object("result");
  if (!object) return;
  const auto wanted = asking::input_wanted_by(*object);
  check_why(wanted);
  if (wanted) {
    require(wanted->questions.size() <= 64);
    for (const auto& one : wanted->questions) read_question(one.method, one.params);
  }
  const auto fresh = asking::freshness_of(*object);
  require(fresh.ttl.count() >= 0);
  const auto entries = asking::resources_of(*object);
  check_why(entries);
  if (entries) {
    for (const auto& one : entries->items) check(one);
  }
  check_why(asking::templates_of(*object));
  check_why(asking::tools_of(*object));
  check_why(asking::prompts_of(*object));
  check_why(asking::resource_of(*object));
  check_why(asking::called_of(result));
  check_why(asking::prompt_of(*object));
  check_why(asking::completion_of(*object));
  const auto contents = asking::contents_of(*object);
  check_why(contents);
  if (contents) {
    for (const auto& one : contents->items) require(one.size == one.bytes.size());
  }
  const auto skills = asking::skills_of(*object);
  check_why(skills);
  if (skills) {
    for (const auto& one : skills->items) require(one.frontmatter.as_object() != nullptr);
  }
  check_why(asking::skill_of(*object));
  for (const auto* revision : {"2024-11-05", "2026-07-28"}) {
    const bool is_modern = std::string_view(revision) == "2026-07-28";
    require(asking::description_of(*object, {revision, is_modern}).revision == revision);
  }
}

void read_error(const json::object& error) {
  const auto why = asking::failure_of(error, 0, "resources/read", "file:///a");
  require(why.answer && !why.public_text.empty());
  for (const char c : why.public_text) require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  static_cast<void>(asking::supported_by(why));
}

void read_message(std::string_view line) {
  const auto document = json::document::parse(line);
  if (!document) return;
  const auto message = rpc::read_message(document->root());
  if (const auto* told = std::get_if<rpc::notification>(&message)) {
    const auto news = asking::news_of(*told);
    if (const auto* changed = std::get_if<change>(&news.what)) {
      require(changed->kind != change_kind::resource || !changed->uri.empty() || changed->entry);
      if (changed->entry) check(*changed->entry);
    }
  }
  if (const auto* asked = std::get_if<rpc::request>(&message)) {
    if (const auto envelope = document->root().as_object({})) {
      const auto params = envelope->find("params");
      const auto taken = params && *params ? take_value(**params) : result<value>(value());
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
