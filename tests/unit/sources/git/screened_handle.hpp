/// A handle as the provider opens them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sources/git/repository_handle.hpp"
#include "sources/git/repository_location.hpp"

namespace hondana::git {

/// Null, and the test fails, when it is refused.
inline repository_pointer screened_handle(const std::string& path, const std::string& root) {
  const auto what = screen_repository(path, {root});
  EXPECT_TRUE(what) << what.error().public_text;
  if (!what) return {};
  auto handle = open_screened(*what);
  EXPECT_TRUE(handle) << handle.error().public_text << ' ' << handle.error().private_text;
  return handle ? std::move(*handle) : repository_pointer();
}

}  // namespace hondana::git
