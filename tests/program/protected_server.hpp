/// An MCP server that wants tokens, and the authorization server that gives them, on one port.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace program_test {

/// Tokens are "access-N" and "refresh-N". Whoever comes to its page is logged in at once. Threads: its own, and the test's.
class protected_server {
 public:
  protected_server();
  ~protected_server();
  protected_server(const protected_server&) = delete;
  protected_server& operator=(const protected_server&) = delete;

  [[nodiscard]] std::string url() const { return origin_ + "/mcp"; }
  [[nodiscard]] const std::string& origin() const noexcept { return origin_; }
  /// From now on no access token is good that was given before.
  void end_access();
  /// Nor any refresh token.
  void end_refresh();
  /// The lines and bodies of the requests to a path, so far.
  [[nodiscard]] std::vector<std::string> asked(const std::string& path) const;

 private:
  struct request {
    std::string method;
    std::string path;
    std::map<std::string, std::string> query;  // or the form, of a POST
    std::string authorization;
    std::string body;
  };
  void serve();
  [[nodiscard]] std::string answer(const request& to);
  [[nodiscard]] std::string answer_message(const request& to);
  [[nodiscard]] std::string answer_token(const request& to);

  int socket_ = -1;
  std::string origin_;
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<std::string>> asked_;
  std::map<std::string, std::string> codes_;    // their scopes
  std::map<std::string, std::string> access_;   // good ones, their scopes
  std::map<std::string, std::string> refresh_;  // and these
  int count_ = 0;
  std::thread serving_;
};

}  // namespace program_test
