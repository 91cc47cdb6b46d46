/// Sets made from the configuration.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/config/section.hpp"
#include "unit/sources/docs/served_documents.hpp"

namespace hondana::docs {

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log);

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct configured_documents : served_documents {
  result<std::shared_ptr<provider>> from_table(const std::string& table) {
    auto section = config::parse_toml(table, (root / "hondana.toml").string());
    if (!section) return tl::unexpected(section.error());
    return configure(*section, {});
  }
};

TEST_F(configured_documents, have_the_name_of_their_folder_and_relative_paths) {
  write("User Manual 2/a.md", "# A\n");
  const auto made = from_table("path = \"User Manual 2/\"\nwatch = false\nrender = false\n");
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_THAT(listed(dynamic_cast<docs_provider&>(**made)), ElementsAre("docs://user-manual-2/", "docs://user-manual-2/a.md"));
  EXPECT_THAT((*made)->claims(), ElementsAre("docs://user-manual-2"));
  EXPECT_TRUE((*made)->requirements().programs.empty());
  for (const auto& one : dynamic_cast<template_source&>(**made).templates())
    EXPECT_TRUE(uri_template::compile(one.uri_template)) << one.uri_template;
}

TEST_F(configured_documents, with_wrong_keys_name_the_line) {
  for (const auto* table :
       {"name = \"x\"\n", "path = \".\"\nname = \"No Slug\"\n", "path = \".\"\nmax_bytes = 0\n", "path = \".\"\nrender = 1\n",
        "path = \".\"\nmax_byte = 1\n", "path = \".\"\nrender_timeout_s = 0\n", "path = \".\"\ninclude = [\"\"]\n",
        "path = \".\"\nmax_render_memory_bytes = \"1KiB\"\n"}) {
    const auto made = from_table(table);
    ASSERT_FALSE(made) << table;
    EXPECT_EQ(made.error().code, errc::invalid_argument) << table;
    EXPECT_THAT(made.error().public_text, HasSubstr("hondana.toml")) << table;
  }
  const auto missing = from_table("path = \"not/there\"\n");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, errc::source_unavailable);
}

}  // namespace
}  // namespace hondana::docs
