/// A provider over repositories that tests make, and what it answers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>

#include "sources/git/git_provider.hpp"
#include "unit/sources/git/made_repository.hpp"

namespace hondana::git {

/// One repository, called "shelf". The test fails where the provider does not open.
class served_repository {
 public:
  explicit served_repository(const made_repository& of, bool redact = true);
  explicit served_repository(git_options from);

  [[nodiscard]] git_provider& provider() const { return *provider_; }

  /// A read of a URI in canonical form.
  [[nodiscard]] result<read_result> try_read(const std::string& uri,
                                             const std::shared_ptr<const access_filter>& through = nullptr) const;
  /// The text of what is read; the test fails when there is none.
  [[nodiscard]] std::string text(const std::string& uri, const std::shared_ptr<const access_filter>& through = nullptr) const;
  [[nodiscard]] read_result read(const std::string& uri) const;
  /// The failure of a read; the test fails when it succeeds.
  [[nodiscard]] failure error(const std::string& uri) const;
  /// The same as JSON; the test fails when it is none.
  [[nodiscard]] value json(const std::string& uri, const std::shared_ptr<const access_filter>& through = nullptr) const;
  /// URIs of a folder's children, page by page of `a_page`.
  [[nodiscard]] std::vector<std::string> children(const std::string& uri, std::size_t a_page = 500) const;
  [[nodiscard]] complete_result complete(const std::string& uri_template, const std::string& argument, const std::string& typed,
                                         std::vector<std::pair<std::string, std::string>> context = {{"repo", "shelf"}}) const;

 private:
  std::shared_ptr<git_provider> provider_;
};

/// Sees URIs for which a function holds.
class test_view final : public access_filter {
 public:
  explicit test_view(std::function<bool(std::string_view)> sees) : sees_(std::move(sees)) {}
  [[nodiscard]] std::uint64_t id() const noexcept override { return 7; }
  [[nodiscard]] bool may_see(std::string_view uri) const override { return sees_(uri); }

 private:
  std::function<bool(std::string_view)> sees_;
};

/// Waits until what the repository rests on is old enough for its time stamps to tell changes, with a deadline: who opens it
/// then keeps its handle, and does not look through it again before it changes.
void let_settle(const made_repository& made);

}  // namespace hondana::git
