/// Method table, differences and answers of the handshake era.
#include "wire/legacy/codec.hpp"

#include <array>
#include <utility>

#include "json/writer.hpp"
#include "wire/entries.hpp"
#include "wire/params.hpp"

namespace hondana::wire::legacy {
namespace {

/// How one revision differs from its neighbours.
struct differences {
  std::string_view revision;
  bool has_batches;
  bool writes_null_ids;
  bool has_completions_capability;
  bool has_server_title;
  entry_members members;
};

using decoder = decoded<model::operation> (*)(std::string_view method, const json::object& params);

decoded<model::operation> decode_initialize(std::string_view method, const json::object& params) {
  const auto revision = params.get_string("protocolVersion");
  if (!revision) return tl::unexpected(invalid_params(method, revision.error()));
  const auto capabilities = params.get_object("capabilities");
  if (!capabilities) return tl::unexpected(invalid_params(method, capabilities.error()));
  const auto client = params.get_object("clientInfo");
  if (!client) return tl::unexpected(invalid_params(method, client.error()));
  const auto info = check_implementation(*client);
  if (!info) return tl::unexpected(invalid_params(method, info.error()));
  return model::operation{model::initialize{std::string(*revision)}};
}

decoded<model::operation> decode_ping(std::string_view, const json::object&) { return model::operation{model::ping{}}; }

struct method {
  std::string_view name;
  decoder decode;
};

constexpr std::array methods{
    method{"initialize", decode_initialize},         method{"ping", decode_ping},
    method{"resources/list", decode_list_resources}, method{"resources/templates/list", decode_list_templates},
    method{"resources/read", decode_read},           method{"completion/complete", decode_complete},
};

class legacy_codec final : public codec {
 public:
  explicit legacy_codec(const differences& is) noexcept : is_(is) {}

  [[nodiscard]] std::string_view revision() const noexcept override { return is_.revision; }
  [[nodiscard]] bool has_batches() const noexcept override { return is_.has_batches; }
  [[nodiscard]] bool writes_null_ids() const noexcept override { return is_.writes_null_ids; }

  [[nodiscard]] decoded<model::request> decode(const rpc::request& from, const rpc::facts&) const override {
    for (const auto& known : methods) {
      if (known.name != from.method) continue;
      auto operation = known.decode(from.method, from.params);
      if (!operation) return tl::unexpected(std::move(operation.error()));
      auto token = progress_token(from.params);
      if (!token) return tl::unexpected(invalid_params(from.method, token.error()));
      return model::request{std::move(*operation), std::move(*token)};
    }
    return tl::unexpected(method_not_found(from.method, is_.revision));
  }

  [[nodiscard]] decoded<model::operation> decode(const rpc::notification& from) const override {
    if (from.method == "notifications/initialized") return model::operation{model::initialized{}};
    if (from.method == "notifications/cancelled") return decode_cancelled(from.method, from.params);
    return model::operation{model::no_operation{}};
  }

  [[nodiscard]] std::optional<protocol_error> refuse_undeclared(const model::operation& what,
                                                                const model::self_description& self) const override {
    const bool is_there = self.has_completions || !is_.has_completions_capability;
    if (is_there || !std::holds_alternative<model::complete>(what)) return std::nullopt;
    return method_not_found("completion/complete", is_.revision);
  }

  [[nodiscard]] std::string encode_greeting(const model::self_description& self) const override {
    std::string text;
    json::writer to(text);
    to.begin_object().member("protocolVersion", is_.revision);
    to.key("capabilities").begin_object().key("resources").begin_object().end_object();
    if (is_.has_completions_capability && self.has_completions) to.key("completions").begin_object().end_object();
    to.end_object();
    to.key("serverInfo").begin_object().member("name", self.name);
    if (is_.has_server_title) to.member_if("title", self.title);
    to.member("version", self.version).end_object();
    to.member_if("instructions", self.instructions).end_object();
    return text;
  }

  [[nodiscard]] std::string encode_empty(const model::self_description&) const override { return "{}"; }

  [[nodiscard]] std::string encode(const model::resource_page& page, const model::self_description&) const override {
    return encode_page("resources", page.resources, page.next_cursor);
  }

  [[nodiscard]] std::string encode(const model::template_page& page, const model::self_description&) const override {
    return encode_page("resourceTemplates", page.templates, page.next_cursor);
  }

  [[nodiscard]] std::string encode(const complete_result& values, const model::self_description&) const override {
    std::string text;
    json::writer to(text);
    to.begin_object();
    write(to, values);
    to.end_object();
    return text;
  }

  [[nodiscard]] rpc::body encode(bytes::prepared_reading reading, const std::shared_ptr<work::lane>& home,
                                 const model::cache_hint&, const model::self_description&) const override {
    rpc::body body("{");
    append_contents(body, std::move(reading), home, is_.members);
    body.text() += '}';
    return body;
  }

  [[nodiscard]] protocol_error encode_failure(const failure& why, std::string_view uri) const override {
    auto error = encode_plain_failure(why);
    if (why.code == errc::resource_not_found || why.code == errc::access_denied) {
      error.code = -32002;
      error.message = "Resource not found";
      error.data = uri_data(uri);
    }
    return error;
  }

 private:
  template <class Entries>
  [[nodiscard]] std::string encode_page(std::string_view name, const Entries& entries,
                                        const std::optional<std::string>& next_cursor) const {
    std::string text;
    json::writer to(text);
    to.begin_object().key(name).begin_array();
    for (const auto& entry : entries) write(to, entry, is_.members);
    to.end_array();
    if (next_cursor) to.member("nextCursor", *next_cursor);
    to.end_object();
    return text;
  }

  differences is_;
};

// Columns as in the specification's changelogs: batches came and went with 2025-03-26; title, lastModified and _meta came with
// 2025-06-18, whose page alone shows names beside contents; icons came with 2025-11-25, which also made error ids optional.
const std::array codecs{
    legacy_codec({"2025-11-25", false, false, true, true, {true, true, true, true, false}}),
    legacy_codec({"2025-06-18", false, true, true, true, {true, true, false, true, true}}),
    legacy_codec({"2025-03-26", true, true, true, false, {false, false, false, false, false}}),
    legacy_codec({"2024-11-05", false, true, false, false, {false, false, false, false, false}}),
};

constexpr std::array<std::string_view, 4> names{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

}  // namespace

const codec* find(std::string_view revision) noexcept {
  for (const auto& one : codecs) {
    if (one.revision() == revision) return &one;
  }
  return nullptr;
}

const codec& newest() noexcept { return codecs[0]; }
const codec& without_header() noexcept { return codecs[2]; }
std::span<const std::string_view> revisions() noexcept { return names; }

}  // namespace hondana::wire::legacy
