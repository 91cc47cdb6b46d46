/// A log-in without a user: the suite's authorization servers redirect immediately.
#pragma once

#include <hondana/authorization.hpp>

/// Requests the page, and returns the target of its first redirect.
class automatic_login final : public hondana::login_handler {
 public:
  hondana::result<std::string> listen(const std::optional<std::string>& registered_uri) override;
  hondana::result<std::string> visit(const std::string& url, const std::stop_token& stop) override;
};
