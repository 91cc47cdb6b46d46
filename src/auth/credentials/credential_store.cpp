/// Stores credentials in the desktop's keyring or in a file.
#include "auth/credentials/credential_store.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <utility>

#include "auth/credentials/credential_document.hpp"
#include "os/disk/private_file.hpp"

namespace hondana::credentials {
namespace {

class file_vault final : public vault {
 public:
  explicit file_vault(std::string path) : path_(std::move(path)) {}

  bool answers() override { return true; }
  result<std::string> load() override {
    auto read = disk::read_private(path_, max_document_bytes);
    if (read) return std::move(read->bytes);
    if (read.error().code == errc::resource_not_found) return std::string();
    return tl::unexpected(std::move(read.error()));
  }
  result<void> save(std::string_view text) override { return disk::replace_private(path_, text); }

 private:
  const std::string path_;
};

}  // namespace

std::unique_ptr<vault> make_file_vault(std::string path) { return std::make_unique<file_vault>(std::move(path)); }

namespace {

std::string variable(const char* name) {
  const char* const set = std::getenv(name);
  return set == nullptr ? "" : set;
}

/// Whether the document has an entry for a resource or issuer.
bool is_about(const document& all, const std::string& subject) {
  return all.registrations.contains(subject) ||
         std::any_of(all.tokens.begin(), all.tokens.end(), [&](const kept_tokens& one) { return one.key.resource == subject; });
}

void drop(document& from, const token_key& key) {
  std::erase_if(from.tokens, [&](const kept_tokens& one) { return one.key == key; });
}

void drop(document& from, const std::string& issuer, const std::string& client_id) {
  const auto found = from.registrations.find(issuer);
  if (found == from.registrations.end()) return;
  std::erase_if(found->second, [&](const client_registration& one) { return one.client_id == client_id; });
  if (found->second.empty()) from.registrations.erase(found);
}

class credential_store final : public token_store {
 public:
  credential_store(store_settings settings, std::unique_ptr<vault> keyring)
      : settings_(std::move(settings)), file_(make_file_vault(settings_.file)), keyring_(std::move(keyring)) {}

  result<std::vector<kept_tokens>> find(const std::string& resource) override {
    std::vector<kept_tokens> out;
    auto done = look(resource, [&](const document& all) {
      for (const auto& one : all.tokens) {
        if (one.key.resource == resource) out.push_back(one);
      }
    });
    if (!done) return tl::unexpected(std::move(done.error()));
    return out;
  }

  result<void> put(const kept_tokens& what) override {
    document alone;
    alone.tokens.push_back(what);
    HONDANA_TRY(check_entry(alone, what.key.issuer));
    return change(
        what.key.resource, [&](document& all) { drop(all, what.key); }, [&](document& all) { all.tokens.push_back(what); });
  }

  result<void> remove(const token_key& key) override {
    return change(key.resource, [&](document& all) { drop(all, key); });
  }

  result<std::shared_ptr<void>> lock(const std::string& resource, std::chrono::milliseconds most,
                                     const std::stop_token& stop) override {
    if (settings_.file.empty()) return fail(errc::source_unavailable, std::string(no_place));
    HONDANA_TRY(auto held, disk::lock_beside(settings_.file, resource, most, stop));
    return std::make_shared<disk::handle>(std::move(held));
  }

  result<std::vector<client_registration>> registrations(const std::string& issuer) override {
    std::vector<client_registration> out;
    auto done = look(issuer, [&](const document& all) {
      const auto found = all.registrations.find(issuer);
      if (found != all.registrations.end()) out.insert(out.end(), found->second.begin(), found->second.end());
    });
    if (!done) return tl::unexpected(std::move(done.error()));
    return out;
  }

  result<void> put_registration(const std::string& issuer, const client_registration& what) override {
    document alone;
    alone.registrations[issuer].push_back(what);
    HONDANA_TRY(check_entry(alone, issuer));
    // Clients with a key file go to the file, because `key_files_for` does not open the keyring.
    const auto to = what.key_file.empty() ? std::nullopt : std::optional(place::file);
    return change(
        issuer, [&](document& all) { drop(all, issuer, what.client_id); },
        [&](document& all) { all.registrations[issuer].push_back(what); }, to);
  }

  result<void> remove_registration(const std::string& issuer, const std::string& client_id) override {
    return change(issuer, [&](document& all) { drop(all, issuer, client_id); });
  }

 private:
  /// Rejects an entry that is too large, so that one authorization server cannot make the whole document unreadable.
  static result<void> check_entry(const document& alone, const std::string& issuer) {
    const auto text = encode_checked(alone);
    if (text && text->size() <= max_entry_bytes) return {};
    return fail(errc::source_unavailable, "the credentials from " + issuer + " cannot be stored: " +
                                              (text ? std::string("it is longer than 64 KiB") : text.error().public_text));
  }
  static result<void> save(vault& to, const document& what) {
    const auto text = encode_checked(what);
    if (text) return to.save(*text);
    return fail(errc::source_unavailable,
                "another login cannot be stored: " + text.error().public_text + "; log out of unused servers");
  }
  using edit = std::function<void(document&)>;

  result<document> load(vault& from, const std::string& name) {
    HONDANA_TRY(auto text, from.load());
    auto read = decode(text);
    if (!read)
      return fail(errc::source_unavailable, name + " is damaged: " + read.error().public_text + "; remove it and log in again");
    return read;
  }
  result<document> in_file() {
    if (settings_.file.empty()) return document();
    return load(*file_, settings_.file);
  }
  result<document> in_keyring() { return load(*keyring_, "hondana's entry in the keyring"); }

  result<void> look(const std::string& subject, const std::function<void(const document&)>& at) {
    const std::lock_guard lock(mutex_);
    HONDANA_TRY(const auto plain, in_file());
    at(plain);
    if (!plain.in_keyring.contains(subject)) return {};
    HONDANA_TRY(const auto hidden, in_keyring());
    at(hidden);
    return {};
  }

  /// Decides where a new entry for a resource or issuer is stored.
  place place_for(const std::string& subject, const document& plain) {
    if (settings_.wanted) return *settings_.wanted;
    if (plain.in_keyring.contains(subject)) return place::keyring;
    if (is_about(plain, subject)) return place::file;
    return keyring_->answers() ? place::keyring : place::file;
  }

  /// Applies `take_away` to file and keyring, and `add` to one of them.
  result<void> change(const std::string& subject, const edit& take_away, const edit& add = {},
                      std::optional<place> only = std::nullopt) {
    const std::lock_guard lock(mutex_);
    auto plain = in_file();
    if (!plain) return tl::unexpected(std::move(plain.error()));
    if (!add && !plain->in_keyring.contains(subject) && !is_about(*plain, subject)) return {};
    if (settings_.file.empty()) return fail(errc::source_unavailable, std::string(no_place));
    // Another process may change the file until this lock is held.
    HONDANA_TRY(const auto only_us, disk::lock_beside(settings_.file));
    plain = in_file();
    if (!plain) return tl::unexpected(std::move(plain.error()));

    const auto to = only ? *only : add ? place_for(subject, *plain) : place::file;
    const auto before = *plain;
    take_away(*plain);
    if (to == place::keyring || plain->in_keyring.contains(subject)) {
      HONDANA_TRY(auto hidden, in_keyring());
      take_away(hidden);
      if (to == place::keyring) add(hidden);
      HONDANA_TRY(save(*keyring_, hidden));
      plain->in_keyring.erase(subject);
      if (is_about(hidden, subject)) plain->in_keyring.insert(subject);
    }
    if (add && to == place::file) add(*plain);
    return *plain == before ? result<void>() : save(*file_, *plain);
  }

  const store_settings settings_;
  std::mutex mutex_;
  std::unique_ptr<vault> file_;
  std::unique_ptr<vault> keyring_;
};

}  // namespace

std::optional<place> place_named(std::string_view name) noexcept {
  if (name == "keyring") return place::keyring;
  if (name == "file") return place::file;
  return std::nullopt;
}

std::string usual_file() {
  auto folder = variable("XDG_DATA_HOME");
  // Relative paths must be ignored. Spec: XDG Base Directory Specification.
  if (!folder.starts_with('/')) folder.clear();
  if (folder.empty() && !variable("HOME").empty()) folder = variable("HOME") + "/.local/share";
  return folder.empty() ? "" : folder + "/hondana/credentials.json";
}

std::vector<std::string> key_files_for(const std::string& resource, const store_settings& settings) {
  if (settings.file.empty()) return {};
  const auto text = make_file_vault(settings.file)->load();
  const auto all = text ? decode(*text) : tl::unexpected(text.error());
  if (!all) return {};
  const bool is_hidden = all->in_keyring.contains(resource);
  std::vector<std::string> out;
  for (const auto& [issuer, clients] : all->registrations) {
    for (const auto& client : clients) {
      const bool is_its = std::any_of(all->tokens.begin(), all->tokens.end(), [&](const kept_tokens& one) {
        return one.key.resource == resource && one.key.issuer == issuer && one.key.client_id == client.client_id;
      });
      if (!client.key_file.empty() && (is_its || is_hidden)) out.push_back(client.key_file);
    }
  }
  return out;
}

std::shared_ptr<token_store> make_store(store_settings settings, std::unique_ptr<vault> keyring) {
  return std::make_shared<credential_store>(std::move(settings), std::move(keyring));
}

std::shared_ptr<token_store> make_store(store_settings settings) {
  return make_store(std::move(settings), make_keyring_vault());
}

}  // namespace hondana::credentials
