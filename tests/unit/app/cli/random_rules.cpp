/// Access and scope rules drawn at random: the server tells what a model of the documentation allows, and nothing else.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/server.hpp>

#include "app/cli/assembly.hpp"
#include "program/folder.hpp"
#include "support/must.hpp"
#include "unit/app/cli/access_model.hpp"
#include "unit/transport/memory/asker.hpp"

namespace hondana::cli {
namespace {

using transport::asker;
using texts = std::vector<std::string>;

/// A server of a few files and documents.
class small_tree {
 public:
  small_tree() {
    put("a.md", "zorblaalpha");
    put("b.txt", "zorblabravo");
    put("sub/c.md", "zorblacharlie", chat_role::user);
    put("sub/d.txt", "zorbladelta", chat_role::user);
    put("sub/deep/e.md", "zorblaecho", chat_role::user);
    put("other/f.md", "zorblafoxtrot");
    std::filesystem::create_symlink("sub/c.md", at_.path("tree/link.md"));
    resources.push_back({root("/link.md"), "link", "zorblacharlie", {}, root("/sub/c.md")});
    at_.put("docs/x.md", "# zorblagolf\n\nSee [there](y/z.md).\n\n## Part\n\nzorblagolf\n");
    resources.push_back({"docs://d/x.md", "document", "zorblagolf"});
    at_.put("docs/y/z.md", "---\naudience: assistant\n---\n# zorblahotel\n\nSee [here](../x.md).\n\n## Part\n\nzorblahotel\n");
    resources.push_back({"docs://d/y/z.md", "document", "zorblahotel", chat_role::assistant});
    at_.put("h.toml",
            "[[source]]\ntype = \"files\"\npath = \"tree\"\n[[source.rule]]\npattern = \"sub/**\"\naudience = [\"user\"]\n"
            "[[source]]\ntype = \"docs\"\nname = \"d\"\npath = \"docs\"\n");
    auto whole = assembly({.paths = {}, .config_file = at_.path("h.toml"), .allow = {}}, {}).assemble();
    if (!whole) throw std::runtime_error(whole.error().public_text);
    options_ = std::move(whole->options);
    sources_ = std::move(whole->providers);
    add_requests();
  }

  void serve(const access_rules& access, const scope_rules& scopes) {
    options_.access = access;
    options_.scopes = scopes;
    if (const auto done = here.replace(options_, sources_); !done) throw std::runtime_error(done.error().public_text);
  }
  [[nodiscard]] std::string root(const std::string& below = {}) const { return at_.uri("tree" + below); }

  std::vector<modelled_resource> resources;
  texts requests;  ///< Besides reads of these resources and the list.
  server here = must(server::create());

 private:
  void put(const std::string& path, const std::string& word, std::optional<chat_role> audience = {}) {
    at_.put("tree/" + path, "# " + word + "\n\nA text.\n");
    resources.push_back({root('/' + path), "file", word, audience});
  }
  void add(const std::string& method, const std::string& parameters) { requests.push_back(asker::modern(method, parameters)); }
  void add_completion(const std::string& variable, const std::string& typed, const std::string& context) {
    add("completion/complete", R"("ref":{"type":"ref/resource","uri":"docs://d/{+path}{?section}"},"argument":{"name":")" +
                                   variable + R"(","value":")" + typed + R"("},"context":{"arguments":{)" + context + "}}");
  }
  void add_requests() {
    for (const auto& entry : resources) add("resources/get", R"("uri":")" + entry.uri + '"');
    for (const auto& uri : texts{root(), root("/sub"), root("/sub/deep"), root("/other"), "docs://d/", "docs://d/y"})
      for (const auto* method : {"resources/read", "resources/directory/read"}) add(method, R"("uri":")" + uri + '"');
    for (const auto& uri : texts{root("/a.md?lines=1-1"), root("/sub/c.md?bytes=0-40"), root("/link.md?lines=1"),
                                 "docs://d/?format=json", "docs://d/y?format=outline", "docs://d/x.md?format=json",
                                 "docs://d/y/z.md?format=json", "docs://d/x.md?section=Part", "docs://d/y/z.md?format=outline"})
      add("resources/read", R"("uri":")" + uri + '"');
    add_completion("path", "zorbla", {});
    add_completion("section", {}, R"("path":"x.md")");
    add_completion("section", {}, R"("path":"y/z.md")");
    add("tools/call", R"("name":"list_resources","arguments":{})");
    add("tools/call", R"("name":"search_resources","arguments":{"q":"zorbla"})");
    add("tools/call", R"("name":"read_resource","arguments":{"uri":")" + root("/sub/d.txt") + "\"}");
  }

  program_test::folder at_;
  server_options options_;
  std::vector<std::shared_ptr<provider>> sources_;
};

/// Draws rules and callers; the same ones for a seed on every machine.
class drawing {
 public:
  drawing(std::uint32_t seed, const small_tree& from)
      : engine_(seed),
        uris_{from.root(),
              from.root("/"),
              from.root("/sub"),
              from.root("/sub/deep/"),
              from.root("/sub/c.md"),
              from.root("/su"),
              from.root("/a.md"),
              from.root("/a.md?lines=1-1"),
              from.root("/link.md"),
              from.root("/{name}"),
              "file:///",
              "docs://d/",
              "docs://d/y",
              "docs://d/x.md",
              "docs://d/{+path}",
              "docs://d/y/z.md?format=json"},
        patterns_{"**",
                  "**/*.md",
                  "**/[ce].md",
                  "**/?.txt",
                  "**/sub/**",
                  "docs://d/**",
                  "docs://d/*",
                  from.root("/*"),
                  from.root("/**"),
                  from.root("/**/d.txt"),
                  from.root("/sub/**/*.md")} {}

  access_rules access() {
    access_rules made;
    if (one_in(8)) return made;
    // Mostly everything is allowed first, and the others take away and give back.
    if (!one_in(4)) made.rules.push_back({.level = access_level::read});
    for (auto left = below(6); left > 0; --left) {
      auto& rule = made.rules.emplace_back();
      if (one_in(3)) rule.identities = pick<texts>({{"ann"}, {"bob", "x"}, {"b*"}, {"*"}});
      if (one_in(5)) rule.groups = pick<texts>({{"staff"}, {"st*"}, {"board"}});
      if (one_in(5)) rule.scopes = pick<texts>({{"read"}, {"write"}, {"admin", "other"}});
      for (auto uris = below(3); uris > 0; --uris) rule.uris.push_back(pick(uris_));
      if (one_in(3)) rule.patterns.push_back(pick(patterns_));
      if (one_in(8)) rule.kinds = pick<texts>({{"file"}, {"link", "document"}, {"folder"}});
      if (one_in(10)) rule.audience = pick<chat_role>({chat_role::user, chat_role::assistant});
      rule.level = pick<access_level>({access_level::none, access_level::list, access_level::read});
    }
    return made;
  }
  scope_rules scopes() {
    scope_rules made;
    made.implied = {{"admin", {"write"}}, {"write", {"read"}}};
    if (one_in(16)) made.always_required = {"mcp"};
    for (auto left = below(4); left > 0; --left) {
      auto& rule = made.rules.emplace_back();
      if (!one_in(4)) rule.methods = pick<texts>({{"resources/read"}, {"resources/read", "tools/call"}, {"resources/list"}});
      if (!one_in(8)) rule.uris.push_back(pick(uris_));
      rule.scopes = pick<texts>({{"read"}, {"write"}, {"admin"}, {"read", "other"}});
    }
    return made;
  }
  /// One without a proof and one with some scopes.
  std::vector<caller_info> callers() {
    auth_info shown;
    for (const std::string scope : {"read", "write", "admin", "mcp", "other"})
      if (one_in(2)) shown.scopes.push_back(scope);
    if (one_in(2)) shown.claims = value::object{{"groups", value::array{"staff"}}};
    return {{"ann", {}, nullptr}, {"bob", {}, nullptr, std::make_shared<const auth_info>(std::move(shown))}};
  }

 private:
  std::size_t below(std::size_t count) { return engine_() % count; }
  bool one_in(std::size_t count) { return below(count) == 0; }
  template <class T>
  T pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }

  std::mt19937 engine_;
  const texts uris_;
  const texts patterns_;
};

/// For messages of failures.
std::string spelled(const access_rules& access, const scope_rules& scopes, const caller_info& who) {
  std::string out = who.identity;
  const auto add = [&](const char* name, const texts& all) {
    if (!all.empty()) out += std::string(" ") + name + ':';
    for (const auto& text : all) out += ' ' + text;
  };
  if (who.auth_info) add("with", who.auth_info->scopes);
  for (const auto& rule : access.rules) {
    out += rule.level == access_level::none ? "\n  deny" : rule.level == access_level::list ? "\n  list" : "\n  read";
    add("identities", rule.identities);
    add("groups", rule.groups);
    add("scopes", rule.scopes);
    add("uris", rule.uris);
    add("patterns", rule.patterns);
    add("kinds", rule.kinds);
    if (rule.audience) add("audience", {rule.audience == chat_role::user ? "user" : "assistant"});
  }
  add("\n  always", scopes.always_required);
  for (const auto& rule : scopes.rules) {
    add("\n  scopes", rule.scopes);
    add("methods", rule.methods);
    add("uris", rule.uris);
  }
  return out;
}

std::size_t number_from(const char* variable, std::size_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoul(text, nullptr, 10);
}

// attacks: authorization (rules in any order and combination)
TEST(random_rules, tell_what_a_model_of_the_documentation_allows_and_nothing_else) {
  // Others can be tried: HONDANA_RULES=100000 HONDANA_RULES_SEED=1.
  const auto configurations = number_from("HONDANA_RULES", 2'000);
  const auto seed = static_cast<std::uint32_t>(number_from("HONDANA_RULES_SEED", 20'261'128));
  small_tree tree;
  drawing random(seed, tree);
  std::size_t requests = 0, allowed = 0, forbidden = 0;
  for (std::size_t number = 0; number < configurations && !testing::Test::HasFailure(); ++number) {
    const auto access = random.access();
    const auto scopes = random.scopes();
    tree.serve(access, scopes);
    for (const auto& who : random.callers()) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", configuration " + std::to_string(number) + ": " +
                   spelled(access, scopes, who));
      const access_model model(access, scopes, who);
      std::set<std::string> hidden;
      for (const auto& entry : tree.resources)
        if (entry.target.empty() && !model.may_read(tree.resources, entry)) hidden.insert(entry.word);
      asker peer(tree.here, who);
      const auto ask = [&](const std::string& request) {
        ++requests;
        const auto answer = peer.ask(request);
        for (const auto& word : hidden)
          if (answer.find(word) != std::string::npos) ADD_FAILURE() << word << " is told by " << request << '\n' << answer;
        return answer;
      };
      for (const auto& entry : tree.resources) {
        const bool may = model.may_read(tree.resources, entry);
        ++(may ? allowed : forbidden);
        const auto answer = ask(asker::modern("resources/read", R"("uri":")" + entry.uri + '"'));
        EXPECT_EQ(answer.find(entry.word) != std::string::npos, may) << "read: " << entry.uri << '\n' << answer;
      }
      const auto list = ask(asker::modern("resources/list", ""));
      for (const auto& entry : tree.resources) {
        const bool may = model.has_scopes("resources/list", {}) && model.may_list(tree.resources, entry);
        EXPECT_EQ(list.find('"' + entry.uri + '"') != std::string::npos, may) << "listed: " << entry.uri;
      }
      for (const auto& request : tree.requests) ask(request);
    }
  }
  std::printf("configurations %zu × callers 2: %zu requests; of the reads %zu are allowed, %zu forbidden\n", configurations,
              requests, allowed, forbidden);
  EXPECT_GE(allowed, configurations);
  EXPECT_GE(forbidden, configurations);
}

}  // namespace
}  // namespace hondana::cli
