/// The main function of all test programs: runs the tests of one module, or those that measure time, or all the others.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

/// A test as gtest knows it.
struct listed_test {
  std::string full_name;  ///< "suite.test", as filters match it.
  std::string suite;
  std::string file;
};

std::vector<listed_test> all_tests() {
  std::vector<listed_test> out;
  const auto& tests = *testing::UnitTest::GetInstance();
  for (int i = 0; i < tests.total_test_suite_count(); ++i) {
    const auto& suite = *tests.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const auto& test = *suite.GetTestInfo(j);
      out.push_back({std::string(suite.name()) + "." + test.name(), suite.name(), test.file()});
    }
  }
  return out;
}

/// Whether a file lies in tests/unit/`module`, and not in a module below it.
bool is_in_module(std::string_view file, std::string_view module) {
  const auto folder = "unit/" + std::string(module) + "/";
  const auto at = file.rfind(folder);
  return at != std::string_view::npos && file.find('/', at + folder.size()) == std::string_view::npos;
}

/// "suite_timing.test", "instance/suite_timing.test/0": a test that measures time or load.
bool is_timing(const listed_test& test) { return test.suite.find("_timing") != std::string::npos; }

bool matches_glob(std::string_view name, std::string_view glob) {
  if (glob.empty()) return name.empty();
  if (glob.front() == '*') return matches_glob(name, glob.substr(1)) || (!name.empty() && matches_glob(name.substr(1), glob));
  return !name.empty() && (glob.front() == '?' || glob.front() == name.front()) && matches_glob(name.substr(1), glob.substr(1));
}

bool matches_any(std::string_view name, std::string_view globs) {
  while (!globs.empty()) {
    const auto end = std::min(globs.find(':'), globs.size());
    if (matches_glob(name, globs.substr(0, end))) return true;
    globs.remove_prefix(std::min(end + 1, globs.size()));
  }
  return false;
}

/// Whether a test matches a GoogleTest filter: globs of tests to run, then '-' and globs of tests to leave out.
bool matches_filter(std::string_view name, std::string_view filter) {
  const auto minus = std::min(filter.find('-'), filter.size());
  const auto wanted = filter.substr(0, minus);
  const auto unwanted = filter.substr(std::min(minus + 1, filter.size()));
  return (wanted.empty() || matches_any(name, wanted)) && !matches_any(name, unwanted);
}

/// The tests that lie in none of these modules, separated by commas, are printed; 1 if there are any.
int check_modules(std::string_view modules) {
  int faults = 0;
  for (const auto& test : all_tests()) {
    auto left = modules;
    bool found = false;
    while (!left.empty() && !found) {
      const auto end = std::min(left.find(','), left.size());
      found = is_in_module(test.file, left.substr(0, end));
      left.remove_prefix(std::min(end + 1, left.size()));
    }
    if (found) continue;
    std::printf("%s: %s is in no module that ctest runs\n", test.file.c_str(), test.full_name.c_str());
    ++faults;
  }
  return faults == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  std::string module;
  bool timing = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--module=")) {
      module = argument.substr(std::strlen("--module="));
    } else if (argument.starts_with("--check-modules=")) {
      return check_modules(argument.substr(std::strlen("--check-modules=")));
    } else if (argument == "--timing") {
      timing = true;
    } else {
      std::fprintf(stderr, "%s: unknown argument %s; known: --module=NAME, --timing, --check-modules=NAME,..., and gtest's\n",
                   argv[0], argv[i]);
      return 2;
    }
  }
  std::string chosen;
  for (const auto& test : all_tests()) {
    if (is_timing(test) != timing || (!module.empty() && !is_in_module(test.file, module)) ||
        !matches_filter(test.full_name, GTEST_FLAG_GET(filter))) {
      continue;
    }
    chosen += (chosen.empty() ? "" : ":") + test.full_name;
  }
  // Never a pass: a filter, a module or a suite may have been renamed.
  if (chosen.empty()) {
    std::printf("no test matches %s%s\n", GTEST_FLAG_GET(filter).c_str(), timing ? " among those that measure time" : "");
    return 1;
  }
  GTEST_FLAG_SET(filter, chosen);
  return RUN_ALL_TESTS();
}
