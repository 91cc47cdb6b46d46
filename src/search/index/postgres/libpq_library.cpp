/// Finding libpq.
#include "search/index/postgres/libpq_library.hpp"

#include <dlfcn.h>

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace hondana::search {
namespace {

constexpr const char* libpq_name = "libpq.so.5";

}  // namespace

result<libpq_library> load_libpq(const char* name) {
  const auto why_not = [name](std::string_view advice) {
    const char* const said = ::dlerror();
    return fail(errc::source_unavailable,
                "libpq cannot be loaded, which a search index in PostgreSQL requires; " + std::string(advice) + ' ' + name +
                    " (Debian: libpq5), or store the index in a file",
                said != nullptr ? said : std::string());
  };
  void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return why_not("install");
  libpq_library out{};
  bool is_whole = true;
  const auto find = [&](auto& into, const char* function) {
    into = reinterpret_cast<std::remove_reference_t<decltype(into)>>(::dlsym(handle, function));
    is_whole = is_whole && into != nullptr;
  };
  find(out.conninfo_parse, "PQconninfoParse");
  find(out.conninfo_free, "PQconninfoFree");
  find(out.freemem, "PQfreemem");
  find(out.connect, "PQconnectdbParams");
  find(out.finish, "PQfinish");
  find(out.status, "PQstatus");
  find(out.transaction_status, "PQtransactionStatus");
  find(out.server_version, "PQserverVersion");
  find(out.parameter_status, "PQparameterStatus");
  find(out.error_message, "PQerrorMessage");
  find(out.needs_password, "PQconnectionNeedsPassword");
  find(out.used_password, "PQconnectionUsedPassword");
  find(out.set_notice_processor, "PQsetNoticeProcessor");
  find(out.exec, "PQexec");
  find(out.exec_params, "PQexecParams");
  find(out.result_status, "PQresultStatus");
  find(out.result_error_field, "PQresultErrorField");
  find(out.command_status, "PQcmdStatus");
  find(out.clear, "PQclear");
  find(out.rows, "PQntuples");
  find(out.is_null, "PQgetisnull");
  find(out.length, "PQgetlength");
  find(out.value, "PQgetvalue");
  if (!is_whole) return why_not("it lacks functions; install a newer");
  return out;
}

result<const libpq_library*> loaded_libpq() {
  static std::atomic<const libpq_library*> known{nullptr};
  if (const auto* const already = known.load(std::memory_order_acquire)) return already;
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  if (const auto* const already = known.load(std::memory_order_acquire)) return already;
  HONDANA_TRY(auto loaded, load_libpq(libpq_name));
  static libpq_library table;
  table = loaded;
  known.store(&table, std::memory_order_release);
  return &table;
}

}  // namespace hondana::search
