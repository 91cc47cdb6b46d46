/// Which requests at the port for the browser are the redirect.
#include "auth/login/redirect_listener.hpp"

#include <string>

#include <gtest/gtest.h>

namespace {

using hondana::login::read_redirect;
using hondana::login::redirect_request;
using kind = redirect_request::kind;

constexpr const char* host = "127.0.0.1:4000";

std::string get(const std::string& target, const std::string& more = {}) {
  return "GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n" + more + "\r\n";
}

TEST(redirects, are_taken_with_a_code_or_an_error) {
  for (const std::string target : {"/callback?code=a%20b&state=x&iss=https%3A%2F%2Fa.example",
                                   "/callback?state=x&error=access_denied", "/callback?state=%78&code=a"}) {
    const auto read =
        read_redirect(get(target, "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\nAccept: text/html\r\n"), host, "x");
    EXPECT_EQ(read.type, kind::redirect);
    EXPECT_EQ(read.target, target);
  }
}

TEST(redirects, are_read_however_they_are_cut) {
  const auto whole = get("/callback?code=a&state=x");
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(read_redirect(whole.substr(0, size), host, "x").type, kind::incomplete) << size;
  EXPECT_EQ(read_redirect(whole, host, "x").type, kind::redirect);
}

TEST(redirects, that_are_none_are_refused_each_for_its_reason) {
  const auto status = [](const std::string& bytes) {
    const auto read = read_redirect(bytes, host, "x");
    return read.type == kind::rejected ? read.status : 0;
  };
  const std::string good = "/callback?code=a&state=x";
  EXPECT_EQ(status(get("/favicon.ico")), 404);
  EXPECT_EQ(status(get("/callback/?code=a&state=x")), 404);
  EXPECT_EQ(status(get("http://127.0.0.1:4000/callback?code=a&state=x")), 404);
  EXPECT_EQ(status(get("/callback")), 400);
  EXPECT_EQ(status(get("/callback?code=a")), 400);
  // Somebody else's, or a guess.
  EXPECT_EQ(status(get("/callback?code=a&state=y")), 400);
  EXPECT_EQ(status(get("/callback?code=a&state=")), 400);
  EXPECT_EQ(status(get("/callback?code=a&state=y&state=x")), 400);
  EXPECT_EQ(status(get("/callback?code=a&state=%7")), 400);
  EXPECT_EQ(status(get("/callback?xcode=a&state=x")), 400);
  EXPECT_EQ(status(get("/callback?state=x")), 400);
  EXPECT_EQ(status("POST " + good + " HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n"), 405);
  // A page of somebody else loads it as a picture.
  EXPECT_EQ(status(get(good, "Sec-Fetch-Mode: no-cors\r\n")), 403);
  // Or frames it.
  EXPECT_EQ(status(get(good, "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n")), 403);
  EXPECT_EQ(status(get(good, "Sec-Fetch-Dest: iframe\r\nsec-fetch-dest: document\r\n")), 403);
  // A name of somebody else leads here.
  EXPECT_EQ(status("GET " + good + " HTTP/1.1\r\nHost: evil.example:4000\r\n\r\n"), 421);
  EXPECT_EQ(status("GET " + good + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"), 421);
  EXPECT_EQ(status("GET " + good + " HTTP/1.1\r\n\r\n"), 421);
  EXPECT_EQ(status(get(good, "host: 127.0.0.1:4000\r\n")), 421);
  EXPECT_EQ(status("GET " + good + "\r\n\r\n"), 400);
  EXPECT_EQ(status("GET  HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n"), 404);
  EXPECT_EQ(status("GET /callback?code=a\tb&state=x HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n"), 400);
  EXPECT_EQ(status(get(good, "no field\r\n")), 400);
  EXPECT_EQ(status("\x16\x03\x01 hello\r\n\r\n"), 400);
  EXPECT_EQ(status(std::string(20'000, 'x')), 431);
  EXPECT_EQ(status(get(good, "X: " + std::string(20'000, 'x') + "\r\n")), 431);
}

}  // namespace
