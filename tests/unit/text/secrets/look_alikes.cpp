/// What looks like secrets.
#include "unit/text/secrets/corpus.hpp"

namespace hondana::test {
namespace {

using policy = secrets::masking_policy;

std::string uuid(lots& from) {
  return from.hex(8) + "-" + from.hex(4) + "-4" + from.hex(3) + "-a" + from.hex(3) + "-" + from.hex(12);
}

look_alike fixed(std::string_view name, std::string text, policy how = policy::text) {
  return {name, [text = std::move(text)](lots&) { return text; }, how};
}

std::vector<look_alike> make_in_texts() {
  std::vector<look_alike> out;
  out.push_back({"an MD5 digest", [](lots& from) { return from.hex(32) + "  a.tar.gz\n"; }});
  out.push_back({"a SHA-1 digest of a commit", [](lots& from) { return "commit " + from.hex(40) + "\n"; }});
  out.push_back({"a SHA-256 digest", [](lots& from) { return "sha256:" + from.hex(64) + "\n"; }});
  out.push_back({"a SHA-512 digest", [](lots& from) { return from.hex(128) + " *b.iso\n"; }});
  out.push_back({"a UUID", [](lots& from) { return "id " + uuid(from) + "\n"; }});
  out.push_back({"a list of UUIDs", [](lots& from) {
                   std::string text;
                   for (int i = 0; i < 20; ++i) text += uuid(from) + "," + uuid(from) + "\n";
                   return text;
                 }});
  out.push_back({"a lock file of npm", [](lots& from) {
                   return "\"node_modules/a\": {\n  \"version\": \"1.2.3\",\n  \"resolved\": "
                          "\"https://registry.npmjs.org/a/-/a-1.2.3.tgz\",\n"
                          "  \"integrity\": \"sha512-" +
                          from.base64(86) + "==\"\n}";
                 }});
  out.push_back({"a lock file of Cargo", [](lots& from) {
                   return "[[package]]\nname = \"serde\"\nversion = \"1.0.1\"\nchecksum = \"" + from.hex(64) + "\"\n";
                 }});
  out.push_back({"a lock file of Go", [](lots& from) { return "golang.org/x/net v0.1.0 h1:" + from.base64(43) + "=\n"; }});
  out.push_back({"a lock file of Python",
                 [](lots& from) { return "    {file = \"a.whl\", hash = \"sha256:" + from.hex(64) + "\"},\n"; }});
  out.push_back(
      {"a picture in base64", [](lots& from) { return "<img src=\"data:image/png;base64," + from.base64(4000) + "=\">"; }});
  out.push_back({"a font in base64", [](lots& from) { return "url(data:font/woff2;base64," + from.base64(6000) + ")"; }});
  out.push_back({"base64 in lines", [](lots& from) { return from.lines(6000, 76); }});
  out.push_back({"base64 of URLs", [](lots& from) { return "state=" + from.word(600) + "\n"; }});
  out.push_back({"a certificate",
                 [](lots& from) { return "-----BEGIN CERTIFICATE-----\n" + from.lines(900) + "-----END CERTIFICATE-----\n"; }});
  out.push_back({"a public key",
                 [](lots& from) { return "-----BEGIN PUBLIC KEY-----\n" + from.lines(300) + "-----END PUBLIC KEY-----\n"; }});
  out.push_back({"an SSH public key",
                 [](lots& from) { return "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC" + from.base64(340) + " me@host\n"; }});
  out.push_back(
      {"an age recipient", [](lots& from) { return "age1" + from.of("qpzry9x8gf2tvdw0s3jn54khce6mua7l", 58) + "\n"; }});
  out.push_back({"a signature of PGP", [](lots& from) {
                   return "-----BEGIN PGP SIGNATURE-----\n\n" + from.lines(400) + "=" + from.base64(4) +
                          "\n-----END PGP SIGNATURE-----\n";
                 }});
  out.push_back(fixed(
      "a program that looks for private keys",
      "if (line == \"-----BEGIN PRIVATE KEY-----\") {\n  inside = true;\n} else if (line == \"-----END PRIVATE KEY-----\") {\n"
      "  return parse_the_private_key(collected_lines_of_the_key, passphrase_callback);\n}\n"));
  out.push_back(fixed("a text about private keys",
                      "A file that begins with -----BEGIN RSA PRIVATE KEY----- is a key, and ends with\n-----END RSA PRIVATE "
                      "KEY-----. Never share it.\n"));
  out.push_back(fixed("a key with its body left out", "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n"));
  out.push_back({"a minified program", [](lots& from) {
                   std::string text;
                   for (int i = 0; i < 60; ++i) {
                     text += "function " + from.of("abcdefgh", 1) + "(e,t){return e." + from.of("abcdefghijk", 3) + "?t[" +
                             from.digits(3) + "]:n(" + from.of("abcdefgh", 2) + ",\"" + from.alnum(8) +
                             "\")}!function(){var r=/[a-z]{2,}/g,i=\"" + from.of("abcdefgh-", 12) + "\";";
                   }
                   return text;
                 }});
  out.push_back({"a source map", [](lots& from) {
                   return "{\"version\":3,\"mappings\":\"" + from.of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghij,;", 3000) + "\"}";
                 }});
  out.push_back(fixed("classes of a style sheet",
                      ".sk-fading-circle .sk-circle2:before { animation: sk-circleFadeDelay 1.2s } .sk-folding-cube1 {}"));
  out.push_back(fixed("names with the fronts of tokens",
                      "task-force-1234567890-abcdefghijklmnopq risk-analysis-of-the-year-2024-and-beyond-1 npm_config_cache "
                      "hf_hub_download_of_many_files gsk_"));
  out.push_back(fixed("functions with the fronts of tokens",
                      "dapi_create(); r8_to_rgb(x); glc_context; lin_interp_2d; sbp_poll(); nfp_update_all"));
  out.push_back(fixed("a placeholder of a GitHub token", "ghp_" + std::string(36, 'x')));
  out.push_back(fixed("a placeholder of a key", "sk-YOUR_API_KEY_HERE-0123456789-abcdefghijkl"));
  out.push_back(fixed("the key of AWS's documentation",
                      "AKIAIOSFODNN7"
                      "EXAMPLE"));
  out.push_back(fixed("a placeholder of a Slack token", "xoxb-your-token-here-0000000000"));
  out.push_back(fixed("a URL with a port and a path", "http://localhost:8080/@scope/name@1.2.3 https://h.example:443/a@b"));
  out.push_back(fixed("a URL with a user", "ssh://git@github.com/a/b.git ftp://anonymous@ftp.example/pub"));
  out.push_back(fixed("a URL of a template",
                      "postgres://${USER}:${PASSWORD}@${HOST}/db https://user:{{ password }}@h https://<user>:<password>@h"));
  out.push_back(fixed("addresses of mail and of files", "mailto:a@b.example file:///etc/a:b@c me@example.com:path/to"));
  out.push_back(fixed("a text about headers",
                      "The Authorization: header carries a token. Authorization: Bearer authentication is described below.\n"));
  out.push_back(fixed("a header of a template",
                      "Authorization: Bearer <token>\nAuthorization: Bearer $TOKEN\nAuthorization: Bearer ${{ secrets.T "
                      "}}\nauthorization: Basic {b64}\n"));
  out.push_back(fixed("a header that is looked for",
                      "if (name == \"authorization\" && value.starts_with(\"Bearer \")) { headers.authorization = "
                      "request.headers.authorization; }"));
  out.push_back({"time stamps and numbers", [](lots& from) {
                   std::string text;
                   for (int i = 0; i < 40; ++i)
                     text += "2026-07-28T12:00:" + from.digits(2) + ".123Z " + from.digits(10) + ":" + from.digits(5) + "\n";
                   return text;
                 }});
  out.push_back({"random letters and digits", [](lots& from) {
                   std::string text;
                   for (int i = 0; i < 60; ++i) text += from.alnum(8 + from.below(60)) + "\n";
                   return text;
                 }});
  out.push_back({"random bytes", [](lots& from) {
                   std::string text;
                   for (int i = 0; i < 20'000; ++i) text += static_cast<char>(from.below(256));
                   return text;
                 }});
  out.push_back(
      fixed("a connection string without a password", "Server=db;Integrated Security=true;Password=;Pwd={0};User Id=sa"));
  out.push_back(
      fixed("templates of connection strings",
            "f\"host={host} user={user} password={password}\" \"host=%s user=%s password=%s\" \"Server=db; Password=\" + pw; "
            "\"postgres://u:$DB_PASS2@h/x\" dsn = \"password=${PW2} host=h\" connect(user=user, password=password, port=1)"));
  out.push_back(fixed("settings in a program",
                      "const password = document.getElementById(\"password1234\").value; let token = nextToken42(stream);"));
  out.push_back(
      fixed("more functions with the fronts of tokens",
            "tskey-auth secret_key_of_the_user_in_the_table ops_eyJ pul-abc sgp_solver(x) fm2_decode bkua_ pcsk_index "
            "dp.scim.users lsv2_pt_ A3-SIZE-PAPER-AND-ENVELOPES sk.eye api_org_chart_of_the_company xkeysib-"));
  out.push_back({"digests behind the fronts of tokens", [](lots& from) {
                   return "pulse-" + from.hex(40) + " bkuae " + from.hex(40) + " A3-" + from.capital(6) + "\n";
                 }});
  out.push_back(
      fixed("fronts of more tokens",
            "src/path/pattern.cpp patch.0123456789abcdef pathological_names.deadbeef tfp_solver_of_the_year squ_root(x) "
            "sqa_team AKCpu EZTKEY SSWS 00-00 Authorization: SSWS {token} /IncomingWebhook/Client.php "
            "cmVmdGtuOj SESSION_ID=session-of-the-day PHPSESSID=abc JSESSIONID=example-session-id connect.sid=s"));
  out.push_back({"a public JSON web key", [](lots& from) {
                   return R"({"keys":[{"kty":"RSA","n":")" + from.word(342) + R"(","e":"AQAB","kid":")" + from.word(20) +
                          R"("},{"kty":"EC","crv":"P-256","x":")" + from.word(43) + R"(","y":")" + from.word(43) +
                          R"("}],"d":")" + from.word(43) + R"("})";
                 }});
  out.push_back({"paths of a picture", [](lots& from) {
                   return R"({"d": "M )" + from.digits(3) + " " + from.digits(3) + R"(", "p": ")" + from.alnum(12) +
                          R"(", "q": ")" + from.alnum(12) + "\"}";
                 }});
  out.push_back(fixed("SQL without passwords",
                      "CREATE USER app IDENTIFIED BY '${DB_PASSWORD}'; ALTER USER app PASSWORD '<your password>';\n"
                      "ALTER USER app IDENTIFIED BY :password; CREATE USER a IDENTIFIED BY ?; ALTER ROLE a PASSWORD NULL;\n"
                      "sql = \"CREATE USER a IDENTIFIED BY '\" + password + \"'\"; q = f\"ALTER USER {u} PASSWORD '{pw}'\"\n"
                      "CREATE USER b IDENTIFIED EXTERNALLY; CREATE USER c IDENTIFIED BY RANDOM PASSWORD;\n"
                      "CREATE USER d IDENTIFIED BY 'your_password'; ALTER USER e IDENTIFIED BY '%s', f IDENTIFIED BY '…';\n"));
  out.push_back(
      fixed("a text about identifiers and passwords",
            "Each entry is identified by 'name', and a user is identified by \"sub\". If the user has no password 'unset' is "
            "shown. The form asks for a password \"twice\".\n"));
  out.push_back(
      fixed("curl without passwords",
            "curl -u $USER:$PASSWORD https://h.example/\ncurl -u \"$USER:${TOKEN}\" h\ncurl -u bob h\ncurl --user bob: h\n"
            "curl -u <user>:<password> h\ncurl -u user:your_password h\ncurl -H 'Host: a:b' --url http://h:80/a "
            "-su\ncurl: (6) could not resolve -u host:name1\ncurl -sS h | sort -u a:b1\n"));
  out.push_back(fixed("cookies without sessions",
                      "Cookie: theme=dark-mode-2; lang=en-GB-oed-1\nSet-Cookie: consent=accepted-2024; Path=/\n"
                      "if (cookie.session == nullptr) parse_cookie(\"session=\");\n"));
  out.push_back(fixed("two base64 words with a dot", "eyJhbGciOiJub25lIn0 is a header; eyJhIjoxfQ.x is nothing"));
  return out;
}

std::vector<look_alike> make_in_settings() {
  std::vector<look_alike> out;
  const auto add = [&out](std::string_view name, std::string text) {
    out.push_back(fixed(name, std::move(text), policy::settings));
  };
  add("a password that is kept elsewhere",
      "password = ${DB_PASSWORD}\nsecret: !vault x\ntoken = \"{{ token }}\"\npassword: op://vault/item/field\n");
  add("templates and calls",
      "password = ${{ secrets.DB_PASSWORD_2 }}\npassword: {{ vault_db_password_2 }}\nDB_PASSWORD=$DB_PASSWORD_2\npasswd: <your "
      "password 1>\nsecret = getenv(\"DB_SECRET_2\")\nsecret: !Ref DatabaseSecret\npassword: *shared-secret\npassphrase = "
      "$(cat /run/pw1)\n{\"password\": \"%(db_password)s\", \"secret\": \"%DB_SECRET_2%\"}\npassword: {file: "
      "/run/secrets/x1}\n");
  add("the path of a secret",
      "password_file = /run/secrets/db-password-1\nprivate_key: ./keys/server-2024.pem\nssl_key = ~/.ssl/key-1.pem\n");
  add("the name of a secret",
      "secret_name: prod-database-credentials-2024\ntoken_url = https://as.example/oauth2/token\nsecretKeyRef: x\n");
  add("facts about passwords",
      "password_min_length = 12\npassword_policy: aA1-and-16-characters\ntoken_expires: 2026-01-01T00:00:00Z\n");
  add("keys in other languages",
      "clave: Ab1-route-2-route-Xy9\nsleutel = Ab1-route-2-route-Xy9\nchave_primaria=Ab1-route-2-route-Xy9\n"
      "schlüssel: Ab1-route-2-route-Xy9\n鍵: Ab1-route-2-route-Xy9\nключ=Ab1-route-2-route-Xy9\n");
  add("a password to be filled in",
      "PASSWORD=changeme\nAPI_KEY=your_api_key_goes_here_12345\nsecret=<generate-one-1>\nTOKEN=xxxxxxxxxxxxxxxxxxxx1\n");
  add("words with the letters of pass",
      "compass = north-by-northwest-42\nbypass: Ab1-route-2-route\nauthor = "
      "Jane-Doe-1970-Abc\nmonkey=Banana-42-Split-Sundae\n");
  add("keys of tables",
      "primary_key = user_id_2024_abcdef\nforeignKey: OrderLine2024Reference\nsort_key = created_at_2024_desc_1\n");
  add("names that end like those of passwords",
      "bypass=Ab1-route-2-route-Xy9\ncompass = Ab1-route-2-route-Xy9\nKEEPASS=Ab1-route-2-route-Xy9\noldpwd=Ab1-route-2-Xy9\n"
      "nexttoken=Zq8fk2Lw0Rt5Yb3Nc7Hd\npagetokens: Zq8fk2Lw0Rt5Yb3Nc7Hd\nkey_basement=Zq8fk2Lw0Rt5Yb3Nc7Hd\n"
      "bindpw is what stands here, and requirepass means another\n");
  add("defaults that are no passwords",
      "DB_PASSWORD=${DB_PASSWORD:-}\nDB_PASSWORD=${DB_PASSWORD:-postgres}\nDB_PASSWORD=${A:-${B:-$C2}}\n"
      "DB_PASSWORD=${A:-/run/secrets/db1}\npassword: ${env:DB_PASSWORD_2}\npassword: ${self:custom.db-password}\n"
      "password: ${my-app.db-password}\nauth: ${AUTH_MODE:-oauth2-proxy}\nDB_PASSWORD=${DB_PASSWORD:?must be set}\n"
      "DB_PASSWORD=$(date +%s | sha256sum | base64 | head -c 32)\npassword = os.getenv('DB_PASSWORD', 'postgres')\n"
      "password: \"{{ lookup('env', 'DB_PASSWORD_2') }}\"\npassword: {{ .Values.db.password | b64enc | quote }}\n"
      "password = config.get('db', 'password')\n");
  add("remarks about passwords",
      "password: required\npassword: \"optional\"\nreason=bad password: authentication failure\n"
      "login failed, password: incorrect attempt\n\"password\": {\"type\": \"string\"}\n"
      "{\"secret\":true,\"secretName\":\"app-tls\",\"password\":null,\"passwordPolicy\":\"strict-2\"}\n");
  add("keys whose value is a plain word",
      "user.password.encoder = Pbkdf-Encoder\nlogin.password = Passwort-Vergessen\nform.secret: Geheimnis\nauth.token = "
      "Sunshine\n"
      "{\"reset.password\": \"Zurücksetzen\", \"auth.passphrase\": \"Kennwortsatz\"}\n");
  add("numbers and names of tokens",
      "max_tokens: 4096\ntoken_type = Bearer-Token-2024-or-mac\ntokenizer: LlamaTokenizerFast-2-7b-hf\n"
      "tokenizer_class = \"PreTrainedTokenizerFast2\"\nstop_tokens: 32000\n");
  add("scripts that ask for secrets",
      "PASSWORD=\"$1\"\nread -rs DB_PASSWORD\nDB_PASSWORD=$(openssl rand -hex 16)\nPASSWORD=$(aws secretsmanager \\\n  get)\n"
      "export API_TOKEN=\"${API_TOKEN:?must be set}\"\nSECRET=\"$PREFIX-$SUFFIX_2\"\nif [ \"$PASSWORD\" = \"$CONFIRMED\" ]; "
      "then\n"
      "ENV PASSWORD_FILE /run/secrets/db_1\nARG SECRET_2\n");
  add("elements without secrets",
      "<password/>\n<password></password>\n<password>${env.DB_PASSWORD_2}</password>\n<passwordPolicy>Strong-1</"
      "passwordPolicy>\n"
      "<property name=\"passwordField\" value=\"Input-1-a\"/>\n<key>Password</key>\n<true/>\n");
  add("lines with colons", "12:5432:00:01:\nhost:5432: connect: error: refused-1\nuser:x:1000:1000:Me,,,:/home/me:/bin/sh\n");
  add("a text with the words of .netrc", "login failed\nthe default password\nmachine learning password managers\n");
  out.push_back({"where a list goes on",
                 [](lots& from) {
                   std::string text;
                   for (const auto* name : {"next_token", "nextPageToken", "page_token", "ContinuationToken", "sync-token",
                                            "NextContinuationToken", "start_token", "resume.token"})
                     text += std::string(name) + ": " + from.alnum(40) + "\n\"" + name + "\": \"" + from.alnum(40) + "\",\n";
                   return text;
                 },
                 policy::settings});
  out.push_back({"identifiers of keys",
                 [](lots& from) {
                   return "key_id: " + from.alnum(24) + "\nkeyId = \"" + from.alnum(24) + "\"\nsecret_id=" + from.alnum(24) +
                          "\nkms_key_id: " + uuid(from) + "\n\"token_id\": \"" + from.alnum(24) + "\"\n";
                 },
                 policy::settings});
  add("a public key in settings",
      "public_key = \"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE9\"\nssh_public_key: AAAAC3NzaC1lZDI1NTE5AAAAIJ9\n");
  add("switches", "password_required = true\nuse_token: false\nsecret = none\nauth = null\ntoken: 12345\n");
  add("texts of a user interface",
      R"({"password.label": "Enter your password here", "token.title": "Paste 1 token below", "auth.hint": "Log-in 2 continue"})");
  out.push_back({"digests in settings",
                 [](lots& from) {
                   return "image = \"a@sha256:" + from.hex(64) + "\"\nchecksum: " + from.hex(64) + "\nrev = " + from.hex(40) +
                          "\n";
                 },
                 policy::settings});
  out.push_back({"identifiers in settings",
                 [](lots& from) {
                   return "client_id = " + uuid(from) + "\ntenant: " + uuid(from) + "\ntoken_id: " + from.alnum(20) + "\n";
                 },
                 policy::settings});
  return out;
}

}  // namespace

const std::vector<look_alike>& look_alikes() {
  static const auto all = [] {
    auto out = make_in_texts();
    for (auto& one : make_in_settings()) out.push_back(std::move(one));
    return out;
  }();
  return all;
}

}  // namespace hondana::test
