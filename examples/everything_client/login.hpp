/// A login that needs nobody: the suite's authorization servers send everybody back at once.
#pragma once

#include <hondana/authorization.hpp>

/// Asks for the page, and takes the first place that it leads to for the one that a user would have come back to.
class login_without_user final : public hondana::login_page {
 public:
  hondana::result<std::string> begin(const std::string& before) override;
  hondana::result<std::string> visit(const std::string& url, const std::stop_token& stop) override;
};
