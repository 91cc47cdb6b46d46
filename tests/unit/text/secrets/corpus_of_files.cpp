/// The shapes of secrets in files of programs: scripts, images, XML, password files.
#include "unit/text/secrets/corpus.hpp"

namespace hondana::test {
namespace {

using maker = std::function<std::string(lots&)>;

secret_shape of_file(std::string_view name, std::string before, maker secret, std::string after) {
  return {name,
          [before = std::move(before), secret = std::move(secret), after = std::move(after)](lots& from) {
            return specimen{before, secret(from), after};
          },
          secrets::masking_policy::settings};
}

/// Of bytes that need no escape in XML and no quotes in a shell, with all four kinds among them.
std::string plain_password(lots& from) { return from.alnum(10) + "aB." + from.digits(1); }
std::string drawn_token(lots& from) { return from.alnum(31) + from.digits(1); }
/// Letters of both cases with digits amid them, as no name has.
std::string drawn_word(lots& from) { return from.alnum(5) + "q7K" + from.alnum(6); }
std::string of_crypt(lots& from, std::size_t count) {
  return from.of("./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", count - 1) + from.digits(1);
}

}  // namespace

std::vector<secret_shape> shapes_of_files() {
  std::vector<secret_shape> out;
  out.push_back(of_file("a password in a script", "  DB_PASSWORD=\"", plain_password, "\"\n"));
  out.push_back(of_file("a token exported by fish", "set -gx API_TOKEN ", drawn_token, "\n"));
  out.push_back(of_file("a variable of an image", "ENV DB_PASSWORD=", plain_password, " OTHER=1\n"));
  out.push_back(of_file("a variable of an image behind a blank", "ENV DB_PASSWORD ", plain_password, "\n"));
  out.push_back(of_file("an argument of an image", "ARG NPM_TOKEN=", drawn_token, "\n"));
  out.push_back(of_file("a variable of a unit", "Environment=DB_PASSWORD=", plain_password, "\n"));
  out.push_back(of_file("an element of XML", "<server><id>a</id><password>", plain_password, "</password></server>\n"));
  out.push_back(of_file("an element with attributes", "<password plain=\"yes\">", plain_password, "</password>\n"));
  out.push_back(of_file("a section of XML", "<Password><![CDATA[", plain_password, "]]></Password>\n"));
  out.push_back(of_file("an attribute of XML", "<user name=\"a\" password=\"", plain_password, "\" role=\"b\"/>\n"));
  out.push_back(of_file("a named property of XML", "<property name=\"db.password\" value=\"", plain_password, "\"/>\n"));
  out.push_back(of_file("a named entry of XML", "<entry key=\"password\">", plain_password, "</entry>\n"));
  out.push_back(of_file("an entry of a property list", "<key>Password</key>\n\t<string>", plain_password, "</string>\n"));
  out.push_back(of_file("a named value in JSON", R"({"name": "DB_PASSWORD", "value": ")", plain_password, "\"}\n"));
  out.push_back(of_file("a named value in YAML", "- name: DB_PASSWORD\n  value: ", plain_password, "\n"));
  const auto key = [](lots& from) { return from.base64(43) + "="; };
  out.push_back(of_file("a private key of WireGuard", "[Interface]\nPrivateKey = ", key, "\nListenPort = 51820\n"));
  out.push_back(of_file("a shared key of WireGuard", "PresharedKey = ", key, "\n"));
  out.push_back(of_file("a line of .netrc", "machine h.example login me password ", plain_password, "\n"));
  out.push_back(of_file("lines of .netrc", "machine h.example\n  login me\n  password ", plain_password, "\n"));
  out.push_back(of_file("a line of .pgpass", "\ndb.example:5432:app:me:", plain_password, "\n"));
  out.push_back(of_file("a line of .pgpass for everything", "\n*:*:*:me:", plain_password, "\n"));
  out.push_back(of_file("a line of .htpasswd, bcrypt", "me:$2y$", [](lots& from) { return "05$" + of_crypt(from, 53); }, "\n"));
  out.push_back(of_file(
      "a line of .htpasswd, MD5", "me:$apr1$", [](lots& from) { return of_crypt(from, 8) + "$" + of_crypt(from, 22); }, "\n"));
  out.push_back(of_file("a line of .htpasswd, SHA-1", "me:{SHA}", [](lots& from) { return from.base64(27) + "="; }, "\n"));
  out.push_back(of_file(
      "a line of shadow", "me:$6$", [](lots& from) { return of_crypt(from, 16) + "$" + of_crypt(from, 86); }, ":19000:0:::\n"));
  out.push_back(of_file(
      "a log-in of Docker", R"({"auths": {"r.example": {"auth": ")", [](lots& from) { return from.base64(30) + "=="; },
      "\"}}}\n"));
  for (const auto* name : {"PGPASSWORD", "SSHPASS", "dbpassword", "mysqlpassword", "rootpassword", "dbpass", "DBPASS",
                           "storepass", "passwords", "clientsecret", "appsecret", "jwtsecret", "bindpw", "rootpw", "DB_PW",
                           "DB_PW1", "olcRootPW", "requirepass", "masterauth"})
    out.push_back(of_file("a password by a name in one word", "\n" + std::string(name) + "=", plain_password, "\n"));
  for (const auto* name : {"SECRET_KEY_BASE", "secretKeyBase", "db_key_base", "accesstoken", "authtoken", "bottoken"})
    out.push_back(of_file("a token by a name in one word", "\n" + std::string(name) + "=", drawn_token, "\n"));
  for (const auto* name : {"requirepass", "masterauth", "rootpw", "bindpw"})
    out.push_back(of_file("a password behind a blank", "\n" + std::string(name) + " ", plain_password, "\n"));
  const auto framed = [&out](std::string before, std::string front, std::string back, std::string after) {
    out.push_back(of_file(
        "a password in a frame", std::move(before),
        [front = std::move(front), back = std::move(back)](lots& from) { return front + drawn_word(from) + back; },
        std::move(after)));
  };
  framed("password: '", "{", "}", "'\n");
  framed("password: '", "<", ">", "'\n");
  framed("password: '", "[", "]", "'\n");
  framed("password: '", "{{", "}}", "'\n");
  framed("password: '", "%(", ")s", "'\n");
  framed("\npassword=", "${DB_PW:", "}", "\n");
  framed("\npassword=", "${DB_PW:-", "}", "\n");
  framed("\npassword=", "${DB_PW-", "}", "\n");
  framed("\npassword=", "${DB_PW:-${OTHER:=", "}}", "\n");
  framed("\npassword = ", "os.getenv('PW', '", "')", "\n");
  framed("password: \"", "{{ pw | default('", "') }}", "\"\n");
  out.push_back(of_file("a default of a variable", "URL=x${DB_PASSWORD:-", drawn_word, "}\n"));
  return out;
}

}  // namespace hondana::test
