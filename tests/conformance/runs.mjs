// What the official suite is asked to run against the server, and which list of expected failures belongs to each run.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from '../interop/node_modules/yaml/dist/index.js';

export const here = dirname(fileURLToPath(import.meta.url));
const packages = join(here, '../interop/node_modules');

/** Both published lines of the suite, as the lock file of tests/interop pins them. */
const newer = { folder: join(packages, '@modelcontextprotocol/conformance') };
const older = { folder: join(packages, 'conformance-0.1') };
for (const suite of [newer, older]) {
  suite.version = JSON.parse(readFileSync(join(suite.folder, 'package.json'), 'utf8')).version;
  suite.program = join(suite.folder, 'dist/index.js');
  suite.list = join(here, `expected-failures-${suite.version}.yaml`);
}

/** The scenarios of a frozen requirement set that count for a server or a client. */
function scored_by(revision, side = 'server') {
  return new Set(parse(readFileSync(join(newer.folder, 'requirements', `${revision}.yaml`), 'utf8'))[side]);
}

const requirements = (revision) => ({
  suite: newer,
  name: `requirements ${revision}`,
  args: ['--requirements', revision],
  scored: scored_by(revision),
});

/**
 * `complete`: the run has every scenario of its suite, so each entry of the list must be among them. `declared`: scenarios of
 * extensions that the server declares, so that the suite must not skip them.
 */
const everything = (suite, declared = []) => ({ suite, name: 'suite all', args: ['--suite', 'all'], complete: true, declared });

const skills = ['sep-2640-skills-enumeration', 'sep-2640-skills-manifest', 'sep-2640-skills-directory'];

const all_at = (suite, revision) => ({
  suite,
  name: `suite all at ${revision}`,
  args: ['--suite', 'all', '--spec-version', revision],
});

export const runs = [
  requirements('2025-11-25'),
  requirements('2026-07-28'),
  everything(newer, skills),
  ...['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'].map((revision) => all_at(newer, revision)),
  everything(older),
  all_at(older, '2025-06-18'),
];

const client_requirements = (revision) => ({
  ...requirements(revision),
  name: `client requirements ${revision}`,
  scored: scored_by(revision, 'client'),
});

const verified_skills = ['no-prefetch', 'verify-digest', 'verify-size', 'verify-frontmatter'];

export const client_runs = [
  client_requirements('2025-11-25'),
  client_requirements('2026-07-28'),
  { ...everything(newer, verified_skills.map((one) => `sep-2640-client-${one}`)), name: 'client suite all' },
];

/** The entries of a list, in the form of the suite, each with the comment that says what it waits for. */
export function entries_of(path, side = 'server') {
  const text = readFileSync(path, 'utf8');
  const listed = parse(text)?.[side] ?? [];
  const reasons = new Map();
  for (const line of text.split('\n')) {
    const found = /^\s*-\s*(?<entry>[^\s#]+)\s*(?:#\s*(?<reason>\S.*))?$/.exec(line);
    if (found) reasons.set(found.groups.entry, found.groups.reason);
  }
  return listed.map((entry) => ({ entry, scenario: entry.split(':')[0], reason: reasons.get(entry) }));
}
