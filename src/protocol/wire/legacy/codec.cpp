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
struct revision_features {
  std::string_view revision;
  bool has_batches;
  bool writes_null_ids;
  bool has_completions_capability;
  bool has_server_title;
  bool has_updated_title;
  bool validation_errors_are_results;
  bool has_completion_context;
  entry_members members;
  input_members inputs;
  bool supports_polling = false;
};

/// The same revision with the versioned-resources extension.
[[nodiscard]] constexpr revision_features with_versioned_resources(revision_features features) noexcept {
  features.members.versioned = true;
  return features;
}

// Source: the specification's changelogs.
// - 2025-03-26: batches (in this revision only), audio, annotations of tools.
// - 2025-06-18: title, lastModified, _meta, structured content, resource links, forms, context of completions. Only its
//   documentation shows names in contents.
// - 2025-11-25: icons, URLs for the user, sampling with tools, optional ids in errors, polling. Arguments that do not match a
//   schema become results for the model.
inline constexpr entry_members members_2025_11_25{true, true, true, true, false, true, true, false};
inline constexpr entry_members members_2025_06_18{true, true, false, true, true, true, true, false};
inline constexpr entry_members members_2025_03_26{false, false, false, false, false, true, false, false};
inline constexpr entry_members members_2024_11_05{};

inline constexpr std::array feature_table{
    revision_features{"2025-11-25",
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
    revision_features{"2025-06-18",
                      false,
                      true,
                      true,
                      true,
                      true,
                      false,
                      true,
                      members_2025_06_18,
                      {true, false, false, false, false, members_2025_06_18}},
    revision_features{"2025-03-26",
                      true,
                      true,
                      true,
                      false,
                      false,
                      false,
                      false,
                      members_2025_03_26,
                      {false, false, false, false, false, members_2025_03_26}},
    revision_features{"2024-11-05",
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
  const auto info = validate_implementation(*client);
  if (!info) return tl::unexpected(invalid_params(method, info.error()));
  const auto parsed_capabilities = parse_capabilities(*capabilities);
  if (!parsed_capabilities) return tl::unexpected(invalid_params(method, parsed_capabilities.error()));
  return model::operation{
      model::initialize{std::string(*revision), *parsed_capabilities, versioned::is_declared_by(*capabilities)}};
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
  explicit legacy_codec(const revision_features& features) noexcept : features_(features) {}

  [[nodiscard]] std::string_view revision() const noexcept override { return features_.revision; }
  [[nodiscard]] bool has_batches() const noexcept override { return features_.has_batches; }
  [[nodiscard]] bool writes_null_ids() const noexcept override { return features_.writes_null_ids; }
  [[nodiscard]] bool supports_polling() const noexcept override { return features_.supports_polling; }
  [[nodiscard]] const codec& versioned() const noexcept override;

  [[nodiscard]] decoded<model::request> decode(const rpc::request& request, const rpc::request_info&) const override {
    for (const auto& method_entry : methods) {
      if (method_entry.name != request.method) continue;
      const bool lacks_context = method_entry.decode == decode_complete && !features_.has_completion_context;
      HONDANA_TRY(auto operation,
                  (lacks_context ? decode_complete_without_context : method_entry.decode)(request.method, request.params));
      const bool is_versioned = features_.members.versioned || versioned::needs_extension(operation);
      if (is_versioned) {
        const auto status = versioned::read_version(request.params, operation);
        if (!status) return tl::unexpected(invalid_params(request.method, status.error()));
      }
      auto token = parse_progress_token(request.params);
      if (!token) return tl::unexpected(invalid_params(request.method, token.error()));
      auto mounts = parse_mounts(request.params);
      if (!mounts) return tl::unexpected(invalid_params(request.method, mounts.error()));
      return model::request{std::move(operation), std::move(*token),          {}, {}, is_versioned,
                            std::move(*mounts),   parse_trace(request.params)};
    }
    return tl::unexpected(method_not_found(request.method, features_.revision));
  }

  [[nodiscard]] decoded<model::operation> decode(const rpc::notification& notification) const override {
    if (notification.method == "notifications/initialized") return model::operation{model::initialized{}};
    if (notification.method == "notifications/cancelled") return decode_cancelled(notification.method, notification.params);
    return model::operation{model::no_operation{}};
  }

  [[nodiscard]] std::optional<protocol_error> reject_undeclared(const model::operation& operation,
                                                                const model::server_info& server) const override {
    if (const auto method = undeclared_method(operation, server); !method.empty())
      return method_not_found(method, features_.revision);
    if (std::holds_alternative<model::complete>(operation) && features_.has_completions_capability && !server.has_completions) {
      return method_not_found("completion/complete", features_.revision);
    }
    if (server.has_subscriptions) return std::nullopt;
    const bool subscribes =
        std::holds_alternative<model::subscribe>(operation) || std::holds_alternative<model::subscribe_entries>(operation);
    const bool unsubscribes =
        std::holds_alternative<model::unsubscribe>(operation) || std::holds_alternative<model::unsubscribe_entries>(operation);
    if (subscribes) return method_not_found("resources/subscribe", features_.revision);
    if (unsubscribes) return method_not_found("resources/unsubscribe", features_.revision);
    return std::nullopt;
  }

  [[nodiscard]] std::string encode_handshake(const model::server_info& server) const override {
    std::string text;
    json::writer writer(text);
    writer.begin_object().member("protocolVersion", features_.revision);
    writer.key("capabilities").begin_object();
    write_resources_capability(writer, server);
    if (features_.has_completions_capability && server.has_completions) writer.key("completions").begin_object().end_object();
    write_handler_capabilities(writer, server);
    writer.key("experimental").begin_object();
    versioned::write_setting(writer);
    writer.end_object();
    writer.end_object();
    writer.key("serverInfo").begin_object().member("name", server.name);
    if (features_.has_server_title) writer.member_if("title", server.title);
    writer.member("version", server.version).end_object();
    writer.member_if("instructions", server.instructions).end_object();
    return text;
  }

  [[nodiscard]] std::string encode_empty(const model::server_info&) const override { return "{}"; }

  [[nodiscard]] std::string encode(const model::resource_page& page, const model::server_info&) const override {
    return encode_page("resources", page.resources, page.next_cursor);
  }

  [[nodiscard]] std::string encode(const model::template_page& page, const model::server_info&) const override {
    return encode_page("resourceTemplates", page.templates, page.next_cursor);
  }

  [[nodiscard]] std::string encode(const model::tool_page& page, const model::server_info&) const override {
    return encode_page("tools", page.tools, page.next_cursor);
  }

  [[nodiscard]] std::string encode(const model::prompt_page& page, const model::server_info&) const override {
    return encode_page("prompts", page.prompts, page.next_cursor);
  }

  [[nodiscard]] std::string encode(const tool_result& result, const model::server_info&) const override {
    return encode_members(result, features_.members.meta ? result.meta.value_or(value()) : value());
  }

  [[nodiscard]] std::string encode(const prompt_result& result, const model::server_info&) const override {
    return encode_members(result, value());
  }

  [[nodiscard]] bool validation_errors_are_results() const noexcept override { return features_.validation_errors_are_results; }

  [[nodiscard]] std::optional<protocol_error> reject_mismatched_headers(const std::vector<model::mirrored_argument>&,
                                                                        const value&, const rpc::http_headers&) const override {
    return std::nullopt;
  }

  [[nodiscard]] bool sends_input_requests() const noexcept override { return true; }

  [[nodiscard]] bool supports_request(const input_request& request) const noexcept override {
    return wire::supports_request(request, features_.inputs);
  }

  [[nodiscard]] std::string encode_request(std::string_view id, const input_request& request) const override {
    std::string text;
    json::writer writer(text);
    writer.begin_object().member("jsonrpc", "2.0").member("id", id);
    write(writer, request, features_.inputs);
    writer.end_object();
    return text;
  }

  [[nodiscard]] std::string encode_input_required(const input_required&, std::string_view,
                                                  const model::server_info&) const override {
    return "{}";  // never called: see sends_input_requests
  }

  [[nodiscard]] protocol_error encode_missing_capabilities(std::string missing) const override {
    return {-32602, "The client does not declare a required capability: " + std::move(missing), {}, 200};
  }

  [[nodiscard]] std::string encode(const complete_result& values, const model::server_info&) const override {
    std::string text;
    json::writer writer(text);
    writer.begin_object();
    write(writer, values);
    writer.end_object();
    return text;
  }

  [[nodiscard]] rpc::body encode(bytes::prepared_read_result reading,
                                 const std::shared_ptr<executor::executor>& reader_executor, const model::cache_hint&,
                                 const model::server_info&) const override {
    rpc::body body("{");
    append_contents(body, std::move(reading), reader_executor, features_.members);
    body.text() += '}';
    return body;
  }

  [[nodiscard]] rpc::body encode_resource(const resource& entry, bytes::prepared_content content,
                                          const std::shared_ptr<executor::executor>& reader_executor, const model::cache_hint&,
                                          const model::server_info&) const override {
    rpc::body body("{");
    versioned::append_resource(body, entry, std::move(content), reader_executor, features_.members);
    body.text() += '}';
    return body;
  }

  [[nodiscard]] protocol_error encode_unmodified(std::string_view uri, std::string_view version) const override {
    return versioned::not_modified(uri, version);
  }

  [[nodiscard]] std::string encode_change(const model::change& change, const std::optional<rpc::request_id>&) const override {
    return wire::encode_change(change, features_.has_updated_title, features_.members, [](json::writer&) {});
  }

  /// Only stateless revisions have the Skills extension.
  [[nodiscard]] std::string encode(const model::directory_page&, const model::server_info&) const override { return "{}"; }
  [[nodiscard]] std::string encode(const model::skill_page&, const model::server_info&) const override { return "{}"; }
  [[nodiscard]] std::string encode(const model::skill_answer&, const model::server_info&) const override { return "{}"; }

  /// Legacy revisions have no such streams.
  [[nodiscard]] std::string encode_acknowledgement(const model::subscription_filter&, const rpc::request_id&) const override {
    return {};
  }
  [[nodiscard]] std::string encode_stream_end(const rpc::request_id&, const model::server_info&) const override { return "{}"; }

  [[nodiscard]] protocol_error encode_failure(const failure& failure, std::string_view uri) const override {
    auto error = encode_common_failure(failure);
    if (failure.code == errc::resource_not_found || failure.code == errc::access_denied) {
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
    json::writer writer(text);
    writer.begin_object();
    write(writer, result, features_.members);
    if (!meta.is_null()) writer.key("_meta").raw(meta.to_text());
    writer.end_object();
    return text;
  }

  template <class Entries>
  [[nodiscard]] std::string encode_page(std::string_view name, const Entries& entries,
                                        const std::optional<std::string>& next_cursor) const {
    std::string text;
    json::writer writer(text);
    writer.begin_object().key(name).begin_array();
    for (const auto& entry : entries) write(writer, *to_address(entry), features_.members);
    writer.end_array();
    if (next_cursor) writer.member("nextCursor", *next_cursor);
    writer.end_object();
    return text;
  }

  revision_features features_;
};

static_assert(feature_table.size() == 4);
const std::array codecs{legacy_codec(feature_table[0]), legacy_codec(feature_table[1]), legacy_codec(feature_table[2]),
                        legacy_codec(feature_table[3])};
const std::array versioned_codecs{
    legacy_codec(with_versioned_resources(feature_table[0])), legacy_codec(with_versioned_resources(feature_table[1])),
    legacy_codec(with_versioned_resources(feature_table[2])), legacy_codec(with_versioned_resources(feature_table[3]))};

const codec& legacy_codec::versioned() const noexcept {
  for (const auto& codec : versioned_codecs) {
    if (codec.revision() == features_.revision) return codec;
  }
  return *this;
}

constexpr std::array<std::string_view, 4> names{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

}  // namespace

const codec* find(std::string_view revision) noexcept {
  for (const auto& codec : codecs) {
    if (codec.revision() == revision) return &codec;
  }
  return nullptr;
}

const codec& newest() noexcept { return codecs[0]; }
const codec& headerless_default() noexcept { return codecs[2]; }
std::span<const std::string_view> revisions() noexcept { return names; }

}  // namespace hondana::wire::legacy
