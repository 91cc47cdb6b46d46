/// Runs the git program for tests.
#include "unit/sources/git/made_repository.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

namespace hondana::git {
namespace {

struct outcome {
  int code = -1;
  std::string printed, said;
};

constexpr long first_moment = 1'700'000'000;

outcome run(const std::string& folder, const std::vector<std::string>& arguments, std::string_view input, long moment) {
  std::array<int, 2> in{}, out{}, err{};
  EXPECT_EQ(::pipe2(in.data(), O_CLOEXEC) | ::pipe2(out.data(), O_CLOEXEC) | ::pipe2(err.data(), O_CLOEXEC), 0);
  std::vector<std::string> words{"git", "-C", folder, "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const auto date = std::to_string(moment) + " +0900";
  std::vector<std::string> variables{"PATH=/usr/bin:/bin",
                                     "HOME=" + folder,
                                     "GIT_CONFIG_NOSYSTEM=1",
                                     "GIT_CONFIG_GLOBAL=/dev/null",
                                     "LC_ALL=C.UTF-8",
                                     "TZ=UTC",
                                     "GIT_AUTHOR_NAME=Ada Writer",
                                     "GIT_AUTHOR_EMAIL=ada@example.com",
                                     "GIT_COMMITTER_NAME=Carl Committer",
                                     "GIT_COMMITTER_EMAIL=carl@example.com",
                                     "GIT_AUTHOR_DATE=" + date,
                                     "GIT_COMMITTER_DATE=" + date};
  std::vector<char*> argv, envp;
  for (auto& one : words) argv.push_back(one.data());
  for (auto& one : variables) envp.push_back(one.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, "/usr/bin/git", &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  for (const int one : {in[0], out[1], err[1]}) ::close(one);
  EXPECT_EQ(failed, 0) << "/usr/bin/git cannot be started";
  const auto take = [](int from, std::string& into) {
    std::array<char, 65536> buffer{};
    for (ssize_t count; (count = ::read(from, buffer.data(), buffer.size())) > 0;)
      into.append(buffer.data(), static_cast<std::size_t>(count));
    ::close(from);
  };
  outcome done;
  std::thread printed([&] { take(out[0], done.printed); });
  std::thread said([&] { take(err[0], done.said); });
  for (auto rest = input; !rest.empty();) {
    const auto count = ::write(in[1], rest.data(), rest.size());
    if (count <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  ::close(in[1]);
  printed.join();
  said.join();
  int status = 0;
  if (failed == 0 && ::waitpid(child, &status, 0) == child) done.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return done;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& one : words) out += ' ' + one;
  return out;
}

std::string printed_by(const std::string& folder, const std::vector<std::string>& arguments, std::string_view input,
                       long moment) {
  auto done = run(folder, arguments, input, moment);
  EXPECT_EQ(done.code, 0) << "git" << joined(arguments) << " said:\n" << done.said;
  return std::move(done.printed);
}

}  // namespace

std::string run_git(const std::string& folder, const std::vector<std::string>& arguments, std::string_view input) {
  return printed_by(folder, arguments, input, first_moment);
}

made_repository::made_repository(const std::vector<std::string>& how) {
  std::string pattern = std::filesystem::temp_directory_path() / "hondana-git-XXXXXX";
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
  above_ = std::filesystem::canonical(pattern);
  path_ = above_ + "/shelf";
  std::filesystem::create_directory(path_);
  std::vector<std::string> words{"init", "--quiet"};
  words.insert(words.end(), how.begin(), how.end());
  git(words);
}

made_repository::~made_repository() {
  std::error_code ignored;  // a leftover in the temporary folder harms nothing
  std::filesystem::remove_all(above_, ignored);
}

std::string made_repository::git(const std::vector<std::string>& arguments, std::string_view input) const {
  return printed_by(path_, arguments, input, first_moment + 60 * commits_);
}

int made_repository::try_git(const std::vector<std::string>& arguments) const {
  return run(path_, arguments, {}, first_moment + 60 * commits_).code;
}

void made_repository::write(const std::string& file, std::string_view content) const {
  const auto full = std::filesystem::path(path_) / file;
  std::filesystem::create_directories(full.parent_path());
  std::ofstream(full, std::ios::binary) << content;
}

std::string made_repository::commit(const std::string& message) {
  ++commits_;
  git({"add", "--all"});
  git({"commit", "--quiet", "--allow-empty", "--allow-empty-message", "-m", message});
  auto id = git({"rev-parse", "HEAD"});
  if (!id.empty()) id.pop_back();
  return id;
}

}  // namespace hondana::git
