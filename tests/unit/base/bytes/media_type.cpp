/// Types that content belies, and content that browsers run.
#include "base/bytes/media_type.hpp"

#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace {

using namespace hondana;
using namespace std::string_view_literals;
using bytes::active_content;

struct sample {
  std::string_view type;
  std::string_view front;
};

// Written here once more, and not taken from the table under test.
constexpr sample samples[]{
    {"image/png", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR"sv},
    {"image/jpeg", "\xff\xd8\xff\xe0\0\x10JFIF"sv},
    {"image/gif", "GIF89a\1\0\1\0\x80\0"sv},
    {"image/gif", "GIF87a\1\0\1\0\x80\0"sv},
    {"image/webp", "RIFF\x24\0\0\0WEBPVP8 "sv},
    {"image/tiff", "II*\0\x08\0\0\0"sv},
    {"image/avif",
     "\0\0\0\x1c"
     "ftypavif\0\0\0\0"sv},
    {"image/heic",
     "\0\0\0\x1c"
     "ftypheic\0\0\0\0"sv},
    {"video/mp4",
     "\0\0\0\x18"
     "ftypisom\0\0\2\0"sv},
    {"audio/mp4",
     "\0\0\0\x18"
     "ftypM4A \0\0\2\0"sv},
    {"video/x-matroska", "\x1a\x45\xdf\xa3\x01\0"sv},
    {"audio/wav", "RIFF\x24\0\0\0WAVEfmt "sv},
    {"video/x-msvideo", "RIFF\x24\0\0\0AVI LIST"sv},
    {"audio/ogg", "OggS\0\2\0"sv},
    {"audio/flac", "fLaC\0\0\0\x22"sv},
    {"font/woff2", "wOF2\0\1\0\0"sv},
    {"font/woff", "wOFF\0\1\0\0"sv},
    {"font/otf", "OTTO\0\x0b"sv},
    {"application/pdf", "%PDF-1.7\n%\xe2\xe3\xcf\xd3"sv},
    {"application/zip", "PK\3\4\x14\0"sv},
    {"application/gzip", "\x1f\x8b\x08\0"sv},
    {"application/x-bzip2", "BZh91AY&SY"sv},
    {"application/x-xz",
     "\xfd"
     "7zXZ\0\0"sv},
    {"application/zstd", "\x28\xb5\x2f\xfd\4"sv},
    {"application/x-7z-compressed", "7z\xbc\xaf\x27\x1c\0\4"sv},
    {"application/vnd.rar", "Rar!\x1a\7\1\0"sv},
    {"application/vnd.sqlite3", "SQLite format 3\0\x10"sv},
    {"application/wasm", "\0asm\1\0\0\0"sv},
    {"application/x-executable",
     "\x7f"
     "ELF\2\1\1\0"sv},
    {"application/java-vm", "\xca\xfe\xba\xbe\0\0"sv},
};

TEST(signatures, tell_the_common_formats) {
  for (const auto& one : samples) EXPECT_EQ(bytes::sniff_media_type(one.front), one.type);
  EXPECT_EQ(bytes::sniff_media_type(""), "");
  EXPECT_EQ(bytes::sniff_media_type("RIFF\x24\0\0\0ACON"sv), "");
  EXPECT_EQ(bytes::sniff_media_type("\x89PNG"), "");
}

TEST(agreeing_type, is_the_declared_one_where_the_first_bytes_are_its_own) {
  for (const auto& one : samples) EXPECT_EQ(bytes::effective_media_type(one.type, one.front, false), one.type);
  for (const std::string_view office :
       {"application/vnd.openxmlformats-officedocument.wordprocessingml.document", "application/vnd.oasis.opendocument.text",
        "application/java-archive", "application/epub+zip"}) {
    EXPECT_EQ(bytes::effective_media_type(office, "PK\3\4\x14\0"sv, false), office);
    EXPECT_EQ(bytes::effective_media_type(office,
                                          "\x7f"
                                          "ELF\2\1\1\0"sv,
                                          false),
              "application/x-executable")
        << office;
  }
  EXPECT_EQ(bytes::effective_media_type("video/webm", "\x1a\x45\xdf\xa3\x01\0"sv, false), "video/webm");
  EXPECT_EQ(bytes::effective_media_type("application/msword", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0"sv, false),
            "application/msword");
  EXPECT_EQ(bytes::effective_media_type("application/pdf", "junk before\n%PDF-1.4\n\xff"sv, false), "application/pdf");
  EXPECT_EQ(bytes::effective_media_type("application/pdf", "%PDF-1.4\n", true), "application/pdf");
}

TEST(agreeing_type, of_a_format_is_never_told_for_the_bytes_of_another) {
  for (const auto& declared : samples) {
    for (const auto& content : samples) {
      const auto told = bytes::effective_media_type(declared.type, content.front, false);
      // An MP4 file may hold sound, pictures or film; what the first bytes tell or what was declared are both right then.
      if (told == declared.type && declared.type != content.type) {
        EXPECT_EQ(declared.front.substr(4, 4), "ftyp") << declared.type << " for " << content.type;
        EXPECT_EQ(content.front.substr(4, 4), "ftyp") << declared.type << " for " << content.type;
        continue;
      }
      EXPECT_EQ(told, content.type) << declared.type;
    }
    EXPECT_EQ(bytes::effective_media_type(declared.type, "\1\2\3 of no format\0"sv, false), "application/octet-stream")
        << declared.type;
    EXPECT_EQ(bytes::effective_media_type(declared.type, "<html><script>alert(1)</script>", true), "text/plain")
        << declared.type;
    EXPECT_EQ(bytes::effective_media_type(declared.type, "", true), "text/plain") << declared.type;
  }
}

TEST(agreeing_type, goes_by_first_bytes_where_pictures_sound_and_text_have_no_others) {
  EXPECT_EQ(bytes::effective_media_type("image/jxl", "%PDF-1.4\xff"sv, false), "application/pdf");
  EXPECT_EQ(bytes::effective_media_type("image/jxl", "\xff\x0a\0"sv, false), "image/jxl");
  EXPECT_EQ(bytes::effective_media_type("image/jpg", "\xff\xd8\xff\xe0"sv, false), "image/jpeg");
  EXPECT_EQ(bytes::effective_media_type("text/plain", "\x89PNG\r\n\x1a\n\0"sv, false), "image/png");
  EXPECT_EQ(bytes::effective_media_type("text/plain", "\xff\xfe\0"sv, false), "application/octet-stream");
  EXPECT_EQ(bytes::effective_media_type("application/x-own", "PK\3\4\x14\0"sv, false), "application/x-own");
  EXPECT_EQ(bytes::effective_media_type("application/octet-stream", "PK\3\4\x14\0"sv, false), "application/octet-stream");
  EXPECT_EQ(bytes::effective_media_type("application/octet-stream", "words", true), "text/plain");
  EXPECT_EQ(bytes::effective_media_type("", "words", true), "");
}

TEST(agreeing_type, is_not_deceived_by_case_parameters_or_length) {
  for (const std::string_view type : {"Image/PNG", " image/png", "image/png;charset=utf-8", "image/png ; a=b", "IMAGE/PNG\t"}) {
    EXPECT_EQ(bytes::effective_media_type(type, "<html>", true), "text/plain") << type;
    EXPECT_EQ(bytes::effective_media_type(type, "\xff\xd8\xff\xe0"sv, false), "image/jpeg") << type;
  }
  EXPECT_EQ(bytes::effective_media_type("TEXT/PLAIN", "\xff", false), "application/octet-stream");
  const std::string endless = "image/" + std::string(1'000'000, 'x');
  EXPECT_EQ(bytes::effective_media_type(endless, "%PDF-1.4\xff"sv, false), "application/pdf");
  EXPECT_EQ(bytes::effective_media_type(";", "\xff", false), ";");
}

TEST(active, types_are_those_that_browsers_run) {
  constexpr std::pair<std::string_view, active_content> types[]{
      {"text/html", active_content::html},
      {"TEXT/HTML; charset=utf-8", active_content::html},
      {" text/html", active_content::html},
      {"application/xhtml+xml", active_content::xhtml},
      {"image/svg+xml", active_content::svg},
      {"text/xml", active_content::xml},
      {"application/xml", active_content::xml},
      {"application/rss+xml", active_content::xml},
      {"text/xsl", active_content::xml},
      {"text/javascript", active_content::script},
      {"application/javascript", active_content::script},
      {"application/x-javascript", active_content::script},
      {"text/jscript", active_content::script},
      {"text/livescript", active_content::script},
      {"text/javascript1.5", active_content::script},
      {"application/ecmascript", active_content::script},
      {"application/pdf", active_content::pdf},
      {"message/rfc822", active_content::archive},
      {"multipart/related", active_content::archive},
      {"multipart/x-mixed-replace; boundary=b", active_content::archive},
  };
  for (const auto& [type, what] : types) EXPECT_EQ(bytes::active_content_by_type(type), what) << type;
  for (const std::string_view type : {"", "text/plain", "text/markdown", "application/json", "image/png", "text/css",
                                      "text/typescript", "text/x-python", "text/htm", "text/htmlx", "xml", "inode/directory"}) {
    EXPECT_EQ(bytes::active_content_by_type(type), active_content::none) << type;
  }
}

TEST(active, content_is_known_as_browsers_that_guess_know_it) {
  for (const std::string_view page : {"<!DOCTYPE HTML>",
                                      "<!doctype html >",
                                      "<html>",
                                      "<HTML lang=en>",
                                      "<head>",
                                      "<script>alert(1)</script>",
                                      "<SCRIPT src=x>",
                                      "<iframe src=x>",
                                      "<h1>",
                                      "<div class=a>",
                                      "<font color=red>",
                                      "<table>",
                                      "<a href=x>",
                                      "<style>",
                                      "<title>",
                                      "<b>",
                                      "<body onload=x>",
                                      "<br>",
                                      "<p>",
                                      "<!-- comment --><script>",
                                      "\n\t \r\f<html>",
                                      "\xEF\xBB\xBF<html>",
                                      "\xEF\xBB\xBF \n<script>",
                                      "<script\n>",
                                      "<svg/onload=x>"}) {
    EXPECT_NE(bytes::active_content_by_front(page), active_content::none) << page;
  }
  EXPECT_EQ(bytes::active_content_by_front("<svg onload=alert(1)>"), active_content::svg);
  EXPECT_EQ(bytes::active_content_by_front("<!DOCTYPE svg PUBLIC>"), active_content::svg);
  EXPECT_EQ(bytes::active_content_by_front("<?xml version='1.0'?><svg/>"), active_content::xml);
  EXPECT_EQ(bytes::active_content_by_front("%PDF-1.7"), active_content::pdf);
  EXPECT_EQ(bytes::active_content_by_front("\xFF\xFE<\0h\0t\0m\0l\0>\0"sv), active_content::html);
  EXPECT_EQ(bytes::active_content_by_front("\xFE\xFF\0 \0<\0s\0c\0r\0i\0p\0t\0>"sv), active_content::html);
  EXPECT_EQ(bytes::active_content_by_front("<\0?\0x\0m\0l\0 \0"sv), active_content::xml);
  EXPECT_EQ(bytes::active_content_by_front("\0<\0?\0x\0m\0l"sv), active_content::xml);
}

TEST(active, pages_saved_as_one_message_are_known_by_their_headers) {
  for (const std::string_view page :
       {"From: <Saved by Blink>\r\nSubject: x\r\nMIME-Version: 1.0\r\nContent-Type: "
        "multipart/related;\r\n\ttype=\"text/html\"\r\n\r\n",
        "MIME-Version: 1.0\nCONTENT-TYPE:\tMultipart/Related; boundary=x\n\n--x\n", "\r\nContent-Type: multipart/related"})
    EXPECT_EQ(bytes::active_content_by_front(page), active_content::archive) << page;
  for (const std::string_view text :
       {"From: me\nSubject: x\n\nContent-Type: multipart/related\n", "From: me\nContent-Type: text/plain\n\nmultipart/related",
        "Content-Type: multipart/mixed\n\n", "A page has Content-Type: multipart/related", "From: me\r\n", "Date:"})
    EXPECT_EQ(bytes::active_content_by_front(text), active_content::none) << text;
}

TEST(active, ordinary_content_is_not_taken_for_a_page) {
  for (const std::string_view text : {"",
                                      " ",
                                      "<",
                                      "<!",
                                      "<!doctype htm",
                                      "<html",
                                      "<bold>",
                                      "<address>",
                                      "<paragraph>",
                                      "words <script>",
                                      "< html>",
                                      "a<html>",
                                      "<scripts>",
                                      "{\"a\":\"<html>\"}",
                                      "#include <html>",
                                      "%PDF",
                                      "<name@example.org>",
                                      "\xFF\xFE",
                                      "\xFE\xFF\0",
                                      "<\0",
                                      "<3"}) {
    EXPECT_EQ(bytes::active_content_by_front(text), active_content::none) << text;
  }
  EXPECT_EQ(bytes::active_content_by_front(std::string(1445, ' ') + "<html>"), active_content::none);
}

TEST(active, every_kind_has_a_type_that_is_active_itself) {
  for (const auto what : {active_content::html, active_content::xhtml, active_content::svg, active_content::xml,
                          active_content::script, active_content::pdf, active_content::archive}) {
    EXPECT_EQ(bytes::active_content_by_type(bytes::media_type_of(what)), what);
  }
  EXPECT_EQ(bytes::media_type_of(active_content::none), "");
  EXPECT_EQ(bytes::detect_active_content("text/javascript", "<html>"), active_content::script);
  EXPECT_EQ(bytes::detect_active_content("text/plain", "<html>"), active_content::html);
}

}  // namespace

namespace {

TEST(active_types, are_known_whatever_length_and_ending_they_have) {
  using hondana::bytes::active_content;
  EXPECT_EQ(hondana::bytes::active_content_by_type("application/" + std::string(130, 'a') + "+xml"), active_content::xml);
  EXPECT_EQ(hondana::bytes::active_content_by_type("application/" + std::string(130, 'a') + "+xmlx"), active_content::none);
  EXPECT_EQ(hondana::bytes::active_content_by_type("text/html,"), active_content::html);
}

}  // namespace
