/// Stores all credentials as one text in the desktop's keyring.

#include <sys/stat.h>

#include <cstdlib>
#include <string>

#include "auth/credentials/credential_store.hpp"

#if __has_include(<libsecret/secret.h>)
#include <libsecret/secret.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include <hondana/clock.hpp>

#include "os/libraries/shared_library.hpp"
#endif

namespace hondana::credentials {
namespace {

#if __has_include(<libsecret/secret.h>)

constexpr std::chrono::seconds answer_timeout{2};
/// The user may have to type a password.
constexpr std::chrono::seconds unlock_timeout{60};

/// The functions of libsecret and GLib that are used here.
struct library {
  libraries::function<decltype(&::secret_service_get_sync)> get_service{"secret_service_get_sync"};
  libraries::function<decltype(&::secret_password_lookupv_sync)> lookup{"secret_password_lookupv_sync"};
  libraries::function<decltype(&::secret_password_storev_sync)> store{"secret_password_storev_sync"};
  libraries::function<decltype(&::secret_password_free)> free_password{"secret_password_free"};
  libraries::function<decltype(&::g_cancellable_new)> new_cancellable{"g_cancellable_new"};
  libraries::function<decltype(&::g_cancellable_cancel)> cancel{"g_cancellable_cancel"};
  libraries::function<decltype(&::g_object_unref)> unref{"g_object_unref"};
  libraries::function<decltype(&::g_error_free)> free_error{"g_error_free"};
  libraries::function<decltype(&::g_hash_table_new)> new_table{"g_hash_table_new"};
  libraries::function<decltype(&::g_hash_table_insert)> insert{"g_hash_table_insert"};
  libraries::function<decltype(&::g_hash_table_unref)> free_table{"g_hash_table_unref"};
  libraries::function<decltype(&::g_str_hash)> hash{"g_str_hash"};
  libraries::function<decltype(&::g_str_equal)> equal{"g_str_equal"};
};

/// GLib does not support unloading.
result<const library*> loaded_library() {
  return libraries::load_once<library>(
      {"libsecret-1.so.0", "the desktop's keyring requires", "libsecret-1-0", "use --store file"});
}

/// The cancellable and the error of one call; cancels it after `timeout`.
class limited_call {
 public:
  limited_call(const library& lib, std::chrono::seconds timeout)
      : lib_(lib), cancellable_(lib.new_cancellable()), timeout_thread_([this, timeout](const std::stop_token& stop) {
          std::unique_lock lock(mutex_);
          monotonic_clock::wait_for(changed_, lock, stop, timeout, [] { return false; });
          if (!stop.stop_requested()) lib_.cancel(cancellable_);
        }) {}
  ~limited_call() {
    timeout_thread_.request_stop();
    timeout_thread_.join();
    lib_.unref(cancellable_);
    if (error_ != nullptr) lib_.free_error(error_);
  }
  limited_call(const limited_call&) = delete;
  limited_call& operator=(const limited_call&) = delete;

  [[nodiscard]] GCancellable* cancellable() const noexcept { return cancellable_; }
  [[nodiscard]] GError** error() noexcept { return &error_; }
  [[nodiscard]] tl::unexpected<failure> make_failure(const std::string& operation) const {
    const std::string reason = error_ != nullptr ? error_->message : "it was not unlocked";
    return fail(errc::source_unavailable, "cannot " + operation + " the desktop's keyring: " + reason +
                                              "; log in with --store file to avoid the keyring");
  }

 private:
  const library& lib_;
  GCancellable* cancellable_;
  GError* error_ = nullptr;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread timeout_thread_;  // last member: its thread uses the others
};

/// The attributes that identify the stored item.
class item_attributes {
 public:
  explicit item_attributes(const library& lib) : lib_(lib), table_(lib.new_table(lib.hash.pointer, lib.equal.pointer)) {
    static char name[] = "kind";
    static char text[] = "credentials";
    lib_.insert(table_, name, text);
  }
  ~item_attributes() { lib_.free_table(table_); }
  item_attributes(const item_attributes&) = delete;
  item_attributes& operator=(const item_attributes&) = delete;
  [[nodiscard]] GHashTable* get() const noexcept { return table_; }

 private:
  const library& lib_;
  GHashTable* table_;
};

const SecretSchema& schema() {
  static const SecretSchema instance = [] {
    SecretSchema out{};
    out.name = "hondana.credentials";
    out.flags = SECRET_SCHEMA_NONE;
    out.attributes[0] = {"kind", SECRET_SCHEMA_ATTRIBUTE_STRING};
    return out;
  }();
  return instance;
}

/// Without a session bus, libsecret would start one.
bool has_session_bus() {
  if (const char* const address = std::getenv("DBUS_SESSION_BUS_ADDRESS"); address != nullptr && *address != '\0') return true;
  const char* const folder = std::getenv("XDG_RUNTIME_DIR");
  struct stat attributes{};
  return folder != nullptr && *folder != '\0' && ::stat((std::string(folder) + "/bus").c_str(), &attributes) == 0 &&
         S_ISSOCK(attributes.st_mode);
}

class keyring_vault final : public vault {
 public:
  bool is_available() override { return connect().has_value(); }

  result<std::string> load() override {
    HONDANA_TRY(const auto connected, connect());
    const auto& lib = *connected;
    limited_call call(lib, unlock_timeout);
    const item_attributes attributes(lib);
    char* const password = lib.lookup(&schema(), attributes.get(), call.cancellable(), call.error());
    if (password == nullptr) return *call.error() != nullptr ? result<std::string>(call.make_failure("read")) : std::string();
    std::string out = password;
    lib.free_password(password);
    return out;
  }

  result<void> save(std::string_view text) override {
    HONDANA_TRY(const auto connected, connect());
    const auto& lib = *connected;
    limited_call call(lib, unlock_timeout);
    const item_attributes attributes(lib);
    const std::string secret(text);
    if (lib.store(&schema(), attributes.get(), SECRET_COLLECTION_DEFAULT, "Logins of hondana", secret.c_str(),
                  call.cancellable(), call.error()) == 0)
      return call.make_failure("write to");
    return {};
  }

 private:
  /// Returns the library after a connection was successful.
  result<const library*> connect() {
    if (!is_connected_ && !has_session_bus())
      return fail(errc::source_unavailable,
                  "no session bus is available, which the keyring requires; use --store file instead");
    HONDANA_TRY(const auto lib, loaded_library());
    if (is_connected_) return lib;
    limited_call call(*lib, answer_timeout);
    auto* const service = lib->get_service(SECRET_SERVICE_OPEN_SESSION, call.cancellable(), call.error());
    if (service == nullptr) return call.make_failure("reach");
    lib->unref(service);
    is_connected_ = true;
    return lib;
  }

  bool is_connected_ = false;
};

#else

class keyring_vault final : public vault {
 public:
  bool is_available() override { return false; }
  result<std::string> load() override { return unsupported(); }
  result<void> save(std::string_view) override { return unsupported(); }

 private:
  static tl::unexpected<failure> unsupported() {
    return fail(errc::source_unavailable, "this build of hondana does not support keyrings; use --store file instead");
  }
};

#endif

}  // namespace

std::unique_ptr<vault> make_keyring_vault() { return std::make_unique<keyring_vault>(); }

}  // namespace hondana::credentials
