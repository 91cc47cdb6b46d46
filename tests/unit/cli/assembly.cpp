/// What is put together again on a reload.
#include "cli/assembly.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>

namespace hondana::cli {
namespace {

/// Whether each name is served by the only source.
std::map<std::string, bool> served_by(const result<parts>& whole) {
  std::map<std::string, bool> out;
  EXPECT_TRUE(whole) << whole.error().public_text;
  if (!whole) return out;
  EXPECT_TRUE(whole->providers.at(0)->survey({}, [&out](const survey_item& item) { out[item.name] = item.is_served; }));
  return out;
}

TEST(assembly, keeps_back_what_an_earlier_configuration_named) {
  std::string folder = (std::filesystem::temp_directory_path() / "assembly-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::filesystem::create_directories(folder + "/shelf");
  for (const char* one : {"first.jsonl", "second.jsonl", "open.txt"}) std::ofstream(folder + "/shelf/" + one) << "x";
  const auto config = folder + "/h.toml";
  const auto configure = [&](const std::string& record) {
    std::ofstream(config) << "[audit]\npath = \"shelf/" << record
                          << "\"\n[[source]]\ntype = \"files\"\npath = \"shelf\"\nallow = [\"*\"]\n";
  };
  assembly of({.paths = {}, .config = config, .allow = {}}, {});
  configure("first.jsonl");
  auto now = served_by(of.assemble());
  EXPECT_FALSE(now["first.jsonl"]);
  EXPECT_TRUE(now["second.jsonl"]);
  configure("second.jsonl");
  now = served_by(of.assemble());
  EXPECT_FALSE(now["first.jsonl"]) << "the record of the server as it was";
  EXPECT_FALSE(now["second.jsonl"]);
  EXPECT_TRUE(now["open.txt"]);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace hondana::cli
