/// libpq, which is loaded when PostgreSQL is first asked.
#pragma once

#include <libpq-fe.h>

#include <hondana/error.hpp>

namespace hondana::search {

/// What is used of libpq, under its own names less their prefix.
struct libpq_library {
  decltype(&::PQconninfoParse) conninfo_parse;
  decltype(&::PQconninfoFree) conninfo_free;
  decltype(&::PQfreemem) freemem;
  decltype(&::PQconnectdbParams) connect;
  decltype(&::PQfinish) finish;
  decltype(&::PQstatus) status;
  decltype(&::PQtransactionStatus) transaction_status;
  decltype(&::PQserverVersion) server_version;
  decltype(&::PQparameterStatus) parameter_status;
  decltype(&::PQerrorMessage) error_message;
  decltype(&::PQconnectionNeedsPassword) needs_password;
  decltype(&::PQconnectionUsedPassword) used_password;
  decltype(&::PQsetNoticeProcessor) set_notice_processor;
  decltype(&::PQexec) exec;
  decltype(&::PQexecParams) exec_params;
  decltype(&::PQresultStatus) result_status;
  decltype(&::PQresultErrorField) result_error_field;
  decltype(&::PQcmdStatus) command_status;
  decltype(&::PQclear) clear;
  decltype(&::PQntuples) rows;
  decltype(&::PQgetisnull) is_null;
  decltype(&::PQgetlength) length;
  decltype(&::PQgetvalue) value;
};

/// Loads the library of that name. Never unloaded. Threads: any. Errors: source_unavailable: there is none (the loader's words
/// are private), or it is another library or too old.
[[nodiscard]] result<libpq_library> load_libpq(const char* name);
/// Loads libpq with the first call that can. Errors: as `load_libpq`; the next call tries again. Threads: any.
[[nodiscard]] result<const libpq_library*> loaded_libpq();

}  // namespace hondana::search
