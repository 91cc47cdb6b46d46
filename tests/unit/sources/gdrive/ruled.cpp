/// What callers with rules have of files, listed and not.
#include "unit/sources/gdrive/paper_drive.hpp"

namespace hondana::gdrive {
namespace {

struct gdrive_ruled : served_drive {
  /// Read as who sees these alone.
  [[nodiscard]] static result<read_result> read_as(gdrive_provider& of, const std::string& uri, std::vector<std::string> seen) {
    read_request request;
    request.uri = request.requested_uri = uri;
    request.max_bytes = 1u << 20;
    request.caller.access_filter = std::make_shared<const only_these>(std::move(seen));
    return of.read(request);
  }
  /// Read as who sees nothing with this word in its URI.
  [[nodiscard]] static result<read_result> read_without(gdrive_provider& of, const std::string& uri, const std::string& word) {
    read_request request;
    request.uri = request.requested_uri = uri;
    request.max_bytes = 1u << 20;
    request.caller.access_filter = std::make_shared<const without_word>(word);
    return of.read(request);
  }
  void hold_book(const drive::file& one) {
    paper->hold(one);
    paper->put(one.id, as_workbook, "Salaries=b,2\nQ1=a,1\n");
  }
  static constexpr const char* as_workbook = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
  void put_text(const drive::file& one, const std::string& text) {
    paper->hold(one);
    paper->put(one.id, "", text);
  }
};

TEST_F(gdrive_ruled, what_is_listed_goes_by_its_path_also_where_it_is_asked_for_by_its_id) {
  put_text(paper_file("1a", "Plan"), "plan");
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Plan"));
  EXPECT_FALSE(read_as(*drive, "gdrive:///1a", {"gdrive:///1a"}));
  EXPECT_TRUE(read_as(*drive, "gdrive:///1a", {"gdrive:///1a", "gdrive://my-drive/Plan"}));
}

TEST_F(gdrive_ruled, a_shortcut_to_what_is_hidden_is_not_described) {
  paper->hold(paper_file("1a", "Plan"));
  auto link = paper_file("1s", "Link", std::string(drive::shortcut_type));
  link.shortcut_target = drive::shortcut{"1a", "text/plain", {}};
  paper->hold(link);
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Plan"));
  const auto is_described = [&drive](const std::string& uri, std::vector<std::string> seen) {
    describe_request asked;
    asked.uri = uri;
    if (!seen.empty()) asked.caller.access_filter = std::make_shared<const only_these>(std::move(seen));
    return drive->describe(asked).has_value();
  };
  for (const auto* uri : {"gdrive://my-drive/Link", "gdrive:///1s"}) {
    EXPECT_TRUE(is_described(uri, {})) << uri;
    EXPECT_FALSE(is_described(uri, {uri, "gdrive://my-drive/Link"})) << uri;
    EXPECT_TRUE(is_described(uri, {uri, "gdrive://my-drive/Link", "gdrive://my-drive/Plan"})) << uri;
  }
}

TEST_F(gdrive_ruled, a_shortcut_to_what_is_hidden_is_neither_in_its_folder_nor_completed) {
  paper->hold(paper_file("1a", "Secret plan"));
  auto link = paper_file("1s", "Link to a plan", std::string(drive::shortcut_type));
  link.shortcut_target = drive::shortcut{"1a", "text/plain", {}};
  paper->hold(link);
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Secret%20plan"));
  const auto shows = [&drive](const std::shared_ptr<const access_filter>& through) {
    read_request request;
    request.uri = request.requested_uri = "gdrive://my-drive";
    request.max_bytes = 1u << 20;
    request.caller.access_filter = through;
    const auto made = drive->read(request);
    children_request below;
    below.uri = "gdrive://my-drive";
    below.caller.access_filter = through;
    const auto all = drive->children(below);
    complete_request typed;
    typed.uri_template = "gdrive:///{id}";
    typed.argument = "id";
    typed.value = "link";
    typed.caller.access_filter = through;
    const auto ids = drive->complete(typed);
    EXPECT_TRUE(made && all && ids);
    const auto is_link = [](const resource& one) { return one.uri == "gdrive://my-drive/Link%20to%20a%20plan"; };
    const bool is_read = bytes_of(made->contents.front()).find("Link%20") != std::string::npos;
    EXPECT_EQ(std::any_of(all->entries.begin(), all->entries.end(), is_link), is_read);
    EXPECT_EQ(!ids->values.empty(), is_read);
    return is_read;
  };
  EXPECT_TRUE(shows(nullptr));
  EXPECT_TRUE(shows(std::make_shared<const without_word>("nothing")));
  EXPECT_FALSE(shows(std::make_shared<const without_word>("Secret")));
}

TEST_F(gdrive_ruled, the_end_of_what_is_hidden_does_not_have_its_shortcut_described) {
  paper->hold(paper_file("1a", "Plan"));
  for (const auto& [id, target] : {std::pair("1s", "1a"), std::pair("1t", "1x")}) {
    auto link = paper_file(id, std::string("Link ") + id, std::string(drive::shortcut_type));
    link.shortcut_target = drive::shortcut{target, "text/plain", {}};
    paper->hold(link);
  }
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Plan"));
  ears->forget();
  paper->remove("1a");
  EXPECT_TRUE(ears->await("alias gdrive://my-drive/Link%201s"));
  ears->forget();
  // Also after the next change.
  paper->change(paper_file("1b", "Other"));
  EXPECT_TRUE(ears->await("gdrive://my-drive/Other"));
  const auto is_described = [&drive](const std::string& uri, std::vector<std::string> seen) {
    describe_request asked;
    asked.uri = uri;
    asked.caller.access_filter = std::make_shared<const only_these>(std::move(seen));
    return drive->describe(asked).has_value();
  };
  EXPECT_FALSE(is_described("gdrive://my-drive/Link%201s", {"gdrive://my-drive/Link%20"}));
  EXPECT_TRUE(is_described("gdrive://my-drive/Link%201s", {"gdrive://my-drive/"}));
  EXPECT_TRUE(is_described("gdrive://my-drive/Link%201t", {"gdrive://my-drive/Link%20"})) << "it never led to what is listed";
}

TEST_F(gdrive_ruled, a_sheet_that_is_hidden_by_its_path_has_no_way_round_by_id_or_by_a_shortcut_and_is_not_named) {
  paper->hold(paper_file("1b", "Book", std::string(drive::spreadsheet_type)));
  paper->put("1b", as_workbook, "Q1=a,1\nSalaries=b,2\n");
  auto link = paper_file("1s", "Link", std::string(drive::shortcut_type));
  link.shortcut_target = drive::shortcut{"1b", std::string(drive::spreadsheet_type), {}};
  paper->hold(link);
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Book"));
  const auto read_as_ruled = [&drive](const std::string& uri) {
    return read_without(*drive, uri, "my-drive/Book?sheet=Salaries");
  };
  for (const std::string whole : {"gdrive://my-drive/Book", "gdrive:///1b", "gdrive://my-drive/Link", "gdrive:///1s"}) {
    const auto all = read_as_ruled(whole);
    ASSERT_TRUE(all) << whole << ": " << all.error().public_text;
    ASSERT_EQ(all->contents.size(), 1u) << whole;
    EXPECT_EQ(bytes_of(all->contents.front()), "a,1\n") << whole;
    EXPECT_EQ(all->version, "") << "it is not the whole";
    EXPECT_TRUE(read_as_ruled(whole + "?sheet=Q1")) << whole;
    for (const auto* sheet : {"?sheet=Salaries", "?sheet=Nope"}) {
      const auto none = read_as_ruled(whole + sheet);
      ASSERT_FALSE(none) << whole << sheet;
      EXPECT_EQ(none.error().code, errc::resource_not_found) << whole << sheet;
      EXPECT_EQ(none.error().public_text.find("Salaries"), std::string::npos) << whole << sheet;
    }
  }
}

TEST_F(gdrive_ruled, the_first_sheet_of_what_is_not_listed_is_hidden_like_any_other) {
  const auto drive = serve();
  EXPECT_EQ(listed(*drive).size(), 2u);
  hold_book(paper_file("1z", "Book", std::string(drive::spreadsheet_type), ""));
  // By its id, and by where it would be listed.
  for (const auto* rule : {"gdrive:///1z?sheet=Salaries", "shared-with-me/Book?sheet=Salaries"}) {
    const auto all = read_without(*drive, "gdrive:///1z", rule);
    ASSERT_TRUE(all) << rule << ": " << all.error().public_text;
    ASSERT_EQ(all->contents.size(), 1u) << rule;
    EXPECT_EQ(bytes_of(all->contents.front()), "a,1\n") << rule;
    EXPECT_EQ(all->version, "") << "it is not the whole";
    EXPECT_TRUE(read_without(*drive, "gdrive:///1z?sheet=Q1", rule)) << rule;
    for (const auto* sheet : {"?sheet=Salaries", "?sheet=Nope"}) {
      const auto none = read_without(*drive, std::string("gdrive:///1z") + sheet, rule);
      ASSERT_FALSE(none) << rule << sheet;
      EXPECT_EQ(none.error().code, errc::resource_not_found) << rule << sheet;
      EXPECT_EQ(none.error().public_text.find("Salaries"), std::string::npos) << rule << sheet;
    }
  }
  EXPECT_EQ(read(*drive, "gdrive:///1z")->contents.size(), 2u) << "without rules";
}

TEST_F(gdrive_ruled, a_sheet_that_is_hidden_where_its_file_has_just_moved_to_is_not_read_any_more) {
  paper->hold(paper_folder("f1", "Open"));
  paper->hold(paper_folder("f2", "Staff"));
  hold_book(paper_file("1b", "Book", std::string(drive::spreadsheet_type), "f1"));
  auto how = usual();
  how.min_interval = how.max_interval = std::chrono::hours(1);
  const auto drive = serve(std::move(how));
  const std::string rule = "Staff/Book?sheet=Salaries";
  ASSERT_TRUE(becomes([&] { return lists(*drive, "gdrive://my-drive/Open/Book"); }));
  EXPECT_EQ(read_without(*drive, "gdrive:///1b", rule)->contents.size(), 2u);
  auto moved = paper_file("1b", "Book", std::string(drive::spreadsheet_type), "f2");
  moved.version = "2";
  hold_book(moved);
  const auto all = read_without(*drive, "gdrive:///1b", rule);
  ASSERT_TRUE(all) << all.error().public_text;
  ASSERT_EQ(all->contents.size(), 1u);
  EXPECT_EQ(bytes_of(all->contents.front()), "a,1\n");
}

TEST_F(gdrive_ruled, parts_that_are_hidden_where_their_file_is_now_are_not_said_to_be_unchanged) {
  paper->hold(paper_folder("f1", "Open"));
  paper->hold(paper_folder("f2", "Staff"));
  put_text(paper_file("1p", "Paper.pdf", "application/pdf", "f1"), "PDF");
  hold_book(paper_file("1b", "Book", std::string(drive::spreadsheet_type), "f1"));
  const auto drive = serve();
  ASSERT_TRUE(becomes([&] { return lists(*drive, "gdrive://my-drive/Open/Book"); }));
  const std::vector<std::pair<std::string, std::string>> asked{{"gdrive:///1p", "Staff/Paper.pdf?format=original"},
                                                               {"gdrive:///1b", "Staff/Book?sheet=Q1"}};
  const auto read_again = [&](std::size_t which, const std::string& version) {
    read_request request;
    request.uri = request.requested_uri = asked[which].first;
    request.max_bytes = 1u << 20;
    request.cached_version = version;
    request.caller.access_filter = std::make_shared<const without_word>(asked[which].second);
    return drive->read(request);
  };
  std::vector<std::string> versions;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto first = read_again(i, {});
    ASSERT_TRUE(first) << first.error().public_text;
    EXPECT_EQ(first->contents.size(), 2u) << asked[i].first;
    versions.push_back(first->version);
    EXPECT_TRUE(becomes([&] { return read_again(i, versions[i])->contents.empty(); })) << "the same again is unchanged";
  }
  put_text(paper_file("1p", "Paper.pdf", "application/pdf", "f2"), "PDF");
  hold_book(paper_file("1b", "Book", std::string(drive::spreadsheet_type), "f2"));
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto now = read_again(i, versions[i]);
    ASSERT_TRUE(now) << now.error().public_text;
    EXPECT_EQ(now->contents.size(), 1u) << asked[i].first;
  }
}

TEST_F(gdrive_ruled, a_hidden_original_does_not_stand_in_for_a_text_that_could_not_be_made) {
  put_text(paper_file("1a", "Listed.pdf", "application/pdf"), "BROKEN");
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Listed.pdf"));
  put_text(paper_file("1z", "Paper.pdf", "application/pdf", ""), "BROKEN");
  for (const auto* uri : {"gdrive:///1a", "gdrive:///1z"}) {
    EXPECT_TRUE(read_without(*drive, uri, "nothing")) << uri;
    const auto made = read_without(*drive, uri, "?format=original");
    ASSERT_FALSE(made) << uri << ": " << bytes_of(made->contents.front());
    EXPECT_EQ(made.error().code, errc::unsupported) << uri;
    EXPECT_NE(made.error().public_text.find("damaged"), std::string::npos) << made.error().public_text;
    describe_request asked;
    asked.uri = std::string(uri) + "?format=original";
    asked.caller.access_filter = std::make_shared<const without_word>("?format=original");
    EXPECT_FALSE(drive->describe(asked)) << uri;
  }
}

TEST_F(gdrive_ruled, what_is_not_listed_goes_by_its_id_and_by_where_it_would_be_listed) {
  const auto drive = serve();
  EXPECT_EQ(listed(*drive).size(), 2u);
  paper->alter([](auto& all) { all.log[""].clear(); });
  put_text(paper_file("1z", "By link", "text/plain", ""), "hello");
  const auto made = read_as(*drive, "gdrive:///1z", {"gdrive:///", "gdrive://shared-with-me/"});
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(bytes_of(made->contents.front()), "hello");
  EXPECT_TRUE(read_as(*drive, "gdrive:///1z", {"gdrive:///1z", "gdrive://shared-with-me/By%20link"}));
  EXPECT_FALSE(read_as(*drive, "gdrive:///1z", {"gdrive:///1z"}));
  EXPECT_FALSE(read_as(*drive, "gdrive:///1z", {"gdrive://shared-with-me/"}));
  describe_request asked;
  asked.uri = "gdrive:///1z";
  asked.caller.access_filter =
      std::make_shared<const only_these>(std::vector<std::string>{"gdrive:///", "gdrive://shared-with-me/"});
  EXPECT_TRUE(drive->describe(asked));
}

TEST_F(gdrive_ruled, what_has_come_into_a_hidden_folder_has_no_way_round_before_the_next_poll) {
  paper->hold(paper_folder("f1", "Open"));
  paper->hold(paper_folder("f2", "Hidden"));
  auto how = usual();
  how.min_interval = how.max_interval = std::chrono::hours(1);
  const auto drive = serve(std::move(how));
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Hidden"));
  put_text(paper_file("1x", "New", "text/plain", "f1"), "open");
  put_text(paper_file("1y", "New", "text/plain", "f2"), "hidden");
  put_text(paper_file("1z", "New", "text/plain", "f9"), "who knows");
  put_text(paper_file("1r", "New"), "at the top");
  const std::vector<std::string> seen{"gdrive:///", "gdrive://shared-with-me/", "gdrive://my-drive/Open/"};
  EXPECT_TRUE(read_as(*drive, "gdrive:///1x", seen));
  for (const auto* uri : {"gdrive:///1y", "gdrive:///1z", "gdrive:///1r"}) {
    const auto made = read_as(*drive, uri, seen);
    ASSERT_FALSE(made) << uri;
    EXPECT_EQ(made.error().code, errc::resource_not_found) << uri;
    EXPECT_TRUE(read(*drive, uri)) << "without rules: " << uri;
  }
}

TEST_F(gdrive_ruled, what_has_just_moved_into_a_hidden_folder_is_not_read_any_more) {
  paper->hold(paper_folder("f1", "Open"));
  paper->hold(paper_folder("f2", "Hidden"));
  put_text(paper_file("1a", "Plan", "text/plain", "f1"), "open");
  put_text(paper_file("1b", "Note", "text/plain", "f1"), "open");
  auto how = usual();
  how.min_interval = how.max_interval = std::chrono::hours(1);
  how.freshness_ttl = std::chrono::milliseconds(0);
  const auto drive = serve(std::move(how));
  const std::vector<std::string> seen{"gdrive:///", "gdrive://my-drive/Open/"};
  ASSERT_TRUE(becomes([&] { return read_as(*drive, "gdrive://my-drive/Open/Plan", seen).has_value(); }));
  put_text(paper_file("1a", "Plan", "text/plain", "f2"), "salaries");
  for (const auto* uri : {"gdrive://my-drive/Open/Plan", "gdrive:///1a"}) {
    const auto made = read_as(*drive, uri, seen);
    ASSERT_FALSE(made) << uri << ": " << bytes_of(made->contents.front());
    EXPECT_EQ(made.error().code, errc::resource_not_found) << uri;
  }
  put_text(paper_file("1b", "Renamed", "text/plain", "f1"), "still open");
  EXPECT_TRUE(read_as(*drive, "gdrive:///1b", seen)) << "it may be had where it will be listed";
}

TEST_F(gdrive_ruled, who_has_rules_is_not_told_what_there_is) {
  const auto drive = serve();
  EXPECT_EQ(listed(*drive).size(), 2u);
  const auto asked = paper->count_of("file");
  EXPECT_EQ(read_as(*drive, "gdrive:///1z", {"gdrive:///1a"}).error().code, errc::resource_not_found);
  EXPECT_EQ(paper->count_of("file"), asked) << "Drive is not even asked";
  EXPECT_EQ(read_as(*drive, "gdrive:///1z", {"gdrive:///"}).error().code, errc::resource_not_found);
  EXPECT_EQ(paper->count_of("file"), asked + 1);
}

}  // namespace
}  // namespace hondana::gdrive
