/// What can be told, by the last part of the path.
#include "drive/stand_in/control.hpp"

#include <boost/json.hpp>

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "drive/stand_in/seed.hpp"

namespace drive_test {
namespace {

namespace json = boost::json;

json::array shown_log(const std::vector<logged>& all) {
  json::array out;
  for (const auto& one : all) {
    json::array parameters;
    for (const auto& [name, text] : one.parameters) parameters.push_back(json::array{json::string(name), json::string(text)});
    json::object fields;
    for (const auto& [name, text] : one.fields) fields[name] = text;
    out.push_back(json::object{{"method", one.method},
                               {"path", one.path},
                               {"query", one.query},
                               {"parameters", std::move(parameters)},
                               {"headers", std::move(fields)},
                               {"body", one.body},
                               {"caller", one.caller},
                               {"status", one.status}});
  }
  return out;
}

/// What one word does with a JSON object.
using order = std::function<json::value(stand_in&, const json::object&)>;

json::value done() { return json::object(); }

const std::map<std::string, order, std::less<>>& orders() {
  static const std::map<std::string, order, std::less<>> all{
      {"seed",
       [](stand_in& of, const json::object& from) {
         of.seed(json::serialize(from));
         return done();
       }},
      {"add",
       [](stand_in& of, const json::object& from) { return json::value(json::object{{"id", of.add(file_of(of, from))}}); }},
      {"edit",
       [](stand_in& of, const json::object& from) {
         of.edit(text_in(from, "id"), [&](file& one) { take(one, from); });
         return done();
       }},
      {"trash",
       [](stand_in& of, const json::object& from) {
         const auto* const is_trashed = from.if_contains("trashed");
         of.trash(text_in(from, "id"), is_trashed == nullptr || is_trashed->as_bool());
         return done();
       }},
      {"remove",
       [](stand_in& of, const json::object& from) {
         of.remove(text_in(from, "id"));
         return done();
       }},
      {"remove_drive",
       [](stand_in& of, const json::object& from) {
         of.remove_drive(text_in(from, "id"));
         return done();
       }},
      {"share",
       [](stand_in& of, const json::object& from) {
         of.share(text_in(from, "id"), permission_of(from));
         return done();
       }},
      {"unshare",
       [](stand_in& of, const json::object& from) {
         of.unshare(text_in(from, "id"), text_in(from, "whom"));
         return done();
       }},
      {"join",
       [](stand_in& of, const json::object& from) {
         of.join(text_in(from, "id"), permission_of(from));
         return done();
       }},
      {"leave",
       [](stand_in& of, const json::object& from) {
         of.leave(text_in(from, "id"), text_in(from, "whom"));
         return done();
       }},
      {"fail",
       [](stand_in& of, const json::object& from) {
         of.fail(fault_of(from));
         return done();
       }},
      {"heal",
       [](stand_in& of, const json::object&) {
         of.heal();
         return done();
       }},
      {"revoke",
       [](stand_in& of, const json::object& from) {
         const auto* const refresh = from.if_contains("refresh");
         of.revoke(text_in(from, "whom"), refresh == nullptr || refresh->as_bool());
         return done();
       }},
      {"expire",
       [](stand_in& of, const json::object& from) {
         const auto* const status = from.if_contains("status");
         of.expire_page_tokens(status == nullptr ? 400 : status->to_number<int>());
         return done();
       }},
      {"configure",
       [](stand_in& of, const json::object& from) {
         of.configure([&](setup& one) { take(one, from); });
         return done();
       }},
      {"access_token",
       [](stand_in& of, const json::object& from) {
         const auto scope = text_in(from, "scope");
         const auto whom = text_in(from, "whom");
         return json::value(json::object{{"token", scope.empty() ? of.access_token(whom) : of.access_token(whom, scope)}});
       }},
      {"refresh_token",
       [](stand_in& of, const json::object& from) {
         const auto scope = text_in(from, "scope");
         const auto whom = text_in(from, "whom");
         return json::value(json::object{{"token", scope.empty() ? of.refresh_token(whom) : of.refresh_token(whom, scope)}});
       }},
      {"service_account", [](stand_in& of, const json::object&) { return json::parse(of.service_account()); }},
      {"client",
       [](stand_in& of, const json::object&) {
         json::object out;
         of.configure([&](const setup& one) {
           out = {{"client_id", one.client_id}, {"client_secret", one.client_secret}, {"user", one.user}};
         });
         return json::value(std::move(out));
       }},
      {"log",
       [](stand_in& of, const json::object& from) { return json::value(shown_log(of.requests(text_in(from, "path")))); }},
      {"forget",
       [](stand_in& of, const json::object&) {
         of.forget();
         return done();
       }},
      {"channels",
       [](stand_in& of, const json::object&) {
         return json::value(json::object{{"open", of.channels()}, {"notices", of.notices()}});
       }},
      {"ids",
       [](stand_in& of, const json::object&) {
         json::array out;
         for (const auto& one : of.ids()) out.emplace_back(one);
         return json::value(std::move(out));
       }},
      {"version",
       [](stand_in& of, const json::object& from) {
         return json::value(json::object{{"version", of.version(text_in(from, "id"))}});
       }},
  };
  return all;
}

answer told(int status, std::string text) {
  answer out;
  out.status = status;
  out.type = "text/plain; charset=utf-8";
  out.body = std::move(text);
  return out;
}

}  // namespace

answer control(stand_in& of, const asked& from) {
  const auto word = from.path.substr(std::string_view("/_control/").size());
  try {
    // The bytes as they are.
    if (word == "content") {
      auto out = told(200, of.content(from.parameter("id"), from.parameter("as")));
      out.type = "application/octet-stream";
      return out;
    }
    const auto found = orders().find(word);
    if (found == orders().end()) return told(404, "there is no /_control/" + word);
    const auto parsed = from.body.empty() ? json::value(json::object()) : json::parse(from.body);
    answer out;
    out.body = json::serialize(found->second(of, parsed.as_object()));
    return out;
  } catch (const std::exception& wrong) {
    return told(400, wrong.what());
  }
}

}  // namespace drive_test
