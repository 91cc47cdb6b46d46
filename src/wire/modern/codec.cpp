/// Method table and answers of the stateless era.
#include "wire/modern/codec.hpp"

#include <array>
#include <utility>

#include "json/writer.hpp"
#include "wire/entries.hpp"
#include "wire/modern/headers.hpp"
#include "wire/params.hpp"

namespace hondana::wire::modern {
namespace {

constexpr std::string_view this_revision = "2026-07-28";
constexpr std::array<std::string_view, 1> names{this_revision};

constexpr std::string_view revision_key = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view capabilities_key = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view client_key = "io.modelcontextprotocol/clientInfo";
constexpr std::string_view server_key = "io.modelcontextprotocol/serverInfo";

constexpr entry_members members{true, true, true, true, false};

using decoder = decoded<model::operation> (*)(std::string_view method, const json::object& params);

decoded<model::operation> decode_discover(std::string_view, const json::object&) { return model::operation{model::discover{}}; }

struct method {
  std::string_view name;
  decoder decode;
};

constexpr std::array methods{
    method{"server/discover", decode_discover},
    method{"resources/list", decode_list_resources},
    method{"resources/templates/list", decode_list_templates},
    method{"resources/read", decode_read},
    method{"completion/complete", decode_complete},
};

/// The request's own declarations. A request without them is malformed, and on HTTP a bad request.
json::decoded<void> check_declarations(const json::object& params) {
  const auto meta = params.get_object("_meta");
  if (!meta) return tl::unexpected(meta.error());
  if (const auto revision = meta->get_string(revision_key); !revision) return tl::unexpected(revision.error());
  if (const auto capabilities = meta->get_object(capabilities_key); !capabilities) {
    return tl::unexpected(capabilities.error());
  }
  const auto client = meta->find_object(client_key);
  if (!client) return tl::unexpected(client.error());
  return *client ? check_implementation(**client) : json::decoded<void>{};
}

protocol_error unknown(std::string_view method) {
  auto error = method_not_found(method, this_revision);
  error.http_status = 404;
  return error;
}

protocol_error bad_request(protocol_error error) {
  error.http_status = 400;
  return error;
}

void begin_result(json::writer& to) { to.begin_object().member("resultType", "complete"); }

void end_result(json::writer& to, const model::self_description& self) {
  to.key("_meta").begin_object().key(server_key).begin_object().member("name", self.name).member_if("title", self.title);
  to.member("version", self.version).end_object().end_object().end_object();
}

void write_cache(json::writer& to, const model::cache_hint& cache) {
  to.key("ttlMs").integer(cache.ttl.count());
  to.member("cacheScope", cache.is_private ? "private" : "public");
}

template <class Entries>
std::string encode_page(std::string_view name, const Entries& entries, const std::optional<std::string>& next_cursor,
                        const model::cache_hint& cache, const model::self_description& self) {
  std::string text;
  json::writer to(text);
  begin_result(to);
  to.key(name).begin_array();
  for (const auto& entry : entries) write(to, entry, members);
  to.end_array();
  if (next_cursor) to.member("nextCursor", *next_cursor);
  write_cache(to, cache);
  end_result(to, self);
  return text;
}

class modern_codec final : public codec {
 public:
  [[nodiscard]] std::string_view revision() const noexcept override { return this_revision; }
  [[nodiscard]] bool has_batches() const noexcept override { return false; }
  [[nodiscard]] bool writes_null_ids() const noexcept override { return false; }

  [[nodiscard]] decoded<model::request> decode(const rpc::request& from, const rpc::facts& facts) const override {
    const auto declared = check_declarations(from.params);
    if (!declared) return tl::unexpected(bad_request(invalid_params(from.method, declared.error())));
    if (facts.http) {
      if (auto mismatch = header_mismatch(from, this_revision, *facts.http)) return tl::unexpected(std::move(*mismatch));
    }
    for (const auto& known : methods) {
      if (known.name != from.method) continue;
      auto operation = known.decode(from.method, from.params);
      if (!operation) return tl::unexpected(std::move(operation.error()));
      auto token = progress_token(from.params);
      if (!token) return tl::unexpected(invalid_params(from.method, token.error()));
      return model::request{std::move(*operation), std::move(*token)};
    }
    return tl::unexpected(unknown(from.method));
  }

  [[nodiscard]] decoded<model::operation> decode(const rpc::notification& from) const override {
    if (from.method == "notifications/cancelled") return decode_cancelled(from.method, from.params);
    return model::operation{model::no_operation{}};
  }

  [[nodiscard]] std::optional<protocol_error> refuse_undeclared(const model::operation& what,
                                                                const model::self_description& self) const override {
    if (self.has_completions || !std::holds_alternative<model::complete>(what)) return std::nullopt;
    return unknown("completion/complete");
  }

  [[nodiscard]] std::string encode_greeting(const model::self_description& self) const override {
    std::string text;
    json::writer to(text);
    begin_result(to);
    to.key("supportedVersions").begin_array();
    for (const auto name : names) to.string(name);
    to.end_array();
    to.key("capabilities").begin_object().key("resources").begin_object().end_object();
    if (self.has_completions) to.key("completions").begin_object().end_object();
    to.end_object();
    to.member_if("instructions", self.instructions);
    write_cache(to, {});
    end_result(to, self);
    return text;
  }

  [[nodiscard]] std::string encode_empty(const model::self_description& self) const override {
    std::string text;
    json::writer to(text);
    begin_result(to);
    end_result(to, self);
    return text;
  }

  [[nodiscard]] std::string encode(const model::resource_page& page, const model::self_description& self) const override {
    return encode_page("resources", page.resources, page.next_cursor, page.cache, self);
  }

  [[nodiscard]] std::string encode(const model::template_page& page, const model::self_description& self) const override {
    return encode_page("resourceTemplates", page.templates, page.next_cursor, page.cache, self);
  }

  [[nodiscard]] std::string encode(const complete_result& values, const model::self_description& self) const override {
    std::string text;
    json::writer to(text);
    begin_result(to);
    write(to, values);
    end_result(to, self);
    return text;
  }

  [[nodiscard]] rpc::body encode(bytes::prepared_reading reading, const std::shared_ptr<work::lane>& home,
                                 const model::cache_hint& cache, const model::self_description& self) const override {
    rpc::body body(R"({"resultType":"complete",)");
    append_contents(body, std::move(reading), home, members);
    std::string tail;
    json::writer to(tail);
    to.begin_object();
    write_cache(to, cache);
    end_result(to, self);
    tail.front() = ',';  // continues the object that the contents began
    body.text() += tail;
    return body;
  }

  [[nodiscard]] protocol_error encode_failure(const failure& why, std::string_view uri) const override {
    auto error = encode_plain_failure(why);
    if (why.code == errc::resource_not_found || why.code == errc::access_denied) {
      error.message = "Resource not found";
      error.data = uri_data(uri);
    }
    return error;
  }
};

}  // namespace

const codec& current() noexcept {
  static const modern_codec only;
  return only;
}

std::span<const std::string_view> revisions() noexcept { return names; }

json::decoded<std::optional<std::string_view>> declared_revision(const json::object& params) {
  const auto meta = params.find_object("_meta");
  if (!meta) return tl::unexpected(meta.error());
  if (!*meta) return std::optional<std::string_view>{};
  return (*meta)->find_string(revision_key);
}

}  // namespace hondana::wire::modern
