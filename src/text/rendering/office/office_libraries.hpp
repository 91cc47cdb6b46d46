/// The libraries libarchive and libxml2, loaded on first use.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <libxml/parser.h>

#include <hondana/error.hpp>

#include "os/libraries/shared_library.hpp"

namespace hondana::rendering {

/// The functions of libarchive that are used, named without their prefix.
struct archive_library {
  libraries::function<decltype(&::archive_read_new)> read_new{"archive_read_new"};
  libraries::function<decltype(&::archive_read_free)> read_free{"archive_read_free"};
  libraries::function<decltype(&::archive_read_support_format_zip_seekable)> read_support_zip{
      "archive_read_support_format_zip_seekable"};
  libraries::function<decltype(&::archive_read_set_callback_data)> read_set_callback_data{"archive_read_set_callback_data"};
  libraries::function<decltype(&::archive_read_set_read_callback)> read_set_read_callback{"archive_read_set_read_callback"};
  libraries::function<decltype(&::archive_read_set_seek_callback)> read_set_seek_callback{"archive_read_set_seek_callback"};
  libraries::function<decltype(&::archive_read_set_skip_callback)> read_set_skip_callback{"archive_read_set_skip_callback"};
  libraries::function<decltype(&::archive_read_open1)> read_open1{"archive_read_open1"};
  libraries::function<decltype(&::archive_read_next_header)> read_next_header{"archive_read_next_header"};
  libraries::function<decltype(&::archive_read_data)> read_data{"archive_read_data"};
  libraries::function<decltype(&::archive_error_string)> error_string{"archive_error_string"};
  libraries::function<decltype(&::archive_entry_pathname)> entry_pathname{"archive_entry_pathname"};
  libraries::function<decltype(&::archive_entry_is_data_encrypted)> entry_is_data_encrypted{"archive_entry_is_data_encrypted"};
};

/// The functions of libxml2 that are used.
struct xml_library {
  libraries::function<decltype(&::xmlInitParser)> init_parser{"xmlInitParser"};
  libraries::function<decltype(&::xmlCreatePushParserCtxt)> create_push_parser{"xmlCreatePushParserCtxt"};
  libraries::function<decltype(&::xmlCtxtUseOptions)> use_options{"xmlCtxtUseOptions"};
  libraries::function<decltype(&::xmlParseChunk)> parse_chunk{"xmlParseChunk"};
  libraries::function<decltype(&::xmlStopParser)> stop_parser{"xmlStopParser"};
  libraries::function<decltype(&::xmlFreeParserCtxt)> free_parser{"xmlFreeParserCtxt"};
  libraries::function<decltype(&::xmlFreeDoc)> free_doc{"xmlFreeDoc"};
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
