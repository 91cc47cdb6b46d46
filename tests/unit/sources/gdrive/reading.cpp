/// What reads give, and what they say when they give nothing.
#include "sources/gdrive/catalog_entries.hpp"
#include "unit/sources/gdrive/paper_drive.hpp"

namespace hondana::gdrive {
namespace {

constexpr const char* xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
constexpr const char* pptx = "application/vnd.openxmlformats-officedocument.presentationml.presentation";

struct gdrive_reads : served_drive {
  void hold(const std::string& id, const std::string& name, std::string_view type) {
    paper->hold(paper_file(id, name, std::string(type)));
  }
};

TEST_F(gdrive_reads, a_document_is_the_markdown_that_drive_exports) {
  hold("1d", "議事録", drive::document_type);
  paper->put("1d", "text/markdown", "# 議事録\r\n本文");
  const auto drive = serve();
  for (const auto* uri : {"gdrive:///1d", "gdrive://my-drive/%E8%AD%B0%E4%BA%8B%E9%8C%B2"}) {
    const auto made = read(*drive, uri);
    ASSERT_TRUE(made) << made.error().public_text;
    ASSERT_EQ(made->contents.size(), 1u);
    EXPECT_EQ(bytes_of(made->contents.front()), "# 議事録\r\n本文");
    EXPECT_EQ(made->contents.front().mime_type, "text/markdown");
    EXPECT_EQ(made->version, "1");
    const auto& facts = made->contents.front().metadata;
    EXPECT_EQ(fact(facts, link_key), "https://drive.google.com/file/d/1d/view");
    EXPECT_EQ(fact(facts, original_type_key), "application/vnd.google-apps.document");
  }
  EXPECT_EQ(paper->count_of("export"), 1u) << "the second one is kept";
}

TEST_F(gdrive_reads, a_spreadsheet_is_a_csv_for_each_sheet) {
  hold("1s", "Book", drive::spreadsheet_type);
  paper->put("1s", xlsx, "Q1=a,1\n売上=b,2\n");
  const auto drive = serve();
  const auto made = read(*drive, "gdrive://my-drive/Book");
  ASSERT_TRUE(made) << made.error().public_text;
  ASSERT_EQ(made->contents.size(), 2u);
  EXPECT_EQ(bytes_of(made->contents[0]), "a,1\n");
  EXPECT_EQ(made->contents[0].uri, std::nullopt);
  EXPECT_EQ(bytes_of(made->contents[1]), "b,2\n");
  EXPECT_EQ(made->contents[1].mime_type, "text/csv");
  EXPECT_EQ(made->contents[1].uri, "gdrive://my-drive/Book?sheet=%E5%A3%B2%E4%B8%8A");
  EXPECT_EQ(fact(made->contents[1].metadata, sheet_key), "売上");
  const auto one = read(*drive, *made->contents[1].uri);
  ASSERT_TRUE(one) << one.error().public_text;
  ASSERT_EQ(one->contents.size(), 1u);
  EXPECT_EQ(bytes_of(one->contents[0]), "b,2\n");
  EXPECT_TRUE(becomes([&] { return lists(*drive, "gdrive://my-drive/Book?sheet=%E5%A3%B2%E4%B8%8A"); }))
      << "so that a search finds it";
  const auto none = read(*drive, "gdrive://my-drive/Book?sheet=Q9");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, errc::invalid_argument);
  EXPECT_EQ(
      none.error().public_text,
      "sheet: \"Book\" has no sheet \"Q9\"; it has \"Q1\", \"売上\". Use one of them, or leave out the parameter for all.");
}

TEST_F(gdrive_reads, slides_are_rendered_for_their_notes_and_drawings_are_pictures) {
  hold("1p", "Talk", drive::presentation_type);
  hold("1g", "Draw", drive::drawing_type);
  hold("1c", "Code", drive::script_type);
  paper->put("1p", pptx, "slides");
  paper->put("1g", "image/png", "\x89PNG");
  paper->put("1c", "application/vnd.google-apps.script+json", "{\"files\":[]}");
  const auto drive = serve();
  const auto talk = read(*drive, "gdrive:///1p");
  ASSERT_TRUE(talk) << talk.error().public_text;
  EXPECT_EQ(bytes_of(talk->contents.front()), "text of slides");
  const auto drawing = read(*drive, "gdrive:///1g");
  ASSERT_TRUE(drawing);
  EXPECT_EQ(drawing->contents.front().kind, content_kind::blob);
  EXPECT_EQ(drawing->contents.front().mime_type, "image/png");
  const auto code = read(*drive, "gdrive:///1c");
  ASSERT_TRUE(code);
  EXPECT_EQ(code->contents.front().mime_type, "application/json");
  EXPECT_EQ(bytes_of(code->contents.front()), "{\"files\":[]}");
}

TEST_F(gdrive_reads, pdf_and_office_files_are_text_and_the_file) {
  hold("1a", "Paper.pdf", "application/pdf");
  paper->put("1a", "", "%PDF");
  const auto drive = serve();
  const auto made = read(*drive, "gdrive://my-drive/Paper.pdf");
  ASSERT_TRUE(made) << made.error().public_text;
  ASSERT_EQ(made->contents.size(), 2u);
  EXPECT_EQ(bytes_of(made->contents[0]), "text of %PDF");
  EXPECT_EQ(bytes_of(made->contents[1]), "%PDF");
  EXPECT_EQ(made->contents[1].kind, content_kind::blob);
  EXPECT_EQ(made->contents[1].uri, "gdrive://my-drive/Paper.pdf?format=original");
  const auto again = read(*drive, "gdrive://my-drive/Paper.pdf");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->contents.size(), 2u);
  const auto alone = read(*drive, "gdrive://my-drive/Paper.pdf?format=original");
  ASSERT_TRUE(alone);
  ASSERT_EQ(alone->contents.size(), 1u);
  EXPECT_EQ(bytes_of(alone->contents[0]), "%PDF");
}

TEST_F(gdrive_reads, a_broken_pdf_is_given_as_it_is_and_says_why) {
  hold("1a", "Paper.pdf", "application/pdf");
  paper->put("1a", "", "BROKEN");
  const auto drive = serve();
  const auto made = read(*drive, "gdrive:///1a");
  ASSERT_TRUE(made) << made.error().public_text;
  ASSERT_EQ(made->contents.size(), 1u);
  EXPECT_EQ(made->contents[0].kind, content_kind::blob);
  EXPECT_NE(fact(made->contents[0].metadata, problem_key).find("damaged"), std::string::npos);
}

TEST_F(gdrive_reads, an_export_refused_for_its_size_comes_by_its_link_and_says_so) {
  hold("1d", "Long", drive::document_type);
  paper->put("1d", "text/markdown", "long");
  paper->too_large_to_export.insert("1d");
  const auto drive = serve();
  const auto made = read(*drive, "gdrive:///1d");
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(bytes_of(made->contents.front()), "long");
  EXPECT_EQ(fact(made->contents.front().metadata, export_link_key), "there");
  EXPECT_EQ(paper->count_of("link"), 1u);
}

TEST_F(gdrive_reads, a_form_says_where_to_open_it) {
  hold("1f", "Form", "application/vnd.google-apps.form");
  const auto drive = serve();
  const auto made = read(*drive, "gdrive:///1f");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::unsupported);
  EXPECT_NE(made.error().public_text.find("https://drive.google.com/"), std::string::npos);
}

TEST_F(gdrive_reads, a_file_without_a_size_is_read_and_one_too_large_is_not_asked_for) {
  hold("1a", "unsized.txt", "text/plain");
  paper->put("1a", "", "text");
  auto big = paper_file("1b", "big.bin", "application/octet-stream");
  big.size = 1ull << 40;
  paper->hold(big);
  paper->put("1b", "", "x");
  const auto drive = serve();
  const auto small = read(*drive, "gdrive:///1a");
  ASSERT_TRUE(small);
  EXPECT_EQ(bytes_of(small->contents.front()), "text");
  const auto large = read(*drive, "gdrive:///1b");
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, errc::response_too_large);
  EXPECT_NE(large.error().public_text.find("max_bytes"), std::string::npos);
  EXPECT_EQ(paper->count_of("content"), 1u);
}

TEST_F(gdrive_reads, a_shortcut_gives_what_it_leads_to_with_its_key) {
  auto link = paper_file("1s", "Link", std::string(drive::shortcut_type));
  link.shortcut_target = drive::shortcut{"1x", "text/plain", "0-key"};
  paper->hold(link);
  auto away = paper_file("1x", "Far", "text/plain", "elsewhere");
  away.drive_id = "0Unknown";  // not in the user's list
  paper->hold(away);
  paper->put("1x", "", "far away");
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Link"));
  const auto made = read(*drive, "gdrive://my-drive/Link");
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(bytes_of(made->contents.front()), "far away");
  EXPECT_EQ(fact(made->contents.front().metadata, target_key), "gdrive:///1x");
  EXPECT_EQ(paper->keys, (std::vector<drive::resource_key>{{"1x", "0-key"}}));
}

TEST_F(gdrive_reads, a_shortcut_to_what_is_listed_is_not_listed_and_stands_in_its_folder) {
  hold("1a", "Plan", "text/plain");
  paper->put("1a", "", "plan");
  auto link = paper_file("1s", "Link", std::string(drive::shortcut_type));
  link.shortcut_target = drive::shortcut{"1a", "text/plain", {}};
  paper->hold(link);
  const auto drive = serve();
  EXPECT_FALSE(lists(*drive, "gdrive://my-drive/Link"));
  const auto folder = read(*drive, "gdrive://my-drive");
  ASSERT_TRUE(folder) << folder.error().public_text;
  EXPECT_EQ(bytes_of(folder->contents.front()), "gdrive://my-drive/Link\ngdrive://my-drive/Plan\n");
  EXPECT_TRUE(read(*drive, "gdrive://my-drive/Link"));
}

TEST_F(gdrive_reads, shortcuts_in_a_circle_say_so) {
  auto one = paper_file("1s", "One", std::string(drive::shortcut_type));
  one.shortcut_target = drive::shortcut{"1t", std::string(drive::shortcut_type), {}};
  auto two = paper_file("1t", "Two", std::string(drive::shortcut_type));
  two.shortcut_target = drive::shortcut{"1s", std::string(drive::shortcut_type), {}};
  auto self = paper_file("1u", "Self", std::string(drive::shortcut_type));
  self.shortcut_target = drive::shortcut{"1u", std::string(drive::shortcut_type), {}};
  auto none = paper_file("1v", "None", std::string(drive::shortcut_type));
  none.shortcut_target = drive::shortcut{"../../admin", "text/plain", {}};
  for (const auto& each : {one, two, self, none}) paper->hold(each);
  const auto drive = serve();
  for (const auto* uri : {"gdrive:///1s", "gdrive:///1u"}) {
    const auto made = read(*drive, uri);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, errc::invalid_argument);
    EXPECT_NE(made.error().public_text.find("circle"), std::string::npos);
  }
  EXPECT_FALSE(read(*drive, "gdrive:///1v"));
}

TEST_F(gdrive_reads, an_id_that_is_not_listed_is_asked_for_and_only_where_all_is_served) {
  const auto drive = serve();
  EXPECT_EQ(listed(*drive).size(), 2u);
  auto late = paper_file("1z", "By link", "text/plain", "elsewhere");
  paper->hold(late);
  paper->put("1z", "", "hello");
  const auto made = read(*drive, "gdrive:///1z");
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(bytes_of(made->contents.front()), "hello");
  const auto none = read(*drive, "gdrive:///1nothing");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, errc::source_unavailable) << "or peers would be told nothing of what to do";
  EXPECT_NE(none.error().public_text.find("Share"), std::string::npos);
  auto how = usual();
  how.store_path.clear();
  how.drive_slugs = {"my-drive"};
  const auto narrow = serve(std::move(how));
  EXPECT_FALSE(read(*narrow, "gdrive:///1z"));
}

TEST_F(gdrive_reads, every_refusal_of_drive_reaches_the_reader_with_what_to_do) {
  hold("1a", "Plan", "text/plain");
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Plan"));
  using drive::error_kind;
  for (const auto what :
       {error_kind::forbidden, error_kind::insufficient_scope, error_kind::unauthorized, error_kind::not_enabled,
        error_kind::not_downloadable, error_kind::abusive, error_kind::rate_limited, error_kind::daily_limit, error_kind::gone,
        error_kind::unavailable, error_kind::stalled, error_kind::malformed}) {
    const auto words = "Do this: " + std::string(name_of(what));
    const auto code = what == error_kind::forbidden || what == error_kind::abusive ? errc::access_denied
                      : what == error_kind::gone                                   ? errc::resource_not_found
                                                                                   : errc::source_unavailable;
    paper->refuse("content", refusal(what, code, words));
    const auto made = read(*drive, "gdrive:///1a");
    ASSERT_FALSE(made) << words;
    EXPECT_EQ(made.error().public_text, words);
    EXPECT_EQ(made.error().code, errc::source_unavailable) << "whose text reaches peers";
  }
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Plan")) << "nothing is lost by that";
}

TEST_F(gdrive_reads, what_is_not_there_any_more_goes_from_the_list_at_once) {
  hold("1a", "Plan", "text/plain");
  auto how = usual();
  how.min_interval = how.max_interval = std::chrono::hours(1);
  const auto drive = serve(std::move(how));
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Plan"));
  paper->drop("1a");
  const auto made = read(*drive, "gdrive:///1a");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().public_text, "Share the file.");
  EXPECT_TRUE(becomes([&] { return !lists(*drive, "gdrive://my-drive/Plan"); }));
}

TEST_F(gdrive_reads, a_read_sees_a_newer_version_before_any_poll) {
  hold("1d", "Doc", drive::document_type);
  paper->put("1d", "text/markdown", "old");
  auto how = usual();
  how.min_interval = how.max_interval = std::chrono::hours(1);
  const auto drive = serve(std::move(how));
  EXPECT_EQ(bytes_of(read(*drive, "gdrive:///1d").value().contents.front()), "old");
  auto newer = paper_file("1d", "Doc", std::string(drive::document_type));
  newer.version = "2";
  paper->hold(newer);
  paper->put("1d", "text/markdown", "new");
  ears->forget();
  const auto made = read(*drive, "gdrive:///1d");
  ASSERT_TRUE(made);
  EXPECT_EQ(bytes_of(made->contents.front()), "new");
  EXPECT_EQ(made->version, "2");
  EXPECT_TRUE(ears->await("gdrive://my-drive/Doc"));
  read_request known;
  known.uri = known.requested_uri = "gdrive:///1d";
  known.cached_version = "2";
  const auto same = drive->read(known);
  ASSERT_TRUE(same);
  EXPECT_TRUE(same->contents.empty());
}

TEST_F(gdrive_reads, what_was_read_is_given_with_its_age_while_drive_cannot_be_reached) {
  hold("1d", "Doc", drive::document_type);
  hold("1e", "Unread", drive::document_type);
  paper->put("1d", "text/markdown", "kept");
  const auto drive = serve();
  ASSERT_TRUE(read(*drive, "gdrive:///1d"));
  for (const auto* what : {"changes", "file", "export"})
    paper->refuse(what, refusal(drive::error_kind::unavailable, errc::source_unavailable, "Drive does not answer."));
  const auto made = read(*drive, "gdrive:///1d");
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(bytes_of(made->contents.front()), "kept");
  EXPECT_EQ(fact(made->contents.front().metadata, offline_key), "there");
  EXPECT_EQ(fact(made->contents.front().metadata, age_key), "there");
  EXPECT_EQ(made->version, "") << "or it would be taken for what was read before, and kept with its age";
  read_request known;
  known.uri = known.requested_uri = "gdrive:///1d";
  known.cached_version = "1";
  known.max_bytes = 1u << 20;
  EXPECT_EQ(drive->read(known).value().contents.size(), 1u);
  const auto none = read(*drive, "gdrive:///1e");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().public_text.find("cannot be reached"), std::string::npos);
  paper->refuse("file", refusal(drive::error_kind::unauthorized, errc::unauthorized, "The log-in was revoked."));
  EXPECT_FALSE(read(*drive, "gdrive:///1d")) << "who is not let in any more has nothing of it";
}

TEST_F(gdrive_reads, starred_and_recent_files_are_lists) {
  auto star = paper_file("1a", "A [star]");
  star.is_starred = true;
  paper->hold(star);
  auto late = paper_file("1b", "Late");
  late.modified = drive::time(std::chrono::milliseconds(1'750'000'000'000));
  paper->hold(late);
  const auto drive = serve();
  const auto stars = read(*drive, "gdrive:///starred");
  ASSERT_TRUE(stars) << stars.error().public_text;
  EXPECT_NE(bytes_of(stars->contents.front()).find("- [A \\[star\\]](gdrive://my-drive/A%20%5Bstar%5D)"), std::string::npos)
      << bytes_of(stars->contents.front());
  EXPECT_EQ(bytes_of(stars->contents.front()).find("Late"), std::string::npos);
  const auto recent = read(*drive, "gdrive:///recent");
  ASSERT_TRUE(recent);
  EXPECT_LT(bytes_of(recent->contents.front()).find("Late"), bytes_of(recent->contents.front()).find("star"));
}

TEST_F(gdrive_reads, a_file_without_a_name_is_called_by_its_id_in_lists) {
  paper->hold(paper_file("1a", ""));
  const auto drive = serve();
  const auto recent = read(*drive, "gdrive:///recent");
  ASSERT_TRUE(recent);
  EXPECT_NE(bytes_of(recent->contents.front()).find("- [1a](gdrive://my-drive/~1a)"), std::string::npos)
      << bytes_of(recent->contents.front());
}

TEST_F(gdrive_reads, folders_list_their_children_by_path_and_by_id) {
  paper->hold(paper_folder("f1", "Box"));
  paper->hold(paper_file("1a", "a", "text/plain", "f1"));
  const auto drive = serve();
  for (const auto* uri : {"gdrive://my-drive/Box", "gdrive:///f1"}) {
    children_request request;
    request.uri = uri;
    const auto page = drive->children(request);
    ASSERT_TRUE(page) << page.error().public_text;
    ASSERT_EQ(page->entries.size(), 1u);
    EXPECT_EQ(page->entries.front().uri, "gdrive://my-drive/Box/a");
  }
  children_request top;
  top.uri = "gdrive://";
  const auto drives = drive->children(top);
  ASSERT_TRUE(drives);
  ASSERT_EQ(drives->entries.size(), 4u);
  EXPECT_EQ(drives->entries.front().uri, "gdrive:///recent");
  children_request file;
  file.uri = "gdrive://my-drive/Box/a";
  EXPECT_EQ(drive->children(file).error().code, errc::invalid_argument);
}

TEST_F(gdrive_reads, what_a_caller_may_not_see_has_no_way_round_by_its_id) {
  hold("1a", "Salaries", "text/plain");
  paper->put("1a", "", "secret");
  const auto drive = serve();
  read_request request;
  request.uri = request.requested_uri = "gdrive:///1a";
  request.caller.access_filter = std::make_shared<without_word>("Salaries");
  const auto made = drive->read(request);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::resource_not_found);
  const auto listing = [&](const char* uri) {
    request.uri = request.requested_uri = uri;
    return bytes_of(drive->read(request).value().contents.front());
  };
  EXPECT_EQ(listing("gdrive:///recent").find("Salaries"), std::string::npos);
  EXPECT_EQ(listing("gdrive://my-drive").find("Salaries"), std::string::npos);
  complete_request completion;
  completion.uri_template = "gdrive://{drive}/{+path}{?format}";
  completion.argument = "path";
  completion.caller.access_filter = request.caller.access_filter;
  EXPECT_TRUE(drive->complete(completion).value().values.empty());
}

TEST_F(gdrive_reads, drives_paths_sheets_and_ids_are_completed) {
  paper->hold(paper_folder("f1", "報告"));
  paper->hold(paper_file("1a", "a/b 100%.txt", "text/plain", "f1"));
  hold("1s", "Book", drive::spreadsheet_type);
  paper->put("1s", xlsx, "Q1=a\nQ2=b\n");
  const auto drive = serve();
  ASSERT_TRUE(read(*drive, "gdrive:///1s"));
  EXPECT_TRUE(becomes([&] { return lists(*drive, "gdrive://my-drive/Book?sheet=Q2"); }));
  const auto completed = [&](const std::string& of, const std::string& argument, const std::string& typed,
                             std::vector<std::pair<std::string, std::string>> context = {}) {
    complete_request request;
    request.uri_template = of;
    request.argument = argument;
    request.value = typed;
    request.context = std::move(context);
    return drive->complete(request).value().values;
  };
  const std::string by_path = "gdrive://{drive}/{+path}{?sheet}";
  EXPECT_EQ(completed(by_path, "drive", "my"), std::vector<std::string>{"my-drive"});
  EXPECT_EQ(completed(by_path, "path", "報告/a", {{"drive", "my-drive"}}), std::vector<std::string>{"報告/a%2Fb 100%25.txt"});
  EXPECT_EQ(completed(by_path, "sheet", "", {{"drive", "my-drive"}, {"path", "Book"}}), (std::vector<std::string>{"Q1", "Q2"}));
  EXPECT_EQ(completed("gdrive:///{id}", "id", "Book"), std::vector<std::string>{"1s"});
}

TEST_F(gdrive_reads, entries_say_who_owns_a_file_and_where_it_is_on_the_web) {
  auto one = paper_file("1a", "Plan");
  one.owners = {{"Ann", "ann@example.com"}};
  one.size = 12;
  one.is_starred = true;
  paper->hold(one);
  auto odd = paper_file("1b", "Odd");
  odd.web_link = "javascript:alert(1)";
  odd.owners = {{"Ann", "ann@example.com"}, {"", ""}, {"花子", ""}, {"ceo＠example.com", ""}, {"x, ceo@example.com", ""}};
  paper->hold(odd);
  const auto drive = serve();
  ASSERT_TRUE(lists(*drive, "gdrive://my-drive/Plan"));
  describe_request request;
  request.uri = "gdrive://my-drive/Plan";
  const auto entry = drive->describe(request);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->size, 12u);
  EXPECT_EQ(fact(entry->metadata, "dev.hondana/owner"), "ann@example.com");
  EXPECT_EQ(fact(entry->metadata, link_key), "https://drive.google.com/file/d/1a/view");
  EXPECT_EQ(entry->annotations.priority, 0.7 - 0.1);
  request.uri = "gdrive:///1b";
  EXPECT_EQ(fact(drive->describe(request).value().metadata, link_key), "");
  EXPECT_EQ(fact(drive->describe(request).value().metadata, "dev.hondana/owner"), "ann@example.com, 花子");
}

}  // namespace
}  // namespace hondana::gdrive
