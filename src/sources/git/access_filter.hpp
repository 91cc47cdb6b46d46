/// What of a repository a caller may not see: secrets, ignored files, the server's own files, and files that rules deny.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "os/disk/private_file.hpp"
#include "sources/git/ignored_paths.hpp"
#include "sources/git/repository_location.hpp"

namespace hondana::git {

/// `keep_back`: absolute, links resolved. What lies in one work tree of a repository has the same path in the trees that
/// another shows: for `of`, those of its own work tree, of those among `all` with the same objects, and of the main one count.
[[nodiscard]] disk::own_files own_files_in(const place& of, const std::vector<place>& all,
                                           const std::vector<std::string>& keep_back);

/// For one caller and one repository. Refers to what it is given.
class concealment {
 public:
  /// `through` may be null: then nothing is hidden from the caller but what is from everybody. `masks`: secrets in texts are
  /// masked. Files whose names say that they hold credentials, the server's `own` by their paths in a tree, and what is
  /// `ignored` are left out in any case.
  concealment(bool masks, const view* through, std::string_view repo, const disk::own_files& own,
              ignored_paths& ignored) noexcept
      : masks_(masks), through_(through), repo_(repo), own_(own), ignored_(ignored) {}

  /// Why a path is shown to nobody at any revision, by its own name or that of a folder above, such as "its name says that it
  /// holds a private key"; empty: it may be shown.
  [[nodiscard]] std::string secret_at(std::string_view path, bool is_folder) const;
  /// What those reasons rest on, as far as it may change and was asked about: see there.
  [[nodiscard]] ignored_paths& ignored() const noexcept { return ignored_; }
  /// Differs between callers whose rules differ; empty for a caller without rules.
  [[nodiscard]] std::string state_of_view() const {
    return through_ == nullptr ? std::string() : std::to_string(through_->id());
  }
  /// What a read of such a path is answered with: resource_not_found, with that reason.
  [[nodiscard]] static failure refusal_of(std::string_view path, std::string_view reason);
  /// Why a file of the work tree is shown to nobody whatever it is called there: it is the server's own under another name.
  [[nodiscard]] std::string secret_in(const struct stat& facts) const;

  /// Whether a file may be shown as it is at a revision: its blob's URI may be read, and it is no file of secrets.
  /// `kind` as in its entry, at which rules may look.
  [[nodiscard]] bool shows_file(std::string_view rev, std::string_view path, std::string_view kind = "blob") const;
  /// Whether a file may be read at a revision, whatever its name says.
  [[nodiscard]] bool allows_file(std::string_view rev, std::string_view path, std::string_view kind = "blob") const;
  /// Whether a folder may be shown: its tree's URI may be seen.
  [[nodiscard]] bool shows_folder(std::string_view rev, std::string_view path) const;
  /// Whether an entry of a tree may be seen, whatever its name says.
  [[nodiscard]] bool allows(std::string uri, std::string_view kind) const;
  /// Whether an entry of a tree may be seen.
  [[nodiscard]] bool lists(const std::string& uri, std::string_view path, bool is_folder, std::string_view kind) const;

  /// Masks the secrets in the contents of a file, in place, and says how many.
  std::size_t mask_file(std::string_view path, std::string& bytes) const;
  /// The same of messages.
  std::size_t mask_message(std::string& text) const;
  [[nodiscard]] std::string masked_message(std::string text) const {
    mask_message(text);
    return text;
  }

 private:
  const bool masks_;
  const view* const through_;
  const std::string_view repo_;
  const disk::own_files& own_;
  ignored_paths& ignored_;
};

}  // namespace hondana::git
