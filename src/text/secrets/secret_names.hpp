/// Secret names of variables and settings, such as DB_PASSWORD.
#pragma once

#include <cstdint>
#include <string_view>

namespace hondana::secrets {

/// How sure a name makes that its value is a secret.
enum class telling : std::uint8_t {
  nothing,  ///< It says nothing about that, or says that it is about a secret: `PATH`, `TOKEN_TTL`, `PASSWORD_FILE`.
  weak,     ///< By a word that has other meanings, too: `KEY`, `AUTH`, `SEED`.
  strong,   ///< `DB_PASSWORD`, `githubToken`, `API_KEY`, `SECRETKEYBASE`.
};

/// Words are parted by what is neither letter nor digit of any script, and where a capital follows a small letter or a digit.
/// Words for passwords are known in a dozen languages. Stricter than the policy for settings, since nobody needs the value of
/// such a variable to know how a program is set up.
[[nodiscard]] telling told_by(std::string_view name);

/// Whether it says in another language than English that its value is a password: `passwort`, `contraseña`, `パスワード`.
[[nodiscard]] bool says_password_abroad(std::string_view name);

/// Whether it says that its value is about something, and not the thing itself: `file`, `TOKEN_TTL`, `userName`.
[[nodiscard]] bool says_about(std::string_view name);

/// Whether it says that its value names a version of something by a digest: `GIT_COMMIT`, `IMAGE_DIGEST`.
[[nodiscard]] bool says_digest(std::string_view name);

}  // namespace hondana::secrets
