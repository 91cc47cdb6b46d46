/// Runs git by fork and exec, with an environment of its own and files for its input and output.
#include "git_repository.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace hondana::testing {
namespace {

/// Runs git in `folder` and returns its exit code; 127 when there is no such program.
int run_git(const std::vector<std::string>& arguments, const std::string& folder, const std::string& input,
            const std::string& output) {
  std::vector<std::string> words{"git"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const char* path = std::getenv("PATH");
  std::vector<std::string> settings{std::string("PATH=") + (path != nullptr ? path : "/usr/bin:/bin"), "LC_ALL=C",
                                    "HOME=/nonexistent", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1"};
  std::vector<char*> argv, environment;
  for (std::string& one : words) argv.push_back(one.data());
  for (std::string& one : settings) environment.push_back(one.data());
  argv.push_back(nullptr);
  environment.push_back(nullptr);

  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    const int in = open(input.c_str(), O_RDONLY);
    const int out = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || chdir(folder.c_str()) != 0) _exit(126);
    execvpe("git", argv.data(), environment.data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

bool git_repository::available() { return run_git({"--version"}, "/", "/dev/null", "/dev/null") == 0; }

git_repository::git_repository() {
  home_ = ::testing::TempDir() + "hondana_ignore_XXXXXX";
  if (mkdtemp(home_.data()) == nullptr) throw std::system_error(errno, std::generic_category(), "mkdtemp " + home_);
  root_ = home_ + "/root";
  std::filesystem::create_directory(root_);
  if (run_git({"init", "-q", "--template="}, root_, "/dev/null", "/dev/null") != 0) {
    throw std::runtime_error("git init failed in " + root_);
  }
}

git_repository::~git_repository() {
  std::error_code failed;
  std::filesystem::remove_all(home_, failed);
  if (failed) ADD_FAILURE() << "could not remove " << home_ << ": " << failed.message();
}

void git_repository::write(const std::string& path, std::string_view bytes) const {
  const std::filesystem::path whole = std::filesystem::path(root_) / path;
  std::filesystem::create_directories(whole.parent_path());
  // Emptying a file that is there makes some file systems wait for the disk.
  std::filesystem::remove(whole);
  std::ofstream out(whole, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw std::runtime_error("could not write " + whole.string());
}

void git_repository::make_folder(const std::string& path) const {
  std::filesystem::create_directories(std::filesystem::path(root_) / path);
}

std::vector<git_answer> git_repository::check_ignore(const std::vector<std::string>& paths) const {
  const std::string input = home_ + "/paths";
  const std::string output = home_ + "/answers";
  {
    std::ofstream out(input, std::ios::binary | std::ios::trunc);
    for (const std::string& one : paths) out.write(one.c_str(), static_cast<std::streamsize>(one.size() + 1));
    if (!out.flush()) throw std::runtime_error("could not write " + input);
  }
  // 0: something matches; 1: nothing does.
  const int code = run_git({"check-ignore", "-v", "-n", "--no-index", "--stdin", "-z"}, root_, input, output);
  if (code != 0 && code != 1) throw std::runtime_error("git check-ignore ended with " + std::to_string(code));

  const std::string text = read_all(output);
  std::string_view rest = text;
  const auto field = [&rest] {
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos) throw std::runtime_error("git check-ignore wrote a short answer");
    std::string taken(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    return taken;
  };
  std::vector<git_answer> answers;
  while (!rest.empty()) {
    git_answer one;
    one.source = field();
    const std::string line = field();
    one.line = line.empty() ? 0 : std::stoul(line);
    one.pattern = field();
    one.path = field();
    answers.push_back(std::move(one));
  }
  if (answers.size() != paths.size()) throw std::runtime_error("git check-ignore did not answer for every path");
  return answers;
}

}  // namespace hondana::testing
