/// Finds the secrets of a text by a policy, and chooses the policy by file name.
#include "text/secrets/scanner.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/threads/thread_instance.hpp"
#include "text/secrets/anchor_search.hpp"
#include "text/secrets/matcher.hpp"
#include "text/secrets/provider_tokens.hpp"

namespace hondana::secrets {
namespace {

constexpr std::size_t block_bytes = 64 * 1024;  // candidates are collected for this much text at once

/// Beginnings of words in names of secret settings.
constexpr std::array<anchor_pattern, 12> setting_anchors{"[pP][aA][sS][sS]",
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
constexpr std::array<anchor_pattern, 25> localized_setting_anchors{
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

struct settings_pattern {
  anchor_pattern anchor;
  matcher match;
};
/// Patterns of secrets in files without names and separators.
constexpr std::array file_patterns{
    settings_pattern{"[sS][wW][oO][rR]", match_netrc},
    settings_pattern{":[*]:[!-~]", match_pgpass},
    settings_pattern{":543", match_pgpass},
    settings_pattern{":643", match_pgpass},
    settings_pattern{"[$]2[aby][$]", match_password_hash},
    settings_pattern{"[$]apr", match_password_hash},
    settings_pattern{":[$][156y][$]", match_password_hash},
    settings_pattern{"[$]arg", match_password_hash},
    settings_pattern{"[{]SHA", match_password_hash},
    settings_pattern{"[{]SSH", match_password_hash},
};

/// `kty` of JSON web keys in YAML.
constexpr anchor_pattern web_key_anchor = "kty[\"': ]";

/// The matchers for an anchor.
struct anchor_matchers {
  std::vector<const token_pattern*> tokens;
  std::vector<matcher> matchers;
  std::vector<finder> finders;
};

/// Anchors and their matchers. Never destroyed, because detached threads may outlive `main`.
class matcher_table {
 public:
  static const matcher_table& for_text() {
    static const matcher_table& instance = *new const matcher_table([] {
      matcher_table out;
      for (const auto& token : token_patterns()) out.matchers_for(token.anchor).tokens.push_back(&token);
      for (const auto& special : special_patterns()) {
        auto& entry = out.matchers_for(special.anchor);
        if (special.match != nullptr) entry.matchers.push_back(special.match);
        if (special.find != nullptr) entry.finders.push_back(special.find);
      }
      out.search_ = anchor_search(out.anchors_);
      return out;
    }());
    return instance;
  }
  static const matcher_table& for_settings() {
    static const matcher_table& instance = *new const matcher_table([] {
      matcher_table out;
      for (const auto anchor : setting_anchors) out.matchers_for(anchor).matchers.push_back(match_assignment);
      for (const auto localized_anchor : localized_setting_anchors)
        out.matchers_for(localized_anchor).matchers.push_back(match_localized_assignment);
      out.matchers_for(web_key_anchor).finders.push_back(find_web_key_in_yaml);
      for (const auto& pattern : file_patterns) out.matchers_for(pattern.anchor).matchers.push_back(pattern.match);
      out.search_ = anchor_search(out.anchors_);
      return out;
    }());
    return instance;
  }

  std::size_t find(std::string_view text, std::vector<span>& spans) const {
    // Reuse the vector: there are many short texts, and most have no candidate.
    std::vector<candidate> local_candidates;
    auto* const cached = threads::thread_instance<std::vector<candidate>>();
    auto& candidates = cached != nullptr ? *cached : local_candidates;
    std::optional<run_cache> runs;
    for (std::size_t block_begin = 0; block_begin < text.size(); block_begin += block_bytes) {
      search_.find(text.substr(block_begin, block_bytes + anchor_bytes - 1), candidates);
      if (!candidates.empty() && !runs) runs.emplace(text);
      for (const auto& hit : candidates) match_at(text, block_begin + hit.position, hit.anchors, *runs, spans);
    }
    return runs ? runs->steps() : 0;
  }

 private:
  anchor_matchers& matchers_for(anchor_pattern anchor) {
    const auto match = std::find(anchors_.begin(), anchors_.end(), anchor);
    const auto index = static_cast<std::size_t>(match - anchors_.begin());
    if (match == anchors_.end()) {
      anchors_.push_back(anchor);
      matchers_.emplace_back();
    }
    return matchers_[index];
  }

  void match_at(std::string_view text, std::size_t position, const anchor_bits& anchors, run_cache& runs,
                std::vector<span>& spans) const {
    const auto begin = position - std::min(position, context_bytes_before);
    const match_context context{text.substr(begin, position - begin + context_bytes_after), position - begin, begin, &runs};
    const auto add = [&spans, begin](const std::optional<span>& match) {
      if (match) spans.push_back({begin + match->begin, begin + match->end});
    };
    anchors.for_each([&](std::size_t number) {
      context.count(matchers_[number].tokens.size() + matchers_[number].matchers.size() + matchers_[number].finders.size());
      for (const auto* pattern : matchers_[number].tokens) add(match_token(*pattern, context));
      for (const auto apply : matchers_[number].matchers) add(apply(context));
      for (const auto find_secrets : matchers_[number].finders) find_secrets(text, position, runs, spans);
    });
  }

  std::vector<anchor_pattern> anchors_;
  std::vector<anchor_matchers> matchers_;
  anchor_search search_{{}};
};

/// Whether the byte at `position` is in a row of at least `min_length` ASCII characters without NUL.
bool is_in_row(std::string_view text, std::size_t position, std::size_t min_length) noexcept {
  const auto is_ascii = [text](std::size_t index) { return static_cast<signed char>(text[index]) > 0; };
  auto begin = position;
  while (begin > 0 && position - begin < min_length && is_ascii(begin - 1)) --begin;
  auto end = position;
  while (end < text.size() && end - begin < min_length && is_ascii(end)) ++end;
  return end - begin >= min_length;
}

}  // namespace

void merge_spans(std::vector<span>& spans) {
  if (spans.size() < 2) return;
  std::sort(spans.begin(), spans.end(), [](const span& a, const span& b) { return a.begin < b.begin; });
  std::size_t last = 0;
  for (std::size_t i = 1; i < spans.size(); ++i) {
    if (spans[i].begin <= spans[last].end) {
      spans[last].end = std::max(spans[last].end, spans[i].end);
    } else {
      spans[++last] = spans[i];
    }
  }
  spans.resize(last + 1);
}

std::size_t find(std::string_view text, masking_policy policy, std::vector<span>& spans, std::size_t min_row) {
  spans.clear();
  if (policy == masking_policy::none) return 0;
  auto steps = matcher_table::for_text().find(text, spans);
  if (policy == masking_policy::settings) steps += matcher_table::for_settings().find(text, spans);
  if (min_row != 0) std::erase_if(spans, [&](const span& match) { return !is_in_row(text, match.begin, min_row); });
  merge_spans(spans);
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
bool is_among(std::string_view extension, const List& list) noexcept {
  return std::any_of(list.begin(), list.end(), [extension](auto entry) {
    return extension.size() == entry.size() && starts_with_ignore_case(extension, entry);
  });
}

bool is_number_or_date(std::string_view extension) noexcept {
  return !extension.empty() && extension.find_first_not_of("0123456789-_T:") == std::string_view::npos;
}

/// The name without marks of copies: `app.log.1`, `app.log-20260101` and `app.log.bak~` → `app.log`.
std::string_view strip_copy_mark(std::string_view name) noexcept {
  for (;;) {
    const auto previous = name;
    while (name.ends_with('~')) name.remove_suffix(1);
    const auto dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return name;
    const auto extension = name.substr(dot + 1);
    const auto letters_end = extension.find_first_of("-_0123456789");
    if (is_number_or_date(extension) || is_among(extension, copy_extensions)) {
      name = name.substr(0, dot);
    } else if (letters_end != std::string_view::npos && letters_end != 0 && is_number_or_date(extension.substr(letters_end)) &&
               (extension[letters_end] == '-' || extension[letters_end] == '_')) {
      name = name.substr(0, dot + 1 + letters_end);
    }
    if (name == previous) return name;
  }
}

}  // namespace

masking_policy policy_of(std::string_view path) noexcept {
  const auto name = strip_copy_mark(path.substr(path.rfind('/') + 1));
  const auto extension = name.substr(std::min(name.size(), name.rfind('.') + 1));
  const bool is_named = std::any_of(settings_names.begin(), settings_names.end(), [name](auto entry) {
    return starts_with_ignore_case(name, entry) &&
           (name.size() == entry.size() || name[entry.size()] == '.' || name[entry.size()] == '-');
  });
  const bool is_settings = is_named || starts_with_ignore_case(name, ".env") ||
                           (name.ends_with("rc") && name.starts_with('.')) || is_among(extension, settings_extensions);
  return is_settings ? masking_policy::settings : masking_policy::text;
}

masking_policy policy_of_uri(std::string_view uri) noexcept { return policy_of(uri.substr(0, uri.find_first_of("?#"))); }

}  // namespace hondana::secrets
