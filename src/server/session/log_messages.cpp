/// Log messages for clients: secrets masked, limited in length and rate.
#include "server/session/log_messages.hpp"

#include <cstddef>

#include "protocol/wire/notifications.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::session {

std::string log_text(log_level level, std::string_view logger, const value& data) {
  constexpr std::size_t longest = 64 * 1024;
  const auto by = secrets::redact_text(logger);
  auto text = wire::log_notification(level, by, secrets::redact_value(data, secrets::policy::settings));
  if (text.size() > longest) text = wire::log_notification(level, by, "[a message of more than 64 KiB left out]");
  return text;
}

}  // namespace hondana::session
