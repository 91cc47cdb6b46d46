/// Secret names of variables and settings, such as DB_PASSWORD.
#pragma once

#include <cstdint>
#include <string_view>

namespace hondana::secrets {

/// How surely a value is a secret, judged by its name.
enum class sensitivity : std::uint8_t {
  none,    ///< The name says nothing, or is only about a secret: `PATH`, `TOKEN_TTL`, `PASSWORD_FILE`.
  weak,    ///< By a word that has other meanings, too: `KEY`, `AUTH`, `SEED`.
  strong,  ///< `DB_PASSWORD`, `githubToken`, `API_KEY`, `SECRETKEYBASE`
};

/// Classifies a name. Words end at characters that are neither letters nor digits in any script, and at a capital after a
/// lower-case letter or a digit. Knows words for passwords in a dozen languages. Stricter than the policy for settings, because
/// such values are rarely needed to understand a program's setup.
[[nodiscard]] sensitivity classify_name(std::string_view name);

/// Whether the name means a password in a language other than English: `passwort`, `contraseña`, `パスワード`.
[[nodiscard]] bool names_localized_password(std::string_view name);

/// Whether the name means a property of a thing and not the thing itself: `file`, `TOKEN_TTL`, `userName`.
[[nodiscard]] bool names_property(std::string_view name);

/// Whether the name means a digest or a version, whose random value is not secret: `GIT_COMMIT`, `IMAGE_DIGEST`.
[[nodiscard]] bool names_digest(std::string_view name);

}  // namespace hondana::secrets
