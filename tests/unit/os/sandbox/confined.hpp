/// What tests have confined processes do; each in a process of its own, since there is no way back.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include <gtest/gtest.h>

#include "os/disk/file_descriptor.hpp"
#include "os/sandbox/sandbox.hpp"

namespace hondana_test {

using hondana::disk::handle;
using hondana::sandbox::access;
using hondana::sandbox::confine;
using hondana::sandbox::confinement;
using hondana::sandbox::landlock_version;
using hondana::sandbox::permissions;

/// Folders `allowed` and `other`, each with a file, gone with the test.
class place {
 public:
  place() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hondana-sandbox-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
    path_ = std::filesystem::canonical(pattern);
    for (const auto* one : {"allowed", "other"}) {
      std::filesystem::create_directory(path_ / one);
      std::ofstream(path_ / one / "file") << "text";
    }
  }
  ~place() {
    std::error_code left_behind;  // in /tmp, which the system cleans
    std::filesystem::remove_all(path_, left_behind);
  }
  place(const place&) = delete;
  place& operator=(const place&) = delete;
  [[nodiscard]] std::string operator/(std::string_view name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// 0 when it can be opened, else the error.
inline int opening(const std::string& path, int flags = O_RDONLY) {
  const handle file(::open(path.c_str(), flags | O_CLOEXEC, 0600));
  return file.is_open() ? 0 : errno;
}

/// Of a call that gives -1 for an error.
inline int error_of(long outcome) { return outcome < 0 ? errno : 0; }

/// What a child has found otherwise than it should be.
class findings {
 public:
  void expect(int found, int wanted, std::string_view what) {
    if (found == wanted) return;
    text_ += std::string(what) + ": " + std::to_string(found) + " instead of " + std::to_string(wanted) + '\n';
  }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

/// Lets one process or thread wait for another.
class pipe_pair {
 public:
  pipe_pair() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    from_ = handle(ends[0]);
    to_ = handle(ends[1]);
  }
  void give() const { EXPECT_EQ(::write(to_.get(), "x", 1), 1); }
  [[nodiscard]] bool take() const {
    char one = 0;
    return ::read(from_.get(), &one, 1) == 1;
  }

 private:
  handle from_;
  handle to_;
};

/// Runs `check` in a confined child and gives what it found; "" when all is as it should be.
inline std::string in_confined_child(const permissions& to, const std::function<void(findings&, const confinement&)>& check) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return "no pipe";
  const handle reading(ends[0]);
  handle writing(ends[1]);
  const auto child = ::fork();
  if (child == 0) {
    findings found;
    const auto made = confine(to);
    if (made) {
      check(found, *made);
    } else {
      found.expect(1, 0, made.error().public_text);
    }
    const auto& text = found.text();
    const auto count = ::write(writing.get(), text.data(), text.size());
    // No destructor, no leak check and no test report in the copy.
    ::_exit(count == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  writing = handle();
  std::string all(64u << 10, '\0');
  std::size_t have = 0;
  for (ssize_t count = 0; (count = ::read(reading.get(), all.data() + have, all.size() - have)) > 0;)
    have += static_cast<std::size_t>(count);
  all.resize(have);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) all += "left with status " + std::to_string(status);
  return all;
}

inline permissions only(const std::string& path, access may = access::read) {
  permissions made;
  made.paths.push_back({path, may});
  return made;
}

/// Tests of what an old kernel does not hold back show as skipped.
#define NEEDS_LANDLOCK(version) \
  if (landlock_version() < (version)) GTEST_SKIP() << "this kernel has Landlock " << landlock_version()

}  // namespace hondana_test
