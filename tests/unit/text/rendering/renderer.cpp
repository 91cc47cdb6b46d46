/// Documents rendered by confined children.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <zlib.h>

#include <hondana/clock.hpp>

#include "deadline.hpp"
#include "text/rendering/poppler.hpp"
#include "text/rendering/render_protocol.hpp"
#include "text/rendering/renderer.hpp"
#include "unit/text/rendering/files.hpp"

namespace hondana::rendering {
namespace {

using namespace hondana_test;
using namespace std::chrono_literals;
using clock = monotonic_clock;

result<document> rendered(format what, std::string_view file, const limits& most = {.max_time = event_deadline}) {
  const auto input = file_of(file);
  EXPECT_GE(::lseek(input.get(), 1, SEEK_SET), 0);  // any offset will do
  return renderer::make(HONDANA_RENDERING_CHILD)->render(what, input.get(), most, {}, clock::now() + event_deadline);
}

errc rendering_error(format what, std::string_view file, const limits& most = {.max_time = event_deadline}) {
  const auto made = rendered(what, file, most);
  return made ? errc{} : made.error().code;
}

std::string show(std::string_view font, std::string_view text, int x = 72, int y = 700) {
  return "BT /" + std::string(font) + " 12 Tf " + std::to_string(x) + ' ' + std::to_string(y) + " Td " + std::string(text) +
         " Tj ET ";
}

TEST(renderer, office_files_become_text) {
  const auto made = rendered(format::docx, docx("<w:p><w:r><w:t>こんにちは</w:t></w:r></w:p>"));
  ASSERT_TRUE(made) << made.error().public_text << made.error().private_text;
  EXPECT_EQ(made->text, "こんにちは\n");
}

TEST(renderer, pdf_becomes_text_with_pages_and_facts) {
  const auto made =
      rendered(format::pdf, pdf_pages({show("F1", "(Hello)") + show("F2", "<93fa967b8cea>", 72, 600), show("F1", "(Two)")},
                                      "/Title<FEFF984C540D>/Author(A. Writer)"));
  ASSERT_TRUE(made) << made.error().public_text << made.error().private_text;
  EXPECT_EQ(made->text, "Hello\n\n日本語\n\n\fTwo\n\n\f");
  EXPECT_EQ(made->title, "題名");
  EXPECT_EQ(made->author, "A. Writer");
  EXPECT_EQ(made->pages, 2u);
  EXPECT_FALSE(made->is_truncated);
}

TEST(renderer, vertical_japanese_is_read_down_and_then_to_the_left) {
  const auto made = rendered(
      format::pdf, pdf_pages({show("F3", "<93fa967b8cea82cc>", 500, 700) + show("F3", "<8f6382ab95b68e9a>", 480, 700)}));
  ASSERT_TRUE(made) << made.error().public_text;
  const auto right = made->text.find("日本語の");
  const auto left = made->text.find("縦き文字");
  EXPECT_NE(right, std::string::npos) << made->text;
  EXPECT_NE(left, std::string::npos) << made->text;
  EXPECT_LT(right, left) << made->text;
}

TEST(renderer, two_columns_are_read_one_after_the_other) {
  std::string page;
  for (int i = 0; i < 8; ++i) {
    page += show("F1", "(left column line " + std::to_string(i) + " of the text here)", 50, 700 - 14 * i);
    page += show("F1", "(right column line " + std::to_string(i) + " of the text here)", 330, 700 - 14 * i);
  }
  const auto made = rendered(format::pdf, pdf_pages({page}));
  ASSERT_TRUE(made);
  EXPECT_LT(made->text.find("left column line 7"), made->text.find("right column line 0")) << made->text;
}

TEST(renderer, an_encrypted_pdf_is_denied) {
  // The standard security handler with 40 bits, whose user password is not the empty one.
  const std::string key(64, 'a');
  const auto file = pdf({"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[]/Count 0>>",
                         "<</Filter/Standard/V 1/R 2/P -4/O<" + key + ">/U<" + key + ">>>"},
                        "/Encrypt 3 0 R/ID[<00><00>]");
  EXPECT_EQ(rendering_error(format::pdf, file), errc::access_denied);
}

TEST(renderer, garbage_is_no_pdf) {
  EXPECT_EQ(rendering_error(format::pdf, ""), errc::invalid_argument);
  EXPECT_EQ(rendering_error(format::pdf, std::string(10'000, '\xff')), errc::invalid_argument);
  EXPECT_EQ(rendering_error(format::pdf, docx("<w:p/>")), errc::invalid_argument);
  EXPECT_EQ(rendering_error(format::docx, pdf_pages({show("F1", "(x)")})), errc::invalid_argument);
}

TEST(renderer, a_truncated_pdf_is_rendered_as_far_as_it_goes_or_refused) {
  const auto whole = pdf_pages({show("F1", "(Hello)"), show("F1", "(Two)")});
  for (const auto size : {whole.size() / 4, whole.size() / 2, whole.size() - 10}) {
    const auto made = rendered(format::pdf, std::string_view(whole).substr(0, size));
    EXPECT_TRUE(made || made.error().code == errc::invalid_argument) << made.error().public_text;
  }
}

TEST(renderer, loops_in_a_pdf_end) {
  const auto pages = [](const std::string& count) {
    return pdf({"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[2 0 R 2 0 R]/Count " + count + ">>"});
  };
  EXPECT_EQ(rendering_error(format::pdf, pages("1000000")), errc::invalid_argument);
  const auto empty = rendered(format::pdf, pages("2"));
  ASSERT_TRUE(empty) << empty.error().public_text;
  EXPECT_EQ(empty->text, "");
  auto tables = pdf_pages({show("F1", "(x)")});
  const auto at = tables.rfind("trailer\n<<");
  const auto where = tables.rfind("startxref\n");
  tables.insert(at + 10, "/Prev " + tables.substr(where + 10, tables.find('\n', where + 10) - where - 10));
  const auto made = rendered(format::pdf, tables);
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(made->text, "x\n\n\f");
}

TEST(renderer, ten_thousand_pages_are_cut) {
  const std::vector<std::string> pages(10'000, show("F1", "(p)"));
  const auto made = rendered(format::pdf, pdf_pages(pages), {.max_time = event_deadline});
  ASSERT_TRUE(made) << made.error().public_text << made.error().private_text;
  EXPECT_EQ(made->pages, 10'000u);
  EXPECT_TRUE(made->is_truncated);
  EXPECT_EQ(std::count(made->text.begin(), made->text.end(), '\f'), 5'000);
}

TEST(renderer, more_text_than_is_wanted_is_cut) {
  std::string page;
  for (int i = 0; i < 40; ++i) page += show("F1", "(many words on this line of the page)", 72, 750 - 15 * i);
  const auto made = rendered(format::pdf, pdf_pages({page, page}), {.max_time = event_deadline, .max_output_bytes = 1000});
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_TRUE(made->is_truncated);
  EXPECT_EQ(made->text.size(), 1000u);
}

TEST(renderer, a_bomb_in_a_stream_meets_a_limit) {
  std::string content = show("F1", "(x)");
  content.reserve(200u << 20);
  while (content.size() < (200u << 20)) content += "BT /F1 12 Tf 1 1 Td (x) Tj ET ";
  std::string packed(::compressBound(content.size()), '\0');
  auto size = static_cast<uLongf>(packed.size());
  ::compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(content.data()), content.size(),
              1);
  packed.resize(size);
  const auto file = pdf({"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
                         "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
                         pdf_stream(packed, "/Filter/FlateDecode"), "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"});
  const auto code =
      rendering_error(format::pdf, file, {.max_time = 3s, .max_memory_bytes = 256u << 20, .max_output_bytes = 1u << 20});
  EXPECT_TRUE(code == errc::timed_out || code == errc::response_too_large) << name_of(code);
}

TEST(renderer, a_bomb_in_an_office_file_is_refused) {
  const auto bomb = docx("<w:p>" + std::string(100u << 20, ' ') + "</w:p>");
  EXPECT_EQ(rendering_error(format::docx, bomb), errc::response_too_large);
}

TEST(renderer, gives_up_at_the_deadline_and_when_nobody_waits) {
  const auto input = file_of(pdf_pages({show("F1", "(x)")}));
  const auto by = renderer::make(HONDANA_RENDERING_CHILD);
  const auto late = by->render(format::pdf, input.get(), {}, {}, clock::now() - 1s);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, errc::timed_out);
  std::stop_source source;
  source.request_stop();
  const auto stopped = by->render(format::pdf, input.get(), {}, source.get_token(), clock::now() + event_deadline);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, errc::cancelled);
}

TEST(renderer, renders_several_at_once) {
  const auto by = renderer::make(HONDANA_RENDERING_CHILD, 2);
  std::vector<std::future<result<document>>> all;
  all.reserve(6);
  for (int i = 0; i < 6; ++i) {
    all.push_back(std::async(std::launch::async, [&by, i] {
      const auto input = file_of(docx("<w:p><w:r><w:t>" + std::to_string(i) + "</w:t></w:r></w:p>"));
      return by->render(format::docx, input.get(), {.max_time = event_deadline}, {}, clock::now() + event_deadline);
    }));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto made = all[i].get();
    ASSERT_TRUE(made) << made.error().public_text;
    EXPECT_EQ(made->text, std::to_string(i) + '\n');
  }
}

TEST(renderer, says_what_is_missing) {
  const auto absent = renderer::make("/no/such/hondana");
  EXPECT_NE(absent->missing_for(format::docx), "");
  const auto input = file_of("x");
  const auto made = absent->render(format::docx, input.get(), {}, {}, clock::now() + event_deadline);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::unsupported);
  const auto present = renderer::make(HONDANA_RENDERING_CHILD);
  EXPECT_EQ(present->missing_for(format::docx), "");
  EXPECT_EQ(present->missing_for(format::pdf), "");
  EXPECT_EQ(present->commands().size(), 9u);
  EXPECT_EQ(present->commands().front(), (std::vector<std::string>{HONDANA_RENDERING_CHILD, "render-document", "pdf"}));
}

TEST(formats, are_known_by_type_and_else_by_name) {
  EXPECT_EQ(detect_format("application/pdf", "a.docx"), format::pdf);
  EXPECT_EQ(detect_format("Application/PDF; x=y", ""), format::pdf);
  EXPECT_EQ(detect_format("application/octet-stream", "報告.XLSX"), format::xlsx);
  EXPECT_EQ(detect_format("", "a.odp"), format::odp);
  EXPECT_FALSE(detect_format("text/plain", "pdf"));
  EXPECT_FALSE(detect_format("text/plain", "a.doc"));
}

TEST(pdf_facts, are_taken_from_lines) {
  const auto made =
      parse_pdf_info("Title:          A\x01 title\nPages: 99\nAuthor:\nPages:          3\nPages: x\nEncrypted: no\n");
  EXPECT_EQ(made.title, "A title");
  EXPECT_EQ(made.author, "");
  EXPECT_EQ(made.pages, 3u);
}

TEST(child_heads, are_read_as_they_were_written) {
  const child_head one{.properties = {.title = "a\"\n題", .author = "b", .language = "ja", .pages = 7, .is_truncated = true},
                       .missing_confinement = "much"};
  auto line = to_line(one);
  line.pop_back();
  EXPECT_EQ(line.find('\n'), std::string::npos);
  std::string lacks;
  const auto read = parse_head(line, lacks);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->properties.title, one.properties.title);
  EXPECT_EQ(read->properties.language, "ja");
  EXPECT_EQ(read->properties.pages, 7u);
  EXPECT_TRUE(read->properties.is_truncated);
  EXPECT_EQ(lacks, "much");
  auto wrong = to_line(failure{errc::access_denied, "encrypted", "why"}, "little");
  wrong.pop_back();
  const auto refused = parse_head(wrong, lacks);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::access_denied);
  EXPECT_EQ(lacks, "little");
  for (const auto* bad : {"", "x", "[]", "{\"error\":\"no_such\"}", "{\"pages\":-1"}) {
    const auto none = parse_head(bad, lacks);
    ASSERT_FALSE(none) << bad;
    EXPECT_EQ(none.error().code, errc::source_unavailable);
  }
}

}  // namespace
}  // namespace hondana::rendering
