/// The key of the service account.
#pragma once

#include <string>
#include <string_view>

namespace drive_test {

/// RSA of 2048 bits, made once a process.
class account_key {
 public:
  static const account_key& get();

  /// PKCS #8.
  [[nodiscard]] const std::string& pem() const noexcept { return pem_; }
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  /// RS256.
  [[nodiscard]] bool verifies(std::string_view text, std::string_view signature) const;

 private:
  account_key();
  std::string pem_;
  std::string id_;
  void* key_ = nullptr;  // lives as long as the process
};

}  // namespace drive_test
