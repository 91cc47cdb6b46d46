/// By which names settings are known.
#include "text/secrets/scanner.hpp"

#include <gtest/gtest.h>

namespace {

using hondana::secrets::masking_policy;
using hondana::secrets::policy_of;
using hondana::secrets::policy_of_uri;

TEST(the_policy, is_that_of_settings_for_configuration_logs_and_copies_of_them) {
  for (const auto* name : {"a.toml",
                           "A.JSON",
                           "b/c.env",
                           ".env",
                           ".env.production",
                           "x/.npmrc",
                           "app.log",
                           "app.log.1",
                           "app.log.2026-01-02",
                           "app.log-20260102",
                           "app.conf.bak",
                           "app.conf.old",
                           "app.ini.orig",
                           "app.yml.example",
                           "deploy.sh",
                           "a/.bashrc",
                           "Dockerfile",
                           "x/Dockerfile.prod",
                           "api.dockerfile",
                           "web.xml",
                           "settings.xml.bak",
                           "wg0.conf",
                           ".netrc",
                           "_netrc",
                           ".pgpass",
                           ".htpasswd",
                           "etc/shadow-",
                           "app.service",
                           ".docker/config.json",
                           "run.ps1",
                           "config.fish",
                           ".envrc",
                           "Info.plist",
                           "app.yaml.sample",
                           "app.properties~",
                           "app.log.1.bak"})
    EXPECT_EQ(policy_of(name), masking_policy::settings) << name;
  for (const auto* name : {"a.txt", "a.cpp", "toml/a.md", "notes.1", "catalog", "", ".bak", "a.old", "blog-2026", "shadows",
                           "Dockerfiles", "a.sha"})
    EXPECT_EQ(policy_of(name), masking_policy::text) << name;
  EXPECT_EQ(policy_of_uri("db://h/a.json?x=1#y"), masking_policy::settings);
  EXPECT_EQ(policy_of_uri("db://h/a?x=1.json"), masking_policy::text);
}

}  // namespace
