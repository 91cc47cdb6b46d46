/// Files of configuration as hondana reads them, beside what the parsers of npm make of them: the same values, and every value
/// where they say that it stands. Usage: node config_formats.mjs LOCATED_AS_JSON; the files are in config_formats/.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

import dotProperties from 'dot-properties';
import dotenv from 'dotenv';
import ini from 'ini';
import * as jsYaml from 'js-yaml';
import * as jsonc from 'jsonc-parser';
import * as toml from 'smol-toml';
import { parseTOML } from 'toml-eslint-parser';
import * as yaml from 'yaml';

const folder = path.join(import.meta.dirname, 'config_formats');
const leastFiles = 44;
const leastOfEach = 3;

/// Integers that no double has are compared by their digits.
const number = (digits) => (Number.isInteger(Number(digits)) && !Number.isSafeInteger(Number(digits)) ? BigInt(digits) : Number(digits));
const exact = (text) => JSON.parse(text, (key, value, { source }) => (typeof value === 'number' && /^-?\d+$/.test(source) ? number(source) : value));

const asTime = (text) => text.replace(/(\.\d*?)0+(?=$|Z|[+-])/, '$1').replace(/\.(?=$|Z|[+-])/, '');
const plain = (value) => {
  if (typeof value === 'bigint') return number(value.toString());
  if (value instanceof toml.TomlDate) return asTime(value.toISOString());
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
};
const isTime = /^(\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d.*)?|\d\d:\d\d:\d\d(\.\d+)?)$/;
const withTimes = (value) => {
  if (typeof value === 'string' && isTime.test(value)) return asTime(value);
  if (Array.isArray(value)) return value.map(withTimes);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withTimes(one)]));
};

/// Where a parser says that things stand, in UTF-16 units, by path: the beginning of the key, those of the value, and its end
/// where the parser means the same by it.
class Places {
  found = new Map();
  add(where, { key, begin, end, line }) {
    this.found.set(JSON.stringify(where), { key, begin, end, line });
  }
}

const readers = {
  toml(text) {
    const places = new Places();
    const value = (node, where) => {
      if (node.type === 'TOMLArray') node.elements.forEach((one, i) => item(one, [...where, i]));
      if (node.type === 'TOMLInlineTable') node.body.forEach((one) => pair(one, where));
    };
    const item = (node, where) => {
      places.add(where, { begin: node.range[0], end: node.range[1] });
      value(node, where);
    };
    const nameOf = (key) => (key.type === 'TOMLBare' ? key.name : key.value);
    const pair = (node, above) => {
      const where = [...above, ...node.key.keys.map(nameOf)];
      places.add(where, { key: node.key.keys.at(-1).range[0], begin: node.value.range[0], end: node.value.range[1] });
      value(node.value, where);
    };
    for (const node of parseTOML(text).body[0].body) {
      if (node.type === 'TOMLKeyValue') {
        pair(node, []);
        continue;
      }
      if (node.kind === 'array') places.add(node.resolvedKey, { begin: node.range[0] });
      else places.add(node.resolvedKey, { key: node.key.keys.at(-1).range[0], begin: node.range[0] });
      for (const one of node.body) pair(one, node.resolvedKey);
    }
    return { trees: [plain(toml.parse(text, { integersAsBigInt: true }))], places };
  },

  yaml(text) {
    const all = yaml.parseAllDocuments(text, { merge: true, intAsBigInt: true }).filter((one) => one.contents !== null);
    const places = new Places();
    const walk = (document, node, where, key) => {
      const held = yaml.isAlias(node) ? node.resolve(document) : node;
      if (where.length > 0) {
        const isBlock = held.type === 'BLOCK_LITERAL' || held.type === 'BLOCK_FOLDED';
        const isAbsent = yaml.isScalar(held) && held.range[0] === held.range[1];
        const isWhole = yaml.isScalar(held) && !isBlock && !isAbsent;
        places.add(where, {
          key,
          begin: isAbsent || (yaml.isCollection(held) && !held.flow) ? undefined : held.range[0],
          end: isWhole ? held.range[1] : undefined,
          line: isAbsent ? held.range[0] : undefined,
        });
      }
      if (yaml.isSeq(held)) held.items.forEach((one, i) => walk(document, one, [...where, i]));
      if (yaml.isMap(held)) members(document, held, where, new Set());
    };
    const members = (document, map, where, taken) => {
      const isMerge = (pair) => pair.key.source === '<<' && pair.key.type === 'PLAIN';
      for (const pair of map.items) {
        if (isMerge(pair)) continue;
        const name = pair.key.source ?? String(pair.key.value);
        if (taken.has(name)) continue;
        taken.add(name);
        walk(document, pair.value, [...where, name], pair.key.range[0]);
      }
      for (const pair of map.items.filter(isMerge)) {
        const held = yaml.isAlias(pair.value) ? pair.value.resolve(document) : pair.value;
        for (const one of yaml.isSeq(held) ? held.items : [held]) {
          members(document, yaml.isAlias(one) ? one.resolve(document) : one, where, taken);
        }
      }
    };
    all.forEach((one, i) => walk(one, one.contents, all.length > 1 ? [i] : []));
    const one = (values) => plain(values.length > 1 ? values : values[0]);
    const schema = jsYaml.CORE_SCHEMA.withTags(jsYaml.mergeTag);
    return {
      trees: [one(all.map((document) => document.toJS())), one(jsYaml.loadAll(text, { schema }).filter((document) => document !== null))],
      // js-yaml makes doubles of all integers.
      isRounded: [false, true],
      places,
    };
  },

  json(text) {
    const errors = [];
    const tree = jsonc.parseTree(text, errors, { allowTrailingComma: true });
    assert.deepEqual(errors, []);
    const places = new Places();
    const value = (node, where, key) => {
      if (where.length > 0) places.add(where, { key, begin: node.offset, end: node.offset + node.length });
      if (node.type === 'array') return node.children.map((one, i) => value(one, [...where, i]));
      if (node.type === 'number') {
        const digits = text.slice(node.offset, node.offset + node.length);
        return /^-?\d+$/.test(digits) ? number(digits) : node.value;
      }
      if (node.type !== 'object') return node.value;
      return Object.fromEntries(
        node.children.map(({ children: [name, held] }) => [name.value, value(held, [...where, name.value], name.offset)]),
      );
    };
    return { trees: [value(tree, [])], places };
  },

  ini(text, file) {
    const isPython = ['pip.conf', 'setup.cfg'].includes(path.basename(file));
    const joined = isPython || path.basename(file) === 'supervisord.conf' ? withoutContinuations(text, isPython) : text;
    const withoutValue = path.basename(file) === '.gitconfig' ? true : null;
    return { trees: [sections(ini.parse(asNpmHasIt(joined)), withoutValue)], places: new Places() };
  },

  dotenv: (text) => ({ trees: [dotenv.parse(text)], places: new Places() }),

  properties(text) {
    const places = new Places();
    for (const line of dotProperties.parseLines(text, true)) {
      if (line.type === 'PAIR') places.add([line.key], { key: line.range[0], begin: line.value === '' ? undefined : line.range[2], end: line.range[3] });
    }
    return { trees: [dotProperties.parse(text)], places };
  },

  systemd(text) {
    const joined = text
      .split('\n')
      .filter((line) => !/^\s*[#;]/.test(line))
      .join('\n')
      .replace(/\\\n\s*/g, ' ');
    return { trees: [settings(ini.parse(asNpmHasIt(joined), { bracketedArray: false }))], places: new Places() };
  },
};

/// Lines that are indented continue the value before, line by line, and comments between them do not. Python keeps empty lines.
function withoutContinuations(text, keepsEmpty) {
  const out = [];
  for (const line of text.split('\n')) {
    if (/^\s+[#;]/.test(line)) continue;
    if (!/^\s+\S/.test(line)) out.push([line]);
    else out.at(-1).push(line.trim());
  }
  return out
    .map(([first, ...more]) => {
      if (more.length === 0) return first;
      const [, key, value] = /^([^=]*)=(.*)$/.exec(first);
      return `${key}=${JSON.stringify([value.trim(), ...more].filter((one) => keepsEmpty || one !== '').join('\n'))}`;
    })
    .join('\n');
}

/// The package takes every `;` and `#` for a comment, `true` and a key alone for the same, and knows none behind quotes.
const alone = '(alone)';
function asNpmHasIt(text) {
  return text
    .split('\n')
    .map((line) => {
      if (/^\s*([#;[]|$)/.test(line)) return line.trim();
      if (!line.includes('=')) return `${line.trim()}=${alone}`;
      if (/=\s*["']/.test(line)) return line.trim();
      return line.trim().replace(/(?<=\S)[#;]/g, '\\$&');
    })
    .join('\n');
}

const text = (value, withoutValue) =>
  value === alone ? withoutValue : Array.isArray(value) ? value.map((one) => text(one, withoutValue)) : String(value);

/// It makes tables within tables of sections with dots.
function sections(tree, withoutValue) {
  const out = {};
  const add = (table, name) => {
    for (const [key, value] of Object.entries(table)) {
      const isTable = typeof value === 'object' && !Array.isArray(value);
      if (isTable) add(value, name === undefined ? key : `${name}.${key}`);
      else if (name === undefined) out[key] = text(value, withoutValue);
      else (out[name] ??= {})[key] = text(value, withoutValue);
    }
  };
  add(tree);
  return out;
}

/// What is given more than once is a list, which an empty setting begins anew.
function settings(tree) {
  const value = (given) => {
    const all = (Array.isArray(given) ? given : [given]).map(String);
    const kept = all.slice(all.lastIndexOf('') + 1);
    return kept.length > 1 ? kept : (kept[0] ?? '');
  };
  return Object.fromEntries(
    Object.entries(tree).map(([name, table]) => [name, Object.fromEntries(Object.entries(table).map(([key, one]) => [key, value(one)]))]),
  );
}

const rounded = (value) => {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(rounded);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, rounded(one)]));
};

const at = (tree, where) => where.reduce((held, step) => held[step], tree);

/// What can be said of the place of any value in any format: its line has the last part of its key, and its bytes what it says.
function checkByEye(source, lines, tree, [where, keyLine, keyBegin, line, begin, end]) {
  const name = where.at(-1);
  if (typeof name === 'string' && !/[\\\u0080-\uffff]/.test(lines[keyLine - 1])) {
    assert.ok(lines[keyLine - 1].includes(name) || lines[keyLine - 1].includes(name.replaceAll(':', '\\:')), `line ${keyLine} has no ${name}`);
    assert.ok(name === '' || /^["'\w.*@/{$-]/.test(source.subarray(keyBegin, keyBegin + 1).toString()), `where the key ${name} begins`);
  }
  const held = at(tree, where);
  if (held === null || (typeof held === 'object' && !Array.isArray(held)) || held === '') return;
  const written = source.subarray(begin, end).toString().replace(/^(\d{4}-\d\d-\d\d) /, '$1T');
  assert.equal(source.subarray(0, begin).toString().split('\n').length, line, `the line of ${where}`);
  if (typeof held !== 'string') return;
  for (const word of held.match(/[A-Za-z0-9]{2,}/g) ?? []) {
    // Escapes hide letters that are next to them.
    if (!written.includes('\\')) assert.ok(written.includes(word), `${where}: ${JSON.stringify(written)} has no ${word}`);
  }
  assert.ok(written.trim() === written && written !== '', `${where}: ${JSON.stringify(written)}`);
}

function checkPlaces(source, places, told) {
  const whole = source.toString();
  const bytes = (offset) => Buffer.byteLength(whole.slice(0, offset));
  const lineOf = (offset) => whole.slice(0, offset).split('\n').length;
  let compared = 0;
  for (const [where, keyLine, keyBegin, line, begin, end] of told) {
    const known = places.found.get(JSON.stringify(where));
    if (known === undefined) continue;
    const name = JSON.stringify(where);
    if (known.key !== undefined) assert.deepEqual([keyLine, keyBegin], [lineOf(known.key), bytes(known.key)], `the key ${name}`);
    if (known.begin !== undefined) assert.deepEqual([line, begin], [lineOf(known.begin), bytes(known.begin)], `the value of ${name}`);
    if (known.end !== undefined) assert.equal(end, bytes(known.end), `the end of ${name}`);
    if (known.line !== undefined) assert.equal(line, lineOf(known.line), `the line of ${name}`);
    ++compared;
  }
  return compared;
}

const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((one) => one.isFile())
  .map((one) => path.join(one.parentPath, one.name))
  .sort();
const ran = spawnSync(process.argv[2], files, { encoding: 'utf8', maxBuffer: 1 << 26 });
if (ran.status !== 0) {
  console.error(ran.error ?? ran.stderr);
  process.exit(1);
}
const told = ran.stdout.trim().split('\n').map(exact);
assert.equal(told.length, files.length);
assert.ok(files.length >= leastFiles, `${files.length} files`);

/// Formats that the reader of another format compares.
const families = { gitconfig: 'ini', editorconfig: 'ini', desktop: 'ini', configparser: 'ini' };

const counts = {};
const places = {};
let failed = 0;
for (const { file, format: ownFormat, tree, places: mine } of told) {
  const format = families[ownFormat] ?? ownFormat;
  const source = readFileSync(file);
  const name = path.relative(folder, file);
  try {
    assert.equal(name.split(path.sep)[0], format);
    const theirs = readers[format](source.toString(), file);
    theirs.trees.forEach((one, i) => {
      const ours = format === 'toml' ? withTimes(tree) : tree;
      assert.deepEqual(theirs.isRounded?.[i] ? rounded(ours) : ours, theirs.isRounded?.[i] ? rounded(one) : one);
    });
    const compared = checkPlaces(source, theirs.places, mine);
    if (theirs.places.found.size > 0) assert.ok(compared >= theirs.places.found.size, `only ${compared} of ${theirs.places.found.size} places`);
    const lines = source.toString().split('\n');
    for (const one of mine) checkByEye(source, lines, tree, one);
    counts[format] = (counts[format] ?? 0) + 1;
    places[format] = (places[format] ?? 0) + (compared || mine.length);
  } catch (error) {
    ++failed;
    console.error(`${name}: ${error.message}`);
  }
}
for (const format of Object.keys(readers)) {
  console.log(`${format}: ${counts[format] ?? 0} files, ${places[format] ?? 0} places`);
  if (!((counts[format] ?? 0) >= leastOfEach)) ++failed;
}
if (failed > 0) {
  console.error(`${failed} of ${files.length} differ`);
  process.exit(1);
}
