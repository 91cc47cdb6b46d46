/// JSON Schema 2020-12: compiled once, checked in bounded time, without fetching documents.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

namespace hondana::schema {

/// Why a value does not match a schema.
struct validation_error {
  std::string path;     ///< Path in the value: "address.lines[2]"; empty at its root.
  std::string message;  ///< "expected an integer, got a string"
  [[nodiscard]] std::string text() const { return path.empty() ? message : path + ": " + message; }
};

struct program;

/// A compiled schema. `format` and unknown keywords are annotations and are not checked. Immutable; threads: any.
class schema {
 public:
  /// Compiles a schema document.
  /// Errors: invalid_argument, whose text names the position in the schema. Causes are malformed keywords, other dialects,
  /// `$ref` to anything outside the document, patterns that RE2 does not support (look-around, back-references), and schemas
  /// beyond the caps.
  [[nodiscard]] static result<schema> compile(const value& document);

  /// Returns the first error; nothing when `instance` is valid. A check that takes too long is an error that says so.
  [[nodiscard]] std::optional<validation_error> validate(const value& instance) const;

 private:
  explicit schema(std::shared_ptr<const program> program) : program_(std::move(program)) {}
  std::shared_ptr<const program> program_;
};

}  // namespace hondana::schema
