/// A PDF and Office files served by the real program: rendered under the sandbox, read as text and as files, and found.
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json/serialize.hpp>

#include "program/folder.hpp"
#include "program/http_client.hpp"
#include "program/messages.hpp"
#include "program/process.hpp"
#include "program/served.hpp"
#include "unit/text/rendering/documents.hpp"

namespace {

using program_test::failed;
using program_test::folder;
using program_test::http_client;
using program_test::message;
using program_test::misused;
using program_test::output_to;
using program_test::read_request;
using program_test::run;
using program_test::served;
using program_test::well;

bool has_poppler() { return ::access("/usr/bin/pdftotext", X_OK) == 0 && ::access("/usr/bin/pdfinfo", X_OK) == 0; }
#define NEEDS_POPPLER() \
  if (!has_poppler()) GTEST_SKIP() << "pdftotext and pdfinfo are not here; install poppler-utils"

// Put together, so that this file has none.
const std::string token = std::string("gh") + "p_" + "16C7e42F292c6912E7710c838347Ae178B4a";

std::string paragraph(std::string_view text) { return "<w:p><w:r><w:t>" + std::string(text) + "</w:t></w:r></w:p>"; }

std::string pdf_with(std::string_view words) {
  return hondana_test::pdf_pages({"BT /F1 8 Tf 72 700 Td (" + std::string(words) + ") Tj ET"}, "/Title(Manual of pumps)");
}

/// A shelf of one document of each kind.
struct document_shelf {
  folder what;
  std::string word = hondana_test::docx(paragraph("The valve is closed by hand."));
  std::string sheet =
      hondana_test::xlsx("<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>Gasket</t></is></c><c r=\"B1\"><v>42</v></c></row>");
  std::string slides =
      hondana_test::pptx({"<p:sp><p:txBody><a:p><a:r><a:t>Flange of the turbine</a:t></a:r></a:p></p:txBody></p:sp>"});
  std::string pages = pdf_with("Impeller of the pump");

  document_shelf() {
    what.put("docs/word.docx", word);
    what.put("docs/sheet.xlsx", sheet);
    what.put("docs/slides.pptx", slides);
    what.put("docs/pages.pdf", pages);
    what.put("shelf.toml",
             "[search]\npath = \"kept/index.db\"\ntokenizer = \"trigrams\"\n[[source]]\ntype = \"docs\"\nname = \"d\"\npath = "
             "\"docs\"\n");
  }
  [[nodiscard]] std::string config() const { return what.path("shelf.toml"); }
  [[nodiscard]] std::vector<std::string> by_stdio(std::vector<std::string> command) const {
    for (const auto* one : {"--", HONDANA_PROGRAM, "stdio", "--config"}) command.emplace_back(one);
    command.push_back(config());
    return command;
  }
};

struct kind {
  const char* name;
  const char* word;
  const std::string document_shelf::* file;
};
const kind kinds[]{{"word.docx", "valve", &document_shelf::word},
                   {"sheet.xlsx", "Gasket", &document_shelf::sheet},
                   {"slides.pptx", "turbine", &document_shelf::slides},
                   {"pages.pdf", "Impeller", &document_shelf::pages}};

TEST(program_documents, of_each_kind_are_text_over_http_and_the_file_beside_it) {
  NEEDS_POPPLER();
  const document_shelf all;
  const served server({"--config", all.config()});
  http_client by(server.port());
  for (const auto& one : kinds) {
    const auto uri = std::string("docs://d/") + one.name;
    const auto answer = message(by.post(read_request(1, uri), "resources/read", uri));
    ASSERT_TRUE(answer.contains("result")) << boost::json::serialize(answer);
    const auto& contents = answer.at("result").at("contents").as_array();
    ASSERT_EQ(contents.size(), 2u) << boost::json::serialize(answer);
    EXPECT_NE(std::string(contents[0].at("text").as_string()).find(one.word), std::string::npos) << contents[0];
    EXPECT_EQ(contents[1].at("uri").as_string(), uri + "?format=original");
    const auto file = run({"read", uri, "--original", "--on", server.url()});
    EXPECT_EQ(file.how, well) << file.errors;
    EXPECT_EQ(file.output, all.*one.file) << one.name;
  }
}

TEST(program_documents, of_each_kind_are_read_and_found_over_stdio) {
  NEEDS_POPPLER();
  const document_shelf all;
  for (const auto& one : kinds) {
    const auto uri = std::string("docs://d/") + one.name;
    const auto text = run(all.by_stdio({"read", uri}));
    EXPECT_EQ(text.how, well) << text.errors;
    EXPECT_NE(text.output.find(one.word), std::string::npos) << text.output;
    // The file comes along, and is left out.
    EXPECT_EQ(text.output.find(all.*one.file), std::string::npos);
    EXPECT_NE(text.errors.find("--original writes it"), std::string::npos) << text.errors;
    const auto file = run(all.by_stdio({"read", uri, "--original"}));
    EXPECT_EQ(file.output, all.*one.file) << file.errors;
    // The index is waited for, however new it is.
    const auto found = run(all.by_stdio({"search", one.word}));
    EXPECT_EQ(found.how, well) << found.errors;
    EXPECT_NE(found.output.find(uri), std::string::npos) << found.output << found.errors;
    EXPECT_EQ(found.errors.find("not everything"), std::string::npos) << found.errors;
  }
}

TEST(program_documents, are_no_bytes_for_a_terminal) {
  NEEDS_POPPLER();
  const document_shelf all;
  const auto text = run(all.by_stdio({"read", "docs://d/word.docx"}), output_to::terminal);
  EXPECT_EQ(text.how, well) << text.errors;
  EXPECT_EQ(text.output.find("PK"), std::string::npos) << text.output;
  const auto file = run(all.by_stdio({"read", "docs://d/word.docx", "--original"}), output_to::terminal);
  EXPECT_EQ(file.how, misused);
  EXPECT_EQ(file.output.find("PK"), std::string::npos) << file.output;
  EXPECT_EQ(run(all.by_stdio({"read", "search:///", "--original"})).how, misused);
}

TEST(program_documents, with_secrets_in_their_text_are_given_as_masked_text_alone) {
  NEEDS_POPPLER();
  const document_shelf all;
  all.what.put("docs/secret.docx", hondana_test::docx(paragraph("The token is " + token)));
  all.what.put("docs/secret.pdf", pdf_with("The token is " + token));
  for (const auto* name : {"secret.docx", "secret.pdf"}) {
    const auto uri = std::string("docs://d/") + name;
    const auto text = run(all.by_stdio({"read", uri, "--json"}));
    EXPECT_EQ(text.how, well) << text.errors;
    EXPECT_NE(text.output.find("The token is"), std::string::npos) << text.output;
    EXPECT_EQ(text.output.find(token), std::string::npos) << text.output;
    EXPECT_EQ(text.output.find("\"blob\""), std::string::npos) << text.output;
    EXPECT_NE(text.output.find("dev.hondana/originalWithheld"), std::string::npos) << text.output;
    const auto file = run(all.by_stdio({"read", uri, "--original"}));
    EXPECT_EQ(file.how, failed) << file.errors;
    EXPECT_EQ(file.errors.find("list all."), std::string::npos) << file.errors;
    EXPECT_EQ(file.output, "");
    EXPECT_NE(file.errors.find("is withheld, because it may contain secrets"), std::string::npos) << file.errors;
  }
}

TEST(program_documents, that_are_damaged_are_an_error_and_those_that_are_not_there_are_not_found) {
  const document_shelf all;
  all.what.put("docs/damaged.docx", "PK\x03\x04 and no more");
  const auto damaged = run(all.by_stdio({"read", "docs://d/damaged.docx"}));
  EXPECT_EQ(damaged.how, failed) << damaged.errors;
  EXPECT_EQ(damaged.errors.find("list all."), std::string::npos) << damaged.errors;
  EXPECT_EQ(run(all.by_stdio({"read", "docs://d/none.docx"})).how, program_test::not_found);
  // What is wrong with the file, whatever part of it is asked for, and what is wrong with the line.
  EXPECT_EQ(run(all.by_stdio({"read", "docs://d/damaged.docx?section=Valves"})).how, failed);
  for (const auto* query : {"?format=picture", "?pages=x", "?pages=7", "?section=a&format=json"}) {
    const auto wrong = run(all.by_stdio({"read", "docs://d/word.docx" + std::string(query)}));
    EXPECT_EQ(wrong.how, misused) << query << ": " << wrong.errors;
  }
  EXPECT_EQ(run(all.by_stdio({"read", "docs://d/word.docx?section=Nowhere"})).how, not_found);
}

TEST(program_documents, with_a_secret_in_a_header_are_given_as_text_alone) {
  const document_shelf all;
  const std::string relations =
      "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"r1\" "
      "Type=\"x/header\" "
      "Target=\"header1.xml\"/></Relationships>";
  const auto with_header = [&](std::string_view words) {
    return hondana_test::docx(
        paragraph("Body"),
        {{"word/_rels/footnotes.xml.rels", relations},
         {"word/header1.xml",
          "<w:hdr xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\">" + paragraph(words) + "</w:hdr>"}});
  };
  all.what.put("docs/secret.docx", with_header("Key " + token));
  const auto good = with_header("Chapter one");
  all.what.put("docs/good.docx", good);
  EXPECT_EQ(run(all.by_stdio({"read", "docs://d/secret.docx"})).output, "Body\n");
  const auto file = run(all.by_stdio({"read", "docs://d/secret.docx", "--original"}));
  EXPECT_EQ(file.how, failed);
  EXPECT_EQ(file.output, "");
  EXPECT_NE(file.errors.find("headers"), std::string::npos) << file.errors;
  EXPECT_EQ(run(all.by_stdio({"read", "docs://d/good.docx", "--original"})).output, good);
}

TEST(program_read, writes_all_contents_of_servers_that_give_several) {
  const std::string script =
      R"(while read -r line; do
id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
[ -n "$id" ] || continue
case $line in
*'"initialize"'*) r='"result":{"protocolVersion":"2025-06-18","capabilities":{"resources":{}},"serverInfo":{"name":"x","version":"1"}}';;
*'"resources/read"'*) r='"result":{"contents":[{"uri":"memo:///a","text":"caption"},{"uri":"memo:///a?format=original","blob":"cGljdHVyZQ=="}]}';;
*) r='"error":{"code":-32601,"message":"no"}';;
esac
printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$r"
done)";
  const auto got = run({"read", "memo:///a", "--", "/bin/sh", "-c", script});
  EXPECT_EQ(got.how, well) << got.errors;
  EXPECT_EQ(got.output, "captionpicture") << got.errors;
}

TEST(program_search, is_refused_with_the_reason_for_what_cannot_be_searched_for) {
  const document_shelf all;
  const auto none = run(all.by_stdio({"search", "  "}));
  EXPECT_EQ(none.how, misused);
  EXPECT_NE(none.errors.find("Give words to search for"), std::string::npos) << none.errors;
  const auto wrong = run(all.by_stdio({"search", "valve", "--since", "yesterday", "--wait", "0"}));
  EXPECT_EQ(wrong.how, misused) << wrong.errors;
  EXPECT_EQ(wrong.output, "");
  EXPECT_NE(wrong.errors.find("modifiedSince"), std::string::npos) << wrong.errors;
  EXPECT_EQ(wrong.errors.find("hondana ls"), std::string::npos) << wrong.errors;
  for (const auto* query : {"?q=x&limit=99", "?q=", "?wait=now", "?limit=3", "?q=x&colour=red"}) {
    const auto read = run(all.by_stdio({"read", "search:///" + std::string(query)}));
    EXPECT_EQ(read.how, misused) << query << ": " << read.errors;
  }
  const auto of_index = run({"search", "valve", "--lang", "ja", "--on", all.what.path("docs")});
  EXPECT_EQ(of_index.how, misused) << of_index.errors;
  EXPECT_NE(of_index.errors.find("--lang needs a search index"), std::string::npos) << of_index.errors;
  const auto without = run({"search", "valve", "--", HONDANA_PROGRAM, "stdio", "--no-tools", all.what.path("docs")});
  EXPECT_EQ(without.how, program_test::not_found) << without.errors;
  EXPECT_NE(without.errors.find("no index and no tool"), std::string::npos) << without.errors;
}

TEST(program_search, shows_the_title_that_a_pdf_has_also_before_a_new_server_has_rendered_it) {
  NEEDS_POPPLER();
  const document_shelf all;
  for (int start = 0; start < 2; ++start) {
    const auto got = run(all.by_stdio({"search", "impeller", "-n", "1", "--json"}));
    EXPECT_EQ(got.how, well) << got.errors;
    EXPECT_NE(got.output.find("\"title\":\"Manual of pumps\""), std::string::npos) << start << ": " << got.output << got.errors;
  }
}

TEST(program_search, that_finds_nothing_says_so_to_people_and_gives_an_empty_list) {
  const document_shelf all;
  all.what.put("docs/a.md", "# Backup\n\nHow to restore a backup.\n");
  const auto none = run(all.by_stdio({"search", "zyzzyva", "--json"}));
  EXPECT_EQ(none.how, well) << none.errors;
  EXPECT_NE(none.output.find("\"results\":[]"), std::string::npos) << none.output;
  EXPECT_NE(none.output.find("\"isComplete\":true"), std::string::npos) << none.output;
  const auto of_nobody = run(all.by_stdio({"search", "backup", "--owner", "ann@example.com", "--json"}));
  EXPECT_EQ(of_nobody.how, well) << of_nobody.errors;
  EXPECT_NE(of_nobody.output.find("\"results\":[]"), std::string::npos) << "no list says whose the manual is";
  const auto shown = run(all.by_stdio({"search", "zyzzyva"}), output_to::terminal);
  EXPECT_NE(shown.errors.find("nothing was found"), std::string::npos) << shown.errors;
}

TEST(program_check, names_the_line_of_what_of_search_cannot_work_here) {
  const folder what;
  what.put("docs/a.md", "# A\n");
  what.put("in-the-way", "x");
  const std::string source = "[[source]]\ntype = \"docs\"\nname = \"d\"\npath = \"docs\"\n";
  struct wrong_line {
    std::string search;
    std::string said;
  };
  const wrong_line all[]{
      {"path = \"in-the-way/index.db\"", ":3: search.path: "},
      {"path = \"docs\"", ":3: search.path: "},
      {"dictionary = \"no-such-folder\"", ":3: search.dictionary: the folder"},
      {"tokenizer = \"mecab\"\ndictionary = \"docs\"", ":4: search.dictionary: "},
      {"wrds = \"auto\"", ":3: search.wrds: "},
      {"[search.embeddings]\nurl = \"localhost:11434\"\nmodel = \"m\"", ":4: search.embeddings.url: "},
      {"[search.embeddings]\nurl = \"http://u:p@localhost/v1\"\nmodel = \"m\"", ":4: search.embeddings.url: "},
      {"[search.embeddings]\nurl = \"http://localhost/v1\"\nmodel = \"m\"\nbearer_file = \"none\"",
       ":6: search.embeddings.bearer_file: "}};
  for (const auto& one : all) {
    what.put("shelf.toml", "# line 1\n[search]\n" + one.search + "\n" + source);
    for (const auto* command : {"check", "stdio"}) {
      const auto got = run({command, "--config", what.path("shelf.toml")});
      EXPECT_EQ(got.how, misused) << command << ' ' << one.search << '\n' << got.output << got.errors;
      EXPECT_NE(got.errors.find("shelf.toml" + one.said), std::string::npos) << command << ' ' << one.search << '\n'
                                                                             << got.errors;
    }
  }
}

TEST(program_check, names_the_line_of_a_source_that_cannot_be_listed) {
  const folder what;
  what.put("docs/.hondana-docs.toml", "[[rule]]\nmatch = 7\n");
  what.put("shelf.toml", "# line 1\n[[source]]\ntype = \"docs\"\nname = \"d\"\npath = \"docs\"\n");
  const auto got = run({"check", "--config", what.path("shelf.toml")});
  EXPECT_EQ(got.how, failed) << got.errors;
  EXPECT_NE(got.errors.find("shelf.toml:2: The rules file of the documents is invalid"), std::string::npos) << got.errors;
}

TEST(program_check, says_of_another_programs_file_what_a_server_says_and_neither_leaves_anything_beside_it) {
  const folder what;
  what.put("docs/a.md", "# A\n");
  what.put("theirs/diary.txt", "Dear diary, nothing happened today.");
  what.put("shelf.toml", "[search]\npath = \"theirs/diary.txt\"\n[[source]]\ntype = \"docs\"\npath = \"docs\"\n");
  const auto checked = run({"check", "--config", what.path("shelf.toml")});
  const auto served = run({"stdio", "--config", what.path("shelf.toml")});
  EXPECT_EQ(checked.how, misused) << checked.errors;
  EXPECT_EQ(served.how, misused) << served.errors;
  EXPECT_NE(checked.errors.find("shelf.toml:2: search.path: cannot store the search index in " + what.path("theirs/diary.txt") +
                                ": it is not an SQLite file; give another path, or move that file away\n"),
            std::string::npos)
      << checked.errors;
  EXPECT_EQ(served.errors, checked.errors);
  const std::filesystem::directory_iterator all(what.path("theirs"));
  EXPECT_EQ(std::distance(begin(all), end(all)), 1);
}

TEST(program_check, warns_of_prefixes_and_rules_that_keep_the_index_from_being_any_good) {
  const folder what;
  what.put("docs/a.md", "# A\n");
  what.put("shelf.toml",
           "[search]\ninclude = [\"docs://e/\"]\n[[source]]\ntype = \"docs\"\nname = \"d\"\npath = \"docs\"\n"
           "[[access.rule]]\nuris = [\"docs://d\"]\nallow = [\"list\", \"read\"]\n[[access.rule]]\npatterns = "
           "[\"docs://**?format=original\"]\ndeny = true\n");
  const auto got = run({"check", "--config", what.path("shelf.toml")});
  EXPECT_EQ(got.how, well) << got.errors;
  EXPECT_NE(got.errors.find("shelf.toml:2: search.include: docs://e/ is not below any source"), std::string::npos)
      << got.errors;
  EXPECT_NE(got.errors.find("shelf.toml:1: search: access rules let only \"local\" read search:///"), std::string::npos)
      << got.errors;
  EXPECT_EQ(got.errors.find("matches no resource"), std::string::npos) << got.errors;
}

TEST(program_check, says_how_words_are_cut_and_why_a_file_has_no_text) {
  const document_shelf all;
  all.what.put(
      "shelf.toml",
      "[search]\ntokenizer = \"trigrams\"\n[[source]]\ntype = \"docs\"\nname = \"d\"\npath = \"docs\"\nrender = false\n");
  const auto got = run({"check", "--config", all.config()});
  EXPECT_EQ(got.how, well) << got.errors;
  EXPECT_NE(got.output.find("  words by runs of three characters"), std::string::npos) << got.output;
  EXPECT_NE(got.output.find("its text is not served: render = false"), std::string::npos) << got.output;
  const auto as_json = run({"check", "--json", "--config", all.config()});
  EXPECT_NE(as_json.output.find("{\"tokenizer\":{\"name\":\"runs of three characters"), std::string::npos) << as_json.output;
}

}  // namespace
