/// What servers mean by one code.
#include "cli/verbs/meanings.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace hondana::cli {
namespace {

errc meaning(const std::string& uri, const std::string& message, std::int64_t code = -32602) {
  auto answer = std::make_shared<error_answer>();
  answer->code = code;
  answer->message = message;
  return why_not_read(uri, {errc::resource_not_found, "the server answered: " + message, {}, answer}).code;
}

TEST(why_not_read, is_that_it_is_not_there_or_that_a_parameter_is_wrong_or_that_it_is_not_given) {
  EXPECT_EQ(meaning("memo:///a", "Resource not found"), errc::resource_not_found);
  EXPECT_EQ(meaning("memo:///a?lines=1", "Resource not found"), errc::resource_not_found);
  EXPECT_EQ(meaning("memo:///a", "There is no document of this spelling in the set. Read memo:///A."),
            errc::resource_not_found);
  EXPECT_EQ(meaning("docs://d/a?section=x", "There is no such section. Some of the headings are \"y\"."),
            errc::resource_not_found);
  EXPECT_EQ(meaning("memo:///a", "anything", -32002), errc::resource_not_found);
  EXPECT_EQ(meaning("search:///?q=x&limit=99", "limit: expected a number from 1 to 50."), errc::invalid_argument);
  EXPECT_EQ(meaning("search:///?colour=red", "colour: there is no such parameter."), errc::invalid_argument);
  EXPECT_EQ(meaning("metrics://m?x=1", "There is no parameter 'x' here."), errc::invalid_argument);
  EXPECT_EQ(meaning("file:///a?lines=9-2", "The parameter \"lines\" is malformed."), errc::invalid_argument);
  EXPECT_EQ(meaning("docs://d/a.pdf", "The file is encrypted; store it without a password to have it read"), errc::refused);
  EXPECT_EQ(meaning("docs://d/a.pdf?pages=2", "The file is encrypted; store it without a password"), errc::refused);
  EXPECT_EQ(meaning("docs://d/a.pdf?format=original", "The file itself is not given, since it may hold secrets: …"),
            errc::refused);
  EXPECT_EQ(meaning("memo:///a%zz", "Resource not found"), errc::invalid_argument) << "which is malformed";
}

}  // namespace
}  // namespace hondana::cli
