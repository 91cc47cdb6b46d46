/// The libraries libarchive and libxml2, loaded on first use.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <libxml/parser.h>

#include <hondana/error.hpp>

namespace hondana::rendering {

/// The functions of libarchive that are used, named without their prefix.
struct archive_library {
  decltype(&::archive_read_new) read_new;
  decltype(&::archive_read_free) read_free;
  decltype(&::archive_read_support_format_zip_seekable) read_support_zip;
  decltype(&::archive_read_set_callback_data) read_set_callback_data;
  decltype(&::archive_read_set_read_callback) read_set_read_callback;
  decltype(&::archive_read_set_seek_callback) read_set_seek_callback;
  decltype(&::archive_read_set_skip_callback) read_set_skip_callback;
  decltype(&::archive_read_open1) read_open1;
  decltype(&::archive_read_next_header) read_next_header;
  decltype(&::archive_read_data) read_data;
  decltype(&::archive_error_string) error_string;
  decltype(&::archive_entry_pathname) entry_pathname;
  decltype(&::archive_entry_is_data_encrypted) entry_is_data_encrypted;
};

/// The functions of libxml2 that are used.
struct xml_library {
  decltype(&::xmlCreatePushParserCtxt) create_push_parser;
  decltype(&::xmlCtxtUseOptions) use_options;
  decltype(&::xmlParseChunk) parse_chunk;
  decltype(&::xmlStopParser) stop_parser;
  decltype(&::xmlFreeParserCtxt) free_parser;
  decltype(&::xmlFreeDoc) free_doc;
};

struct office_libraries {
  archive_library archive;
  xml_library xml;
};

/// Returns both libraries, which the first successful call loads and nothing unloads. Errors: unsupported if one is missing;
/// the text says which one and what to install, the private text has the loader's message. Threads: any.
[[nodiscard]] result<const office_libraries*> load_office_libraries();
/// Checks whether the libraries are available, mostly without loading them. Returns an error text that says what to install;
/// empty: both are available.
[[nodiscard]] std::string missing_office_libraries();

}  // namespace hondana::rendering
