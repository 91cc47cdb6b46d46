/// The legacy revisions 2024-11-05 to 2025-11-25, which begin with a handshake, with a table of their differences.
#include "protocol/wire/legacy/codec.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "base/json/writer.hpp"
#include "protocol/wire/entry_json.hpp"
#include "protocol/wire/notifications.hpp"
#include "protocol/wire/request_params.hpp"
#include "protocol/wire/tools_and_prompts.hpp"
#include "protocol/wire/versioned_resources.hpp"
#include "protocol/wire/wire_constants.hpp"

namespace hondana::wire::legacy {

/// The features of one revision.
struct differences {
  std::string_view revision;
  bool has_batches;
  bool writes_null_ids;
  bool has_completions_capability;
  bool has_server_title;
  bool has_updated_title;
  bool misfits_are_results;
  bool has_completion_context;
  entry_members members;
  input_members inputs;
  bool may_poll = false;
};

/// The same revision with the versioned-resources extension.
[[nodiscard]] constexpr differences with_dialect(differences plain) noexcept {
  plain.members.versioned = true;
  return plain;
}

// Source: the specification's changelogs.
// - 2025-03-26: batches (in this revision only), audio, annotations of tools.
// - 2025-06-18: title, lastModified, _meta, structured content, resource links, forms, context of completions. Only its
//   documentation shows names in contents.
// - 2025-11-25: icons, links for the user, sampling with tools, optional ids in errors, polling. Arguments that do not match a
//   schema become results for the model.
inline constexpr entry_members members_2025_11_25{true, true, true, true, false, true, true, false};
inline constexpr entry_members members_2025_06_18{true, true, false, true, true, true, true, false};
inline constexpr entry_members members_2025_03_26{false, false, false, false, false, true, false, false};
inline constexpr entry_members members_2024_11_05{};

inline constexpr std::array revisions_of_era{
    differences{"2025-11-25",
                false,
                false,
                true,
                true,
                false,
                true,
                true,
                members_2025_11_25,
                {true, true, true, true, true, members_2025_11_25},
                true},
    differences{"2025-06-18",
                false,
                true,
                true,
                true,
                true,
                false,
                true,
                members_2025_06_18,
                {true, false, false, false, false, members_2025_06_18}},
    differences{"2025-03-26",
                true,
                true,
                true,
                false,
                false,
                false,
                false,
                members_2025_03_26,
                {false, false, false, false, false, members_2025_03_26}},
    differences{"2024-11-05",
                false,
                true,
                false,
                false,
                false,
                false,
                false,
                members_2024_11_05,
                {false, false, false, false, false, members_2024_11_05}},
};

namespace {

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
  const auto can = abilities_of(*capabilities);
  if (!can) return tl::unexpected(invalid_params(method, can.error()));
  return model::operation{model::initialize{std::string(*revision), *can, versioned::is_declared_by(*capabilities)}};
}

decoded<model::operation> decode_ping(std::string_view, const json::object&) { return model::operation{model::ping{}}; }

struct method {
  std::string_view name;
  decoder decode;
};

constexpr std::array methods{
    method{"initialize", decode_initialize},
    method{"ping", decode_ping},
    method{"resources/list", versioned::decode_list},
    method{"resources/templates/list", decode_list_templates},
    method{"resources/read", decode_read},
    method{"completion/complete", decode_complete},
    method{"resources/get", versioned::decode_get},
    method{"resources/subscribe", versioned::decode_subscribe},
    method{"resources/unsubscribe", versioned::decode_unsubscribe},
    method{"tools/list", decode_list_tools},
    method{"tools/call", decode_call_tool},
    method{"prompts/list", decode_list_prompts},
    method{"prompts/get", decode_get_prompt},
    method{"logging/setLevel", decode_set_level},
};

class legacy_codec final : public codec {
 public:
  explicit legacy_codec(const differences& is) noexcept : is_(is) {}

  [[nodiscard]] std::string_view revision() const noexcept override { return is_.revision; }
  [[nodiscard]] bool has_batches() const noexcept override { return is_.has_batches; }
  [[nodiscard]] bool writes_null_ids() const noexcept override { return is_.writes_null_ids; }
  [[nodiscard]] bool may_poll() const noexcept override { return is_.may_poll; }
  [[nodiscard]] const codec& versioned() const noexcept override;

  [[nodiscard]] decoded<model::request> decode(const rpc::request& from, const rpc::facts&) const override {
    for (const auto& known : methods) {
      if (known.name != from.method) continue;
      const bool is_alone = known.decode == decode_complete && !is_.has_completion_context;
      HONDANA_TRY(auto operation, (is_alone ? decode_complete_alone : known.decode)(from.method, from.params));
      const bool is_versioned = is_.members.versioned || versioned::is_shaped(operation);
      if (is_versioned) {
        const auto taken = versioned::take_version(from.params, operation);
        if (!taken) return tl::unexpected(invalid_params(from.method, taken.error()));
      }
      auto token = progress_token(from.params);
      if (!token) return tl::unexpected(invalid_params(from.method, token.error()));
      auto mounts = mounts_of(from.params);
      if (!mounts) return tl::unexpected(invalid_params(from.method, mounts.error()));
      return model::request{std::move(operation), std::move(*token),    {}, {}, is_versioned,
                            std::move(*mounts),   trace_of(from.params)};
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
    if (const auto method = undeclared_method(what, self); !method.empty()) return method_not_found(method, is_.revision);
    if (std::holds_alternative<model::complete>(what) && is_.has_completions_capability && !self.has_completions) {
      return method_not_found("completion/complete", is_.revision);
    }
    if (self.has_subscriptions) return std::nullopt;
    const bool subscribes =
        std::holds_alternative<model::subscribe>(what) || std::holds_alternative<model::subscribe_entries>(what);
    const bool unsubscribes =
        std::holds_alternative<model::unsubscribe>(what) || std::holds_alternative<model::unsubscribe_entries>(what);
    if (subscribes) return method_not_found("resources/subscribe", is_.revision);
    if (unsubscribes) return method_not_found("resources/unsubscribe", is_.revision);
    return std::nullopt;
  }

  [[nodiscard]] std::string encode_greeting(const model::self_description& self) const override {
    std::string text;
    json::writer to(text);
    to.begin_object().member("protocolVersion", is_.revision);
    to.key("capabilities").begin_object();
    write_resources_capability(to, self);
    if (is_.has_completions_capability && self.has_completions) to.key("completions").begin_object().end_object();
    write_handler_capabilities(to, self);
    to.key("experimental").begin_object();
    versioned::write_setting(to);
    to.end_object();
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

  [[nodiscard]] std::string encode(const model::tool_page& page, const model::self_description&) const override {
    return encode_page("tools", page.tools, page.next_cursor);
  }

  [[nodiscard]] std::string encode(const model::prompt_page& page, const model::self_description&) const override {
    return encode_page("prompts", page.prompts, page.next_cursor);
  }

  [[nodiscard]] std::string encode(const tool_result& result, const model::self_description&) const override {
    return encode_members(result, is_.members.meta ? result.meta : value());
  }

  [[nodiscard]] std::string encode(const prompt_result& result, const model::self_description&) const override {
    return encode_members(result, value());
  }

  [[nodiscard]] bool misfits_are_results() const noexcept override { return is_.misfits_are_results; }

  [[nodiscard]] std::optional<protocol_error> refuse_mirrored(const std::vector<model::mirrored_argument>&, const value&,
                                                              const rpc::http_headers&) const override {
    return std::nullopt;
  }

  [[nodiscard]] bool asks_by_requests() const noexcept override { return true; }

  [[nodiscard]] bool has_request(const input_request& what) const noexcept override {
    return wire::has_request(what, is_.inputs);
  }

  [[nodiscard]] std::string encode_request(std::string_view id, const input_request& what) const override {
    std::string text;
    json::writer to(text);
    to.begin_object().member("jsonrpc", "2.0").member("id", id);
    write(to, what, is_.inputs);
    to.end_object();
    return text;
  }

  [[nodiscard]] std::string encode_required(const input_required&, std::string_view,
                                            const model::self_description&) const override {
    return "{}";  // never called: see asks_by_requests
  }

  [[nodiscard]] protocol_error encode_lacking(std::string lacking) const override {
    return {-32602, "The client does not declare a required capability: " + std::move(lacking), {}, 200};
  }

  [[nodiscard]] std::string encode(const complete_result& values, const model::self_description&) const override {
    std::string text;
    json::writer to(text);
    to.begin_object();
    write(to, values);
    to.end_object();
    return text;
  }

  [[nodiscard]] rpc::body encode(bytes::prepared_reading reading, const std::shared_ptr<executor::lane>& home,
                                 const model::cache_hint&, const model::self_description&) const override {
    rpc::body body("{");
    append_contents(body, std::move(reading), home, is_.members);
    body.text() += '}';
    return body;
  }

  [[nodiscard]] rpc::body encode_got(const resource& entry, bytes::prepared content,
                                     const std::shared_ptr<executor::lane>& home, const model::cache_hint&,
                                     const model::self_description&) const override {
    rpc::body body("{");
    versioned::append_got(body, entry, std::move(content), home, is_.members);
    body.text() += '}';
    return body;
  }

  [[nodiscard]] protocol_error encode_unmodified(std::string_view uri, std::string_view version) const override {
    return versioned::not_modified(uri, version);
  }

  [[nodiscard]] std::string encode_change(const model::change& what, const std::optional<rpc::request_id>&) const override {
    return wire::encode_change(what, is_.has_updated_title, is_.members, [](json::writer&) {});
  }

  /// Only stateless revisions have the Skills extension.
  [[nodiscard]] std::string encode(const model::directory_page&, const model::self_description&) const override { return "{}"; }
  [[nodiscard]] std::string encode(const model::skill_page&, const model::self_description&) const override { return "{}"; }
  [[nodiscard]] std::string encode(const model::skill_answer&, const model::self_description&) const override { return "{}"; }

  /// Legacy revisions have no such streams.
  [[nodiscard]] std::string encode_acknowledged(const model::interests&, const rpc::request_id&) const override { return {}; }
  [[nodiscard]] std::string encode_listened(const rpc::request_id&, const model::self_description&) const override {
    return "{}";
  }

  [[nodiscard]] protocol_error encode_failure(const failure& why, std::string_view uri) const override {
    auto error = encode_plain_failure(why);
    if (why.code == errc::resource_not_found || why.code == errc::access_denied) {
      error.code = codes::resource_not_found;
      error.message = "Resource not found";
      error.data = uri_data(uri);
    }
    return error;
  }

 private:
  template <class Entry>
  static const Entry* to_address(const Entry& entry) {
    return &entry;
  }
  template <class Entry>
  static const Entry* to_address(const std::shared_ptr<const Entry>& entry) {
    return entry.get();
  }

  template <class Result>
  [[nodiscard]] std::string encode_members(const Result& result, const value& meta) const {
    std::string text;
    json::writer to(text);
    to.begin_object();
    write(to, result, is_.members);
    if (!meta.is_null()) to.key("_meta").raw(meta.to_text());
    to.end_object();
    return text;
  }

  template <class Entries>
  [[nodiscard]] std::string encode_page(std::string_view name, const Entries& entries,
                                        const std::optional<std::string>& next_cursor) const {
    std::string text;
    json::writer to(text);
    to.begin_object().key(name).begin_array();
    for (const auto& entry : entries) write(to, *to_address(entry), is_.members);
    to.end_array();
    if (next_cursor) to.member("nextCursor", *next_cursor);
    to.end_object();
    return text;
  }

  differences is_;
};

static_assert(revisions_of_era.size() == 4);
const std::array codecs{legacy_codec(revisions_of_era[0]), legacy_codec(revisions_of_era[1]), legacy_codec(revisions_of_era[2]),
                        legacy_codec(revisions_of_era[3])};
const std::array versioned_codecs{
    legacy_codec(with_dialect(revisions_of_era[0])), legacy_codec(with_dialect(revisions_of_era[1])),
    legacy_codec(with_dialect(revisions_of_era[2])), legacy_codec(with_dialect(revisions_of_era[3]))};

const codec& legacy_codec::versioned() const noexcept {
  for (const auto& one : versioned_codecs) {
    if (one.revision() == is_.revision) return one;
  }
  return *this;
}

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
