/// Stores tokens and client registrations in the desktop's keyring or in a file.
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

  bool is_available() override { return true; }
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
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Whether the document has an entry for a resource or issuer.
bool has_entries(const document& credentials, const std::string& subject) {
  return credentials.registrations.contains(subject) ||
         std::any_of(credentials.tokens.begin(), credentials.tokens.end(),
                     [&](const token_record& entry) { return entry.key.resource == subject; });
}

void erase_entry(document& credentials, const token_key& key) {
  std::erase_if(credentials.tokens, [&](const token_record& entry) { return entry.key == key; });
}

void erase_entry(document& credentials, const std::string& issuer, const std::string& client_id) {
  const auto position = credentials.registrations.find(issuer);
  if (position == credentials.registrations.end()) return;
  std::erase_if(position->second, [&](const client_registration& registration) { return registration.client_id == client_id; });
  if (position->second.empty()) credentials.registrations.erase(position);
}

class credential_store final : public token_store {
 public:
  credential_store(store_settings settings, std::unique_ptr<vault> keyring)
      : settings_(std::move(settings)), file_(make_file_vault(settings_.file)), keyring_(std::move(keyring)) {}

  result<std::vector<token_record>> find(const std::string& resource) override {
    std::vector<token_record> out;
    auto status = inspect(resource, [&](const document& credentials) {
      for (const auto& entry : credentials.tokens) {
        if (entry.key.resource == resource) out.push_back(entry);
      }
    });
    if (!status) return tl::unexpected(std::move(status.error()));
    return out;
  }

  result<void> put(const token_record& record) override {
    document single;
    single.tokens.push_back(record);
    HONDANA_TRY(check_entry(single, record.key.issuer));
    return change(
        record.key.resource, [&](document& credentials) { erase_entry(credentials, record.key); },
        [&](document& destination) { destination.tokens.push_back(record); });
  }

  result<void> remove(const token_key& key) override {
    return change(key.resource, [&](document& credentials) { erase_entry(credentials, key); });
  }

  result<std::shared_ptr<void>> lock(const std::string& resource, std::chrono::milliseconds timeout,
                                     const std::stop_token& stop) override {
    if (settings_.file.empty()) return fail(errc::source_unavailable, std::string(no_file_configured));
    HONDANA_TRY(auto handle, disk::acquire_lock(settings_.file, resource, timeout, stop));
    return std::make_shared<disk::handle>(std::move(handle));
  }

  result<std::vector<client_registration>> registrations(const std::string& issuer) override {
    std::vector<client_registration> out;
    auto status = inspect(issuer, [&](const document& credentials) {
      const auto position = credentials.registrations.find(issuer);
      if (position != credentials.registrations.end()) out.insert(out.end(), position->second.begin(), position->second.end());
    });
    if (!status) return tl::unexpected(std::move(status.error()));
    return out;
  }

  result<void> put_registration(const std::string& issuer, const client_registration& registration) override {
    document single;
    single.registrations[issuer].push_back(registration);
    HONDANA_TRY(check_entry(single, issuer));
    // Clients with a key file go to the file, because `key_files_for` does not open the keyring.
    const auto location = registration.key_file ? std::optional(store_location::file) : std::nullopt;
    return change(
        issuer, [&](document& credentials) { erase_entry(credentials, issuer, registration.client_id); },
        [&](document& destination) { destination.registrations[issuer].push_back(registration); }, location);
  }

  result<void> remove_registration(const std::string& issuer, const std::string& client_id) override {
    return change(issuer, [&](document& credentials) { erase_entry(credentials, issuer, client_id); });
  }

 private:
  /// Rejects an entry that is too large, so that one authorization server cannot make the whole document unreadable.
  static result<void> check_entry(const document& single, const std::string& issuer) {
    const auto text = encode_checked(single);
    if (text && text->size() <= max_entry_bytes) return {};
    return fail(errc::source_unavailable, "the credentials from " + issuer + " cannot be stored: " +
                                              (text ? std::string("it is longer than 64 KiB") : text.error().public_text));
  }
  static result<void> save(vault& target, const document& credentials) {
    const auto text = encode_checked(credentials);
    if (text) return target.save(*text);
    return fail(errc::source_unavailable,
                "another login cannot be stored: " + text.error().public_text + "; log out of unused servers");
  }
  using edit = std::function<void(document&)>;

  result<document> load(vault& source, const std::string& name) {
    HONDANA_TRY(auto text, source.load());
    auto decoded = decode(text);
    if (!decoded)
      return fail(errc::source_unavailable,
                  name + " is damaged: " + decoded.error().public_text + "; remove it and log in again");
    return decoded;
  }
  result<document> load_file() {
    if (settings_.file.empty()) return document();
    return load(*file_, settings_.file);
  }
  result<document> load_keyring() { return load(*keyring_, "hondana's entry in the keyring"); }

  result<void> inspect(const std::string& subject, const std::function<void(const document&)>& visit) {
    const std::lock_guard lock(mutex_);
    HONDANA_TRY(const auto file_document, load_file());
    visit(file_document);
    if (!file_document.keyring_subjects.contains(subject)) return {};
    HONDANA_TRY(const auto keyring_document, load_keyring());
    visit(keyring_document);
    return {};
  }

  /// Decides where a new entry for a resource or issuer is stored.
  store_location choose_location(const std::string& subject, const document& file_document) {
    if (settings_.preferred_location) return *settings_.preferred_location;
    if (file_document.keyring_subjects.contains(subject)) return store_location::keyring;
    if (has_entries(file_document, subject)) return store_location::file;
    return keyring_->is_available() ? store_location::keyring : store_location::file;
  }

  /// Applies `remove_old` to file and keyring, and `add` to one of them.
  result<void> change(const std::string& subject, const edit& remove_old, const edit& add = {},
                      std::optional<store_location> location = std::nullopt) {
    const std::lock_guard lock(mutex_);
    auto file_document = load_file();
    if (!file_document) return tl::unexpected(std::move(file_document.error()));
    if (!add && !file_document->keyring_subjects.contains(subject) && !has_entries(*file_document, subject)) return {};
    if (settings_.file.empty()) return fail(errc::source_unavailable, std::string(no_file_configured));
    // Another process may change the file until this lock is held.
    HONDANA_TRY(const auto file_lock, disk::acquire_lock(settings_.file));
    file_document = load_file();
    if (!file_document) return tl::unexpected(std::move(file_document.error()));

    const auto target = location ? *location : add ? choose_location(subject, *file_document) : store_location::file;
    const auto original = *file_document;
    remove_old(*file_document);
    if (target == store_location::keyring || file_document->keyring_subjects.contains(subject)) {
      HONDANA_TRY(auto keyring_document, load_keyring());
      remove_old(keyring_document);
      if (target == store_location::keyring) add(keyring_document);
      HONDANA_TRY(save(*keyring_, keyring_document));
      file_document->keyring_subjects.erase(subject);
      if (has_entries(keyring_document, subject)) file_document->keyring_subjects.insert(subject);
    }
    if (add && target == store_location::file) add(*file_document);
    return *file_document == original ? result<void>() : save(*file_, *file_document);
  }

  const store_settings settings_;
  std::mutex mutex_;
  std::unique_ptr<vault> file_;
  std::unique_ptr<vault> keyring_;
};

}  // namespace

std::optional<store_location> parse_store_location(std::string_view name) noexcept {
  if (name == "keyring") return store_location::keyring;
  if (name == "file") return store_location::file;
  return std::nullopt;
}

std::string default_file() {
  auto folder = variable("XDG_DATA_HOME");
  // Relative paths must be ignored. Spec: XDG Base Directory Specification.
  if (!folder.starts_with('/')) folder.clear();
  if (folder.empty() && !variable("HOME").empty()) folder = variable("HOME") + "/.local/share";
  return folder.empty() ? "" : folder + "/hondana/credentials.json";
}

std::vector<std::string> key_files_for(const std::string& resource, const store_settings& settings) {
  if (settings.file.empty()) return {};
  const auto text = make_file_vault(settings.file)->load();
  const auto stored = text ? decode(*text) : tl::unexpected(text.error());
  if (!stored) return {};
  const bool is_in_keyring = stored->keyring_subjects.contains(resource);
  std::vector<std::string> out;
  for (const auto& [issuer, clients] : stored->registrations) {
    for (const auto& client : clients) {
      const bool is_used = std::any_of(stored->tokens.begin(), stored->tokens.end(), [&](const token_record& entry) {
        return entry.key.resource == resource && entry.key.issuer == issuer && entry.key.client_id == client.client_id;
      });
      if (client.key_file && (is_used || is_in_keyring)) out.push_back(*client.key_file);
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
