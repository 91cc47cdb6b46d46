/// What is answered to whoever asks for the history of what is no file, or not there.
#include <memory>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

using testing::HasSubstr;

void fill_with_a_file_that_went(made_repository& made) {
  made.write("folder/kept", "1\n");
  made.write("went", "1\n");
  made.commit("first");
  made.git({"rm", "-q", "went"});
  made.commit("removed");
}

TEST(git_history_view, of_a_folder_is_refused_with_what_to_ask_for) {
  made_repository made;
  fill_with_a_file_that_went(made);
  const served_repository shelf(made);
  for (const std::string uri : {"git://shelf/history/HEAD/folder", "git://shelf/history/HEAD/folder?format=json"}) {
    const auto why = shelf.error(uri);
    EXPECT_EQ(why.code, errc::invalid_argument) << uri;
    EXPECT_THAT(why.public_text, HasSubstr("\"folder\" is a folder")) << uri;
    EXPECT_THAT(why.public_text, HasSubstr("log?ref=REV&path=PATH")) << uri;
  }
  EXPECT_THAT(shelf.text("git://shelf/log?ref=HEAD&path=folder"), HasSubstr("first"));
  // A folder that is hidden is none.
  const auto through =
      std::make_shared<const test_view>([](std::string_view uri) { return uri.find("folder") == std::string_view::npos; });
  const auto hidden = shelf.try_read("git://shelf/history/HEAD/folder", through);
  ASSERT_FALSE(hidden);
  EXPECT_EQ(hidden.error().code, errc::resource_not_found);
}

TEST(git_history_view, of_what_never_was_is_not_found_and_of_what_went_is_shown) {
  made_repository made;
  fill_with_a_file_that_went(made);
  const served_repository shelf(made);
  for (const std::string path : {"nosuch", "folder/nosuch", "kept"}) {
    const auto why = shelf.error("git://shelf/history/HEAD/" + path);
    EXPECT_EQ(why.code, errc::resource_not_found) << path;
    EXPECT_EQ(why.public_text, shelf.error("git://shelf/blob/HEAD/" + path).public_text);
  }
  const auto went = shelf.text("git://shelf/history/HEAD/went");
  EXPECT_THAT(went, HasSubstr("first"));
  EXPECT_THAT(went, HasSubstr("removed"));
  EXPECT_THAT(shelf.text("git://shelf/history/HEAD/went?limit=1"), HasSubstr("Older commits"));
}

}  // namespace
}  // namespace hondana::git
