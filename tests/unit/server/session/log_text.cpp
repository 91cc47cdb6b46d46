/// Log messages as peers get them.
#include "server/session/log_messages.hpp"

#include <string>

#include <gtest/gtest.h>

namespace {

using namespace hondana;

TEST(messages_for_peers, tell_no_secrets) {
  // Put together here, so that it stands in no file.
  const auto token = std::string("ghp_") + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
  const value data(value::object{{"text", "asked with " + token}, {"password", "aB3dE5fG7!"}});
  EXPECT_EQ(session::encode_log_message(log_level::info, "of " + token, data),
            R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"of ghp_)" +
                std::string(36, '*') + R"(","data":{"text":"asked with ghp_)" + std::string(36, '*') +
                R"(","password":"**********"}}})");
}

TEST(messages_for_peers, that_are_too_long_say_so) {
  EXPECT_EQ(session::encode_log_message(log_level::error, {}, std::string(65'536, 'x')),
            R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error",)"
            R"("data":"[a message of more than 64 KiB left out]"}})");
}

}  // namespace
