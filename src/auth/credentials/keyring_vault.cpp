/// Stores all credentials as one text in the desktop's keyring.

#include <sys/stat.h>

#include <cstdlib>
#include <string>

#include "auth/credentials/credential_store.hpp"

#if __has_include(<libsecret/secret.h>)
#include <dlfcn.h>
#include <libsecret/secret.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include <hondana/clock.hpp>
#endif

namespace hondana::credentials {
namespace {

#if __has_include(<libsecret/secret.h>)

constexpr std::chrono::seconds time_to_answer{2};
/// The user may have to type a password.
constexpr std::chrono::seconds time_to_unlock{60};

/// The functions of libsecret and GLib that are used here.
struct library {
  decltype(&secret_service_get_sync) get_service;
  decltype(&secret_password_lookupv_sync) lookup;
  decltype(&secret_password_storev_sync) store;
  decltype(&secret_password_free) free_password;
  decltype(&g_cancellable_new) new_cancellable;
  decltype(&g_cancellable_cancel) cancel;
  decltype(&g_object_unref) unref;
  decltype(&g_error_free) free_error;
  decltype(&g_hash_table_new) new_table;
  decltype(&g_hash_table_insert) insert;
  decltype(&g_hash_table_unref) free_table;
  decltype(&g_str_hash) hash;
  decltype(&g_str_equal) equal;

  /// Null if libsecret is not installed. Never unloaded, because GLib does not support that.
  static const library* loaded() {
    static const auto known = load();
    return known ? &*known : nullptr;
  }

 private:
  static std::optional<library> load() {
    void* const handle = ::dlopen("libsecret-1.so.0", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return std::nullopt;
    library out{};
    bool is_whole = true;
    const auto find = [&](auto& into, const char* name) {
      into = reinterpret_cast<std::remove_reference_t<decltype(into)>>(::dlsym(handle, name));
      is_whole = is_whole && into != nullptr;
    };
    find(out.get_service, "secret_service_get_sync");
    find(out.lookup, "secret_password_lookupv_sync");
    find(out.store, "secret_password_storev_sync");
    find(out.free_password, "secret_password_free");
    find(out.new_cancellable, "g_cancellable_new");
    find(out.cancel, "g_cancellable_cancel");
    find(out.unref, "g_object_unref");
    find(out.free_error, "g_error_free");
    find(out.new_table, "g_hash_table_new");
    find(out.insert, "g_hash_table_insert");
    find(out.free_table, "g_hash_table_unref");
    find(out.hash, "g_str_hash");
    find(out.equal, "g_str_equal");
    return is_whole ? std::optional(out) : std::nullopt;
  }
};

/// The cancellable and the error of one call; cancels it after `time`.
class limited_call {
 public:
  limited_call(const library& of, std::chrono::seconds time)
      : of_(of), cancellable_(of.new_cancellable()), watch_([this, time](const std::stop_token& over) {
          std::unique_lock lock(mutex_);
          monotonic_clock::wait_for(changed_, lock, over, time, [] { return false; });
          if (!over.stop_requested()) of_.cancel(cancellable_);
        }) {}
  ~limited_call() {
    watch_.request_stop();
    watch_.join();
    of_.unref(cancellable_);
    if (error_ != nullptr) of_.free_error(error_);
  }
  limited_call(const limited_call&) = delete;
  limited_call& operator=(const limited_call&) = delete;

  [[nodiscard]] GCancellable* cancellable() const noexcept { return cancellable_; }
  [[nodiscard]] GError** error() noexcept { return &error_; }
  [[nodiscard]] tl::unexpected<failure> failed(const std::string& doing) const {
    const std::string why = error_ != nullptr ? error_->message : "it was not unlocked";
    return fail(errc::source_unavailable,
                "cannot " + doing + " the desktop's keyring: " + why + "; log in with --store file to avoid the keyring");
  }

 private:
  const library& of_;
  GCancellable* cancellable_;
  GError* error_ = nullptr;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread watch_;  // last member: its thread uses the others
};

/// The attributes that identify the stored item.
class item_attributes {
 public:
  explicit item_attributes(const library& of) : of_(of), table_(of.new_table(of.hash, of.equal)) {
    static char name[] = "kind";
    static char text[] = "credentials";
    of_.insert(table_, name, text);
  }
  ~item_attributes() { of_.free_table(table_); }
  item_attributes(const item_attributes&) = delete;
  item_attributes& operator=(const item_attributes&) = delete;
  [[nodiscard]] GHashTable* get() const noexcept { return table_; }

 private:
  const library& of_;
  GHashTable* table_;
};

const SecretSchema& schema() {
  static const SecretSchema known = [] {
    SecretSchema out{};
    out.name = "hondana.credentials";
    out.flags = SECRET_SCHEMA_NONE;
    out.attributes[0] = {"kind", SECRET_SCHEMA_ATTRIBUTE_STRING};
    return out;
  }();
  return known;
}

/// Without a session bus, libsecret would start one.
bool has_session_bus() {
  if (const char* const address = std::getenv("DBUS_SESSION_BUS_ADDRESS"); address != nullptr && *address != '\0') return true;
  const char* const folder = std::getenv("XDG_RUNTIME_DIR");
  struct stat facts{};
  return folder != nullptr && *folder != '\0' && ::stat((std::string(folder) + "/bus").c_str(), &facts) == 0 &&
         S_ISSOCK(facts.st_mode);
}

class keyring_vault final : public vault {
 public:
  bool answers() override { return connect().has_value(); }

  result<std::string> load() override {
    HONDANA_TRY(connect());
    const auto& lib = *library::loaded();
    limited_call call(lib, time_to_unlock);
    const item_attributes by(lib);
    char* const found = lib.lookup(&schema(), by.get(), call.cancellable(), call.error());
    if (found == nullptr) return *call.error() != nullptr ? result<std::string>(call.failed("read")) : std::string();
    std::string out = found;
    lib.free_password(found);
    return out;
  }

  result<void> save(std::string_view text) override {
    HONDANA_TRY(connect());
    const auto& lib = *library::loaded();
    limited_call call(lib, time_to_unlock);
    const item_attributes by(lib);
    const std::string whole(text);
    if (lib.store(&schema(), by.get(), SECRET_COLLECTION_DEFAULT, "Logins of hondana", whole.c_str(), call.cancellable(),
                  call.error()) == 0)
      return call.failed("write to");
    return {};
  }

 private:
  result<void> connect() {
    if (is_connected_) return {};
    if (!has_session_bus())
      return fail(errc::source_unavailable,
                  "no session bus is available, which the keyring requires; use --store file instead");
    const auto* const lib = library::loaded();
    if (lib == nullptr)
      return fail(errc::source_unavailable,
                  "the desktop's keyring requires libsecret (package libsecret-1-0); install it, or use --store file");
    limited_call call(*lib, time_to_answer);
    auto* const service = lib->get_service(SECRET_SERVICE_OPEN_SESSION, call.cancellable(), call.error());
    if (service == nullptr) return call.failed("reach");
    lib->unref(service);
    is_connected_ = true;
    return {};
  }

  bool is_connected_ = false;
};

#else

class keyring_vault final : public vault {
 public:
  bool answers() override { return false; }
  result<std::string> load() override { return none(); }
  result<void> save(std::string_view) override { return none(); }

 private:
  static tl::unexpected<failure> none() {
    return fail(errc::source_unavailable, "this build of hondana does not support keyrings; use --store file instead");
  }
};

#endif

}  // namespace

std::unique_ptr<vault> make_keyring_vault() { return std::make_unique<keyring_vault>(); }

}  // namespace hondana::credentials
