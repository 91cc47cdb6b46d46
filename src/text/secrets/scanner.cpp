/// Finds the secrets of a text by a policy, and chooses the policy by file name.
#include "text/secrets/scanner.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/threads/thread_variable.hpp"
#include "text/secrets/anchor_search.hpp"
#include "text/secrets/matcher.hpp"
#include "text/secrets/provider_tokens.hpp"

namespace hondana::secrets {
namespace {

constexpr std::size_t block_bytes = 64 * 1024;  // candidates are collected for this much text at once

/// Beginnings of words in names of secret settings.
constexpr std::array<anchor, 12> setting_anchors{"[pP][aA][sS][sS]",
                                                 "[sS][eE][cC][rR]",
                                                 "[tT][oO][kK][eE]",
                                                 "[pP][wW][dD][\"'=:> \t0-9]",
                                                 "[pP][wW][\"'=:> \t0-9][\t -\xFF]",
                                                 "[kK][eE][yY][\"'sS=: ]",
                                                 "[yY]_[bB][aA]",
                                                 "[yY]B[aA][sS]",
                                                 "[cC][rR][eE][dD]",
                                                 "[aA][uU][tT][hH]",
                                                 "[sS][aA][lL][tT]",
                                                 "[pP][aA][sS][pP]"};

/// The same in other languages, for the words in `secret_names.cpp`.
constexpr std::array<anchor, 25> setting_anchors_abroad{
    "[wW][oO][rR][tT]",                                            // passwort, kennwort
    "[wW]\xC3[\x96\xB6][rR]",                                      // passwörter
    "[oO][eE][rR][tT]",                                            // passwoerter
    "[hH][eE][iI][mM]",                                            // geheimnis
    "[hH][lL][uU\xC3][eE\xBC\x9C]",                                // privater_schlüssel
    "[sS][sS][eE][\"'=:>_-]",                                      // mot_de_passe, palavra_passe
    "[cC][rR]\xC3[\x88\xA8]",                                      // clé_secrète
    "[vV][aA][dDtT][aA]",                                          // clave_privada, chiave_privata
    "[iI][vV][eE\xC3][eE\xA9\x89]",                                // clé_privée
    "[tT][rR][aA][sS]",                                            // contraseña
    "[eE][nN][hH][aA]",                                            // senha
    "[rR][eE][dDtT][aAoO]",                                        // clave_secreta, segreto, segredo
    "[hH][tT][wW][oO]",                                            // wachtwoord
    "[lL][eE][uU][tT]",                                            // geheime_sleutel
    "[eE][nN][oO][rR]",                                            // lösenord
    "[hH][aA][sS][lL\xC5]",                                        // hasło
    "[\xBB\x9B][\xD0\xD1][\x8C\xAC\xB8\x98][\"'=:>_0-9-]",         // пароль, пароли
    "\xB9\xE3\x83[\xAF\x95]",                                      // パスワード, パスフレーズ
    "\x97\xE8\xA8\xBC",                                            // 暗証番号
    "\x86[\xE7\xE9][\xA0\xA2\x92\x8D\x91][\x81\xBC\xA5\xB5\xB0]",  // 密码, 密碼, 密钥, 密鑰, 秘密鍵
    "\x81\xE9[\x91\x92][\xA5\xB0]",                                // 私钥, 私鑰
    "\xA3\xE4\xBB\xA4",                                            // 口令
    "\x84\xEB\xB0\x80",                                            // 비밀번호, 비밀키
    "\x94\xED\x98\xB8",                                            // 암호
    "\x9D\xB8\xED\x82",                                            // 개인키
};

struct settings_shape {
  anchor where;
  matcher match;
};
/// Patterns of secrets in files without names and separators.
constexpr std::array file_shapes{
    settings_shape{"[sS][wW][oO][rR]", match_netrc},
    settings_shape{":[*]:[!-~]", match_pgpass},
    settings_shape{":543", match_pgpass},
    settings_shape{":643", match_pgpass},
    settings_shape{"[$]2[aby][$]", match_password_hash},
    settings_shape{"[$]apr", match_password_hash},
    settings_shape{":[$][156y][$]", match_password_hash},
    settings_shape{"[$]arg", match_password_hash},
    settings_shape{"[{]SHA", match_password_hash},
    settings_shape{"[{]SSH", match_password_hash},
};

/// `kty` of JSON web keys in YAML.
constexpr anchor type_of_web_key = "kty[\"': ]";

/// The matchers for an anchor.
struct meanings {
  std::vector<const token_shape*> tokens;
  std::vector<matcher> others;
  std::vector<finder> finders;
};

/// Anchors and their matchers. Never destroyed, because detached threads may outlive `main`.
class table {
 public:
  static const table& of_text() {
    static const table& made = *new const table([] {
      table out;
      for (const auto& one : token_shapes()) out.meaning_of(one.where).tokens.push_back(&one);
      for (const auto& one : special_shapes()) {
        auto& meaning = out.meaning_of(one.where);
        if (one.match != nullptr) meaning.others.push_back(one.match);
        if (one.find != nullptr) meaning.finders.push_back(one.find);
      }
      out.search_ = anchor_search(out.anchors_);
      return out;
    }());
    return made;
  }
  static const table& of_settings() {
    static const table& made = *new const table([] {
      table out;
      for (const auto one : setting_anchors) out.meaning_of(one).others.push_back(match_assignment);
      for (const auto one : setting_anchors_abroad) out.meaning_of(one).others.push_back(match_assignment_abroad);
      out.meaning_of(type_of_web_key).finders.push_back(find_web_key_in_yaml);
      for (const auto& one : file_shapes) out.meaning_of(one.where).others.push_back(one.match);
      out.search_ = anchor_search(out.anchors_);
      return out;
    }());
    return made;
  }

  std::size_t find(std::string_view text, std::vector<span>& into) const {
    // Reuse the vector: there are many short texts, and most have no candidate.
    std::vector<candidate> for_once;
    auto* const kept = threads::own<std::vector<candidate>>();
    auto& places = kept != nullptr ? *kept : for_once;
    std::optional<known_runs> runs;
    for (std::size_t from = 0; from < text.size(); from += block_bytes) {
      search_.find(text.substr(from, block_bytes + anchor_bytes - 1), places);
      if (!places.empty() && !runs) runs.emplace(text);
      for (const auto& one : places) look(text, from + one.at, one.which, *runs, into);
    }
    return runs ? runs->steps() : 0;
  }

 private:
  meanings& meaning_of(anchor what) {
    const auto found = std::find(anchors_.begin(), anchors_.end(), what);
    const auto number = static_cast<std::size_t>(found - anchors_.begin());
    if (found == anchors_.end()) {
      anchors_.push_back(what);
      meanings_.emplace_back();
    }
    return meanings_[number];
  }

  void look(std::string_view text, std::size_t at, const anchor_bits& which, known_runs& runs, std::vector<span>& into) const {
    const auto begin = at - std::min(at, reach_behind);
    const place near{text.substr(begin, at - begin + reach_ahead), at - begin, begin, &runs};
    const auto take = [&into, begin](const std::optional<span>& found) {
      if (found) into.push_back({begin + found->begin, begin + found->end});
    };
    which.for_each([&](std::size_t number) {
      near.count(meanings_[number].tokens.size() + meanings_[number].others.size() + meanings_[number].finders.size());
      for (const auto* shape : meanings_[number].tokens) take(match(*shape, near));
      for (const auto one : meanings_[number].others) take(one(near));
      for (const auto one : meanings_[number].finders) one(text, at, runs, into);
    });
  }

  std::vector<anchor> anchors_;
  std::vector<meanings> meanings_;
  anchor_search search_{{}};
};

/// Whether the byte at `at` is in a row of at least `least` ASCII characters without NUL.
bool is_in_row(std::string_view text, std::size_t at, std::size_t least) noexcept {
  const auto is_ascii = [text](std::size_t place) { return static_cast<signed char>(text[place]) > 0; };
  auto begin = at;
  while (begin > 0 && at - begin < least && is_ascii(begin - 1)) --begin;
  auto end = at;
  while (end < text.size() && end - begin < least && is_ascii(end)) ++end;
  return end - begin >= least;
}

}  // namespace

void unite(std::vector<span>& all) {
  if (all.size() < 2) return;
  std::sort(all.begin(), all.end(), [](const span& a, const span& b) { return a.begin < b.begin; });
  std::size_t last = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].begin <= all[last].end) {
      all[last].end = std::max(all[last].end, all[i].end);
    } else {
      all[++last] = all[i];
    }
  }
  all.resize(last + 1);
}

std::size_t find(std::string_view text, policy how, std::vector<span>& into, std::size_t least_row) {
  into.clear();
  if (how == policy::none) return 0;
  auto steps = table::of_text().find(text, into);
  if (how == policy::settings) steps += table::of_settings().find(text, into);
  if (least_row != 0) std::erase_if(into, [&](const span& one) { return !is_in_row(text, one.begin, least_row); });
  unite(into);
  return steps;
}

namespace {

constexpr auto settings_extensions = std::to_array<std::string_view>(
    {"env",   "ini",     "properties", "toml",          "yaml",   "yml",    "json",    "jsonc", "json5",
     "conf",  "cfg",     "cnf",        "config",        "tfvars", "rc",     "log",     "xml",   "plist",
     "sh",    "bash",    "zsh",        "fish",          "ksh",    "csh",    "ps1",     "bat",   "cmd",
     "envrc", "service", "dockerfile", "containerfile", "netrc",  "pgpass", "htpasswd"});
/// Whole names, optionally followed by a dot or a hyphen and anything else.
constexpr auto settings_names =
    std::to_array<std::string_view>({"dockerfile", "containerfile", "_netrc", "shadow", "docker-compose"});
constexpr auto copy_extensions = std::to_array<std::string_view>(
    {"bak", "backup", "old", "orig", "example", "sample", "dist", "template", "save", "swp", "tmp", "local"});

template <class List>
bool is_among(std::string_view extension, const List& known) noexcept {
  return std::any_of(known.begin(), known.end(),
                     [extension](auto one) { return extension.size() == one.size() && begins_with(extension, one); });
}

bool is_number_or_date(std::string_view extension) noexcept {
  return !extension.empty() && extension.find_first_not_of("0123456789-_T:") == std::string_view::npos;
}

/// The name without marks of copies: `app.log.1`, `app.log-20260101` and `app.log.bak~` → `app.log`.
std::string_view without_copy_mark(std::string_view name) noexcept {
  for (;;) {
    const auto before = name;
    while (name.ends_with('~')) name.remove_suffix(1);
    const auto dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return name;
    const auto extension = name.substr(dot + 1);
    const auto letters = extension.find_first_of("-_0123456789");
    if (is_number_or_date(extension) || is_among(extension, copy_extensions)) {
      name = name.substr(0, dot);
    } else if (letters != std::string_view::npos && letters != 0 && is_number_or_date(extension.substr(letters)) &&
               (extension[letters] == '-' || extension[letters] == '_')) {
      name = name.substr(0, dot + 1 + letters);
    }
    if (name == before) return name;
  }
}

}  // namespace

policy policy_of(std::string_view path) noexcept {
  const auto name = without_copy_mark(path.substr(path.rfind('/') + 1));
  const auto extension = name.substr(std::min(name.size(), name.rfind('.') + 1));
  const bool is_named = std::any_of(settings_names.begin(), settings_names.end(), [name](auto one) {
    return begins_with(name, one) && (name.size() == one.size() || name[one.size()] == '.' || name[one.size()] == '-');
  });
  const bool is_settings = is_named || begins_with(name, ".env") || (name.ends_with("rc") && name.starts_with('.')) ||
                           is_among(extension, settings_extensions);
  return is_settings ? policy::settings : policy::text;
}

policy policy_of_uri(std::string_view uri) noexcept { return policy_of(uri.substr(0, uri.find_first_of("?#"))); }

}  // namespace hondana::secrets
