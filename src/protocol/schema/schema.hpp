/// JSON Schema 2020-12: schemas are compiled once, and values are checked in bounded time. No documents are fetched.
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

/// A compiled schema. Does not check `format` and unknown keywords. Immutable; threads: any.
class schema {
 public:
  /// Compiles a schema document.
  /// Errors: invalid_argument, whose text names the position in the schema. Causes are malformed keywords, other dialects, and
  /// `$ref` to anything outside the document. Also patterns that are longer than 4096 bytes or that RE2 does not support
  /// (look-around, back-references), and more than 20 000 subschemas.
  [[nodiscard]] static result<schema> compile(const value& document);

  /// Checks `instance`, and returns the first error; nullopt if it is valid. A check that takes too long is an error, too.
  [[nodiscard]] std::optional<validation_error> validate(const value& instance) const;

 private:
  explicit schema(std::shared_ptr<const program> program) : program_(std::move(program)) {}
  std::shared_ptr<const program> program_;
};

}  // namespace hondana::schema
