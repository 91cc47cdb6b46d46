/// The JSON Schema of every revision, and validators of messages by it.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import vm from 'node:vm';

import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { event_deadline } from './verdict.mjs';

export const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];

/// What only one revision defines tells which one a schema is of; the newest first.
const marks = [
  ['2026-07-28', 'DiscoverResult'],
  ['2025-11-25', 'Icon'],
  ['2025-06-18', 'ElicitRequest'],
  ['2025-03-26', 'JSONRPCBatchRequest'],
];

/// The end of the object literal that starts at `begin`, strings and templates skipped.
function endOfLiteral(text, begin) {
  let depth = 0;
  for (let at = begin; at < text.length; ++at) {
    const c = text[at];
    if (c === '{' || c === '[') ++depth;
    if ((c === '}' || c === ']') && --depth === 0) return at + 1;
    if (c !== '"' && c !== "'" && c !== '`') continue;
    for (++at; at < text.length && text[at] !== c; ++at) {
      if (text[at] === '\\') ++at;
    }
  }
  throw new Error('an object literal without end');
}

/// The conformance suite carries the official schemas, inside its one file.
function schemasOfSuite() {
  const file = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/dist/index.js');
  const text = readFileSync(file, 'utf8');
  const found = new Map();
  for (const { index } of text.matchAll(/\{\$schema:[`'"][^`'"]*json-schema\.org[^`'"]*[`'"],(?:definitions|\$defs):\{/g)) {
    const literal = text.slice(index, endOfLiteral(text, index));
    const schema = vm.runInNewContext(`(${literal})`, Object.create(null), { timeout: event_deadline });
    const plain = JSON.parse(JSON.stringify(schema));
    const defined = plain.definitions ?? plain.$defs;
    const mark = marks.find(([, name]) => name in defined);
    if (mark && 'ListResourcesResult' in defined) found.set(mark[0], plain);
  }
  const missing = marks.map(([revision]) => revision).filter((revision) => !found.has(revision));
  if (missing.length > 0) throw new Error(`${file} has no schema of ${missing.join(', ')}`);
  return found;
}

/// The definitions of one revision, each with its validator.
class Revision {
  constructor(revision, schema) {
    this.revision = revision;
    this.defined = schema.definitions ?? schema.$defs;
    this.root = schema.definitions ? 'definitions' : '$defs';
    const Validator = schema.$defs ? Ajv2020 : Ajv;
    this.ajv = new Validator({ strict: false, allErrors: true });
    addFormats.default(this.ajv);
    this.ajv.addSchema(schema, revision);
  }

  has(name) {
    return name in this.defined;
  }

  /// What is wrong with `value` as a `name`; nothing when it is one.
  faults(name, value) {
    if (!this.has(name)) return [`revision ${this.revision} defines no ${name}`];
    const validate = this.ajv.getSchema(`${this.revision}#/${this.root}/${name}`);
    if (validate(value)) return [];
    return validate.errors.map((error) => `${name}${error.instancePath}: ${error.message}`);
  }
}

/// What the Skills extension adds to its base revision; ours, since its specification has TypeScript only.
function withSkills(schema) {
  const extension = JSON.parse(readFileSync(new URL('schema-skills.json', import.meta.url), 'utf8'));
  return { ...schema, $defs: { ...schema.$defs, ...extension.$defs } };
}

/// By revision. The schema of 2024-11-05 is our own, of the messages a resource server sends: no package has the official one.
export function loadRevisions() {
  const schemas = schemasOfSuite();
  schemas.set('2024-11-05', JSON.parse(readFileSync(new URL('schema-2024-11-05.json', import.meta.url), 'utf8')));
  schemas.set('2026-07-28', withSkills(schemas.get('2026-07-28')));
  return new Map(revisions.map((revision) => [revision, new Revision(revision, schemas.get(revision))]));
}
