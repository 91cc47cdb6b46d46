/// JSON Schema 2020-12: compiled once, checked in bounded time, never fetching anything.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

namespace hondana::schema {

/// Why an instance does not fit.
struct misfit {
  std::string path;  ///< In the instance: "address.lines[2]"; empty at its root.
  std::string what;  ///< "expected an integer, got a string"
  [[nodiscard]] std::string text() const { return path.empty() ? what : path + ": " + what; }
};

struct program;

/// A compiled schema. `format` and unknown keywords are annotations and check nothing. Immutable; threads: any.
class schema {
 public:
  /// Errors: invalid_argument for malformed keywords, other dialects, `$ref` to anything outside the document, patterns that
  /// RE2 does not have (look-around, back-references), and schemas beyond the caps; the text names the place in the schema.
  [[nodiscard]] static result<schema> compile(const value& document);

  /// The first misfit; nothing when `instance` fits. A check that would take too long is a misfit that says so.
  [[nodiscard]] std::optional<misfit> check(const value& instance) const;

 private:
  explicit schema(std::shared_ptr<const program> made) : program_(std::move(made)) {}
  std::shared_ptr<const program> program_;
};

}  // namespace hondana::schema
