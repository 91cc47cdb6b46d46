/// JSON Schema 2020-12: compiled once, checked in bounded time, without fetching documents.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

namespace hondana::schema {

/// Why a value does not match a schema.
struct misfit {
  std::string path;  ///< Path in the value: "address.lines[2]"; empty at its root.
  std::string what;  ///< "expected an integer, got a string"
  [[nodiscard]] std::string text() const { return path.empty() ? what : path + ": " + what; }
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

  /// Returns the first misfit; nothing when `instance` is valid. A check that takes too long is a misfit that says so.
  [[nodiscard]] std::optional<misfit> check(const value& instance) const;

 private:
  explicit schema(std::shared_ptr<const program> made) : program_(std::move(made)) {}
  std::shared_ptr<const program> program_;
};

}  // namespace hondana::schema
