/// What is put together again on a reload.
#include "app/cli/assembly.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace hondana::cli {
namespace {

/// Whether each name is served by the only source.
std::map<std::string, bool> served_by(const result<server_parts>& whole) {
  std::map<std::string, bool> out;
  EXPECT_TRUE(whole) << whole.error().public_text;
  if (!whole) return out;
  EXPECT_TRUE(dynamic_cast<inventory_source&>(*whole->providers.at(0)).inventory({}, [&out](const inventory_item& item) {
    out[item.name] = item.is_served;
  }));
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
  assembly of({.paths = {}, .config_file = config, .allow = {}}, {});
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

TEST(assembly, takes_what_runs_after_a_configuration_that_was_not_taken_over) {
  std::string folder = (std::filesystem::temp_directory_path() / "assembly-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::filesystem::create_directories(folder + "/shelf");
  const auto config = folder + "/h.toml";
  const auto configure = [&](const std::string& more) {
    std::ofstream(config) << "[[source]]\ntype = \"files\"\npath = \"shelf\"\n" << more;
  };
  assembly of({.paths = {}, .config_file = config, .allow = {}}, {});
  configure("");
  const auto running = of.assemble();
  ASSERT_TRUE(running);
  configure("watch = false\n");
  const auto refused = of.assemble();
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->providers.at(0), running->providers.at(0));
  of.rollback();
  configure("");
  EXPECT_EQ(of.assemble()->providers.at(0), running->providers.at(0));
  of.commit();
  EXPECT_EQ(of.assemble()->providers.at(0), running->providers.at(0));
  std::filesystem::remove_all(folder);
}

TEST(assembly, keeps_back_the_store_of_analyses_also_where_none_is_named) {
  std::string folder = (std::filesystem::temp_directory_path() / "assembly-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::filesystem::create_directories(folder + "/hondana");
  for (const char* one : {"analyses.db", "analyses.db-wal", "analyses.db-shm", "open.txt", "named.db", "named.db-wal"})
    std::ofstream(folder + "/hondana/" + one) << "x";
  const auto* const before = std::getenv("XDG_STATE_HOME");
  const std::string state = before == nullptr ? "" : before;
  ::setenv("XDG_STATE_HOME", folder.c_str(), 1);
  const auto config = folder + "/h.toml";
  const auto serve = [&](const std::string& store) {
    std::ofstream(config) << "[[source]]\ntype = \"files\"\npath = \"hondana\"\nallow = [\"*\"]\n"
                          << "[[source]]\ntype = \"analyses\"\n"
                          << store;
    return served_by(assembly({.paths = {}, .config_file = config, .allow = {}}, {}).assemble());
  };
  auto now = serve("");
  for (const char* one : {"analyses.db", "analyses.db-wal", "analyses.db-shm"}) EXPECT_FALSE(now[one]) << one;
  EXPECT_TRUE(now["open.txt"]);
  EXPECT_TRUE(now["named.db"]);
  now = serve("store = \"hondana/named.db\"\n");
  for (const char* one : {"named.db", "named.db-wal"}) EXPECT_FALSE(now[one]) << one;
  EXPECT_TRUE(now["analyses.db"]);
  if (before == nullptr) {
    ::unsetenv("XDG_STATE_HOME");
  } else {
    ::setenv("XDG_STATE_HOME", state.c_str(), 1);
  }
  std::filesystem::remove_all(folder);
}

TEST(assembly, has_one_source_of_analyses) {
  std::string folder = (std::filesystem::temp_directory_path() / "assembly-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const auto config = folder + "/h.toml";
  std::ofstream(config) << "[[source]]\ntype = \"analyses\"\nstore = \":memory:\"\n[[source]]\ntype = \"analyses\"\n"
                           "store = \"b/b.db\"\n";
  const auto refused = assembly({.paths = {}, .config_file = config, .allow = {}}, {}).assemble();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().public_text.find(config + ":5: "), 0u) << refused.error().public_text;
  EXPECT_NE(refused.error().public_text.find("the other is in line 1"), std::string::npos) << refused.error().public_text;
  std::filesystem::remove_all(folder);
}

TEST(assembly, keeps_back_the_secrets_and_stores_that_metrics_and_traces_name) {
  std::string folder = (std::filesystem::temp_directory_path() / "assembly-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::filesystem::create_directories(folder + "/shelf");
  for (const char* one : {"bearer", "password", "traces", "host.db", "open.txt"})
    std::ofstream(folder + "/shelf/" + one) << "x";
  const auto config = folder + "/h.toml";
  std::ofstream(config) << R"(
[tracing]
endpoint = "http://127.0.0.1:1"
bearer_file = "shelf/traces"
[[source]]
type = "files"
path = "shelf"
allow = ["*"]
[[source]]
type = "metrics"
name = "one"
store = "shelf/host.db"
[[source.scrape]]
url = "http://127.0.0.1:1/metrics"
job = "node"
user = "me"
password_file = "shelf/password"
[[source]]
type = "metrics"
name = "two"
prometheus = "http://127.0.0.1:1"
bearer_file = "shelf/bearer"
)";
  assembly of({.paths = {}, .config_file = config, .allow = {}}, {});
  auto now = served_by(of.assemble());
  EXPECT_TRUE(now["open.txt"]);
  for (const char* one : {"bearer", "password", "traces", "host.db"}) EXPECT_FALSE(now[one]) << one;
  std::filesystem::remove_all(folder);
}

TEST(assembly, suggests_the_known_type_that_is_similar_to_an_unknown_one) {
  std::string folder = (std::filesystem::temp_directory_path() / "assembly-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const auto config = folder + "/h.toml";
  std::ofstream(config) << "[[source]]\ntype = \"metrix\"\n";
  assembly parts({.paths = {}, .config_file = config, .allow = {}}, {});
  const auto assembled = parts.assemble();
  ASSERT_FALSE(assembled);
  EXPECT_EQ(assembled.error().public_text,
            config +
                ":2: source.type: unknown source type \"metrix\"; did you mean \"metrics\"? Known here: files, skills, mcp, "
                "git, config, env, log, metrics, docs, analyses, gdrive");
  std::filesystem::remove_all(folder);
}

/// A folder with folders to serve, and what is said of them.
class served_folders {
 public:
  served_folders() {
    path_ = (std::filesystem::temp_directory_path() / "assembly-XXXXXX").string();
    EXPECT_NE(::mkdtemp(path_.data()), nullptr);
    path_ = std::filesystem::canonical(path_).string();
  }
  ~served_folders() {
    std::error_code problem;  // a leftover in the temporary folder harms nothing
    std::filesystem::remove_all(path_, problem);
  }
  served_folders(const served_folders&) = delete;
  served_folders& operator=(const served_folders&) = delete;

  /// What `git init` makes, at least of it.
  void make_repository(const std::string& git_folder, const std::string& config = {}) const {
    for (const char* one : {"/objects", "/refs"}) std::filesystem::create_directories(path(git_folder) + one);
    std::ofstream(path(git_folder) + "/HEAD") << "ref: refs/heads/main\n";
    std::ofstream(path(git_folder) + "/config") << config;
  }
  [[nodiscard]] std::string path(const std::string& name) const { return path_ + '/' + name; }
  /// The names of the sources, as "files git".
  std::string sources_of(source_options what) {
    for (auto& one : what.paths) one = path(one);
    said.clear();
    assembly of(std::move(what), [this](std::string_view line) { said.emplace_back(line); });
    const auto whole = of.assemble();
    if (!whole) return whole.error().public_text;
    std::string names;
    for (const auto& one : whole->providers) names += (names.empty() ? "" : " ") + one->name();
    return names;
  }

  std::vector<std::string> said;

 private:
  std::string path_;
};

TEST(assembly, serves_a_folder_that_is_a_repository_as_files_and_by_git) {
  served_folders shelves;
  shelves.make_repository("tree/.git");
  std::filesystem::create_directories(shelves.path("tree/below"));
  std::filesystem::create_directories(shelves.path("plain"));
  EXPECT_EQ(shelves.sources_of({.paths = {"tree"}, .config_file = {}, .allow = {}}), "files git");
  EXPECT_EQ(shelves.sources_of({.paths = {"plain", "tree"}, .config_file = {}, .allow = {}}), "files git");
  EXPECT_EQ(shelves.sources_of({.paths = {"tree"}, .config_file = {}, .allow = {}, .no_git = true}), "files");
  // What is no repository, or lies in one, is served as it is.
  EXPECT_EQ(shelves.sources_of({.paths = {"plain"}, .config_file = {}, .allow = {}}), "files");
  EXPECT_EQ(shelves.sources_of({.paths = {"tree/below"}, .config_file = {}, .allow = {}}), "files");
  EXPECT_TRUE(shelves.said.empty()) << shelves.said.front();
}

TEST(assembly, serves_a_bare_repository_by_git_alone) {
  served_folders shelves;
  shelves.make_repository("bare.git", "[core]\n\tbare = true\n");
  std::filesystem::create_directories(shelves.path("plain"));
  EXPECT_EQ(shelves.sources_of({.paths = {"bare.git"}, .config_file = {}, .allow = {}}), "git");
  EXPECT_EQ(shelves.sources_of({.paths = {"plain", "bare.git"}, .config_file = {}, .allow = {}}), "files git");
  EXPECT_EQ(shelves.sources_of({.paths = {"bare.git"}, .config_file = {}, .allow = {}, .no_git = true}), "files");
  EXPECT_TRUE(shelves.said.empty()) << shelves.said.front();
}

TEST(assembly, says_why_a_repository_is_served_as_files_only) {
  served_folders shelves;
  shelves.make_repository("new/.git", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n");
  shelves.make_repository("table/.git", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefstorage = reftable\n");
  shelves.make_repository("hostile/.git", "[include]\n\tpath = /etc/passwd\n");
  shelves.make_repository("good/.git");
  for (const auto& [name, why] :
       std::map<std::string, std::string>{{"new", "SHA-256"}, {"table", "reftable"}, {"hostile", "include"}}) {
    EXPECT_EQ(shelves.sources_of({.paths = {name}, .config_file = {}, .allow = {}}), "files");
    ASSERT_EQ(shelves.said.size(), 1U) << name;
    EXPECT_EQ(shelves.said.front().find("the repository " + shelves.path(name) + " is left out: "), 0U) << shelves.said.front();
    EXPECT_NE(shelves.said.front().find(why), std::string::npos) << shelves.said.front();
    EXPECT_EQ(shelves.sources_of({.paths = {"good", name}, .config_file = {}, .allow = {}}), "files git");
    EXPECT_EQ(shelves.said.size(), 1U) << name;
  }
}

TEST(assembly, leaves_it_to_a_configured_source_which_repositories_are_served) {
  served_folders shelves;
  shelves.make_repository("tree/.git");
  shelves.make_repository("other/.git");
  const auto config = shelves.path("h.toml");
  std::ofstream(config) << "[[source]]\ntype = \"git\"\npath = \"other\"\n";
  EXPECT_EQ(shelves.sources_of({.paths = {"tree"}, .config_file = config, .allow = {}}), "git files");
  EXPECT_EQ(shelves.sources_of({.paths = {}, .config_file = config, .allow = {}, .no_git = true}), "git");
  std::ofstream(config) << "name = \"shelf\"\n";
  EXPECT_EQ(shelves.sources_of({.paths = {"tree"}, .config_file = config, .allow = {}}), "files git");
}

TEST(assembly, keeps_what_it_names_for_itself_from_git_too) {
  served_folders shelves;
  shelves.make_repository("tree/.git");
  const auto config = shelves.path("tree/h.toml");
  std::ofstream(config) << "name = \"shelf\"\n";
  assembly of({.paths = {shelves.path("tree")}, .config_file = config, .allow = {}}, {});
  const auto first = of.assemble();
  ASSERT_TRUE(first) << first.error().public_text;
  ASSERT_EQ(first->providers.size(), 2U);
  read_request request;
  request.uri = request.requested_uri = "git://tree/blob/HEAD/h.toml";
  const auto refused = first->providers[1]->read(request);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().public_text.find("because it is one of the server's own files"), std::string::npos)
      << refused.error().public_text;
  // It is the same source after a reload.
  const auto second = of.assemble();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->providers[1], first->providers[1]);
}

}  // namespace
}  // namespace hondana::cli
