/// The public JSON Schema test suite, as far as its files mean the same in 2020-12.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "protocol/schema/schema.hpp"

namespace hondana::schema {
namespace {

namespace fs = std::filesystem;

/// Debian's package; a newer one also has a folder of the dialect itself.
const fs::path suite = "/usr/share/json-schema-test-suite/tests";

std::string read(const fs::path& from) {
  std::ifstream file(from, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string text(const value& from, std::string_view name) { return from.string_at(name).value_or(std::string()); }

/// Plays one file and returns how many of its instances were judged.
int play(const fs::path& file, const std::set<std::string>& left_out) {
  const auto groups = value::parse(read(file));
  if (!groups || groups->as_array() == nullptr) {
    ADD_FAILURE() << file << " is no test file";
    return 0;
  }
  int judged = 0;
  for (const auto& group : *groups->as_array()) {
    const auto title = file.stem().string() + ": " + text(group, "description");
    if (left_out.contains(title)) continue;
    const auto* document = group.find("schema");
    const auto* tests = group.find("tests");
    if (document == nullptr || tests == nullptr || tests->as_array() == nullptr) {
      ADD_FAILURE() << title << ": malformed";
      continue;
    }
    const auto compiled = schema::compile(*document);
    if (!compiled) {
      ADD_FAILURE() << title << ": " << compiled.error().public_text;
      continue;
    }
    for (const auto& test : *tests->as_array()) {
      const auto name = title + ": " + text(test, "description");
      if (left_out.contains(name)) continue;
      const auto misfit = compiled->validate(*test.find("data"));
      EXPECT_EQ(!misfit, test.find("valid")->as_boolean().value())
          << name << (misfit ? " -> " + misfit->text() : std::string());
      ++judged;
    }
  }
  return judged;
}

TEST(schema_suite, draft_7_files_whose_keywords_2020_12_kept_agree) {
  const std::set<std::string> kept{"additionalProperties",
                                   "allOf",
                                   "anyOf",
                                   "boolean_schema",
                                   "const",
                                   "contains",
                                   "default",
                                   "enum",
                                   "exclusiveMaximum",
                                   "exclusiveMinimum",
                                   "if-then-else",
                                   "maxItems",
                                   "maxLength",
                                   "maxProperties",
                                   "maximum",
                                   "minItems",
                                   "minLength",
                                   "minProperties",
                                   "minimum",
                                   "multipleOf",
                                   "not",
                                   "oneOf",
                                   "pattern",
                                   "patternProperties",
                                   "properties",
                                   "propertyNames",
                                   "required",
                                   "type",
                                   "uniqueItems"};
  // These say "items" with an array, which 2020-12 calls "prefixItems".
  const std::set<std::string> changed{"uniqueItems: uniqueItems with an array of items",
                                      "uniqueItems: uniqueItems with an array of items and additionalItems=false",
                                      "uniqueItems: uniqueItems=false with an array of items",
                                      "uniqueItems: uniqueItems=false with an array of items and additionalItems=false"};
  int judged = 0;
  for (const auto& name : kept) judged += play(suite / "draft7" / (name + ".json"), changed);
  EXPECT_GT(judged, 300);
}

TEST(schema_suite, the_dialects_own_files_agree_where_the_package_has_them) {
  const char* elsewhere = std::getenv("HONDANA_JSON_SCHEMA_SUITE");
  const auto folder = elsewhere != nullptr ? fs::path(elsewhere) : suite / "draft2020-12";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "skipped: the installed json-schema-test-suite is older than 2020-12";
  // Whole files: what they are about needs fetching, or other dialects. Then single groups that refer to other documents.
  const std::set<std::string> files{"refRemote", "vocabulary"};
  const std::set<std::string> remote{"defs: validate definition against metaschema",
                                     "dynamicRef: strict-tree schema, guards against misspelled properties",
                                     "dynamicRef: tests for implementation dynamic anchor and reference link",
                                     "dynamicRef: $ref and $dynamicAnchor are independent of order - $defs first",
                                     "dynamicRef: $ref and $dynamicAnchor are independent of order - $ref first",
                                     "dynamicRef: $ref to $dynamicRef finds detached $dynamicAnchor",
                                     "ref: remote ref, containing refs itself"};
  int judged = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".json" || files.contains(entry.path().stem().string())) continue;
    judged += play(entry.path(), remote);
  }
  EXPECT_GT(judged, 1000);
  RecordProperty("judged", judged);
}

}  // namespace
}  // namespace hondana::schema
