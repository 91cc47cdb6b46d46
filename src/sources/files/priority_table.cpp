/// Priority and audience of files.
#include "sources/files/priority_table.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "sources/files/media_type.hpp"
#include "sources/files/serving_rules.hpp"

namespace hondana::files {
namespace {

template <std::size_t Size>
bool is_one_of(std::string_view name, const std::array<std::string_view, Size>& names) noexcept {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <std::size_t Size>
bool ends_with_any(std::string_view name, const std::array<std::string_view, Size>& endings) noexcept {
  return std::any_of(endings.begin(), endings.end(), [name](std::string_view ending) { return name.ends_with(ending); });
}

bool starts_with_word(std::string_view name, std::string_view word) noexcept {
  return ascii::starts_with_ignore_case(name, word) &&
         (name.size() == word.size() || name[word.size()] == '.' || name[word.size()] == '-' || name[word.size()] == '_');
}

bool is_lock_or_generated(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 8> locks{
      "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "go.sum",
      "bun.lockb",         "packages.lock.json",  "flake.lock",     "Package.resolved"};
  constexpr std::array<std::string_view, 17> endings{".lock",      ".min.js",      ".min.css", ".map",          ".pb.go",
                                                     ".pb.cc",     ".pb.h",        "_pb2.py",  "_pb2_grpc.py",  ".g.dart",
                                                     ".snap",      ".designer.cs", ".g.cs",    ".generated.ts", ".generated.js",
                                                     ".bundle.js", ".tsbuildinfo"};
  return is_one_of(name, locks) || ends_with_any(name, endings);
}

bool is_package_folder(std::string_view folder) noexcept {
  constexpr std::array<std::string_view, 11> names{
      "node_modules",  "vendor", "third_party", "third-party", "bower_components", "dist", "__pycache__",
      "site-packages", "Pods",   "generated",   "target"};
  return is_one_of(folder, names);
}

bool is_test_folder(std::string_view folder) noexcept {
  constexpr std::array<std::string_view, 7> names{"test", "tests", "spec", "specs", "testdata", "__tests__", "fixtures"};
  return is_one_of(folder, names);
}

bool is_build_description(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 18> names{
      "CMakeLists.txt", "Makefile",      "package.json", "Cargo.toml",       "pyproject.toml",     "setup.py",
      "go.mod",         "pom.xml",       "build.gradle", "build.gradle.kts", "meson.build",        "Dockerfile",
      "Gemfile",        "composer.json", "BUILD.bazel",  "tsconfig.json",    "docker-compose.yml", "flake.nix"};
  return is_one_of(name, names);
}

}  // namespace

double default_priority(std::string_view path, bool is_folder) noexcept {
  bool is_in_docs = false;
  bool is_in_tests = false;
  auto name = path;
  for (auto slash = name.find('/'); slash != std::string_view::npos; slash = name.find('/')) {
    const auto folder = name.substr(0, slash);
    if (is_package_folder(folder)) return 0.1;
    is_in_docs = is_in_docs || folder == "docs" || folder == "doc" || folder == "documentation";
    is_in_tests = is_in_tests || is_test_folder(folder);
    name.remove_prefix(slash + 1);
  }
  if (is_folder) return is_package_folder(name) ? 0.1 : 0.5;
  if (is_lock_or_generated(name)) return 0.1;
  if (starts_with_word(name, "readme")) return is_in_tests ? 0.7 : 0.9;
  const auto type = mime_type_of(name);
  if (is_in_tests) return 0.4;
  if (is_build_description(name)) return 0.7;
  if (type.is_document || (is_in_docs && type.is_text)) return 0.7;
  if (type.is_text) return 0.5;
  return 0.3;
}

result<priority_table> priority_table::make(const std::vector<priority_rule>& rules) {
  priority_table table;
  for (const auto& rule : rules) {
    HONDANA_TRY(auto pattern, compile_patterns({rule.pattern}, "priorities"));
    if (rule.priority && !(*rule.priority >= 0.0 && *rule.priority <= 1.0)) {
      return fail(errc::invalid_argument, "The priority of `" + rule.pattern + "` is not between 0 and 1.");
    }
    table.rules_.push_back({std::move(pattern), rule.priority, rule.audience});
  }
  return table;
}

void priority_table::annotate(std::string_view path, bool is_folder, annotations& target) const {
  const auto matches = [&](const compiled_rule& rule) {
    // A pattern that matches a folder applies to everything in it.
    for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
      if (rule.pattern.match(path.substr(0, slash), true).outcome == ignore::decision::ignored) return true;
    }
    return !path.empty() && rule.pattern.match(path, is_folder).outcome == ignore::decision::ignored;
  };
  const auto rule = std::find_if(rules_.rbegin(), rules_.rend(), matches);
  if (rule != rules_.rend()) {
    target.priority = rule->priority;
    target.audience = rule->audience;
  }
  if (!target.priority) target.priority = default_priority(path, is_folder);
}

}  // namespace hondana::files
