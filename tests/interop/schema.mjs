/// Our check of JSON Schema 2020-12 beside Ajv's: schemas and instances made by chance, and some that name what is new in 2020-12.
/// usage: schema.mjs JUDGE [SEED]
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

import { Ajv2020 } from 'ajv/dist/2020.js';

import { check, event_deadline, judge } from './verdict.mjs';

const [, , program, seed_given] = process.argv;
const seed = Number(seed_given ?? 20201201);

/// The generator mulberry32: the same schemas in every run.
let state = seed;
function chance() {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
}
const below = (count) => Math.floor(chance() * count);
const one_of = (list) => list[below(list.length)];
const some = (most, make) => Array.from({ length: below(most + 1) }, make);

const names = ['a', 'b', 'c', 'ab'];
const texts = ['', 'a', 'ab', 'abc', 'b1', '本棚', '😀'];
const numbers = [0, 1, 2, 3, -1, 4, 1.5, 1e3, 0.5];

function instance(depth) {
  const kind = below(depth > 0 ? 7 : 5);
  if (kind === 0) return null;
  if (kind === 1) return chance() < 0.5;
  if (kind === 2) return one_of(numbers);
  if (kind < 5) return one_of(texts);
  if (kind === 5) return some(4, () => instance(depth - 1));
  return Object.fromEntries(some(4, () => [one_of(names), instance(depth - 1)]));
}

const deeper = (depth) => () => schema(depth - 1);
const object_of = (make) => Object.fromEntries(some(3, () => [one_of(names), make()]));
const at_least_one = (make) => [make(), ...some(2, make)];

const plain_keywords = {
  type: () => one_of(['null', 'boolean', 'integer', 'number', 'string', 'array', 'object', ['string', 'array'], ['object', 'integer']]),
  enum: () => [instance(1), instance(1), instance(0)],
  const: () => instance(1),
  minimum: () => one_of(numbers),
  maximum: () => one_of(numbers),
  exclusiveMinimum: () => one_of(numbers),
  exclusiveMaximum: () => one_of(numbers),
  multipleOf: () => one_of([1, 2, 3, 0.5]),
  minLength: () => below(4),
  maxLength: () => below(4),
  pattern: () => one_of(['^a', 'b', '[0-9]$', '^$', '本']),
  minItems: () => below(4),
  maxItems: () => below(4),
  uniqueItems: () => chance() < 0.7,
  minProperties: () => below(4),
  maxProperties: () => below(4),
  required: () => [...new Set(some(2, () => one_of(names)))],
  dependentRequired: () => object_of(() => [...new Set(some(2, () => one_of(names)))]),
};
const nested_keywords = {
  properties: (depth) => object_of(deeper(depth)),
  patternProperties: (depth) => Object.fromEntries(some(2, () => [one_of(['^a', 'b$', '^c$']), schema(depth - 1)])),
  additionalProperties: (depth) => schema(depth - 1),
  propertyNames: (depth) => schema(depth - 1),
  dependentSchemas: (depth) => object_of(deeper(depth)),
  unevaluatedProperties: (depth) => (chance() < 0.6 ? false : schema(depth - 1)),
  prefixItems: (depth) => at_least_one(deeper(depth)),
  items: (depth) => schema(depth - 1),
  contains: (depth) => schema(depth - 1),
  unevaluatedItems: (depth) => (chance() < 0.6 ? false : schema(depth - 1)),
  allOf: (depth) => at_least_one(deeper(depth)),
  anyOf: (depth) => at_least_one(deeper(depth)),
  oneOf: (depth) => at_least_one(deeper(depth)),
  not: (depth) => schema(depth - 1),
  if: (depth) => schema(depth - 1),
  then: (depth) => schema(depth - 1),
  else: (depth) => schema(depth - 1),
  $ref: () => one_of(['#/$defs/one', '#/$defs/two', '#named']),
};

function schema(depth) {
  if (chance() < 0.08) return chance() < 0.6;
  const out = {};
  for (let count = 1 + below(3); count > 0; --count) {
    const name = one_of(Object.keys(depth > 0 && chance() < 0.6 ? nested_keywords : plain_keywords));
    out[name] = (nested_keywords[name] ?? plain_keywords[name])(depth);
    if (name === 'contains' && chance() < 0.5) out.minContains = below(3);
    if (name === 'contains' && chance() < 0.3) out.maxContains = 1 + below(3);
  }
  return out;
}

/// References lead to flat schemas only, so that none goes round in circles.
function document() {
  const top = schema(3);
  const whole = typeof top === 'boolean' ? { allOf: [top] } : top;
  return { ...whole, $defs: { one: schema(0), two: schema(0), three: { $anchor: 'named', minLength: 1, minimum: 1 } } };
}

const named = [
  ['prefixItems and items', { prefixItems: [{ type: 'integer' }], items: { type: 'string' } }, [[], [1], [1, 'a'], [1, 2], ['a']]],
  ['minContains 0', { contains: { const: 1 }, minContains: 0, maxContains: 1 }, [[], [1], [1, 1], [2]]],
  ['unevaluated beside $ref', { $ref: '#/$defs/a', unevaluatedProperties: false, $defs: { a: { properties: { x: true } } } }, [{ x: 1 }, { y: 1 }]],
  ['unevaluated after if', { if: { properties: { a: { const: 1 } }, required: ['a'] }, then: { properties: { b: true } }, unevaluatedProperties: false }, [{ a: 1, b: 2 }, { b: 2 }, {}]],
  ['unevaluated inside not', { not: { properties: { a: true }, required: ['a'] }, unevaluatedProperties: false }, [{}, { b: 1 }, { a: 1 }]],
  ['a reference to an embedded resource', { $ref: 'inner#/$defs/x', $id: 'https://example.com/outer', $defs: { i: { $id: 'inner', $defs: { x: { type: 'integer' } } } } }, [1, 'a']],
  ['siblings of $ref count', { $ref: '#/$defs/s', maxLength: 2, $defs: { s: { type: 'string' } } }, ['a', 'abc', 1]],
  ['dependentSchemas', { dependentSchemas: { a: { required: ['b'] } } }, [{ a: 1 }, { a: 1, b: 1 }, {}]],
  ['1.0 is an integer', { type: 'integer' }, [1.0, 1.5, 1e3]],
];

const ours_alone = [
  {
    // Spec: JSON Schema 2020-12 core, 10.3.1.3 and 11.2.
    name: 'only items that contains has found are evaluated by it',
    schema: { contains: { const: 1 }, unevaluatedItems: { const: 2 } },
    instances: [[1, 2], [1, 3], [2]],
    fits: '100',
  },
  {
    // Spec: JSON Schema 2020-12 core, 8.2.3.2.
    name: 'a $dynamicRef leads to the outermost anchor of its name',
    schema: {
      $id: 'https://example.com/list',
      $ref: '#/$defs/list',
      $defs: {
        string: { $dynamicAnchor: 'item', type: 'string' },
        list: { $id: 'list-of', type: 'array', items: { $dynamicRef: '#item' }, $defs: { any: { $dynamicAnchor: 'item' } } },
      },
    },
    instances: [['a'], [1], []],
    fits: '101',
  },
];

function ours(cases) {
  const input = cases.map((one) => JSON.stringify(one)).join('\n') + '\n';
  const ran = spawnSync(program, [], { input, maxBuffer: 1 << 28, encoding: 'utf8', timeout: event_deadline });
  assert.equal(ran.status, 0, ran.stderr || String(ran.error));
  const lines = ran.stdout.trimEnd().split('\n');
  assert.equal(lines.length, cases.length);
  return lines;
}

function theirs({ schema: document, instances }) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
  const validate = ajv.compile(document);
  return instances.map((one) => (validate(one) ? '1' : '0')).join('');
}

/** Nothing for schemas that Ajv is known to get wrong, and for those whose code fails. */
function theirs_or_nothing(one) {
  const text = JSON.stringify(one.schema);
  if (text.includes('"contains"') && text.includes('"unevaluatedItems"')) return undefined;
  try {
    return theirs(one);
  } catch (error) {
    if (error instanceof TypeError) return undefined; // the code it made of the schema is broken
    throw error;
  }
}

await judge(async () => {
  await check('what is new in 2020-12 is judged as Ajv judges it', () => {
    const cases = named.map(([, document, instances]) => ({ schema: document, instances }));
    const found = ours(cases);
    cases.forEach((one, at) => assert.equal(found[at], theirs(one), named[at][0]));
    return `${cases.length} schemas`;
  });

  await check('what Ajv gets wrong is judged as the specification says', () => {
    const found = ours(ours_alone.map(({ schema: document, instances }) => ({ schema: document, instances })));
    ours_alone.forEach(({ name, fits }, at) => assert.equal(found[at], fits, name));
  });

  await check('schemas made by chance are judged as Ajv judges them', () => {
    const cases = Array.from({ length: 1000 }, () => ({ schema: document(), instances: Array.from({ length: 12 }, () => instance(3)) }));
    const found = ours(cases);
    let [judged, fit, not_judged] = [0, 0, 0];
    const differing = [];
    cases.forEach((one, at) => {
      const expected = theirs_or_nothing(one);
      if (expected === undefined) {
        not_judged += 1;
        return;
      }
      judged += expected.length;
      fit += [...expected].filter((verdict) => verdict === '1').length;
      if (found[at] !== expected) differing.push({ at, ours: found[at], ajv: expected, ...one });
    });
    const shortest = differing.sort((a, b) => JSON.stringify(a.schema).length - JSON.stringify(b.schema).length).slice(0, 3);
    assert.equal(differing.length, 0, `${differing.length} differ (seed ${seed}), such as\n${shortest.map((one) => JSON.stringify(one)).join('\n')}`);
    assert.ok(fit > judged / 10 && fit < (judged * 9) / 10, `${fit} of ${judged} fit: that tests little`);
    assert.ok(not_judged < cases.length / 10, `Ajv judged all but ${not_judged}`);
    return `${judged} instances, ${fit} of them fit, ${not_judged} schemas left out, seed ${seed}`;
  });
});
