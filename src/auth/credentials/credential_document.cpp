/// Stored credentials as one JSON text.
#include "auth/credentials/credential_document.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "base/json/reader.hpp"
#include "base/json/writer.hpp"

namespace hondana::credentials {
namespace {

using seconds = std::chrono::sys_time<std::chrono::seconds>;

void write_time(json::writer& out, std::string_view name, const seconds& when) {
  out.key(name).integer(when.time_since_epoch().count());
}

void write(json::writer& out, const kept_tokens& one) {
  out.begin_object()
      .member("issuer", one.key.issuer)
      .member("resource", one.key.resource)
      .member("client_id", one.key.client_id);
  out.member_if("asked_scope", one.key.scope).member("access_token", one.tokens.access_token);
  out.member_if("refresh_token", one.tokens.refresh_token).member_if("scope", one.tokens.scope);
  if (one.tokens.expires) write_time(out, "expires", *one.tokens.expires);
  write_time(out, "since", one.tokens.since);
  out.end_object();
}

void write(json::writer& out, const std::string& issuer, const client_registration& one) {
  out.begin_object().member("issuer", issuer).member("client_id", one.client_id).member_if("client_secret", one.client_secret);
  if (one.secret_expires) write_time(out, "secret_expires", *one.secret_expires);
  out.member("method", one.method).member("redirect_uri", one.redirect_uri);
  out.member_if("key_file", one.key_file);
  if (one.by_hand) out.key("by_hand").boolean(true);
  if (one.is_machine) out.key("is_machine").boolean(true);
  out.end_object();
}

/// Reads the members of one object and records the first error.
class member_reader {
 public:
  explicit member_reader(const json::object& from) : from_(from) {}

  std::string needed(std::string_view name) { return text(from_.get_string(name)); }
  std::string optional(std::string_view name) {
    auto found = from_.find_string(name);
    if (found) return std::string(found->value_or(""));
    fail(std::move(found.error()));
    return {};
  }
  bool yes(std::string_view name) {
    auto found = from_.find(name);
    if (!found) fail(std::move(found.error()));
    if (!found || !*found) return false;
    auto said = (*found)->as_boolean(from_.path_of(name));
    if (!said) fail(std::move(said.error()));
    return said && *said;
  }
  std::optional<seconds> time(std::string_view name) {
    auto found = from_.find(name);
    if (!found) fail(std::move(found.error()));
    if (!found || !*found) return std::nullopt;
    auto number = (*found)->as_integer(from_.path_of(name));
    // Later than the expiry of any token.
    if (number && (*number < 0 || *number > 1'000'000'000'000)) fail({from_.path_of(name), "is not a time"});
    if (!number) fail(std::move(number.error()));
    return number ? std::optional(seconds(std::chrono::seconds(*number))) : std::nullopt;
  }
  [[nodiscard]] const std::optional<json::bad_member>& wrong() const noexcept { return wrong_; }

 private:
  std::string text(json::decoded<std::string_view> got) {
    if (got) return std::string(*got);
    fail(std::move(got.error()));
    return {};
  }
  void fail(json::bad_member what) {
    if (!wrong_) wrong_ = std::move(what);
  }

  const json::object& from_;
  std::optional<json::bad_member> wrong_;
};

kept_tokens tokens_in(member_reader& from) {
  kept_tokens out;
  out.key = {from.needed("issuer"), from.needed("resource"), from.needed("client_id"), from.optional("asked_scope")};
  out.tokens.access_token = from.needed("access_token");
  out.tokens.refresh_token = from.optional("refresh_token");
  out.tokens.scope = from.optional("scope");
  out.tokens.expires = from.time("expires");
  out.tokens.since = from.time("since").value_or(seconds());
  return out;
}

std::pair<std::string, client_registration> registration_in(member_reader& from) {
  client_registration out;
  auto issuer = from.needed("issuer");
  out.client_id = from.needed("client_id");
  out.client_secret = from.optional("client_secret");
  out.secret_expires = from.time("secret_expires");
  out.method = from.needed("method");
  out.redirect_uri = from.needed("redirect_uri");
  out.key_file = from.optional("key_file");
  out.by_hand = from.yes("by_hand");
  out.is_machine = from.yes("is_machine");
  return {std::move(issuer), std::move(out)};
}

/// Calls `take` for each element of an optional array.
template <class Take>
std::optional<json::bad_member> each(const json::object& of, std::string_view name, const Take& take) {
  const auto found = of.find(name);
  if (!found) return found.error();
  if (!*found) return std::nullopt;
  const auto all = (*found)->as_array(name);
  if (!all) return all.error();
  if (all->size() > max_entries) return json::bad_member{std::string(name), "has more than 1000 elements"};
  for (const auto& one : all->elements()) {
    if (auto wrong = take(one, std::string(name) + "[]")) return wrong;
  }
  return std::nullopt;
}

std::optional<json::bad_member> read(const json::value& root, document& into) {
  const auto all = root.as_object("");
  if (!all) return all.error();
  const auto read_object = [](const json::value& one, const std::string& path, const auto& keep) {
    const auto object = one.as_object(path);
    if (!object) return std::optional(object.error());
    member_reader members(*object);
    keep(members);
    return members.wrong();
  };
  auto wrong = each(*all, "tokens", [&](const json::value& one, const std::string& path) {
    return read_object(one, path, [&](member_reader& from) { into.tokens.push_back(tokens_in(from)); });
  });
  if (wrong) return wrong;
  wrong = each(*all, "registrations", [&](const json::value& one, const std::string& path) {
    return read_object(one, path, [&](member_reader& from) {
      auto [issuer, ours] = registration_in(from);
      into.registrations[issuer].push_back(std::move(ours));
    });
  });
  if (wrong) return wrong;
  return each(*all, "in_keyring", [&](const json::value& one, const std::string& path) -> std::optional<json::bad_member> {
    const auto name = one.as_string(path);
    if (!name) return name.error();
    into.in_keyring.emplace(*name);
    return std::nullopt;
  });
}

}  // namespace

std::string encode(const document& what) {
  std::string text;
  json::writer out(text);
  out.begin_object().key("tokens").begin_array();
  for (const auto& one : what.tokens) {
    write(out, one);
    text += '\n';
  }
  out.end_array().key("registrations").begin_array();
  for (const auto& [issuer, all] : what.registrations) {
    for (const auto& one : all) {
      write(out, issuer, one);
      text += '\n';
    }
  }
  out.end_array();
  if (!what.in_keyring.empty()) {
    out.key("in_keyring").begin_array();
    for (const auto& one : what.in_keyring) out.string(one);
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
  if (!parsed) return fail(errc::broken_protocol, "it is not valid JSON: " + parsed.error().what);
  if (const auto wrong = read(parsed->root(), out)) return fail(errc::broken_protocol, wrong->text());
  return out;
}

result<std::string> encode_checked(const document& what) {
  auto text = encode(what);
  const auto read = decode(text);
  if (!read) return tl::unexpected(read.error());
  if (*read != what) return fail(errc::broken_protocol, "it would not be read back as written");
  return text;
}

}  // namespace hondana::credentials
