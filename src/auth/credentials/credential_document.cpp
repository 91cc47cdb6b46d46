/// The JSON text of stored credentials.
#include "auth/credentials/credential_document.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "base/json/reader.hpp"
#include "base/json/writer.hpp"

namespace hondana::credentials {
namespace {

using seconds = std::chrono::sys_time<std::chrono::seconds>;

void write_time(json::writer& out, std::string_view name, const seconds& time) {
  out.key(name).integer(time.time_since_epoch().count());
}

void write(json::writer& out, const token_record& entry) {
  out.begin_object()
      .member("issuer", entry.key.issuer)
      .member("resource", entry.key.resource)
      .member("client_id", entry.key.client_id);
  out.member_if("asked_scope", entry.key.scope).member("access_token", entry.tokens.access_token);
  out.member_if("refresh_token", entry.tokens.refresh_token.value_or(std::string())).member_if("scope", entry.tokens.scope);
  if (entry.tokens.expires_at) write_time(out, "expires", *entry.tokens.expires_at);
  write_time(out, "since", entry.tokens.issued_at);
  out.end_object();
}

void write(json::writer& out, const std::string& issuer, const client_registration& registration) {
  out.begin_object()
      .member("issuer", issuer)
      .member("client_id", registration.client_id)
      .member_if("client_secret", registration.client_secret.value_or(std::string()));
  if (registration.secret_expires_at) write_time(out, "secret_expires", *registration.secret_expires_at);
  out.member("method", registration.auth_method.value_or(std::string()));
  out.member("redirect_uri", registration.redirect_uri.value_or(std::string()));
  out.member_if("key_file", registration.key_file.value_or(std::string()));
  if (registration.is_manual) out.key("by_hand").boolean(true);
  if (registration.is_machine) out.key("is_machine").boolean(true);
  out.end_object();
}

/// Reads the members of one object and records the first error.
class member_reader {
 public:
  explicit member_reader(const json::object& object) : object_(object) {}

  std::string required(std::string_view name) { return text(object_.get_string(name)); }
  std::string optional(std::string_view name) {
    auto member = object_.find_string(name);
    if (member) return std::string(member->value_or(""));
    fail(std::move(member.error()));
    return {};
  }
  bool flag(std::string_view name) {
    auto member = object_.find(name);
    if (!member) fail(std::move(member.error()));
    if (!member || !*member) return false;
    auto boolean = (*member)->as_boolean(object_.path_of(name));
    if (!boolean) fail(std::move(boolean.error()));
    return boolean && *boolean;
  }
  std::optional<seconds> time(std::string_view name) {
    auto member = object_.find(name);
    if (!member) fail(std::move(member.error()));
    if (!member || !*member) return std::nullopt;
    auto number = (*member)->as_integer(object_.path_of(name));
    // Later than the expiry of any token.
    if (number && (*number < 0 || *number > 1'000'000'000'000)) fail({object_.path_of(name), "is not a time"});
    if (!number) fail(std::move(number.error()));
    return number ? std::optional(seconds(std::chrono::seconds(*number))) : std::nullopt;
  }
  [[nodiscard]] const std::optional<json::member_error>& error() const noexcept { return error_; }

 private:
  std::string text(json::decoded<std::string_view> decoded) {
    if (decoded) return std::string(*decoded);
    fail(std::move(decoded.error()));
    return {};
  }
  void fail(json::member_error error) {
    if (!error_) error_ = std::move(error);
  }

  const json::object& object_;
  std::optional<json::member_error> error_;
};

/// The document has empty texts for absent values.
std::optional<std::string> unless_empty(std::string text) {
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

token_record read_tokens(member_reader& reader) {
  token_record out;
  out.key = {reader.required("issuer"), reader.required("resource"), reader.required("client_id"),
             reader.optional("asked_scope")};
  out.tokens.access_token = reader.required("access_token");
  out.tokens.refresh_token = unless_empty(reader.optional("refresh_token"));
  out.tokens.scope = reader.optional("scope");
  out.tokens.expires_at = reader.time("expires");
  out.tokens.issued_at = reader.time("since").value_or(seconds());
  return out;
}

std::pair<std::string, client_registration> read_registration(member_reader& reader) {
  client_registration out;
  auto issuer = reader.required("issuer");
  out.client_id = reader.required("client_id");
  out.client_secret = unless_empty(reader.optional("client_secret"));
  out.secret_expires_at = reader.time("secret_expires");
  out.auth_method = unless_empty(reader.required("method"));
  out.redirect_uri = unless_empty(reader.required("redirect_uri"));
  out.key_file = unless_empty(reader.optional("key_file"));
  out.is_manual = reader.flag("by_hand");
  out.is_machine = reader.flag("is_machine");
  return {std::move(issuer), std::move(out)};
}

/// Calls `visit` for each element of an optional array.
template <class Visit>
std::optional<json::member_error> for_each_element(const json::object& object, std::string_view name, const Visit& visit) {
  const auto member = object.find(name);
  if (!member) return member.error();
  if (!*member) return std::nullopt;
  const auto array = (*member)->as_array(name);
  if (!array) return array.error();
  if (array->size() > max_entries) return json::member_error{std::string(name), "has more than 1000 elements"};
  for (const auto& element : array->elements()) {
    if (auto error = visit(element, std::string(name) + "[]")) return error;
  }
  return std::nullopt;
}

std::optional<json::member_error> read_document(const json::value& root, document& target) {
  const auto root_object = root.as_object("");
  if (!root_object) return root_object.error();
  const auto read_object = [](const json::value& element, const std::string& path, const auto& consume) {
    const auto object = element.as_object(path);
    if (!object) return std::optional(object.error());
    member_reader members(*object);
    consume(members);
    return members.error();
  };
  auto error = for_each_element(*root_object, "tokens", [&](const json::value& element, const std::string& path) {
    return read_object(element, path, [&](member_reader& reader) { target.tokens.push_back(read_tokens(reader)); });
  });
  if (error) return error;
  error = for_each_element(*root_object, "registrations", [&](const json::value& element, const std::string& path) {
    return read_object(element, path, [&](member_reader& reader) {
      auto [issuer, registration] = read_registration(reader);
      target.registrations[issuer].push_back(std::move(registration));
    });
  });
  if (error) return error;
  return for_each_element(*root_object, "in_keyring",
                          [&](const json::value& element, const std::string& path) -> std::optional<json::member_error> {
                            const auto name = element.as_string(path);
                            if (!name) return name.error();
                            target.keyring_subjects.emplace(*name);
                            return std::nullopt;
                          });
}

}  // namespace

std::string encode(const document& credentials) {
  std::string text;
  json::writer out(text);
  out.begin_object().key("tokens").begin_array();
  for (const auto& entry : credentials.tokens) {
    write(out, entry);
    text += '\n';
  }
  out.end_array().key("registrations").begin_array();
  for (const auto& [issuer, registrations] : credentials.registrations) {
    for (const auto& registration : registrations) {
      write(out, issuer, registration);
      text += '\n';
    }
  }
  out.end_array();
  if (!credentials.keyring_subjects.empty()) {
    out.key("in_keyring").begin_array();
    for (const auto& subject : credentials.keyring_subjects) out.string(subject);
    out.end_array();
  }
  out.end_object();
  return text + '\n';
}

result<document> decode(std::string_view text) {
  if (text.size() > max_document_bytes) return fail(errc::response_too_large, "it is longer than 1 MiB");
  document out;
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return out;
  const auto parsed = json::document::parse(text);
  if (!parsed) return fail(errc::protocol_error, "it is not valid JSON: " + parsed.error().message);
  if (const auto error = read_document(parsed->root(), out)) return fail(errc::protocol_error, error->text());
  return out;
}

result<std::string> encode_checked(const document& credentials) {
  auto text = encode(credentials);
  const auto decoded = decode(text);
  if (!decoded) return tl::unexpected(decoded.error());
  if (*decoded != credentials) return fail(errc::protocol_error, "it would not be read back as written");
  return text;
}

}  // namespace hondana::credentials
