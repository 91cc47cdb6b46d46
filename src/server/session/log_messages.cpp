/// Log messages for clients: secrets masked, limited in length and rate.
#include "server/session/log_messages.hpp"

#include <cstddef>

#include "protocol/wire/notifications.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::session {

std::string encode_log_message(log_level level, std::string_view logger, const value& data) {
  constexpr std::size_t max_bytes = 64 * 1024;
  const auto masked_logger = secrets::redact_text(logger);
  auto text = wire::log_notification(level, masked_logger, secrets::redact_value(data, secrets::masking_policy::settings));
  if (text.size() > max_bytes) text = wire::log_notification(level, masked_logger, "[a message of more than 64 KiB left out]");
  return text;
}

}  // namespace hondana::session
