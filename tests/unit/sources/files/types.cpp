/// Media types by name and by content, and priorities.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <variant>

#include "sources/files/media_type.hpp"
#include "sources/files/priority_table.hpp"

namespace hondana::files {
namespace {

TEST(mime, goes_by_the_ending) {
  EXPECT_EQ(mime_type_of("main.rs").name, "text/x-rust");
  EXPECT_EQ(mime_type_of("main.cpp").name, "text/x-c++src");
  EXPECT_EQ(mime_type_of("README.md").name, "text/markdown");
  EXPECT_EQ(mime_type_of("a.json").name, "application/json");
  EXPECT_EQ(mime_type_of("a.mht").name, "multipart/related");
  EXPECT_EQ(mime_type_of("a.MHTML").name, "multipart/related");
  EXPECT_EQ(mime_type_of("a.py").name, "text/x-python");
  EXPECT_EQ(mime_type_of("index.ts").name, "text/typescript");
  EXPECT_EQ(mime_type_of("photo.JPG").name, "image/jpeg");
  EXPECT_EQ(mime_type_of("a.tar.gz").name, "application/gzip");
  EXPECT_EQ(mime_type_of("a.svg").name, "image/svg+xml");
  EXPECT_TRUE(mime_type_of("a.svg").is_text);
  EXPECT_FALSE(mime_type_of("a.png").is_text);
  EXPECT_TRUE(mime_type_of("a.rst").is_document);
  EXPECT_FALSE(mime_type_of("a.rs").is_document);
}

TEST(mime, goes_by_whole_names) {
  EXPECT_EQ(mime_type_of("Makefile").name, "text/x-makefile");
  EXPECT_EQ(mime_type_of("Dockerfile").name, "text/x-dockerfile");
  EXPECT_EQ(mime_type_of("LICENSE").name, "text/plain");
  EXPECT_EQ(mime_type_of("CMakeLists.txt").name, "text/x-cmake");
}

TEST(mime, says_nothing_about_unknown_names) {
  for (const char* name : {"unknown", "a.unknown-ending-that-is-long", "trailing.", "", "."})
    EXPECT_EQ(mime_type_of(name).name, "") << name;
}

TEST(sniff, tells_text_scripts_and_well_known_formats) {
  EXPECT_EQ(sniff("plain words", content_kind::detect), "text/plain");
  EXPECT_EQ(sniff("", content_kind::detect), "text/plain");
  EXPECT_EQ(sniff("日本\xe8", content_kind::detect), "text/plain");  // cut inside a character
  EXPECT_EQ(sniff("#!/bin/sh\n", content_kind::detect), "text/x-shellscript");
  EXPECT_EQ(sniff("#!/usr/bin/env python3\n", content_kind::detect), "text/x-python");
  EXPECT_EQ(sniff("#!/usr/bin/env -S node --flag\n", content_kind::detect), "text/javascript");
  EXPECT_EQ(sniff("#!/opt/unheard-of\n", content_kind::detect), "text/plain");
  EXPECT_EQ(sniff("#!", content_kind::detect), "text/plain");
  EXPECT_EQ(sniff("\x7f"
                  "ELF\x02\x01\x01",
                  content_kind::detect),
            "text/plain");  // no NUL: as text as any
  EXPECT_EQ(sniff(std::string_view("\x7f"
                                   "ELF\x02\0",
                                   6),
                  content_kind::blob),
            "application/x-executable");
  EXPECT_EQ(sniff("\x89PNG\r\n\x1a\n", content_kind::blob), "image/png");
  EXPECT_EQ(sniff("\x1f\x8b\x08", content_kind::blob), "application/gzip");
}

TEST(sniff, asks_libmagic_about_other_binary_formats) {
  const std::string capture("\xd4\xc3\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\0\0\4\0\1\0\0\0", 24);
  EXPECT_EQ(sniff(capture, content_kind::blob), "application/vnd.tcpdump.pcap");
  EXPECT_EQ(sniff(std::string_view("\x01\x02\x00\xfe\xfd", 5), content_kind::blob), "application/octet-stream");
}

TEST(agreed_type, follows_content_where_the_name_belies_it) {
  EXPECT_EQ(effective_mime_type("a.txt", "x", content_kind::text), "text/plain");
  EXPECT_EQ(effective_mime_type("a.txt", "x", content_kind::blob), "application/octet-stream");
  EXPECT_EQ(effective_mime_type("a.json", "x", content_kind::blob), "application/octet-stream");
  EXPECT_EQ(effective_mime_type("a.png", "x", content_kind::text), "text/plain");
  EXPECT_EQ(effective_mime_type("a.png", "x", content_kind::blob), "application/octet-stream");
  EXPECT_EQ(effective_mime_type("a.png", "\x89PNG\r\n\x1a\n", content_kind::blob), "image/png");
  EXPECT_EQ(effective_mime_type("a.png", "\xff\xd8\xff\xe0", content_kind::blob), "image/jpeg");
  EXPECT_EQ(effective_mime_type("a.png", "<html><script>alert(1)</script>", content_kind::text), "text/plain");
  EXPECT_EQ(effective_mime_type("a.pdf", "%PDF-1.4\n", content_kind::text), "application/pdf");
  EXPECT_EQ(effective_mime_type("a.mp3", "\xff\xfb\x90", content_kind::blob), "audio/mpeg");
  EXPECT_EQ(effective_mime_type("a.mp3", "%PDF-1.4\n\xff", content_kind::blob), "application/pdf");
  EXPECT_EQ(effective_mime_type("a.svg", "x", content_kind::text), "image/svg+xml");
  EXPECT_EQ(effective_mime_type("a.bin", "x", content_kind::text), "text/plain");
  EXPECT_EQ(effective_mime_type("script", "#!/bin/bash\n", content_kind::text), "text/x-shellscript");
}

TEST(agreed_type, of_text_is_never_that_of_a_binary_format) {
  for (const char* name : {"a.pdf", "a.zip", "a.gz", "a.sqlite", "a.db", "a.jpg", "a.ico", "a.mp3", "a.mp4", "a.woff2",
                           "a.wasm", "a.docx", "a.jar", "a.parquet", "a.class", "a.so", "a.tar", "a.PDF"}) {
    EXPECT_TRUE(mime_type_of(name).is_binary) << name;
    EXPECT_EQ(effective_mime_type(name, "version https://git-lfs.github.com/spec/v1\n", content_kind::text), "text/plain")
        << name;
    EXPECT_EQ(effective_mime_type(name, "version https://git-lfs.github.com/spec/v1\n", content_kind::detect), "text/plain")
        << name;
    EXPECT_EQ(effective_mime_type(name, "", content_kind::text), "text/plain") << name;
  }
  EXPECT_FALSE(mime_type_of("a.svg").is_binary);
  EXPECT_FALSE(mime_type_of("unknown").is_binary);
  EXPECT_EQ(effective_mime_type("a.json", "\xff", content_kind::detect), "application/octet-stream");
}

std::string transport_stream(std::size_t packets) {
  std::string bytes;
  for (std::size_t i = 0; i < packets; ++i) bytes += "\x47\x40" + std::string(1, '\0') + '\x10' + std::string(184, '\0');
  return bytes;
}

// Source: ISO/IEC 13818-1, section 2.4.3.2; RFC 3555 for the name.
TEST(type, of_a_ts_file_is_that_of_a_transport_stream_if_its_packets_say_so) {
  EXPECT_EQ(effective_mime_type("a.ts", transport_stream(20), content_kind::detect), "video/mp2t");
  EXPECT_EQ(effective_mime_type("a.ts", transport_stream(1), content_kind::detect), "video/mp2t");
  EXPECT_EQ(effective_mime_type("a.m2ts", transport_stream(3), content_kind::detect), "video/mp2t");
  EXPECT_EQ(effective_mime_type("stream", transport_stream(3), content_kind::detect), "video/mp2t");
  EXPECT_EQ(effective_mime_type("a.ts", "export const a: number = 1;\n", content_kind::detect), "text/typescript");
  EXPECT_EQ(effective_mime_type("a.ts", std::string(400, 'G'), content_kind::detect), "text/typescript");
  auto broken = transport_stream(3);
  broken[188] = 'x';
  EXPECT_EQ(effective_mime_type("a.ts", broken, content_kind::detect), "application/octet-stream");
  EXPECT_EQ(effective_mime_type("a.ts", transport_stream(1).substr(0, 187), content_kind::detect), "application/octet-stream");
}

std::string label_of(std::string_view name, std::string_view front) {
  resource_content item;
  add_active_label(item, name, front);
  return item.metadata.empty() ? std::string() : item.metadata[0].first + " " + std::get<std::string>(item.metadata[0].second);
}

TEST(label, says_as_what_a_browser_would_run_a_file_by_name_and_by_front) {
  EXPECT_EQ(label_of("a.html", "no tag at all"), "dev.hondana/active text/html");
  EXPECT_EQ(label_of("a.svg", "\xff\xfe<"), "dev.hondana/active image/svg+xml");
  EXPECT_EQ(label_of("a.js", ""), "dev.hondana/active text/javascript");
  EXPECT_EQ(label_of("a.png", "<script>alert(1)</script>"), "dev.hondana/active text/html");
  EXPECT_EQ(label_of("notes", "<html>"), "dev.hondana/active text/html");
  EXPECT_EQ(label_of("README.md", "# Words"), "");
  EXPECT_EQ(label_of("a.json", "{}"), "");
}

TEST(priority, readmes_and_documents_are_high_generated_and_lock_files_low) {
  EXPECT_EQ(default_priority("README.md", false), 0.9);
  EXPECT_EQ(default_priority("sub/readme", false), 0.9);
  EXPECT_EQ(default_priority("docs/guide.md", false), 0.7);
  EXPECT_EQ(default_priority("CHANGELOG.md", false), 0.7);
  EXPECT_EQ(default_priority("CMakeLists.txt", false), 0.7);
  EXPECT_EQ(default_priority("src/main.cpp", false), 0.5);
  EXPECT_EQ(default_priority("src", true), 0.5);
  EXPECT_EQ(default_priority("tests/main.cpp", false), 0.4);
  EXPECT_EQ(default_priority("logo.png", false), 0.3);
  EXPECT_EQ(default_priority("readmeter.cpp", false), 0.5);
  for (const char* path : {"package-lock.json", "Cargo.lock", "sub/yarn.lock", "go.sum", "app.min.js", "api.pb.go",
                           "node_modules/x/README.md", "vendor/x.c", "dist/app.js"}) {
    EXPECT_EQ(default_priority(path, false), 0.1) << path;
  }
}

TEST(priority, rules_have_the_last_word) {
  const auto made = priority_table::make(
      {{"*.cpp", 0.8, {}}, {"src/", 0.6, {chat_role::assistant}}, {"main.cpp", {}, {chat_role::user, chat_role::assistant}}});
  ASSERT_TRUE(made.has_value());
  annotations main;
  made->annotate("main.cpp", false, main);
  EXPECT_EQ(main.priority, 0.5);
  EXPECT_EQ(main.audience, (std::vector<chat_role>{chat_role::user, chat_role::assistant}));
  annotations below;
  made->annotate("src/x/other.cpp", false, below);
  EXPECT_EQ(below.priority, 0.6);
  EXPECT_EQ(below.audience, std::vector<chat_role>{chat_role::assistant});
  annotations other;
  made->annotate("other.cpp", false, other);
  EXPECT_EQ(other.priority, 0.8);
}

TEST(priority, beyond_its_range_is_refused) {
  EXPECT_FALSE(priority_table::make({{"*", 1.1, {}}}).has_value());
  EXPECT_FALSE(priority_table::make({{"*", -0.1, {}}}).has_value());
  EXPECT_FALSE(priority_table::make({{"", 0.5, {}}}).has_value());
}

}  // namespace
}  // namespace hondana::files
