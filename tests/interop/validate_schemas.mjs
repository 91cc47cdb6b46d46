/// Validates everything the server said in the transcripts against the schema of its revision.
/// Usage: node validate_schemas.mjs EMITTED_FOLDER; EMITTED/REVISION/AREA.jsonl holds lines {"method", "message"}.
import { readFileSync, readdirSync, existsSync } from 'node:fs';
import path from 'node:path';

import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

import { loadRevisions } from './schemas.mjs';

const resultTypes = {
  initialize: 'InitializeResult',
  ping: 'EmptyResult',
  'server/discover': 'DiscoverResult',
  'resources/list': 'ListResourcesResult',
  'resources/templates/list': 'ListResourceTemplatesResult',
  'resources/read': 'ReadResourceResult',
  'resources/get': 'GetResourceResult',
  'completion/complete': 'CompleteResult',
  'resources/subscribe': 'EmptyResult',
  'resources/unsubscribe': 'EmptyResult',
  'subscriptions/listen': 'SubscriptionsListenResult',
  'tools/list': 'ListToolsResult',
  'tools/call': 'CallToolResult',
  'prompts/list': 'ListPromptsResult',
  'prompts/get': 'GetPromptResult',
  'logging/setLevel': 'EmptyResult',
  'resources/directory/read': 'ReadResourceDirectoryResult',
  'skills/list': 'ListSkillsResult',
  'skills/get': 'GetSkillResult',
};

const notificationTypes = {
  'notifications/progress': 'ProgressNotification',
  'notifications/resources/list_changed': 'ResourceListChangedNotification',
  'notifications/resources/updated': 'ResourceUpdatedNotification',
  'notifications/resources/content_changed': 'ResourceContentChangedNotification',
  'notifications/subscriptions/acknowledged': 'SubscriptionsAcknowledgedNotification',
  'notifications/cancelled': 'CancelledNotification',
  'notifications/message': 'LoggingMessageNotification',
  'notifications/tools/list_changed': 'ToolListChangedNotification',
  'notifications/prompts/list_changed': 'PromptListChangedNotification',
};

const errorTypes = {
  '-32700': 'ParseError',
  '-32600': 'InvalidRequestError',
  '-32601': 'MethodNotFoundError',
  '-32602': 'InvalidParamsError',
  '-32603': 'InternalError',
  '-32020': 'HeaderMismatchError',
  '-32021': 'MissingRequiredClientCapabilityError',
  '-32022': 'UnsupportedProtocolVersionError',
  304: 'NotModifiedError',
};

/// The versioned dialect: what its messages have besides what the revision's own schema says of their parts. Entries are
/// judged as a Resource by that schema as well.
const scalar = { type: ['string', 'number', 'boolean'] };
const resource = {
  type: 'object',
  required: ['uri', 'name'],
  properties: {
    title: { type: 'string', minLength: 1 },
    kind: { type: 'string', minLength: 1 },
    version: { type: 'string', minLength: 1 },
    metadata: { type: 'object', minProperties: 1, additionalProperties: scalar },
  },
};
const textContents = {
  type: 'object',
  required: ['contentType', 'content'],
  properties: { contentType: { type: 'string', minLength: 1 }, content: { type: 'string' } },
  additionalProperties: false,
};
const blobContents = {
  type: 'object',
  required: ['contentType', 'blob'],
  properties: { contentType: { type: 'string', minLength: 1 }, blob: { type: 'string', format: 'byte' } },
  additionalProperties: false,
};
const dialectSchemas = {
  Resource: resource,
  GetResourceResult: {
    type: 'object',
    required: ['resource', 'contents'],
    properties: { resource, contents: { oneOf: [textContents, blobContents] } },
  },
  ResourceContentChangedNotification: {
    type: 'object',
    required: ['method', 'params'],
    properties: {
      method: { const: 'notifications/resources/content_changed' },
      params: { type: 'object', required: ['resource'], properties: { resource, _meta: { type: 'object' } }, additionalProperties: false },
    },
  },
  NotModifiedError: {
    type: 'object',
    required: ['code', 'message', 'data'],
    properties: {
      code: { const: 304 },
      message: { const: 'Not Modified' },
      data: {
        type: 'object',
        required: ['uri', 'version'],
        properties: { uri: { type: 'string' }, version: { type: 'string', minLength: 1 } },
        additionalProperties: false,
      },
    },
    additionalProperties: false,
  },
};
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
const dialect = new Map(Object.entries(dialectSchemas).map(([name, schema]) => [name, ajv.compile(schema)]));

/// The members that no schema of a revision knows; titles came with 2025-06-18.
const dialectMembers = ['kind', 'version', 'metadata'];
const isOfDialect = (entry) => dialectMembers.some((name) => name in Object(entry));

/// What the transcripts must have made the server say, so that nothing passes by not being there.
const mustBeSeen = {
  '2024-11-05': ['InitializeResult', 'EmptyResult'],
  '2025-03-26': ['InitializeResult', 'EmptyResult', 'JSONRPCBatchResponse'],
  '2025-06-18': ['InitializeResult', 'EmptyResult'],
  '2025-11-25': ['InitializeResult', 'EmptyResult'],
  '2026-07-28': ['ReadResourceDirectoryResult', 'ListSkillsResult', 'GetSkillResult', 'InputRequiredResult', 'MissingRequiredClientCapabilityError', 'SubscriptionsListenResult', 'SubscriptionsAcknowledgedNotification', 'CancelledNotification', 'DiscoverResult', 'HeaderMismatchError', 'UnsupportedProtocolVersionError', 'MethodNotFoundError'],
};
const seenEverywhere = [
  'ListResourcesResult',
  'ListResourceTemplatesResult',
  'ReadResourceResult',
  'CompleteResult',
  'ListToolsResult',
  'CallToolResult',
  'ListPromptsResult',
  'GetPromptResult',
  'LoggingMessageNotification',
  'ProgressNotification',
  'ResourceListChangedNotification',
  'ResourceUpdatedNotification',
  'Resource of the dialect',
  'GetResourceResult',
  'ResourceContentChangedNotification',
  'NotModifiedError',
  'error',
];

/// Revisions whose schema wants an id where JSON-RPC 2.0 says null, because the request's could not be read.
const nullIds = new Set(['2024-11-05', '2025-03-26', '2025-06-18']);

export class Checker {
  constructor(revision, types) {
    this.revision = revision;
    this.types = types;
    this.seen = new Set();
  }

  /// What is wrong with a message that answers `method`.
  faults(method, message) {
    if (Array.isArray(message)) return this.#faultsOfBatch(message);
    if ('method' in message) return this.#faultsOfNotification(message);
    if ('error' in message) return this.#faultsOfError(message);
    return this.#faultsOfResult(method, message);
  }

  #check(name, value) {
    this.seen.add(name);
    if (dialect.has(name) && name !== 'Resource') return this.#faultsOfDialect(name, value);
    return this.types.faults(name, value);
  }

  /// By the dialect's schema, and what is a Resource by that of the revision, too.
  #faultsOfDialect(name, value) {
    const entry = value.resource ?? value.params?.resource;
    const faults = name === 'NotModifiedError' ? [] : this.types.faults('Resource', this.#withoutDialect(entry));
    const validate = dialect.get(name);
    if (!validate(value)) faults.push(...validate.errors.map((error) => `${name}${error.instancePath}: ${error.message}`));
    return faults;
  }

  #withoutDialect(entry) {
    if (!isOfDialect(entry)) return entry;
    const left = Object.fromEntries(Object.entries(entry).filter(([name]) => !dialectMembers.includes(name)));
    if (this.revision < '2025-06-18') delete left.title;
    return left;
  }

  #faultsOfEntries(entries) {
    const faults = [];
    for (const entry of entries.filter(isOfDialect)) {
      this.seen.add('Resource of the dialect');
      const validate = dialect.get('Resource');
      if (!validate(entry)) faults.push(...validate.errors.map((error) => `Resource${error.instancePath}: ${error.message}`));
    }
    return faults;
  }

  #withId(message) {
    return nullIds.has(this.revision) && message.id === null && 'error' in message ? { ...message, id: 0 } : message;
  }

  #faultsOfBatch(messages) {
    return [
      ...this.#check('JSONRPCBatchResponse', messages.map((one) => this.#withId(one))),
      ...messages.flatMap((one) => ('error' in one ? this.#faultsOfError(one) : [])),
    ];
  }

  #faultsOfNotification(message) {
    const name = notificationTypes[message.method];
    if (name === undefined) return [`a notification that no server of ours sends: ${message.method}`];
    return [...this.#check('JSONRPCNotification', message), ...this.#check(name, message)];
  }

  #faultsOfError(message) {
    this.seen.add('error');
    const envelope = this.types.has('JSONRPCErrorResponse') ? 'JSONRPCErrorResponse' : 'JSONRPCError';
    const faults = this.#check(envelope, this.#withId(message));
    const name = errorTypes[message.error.code];
    if (dialect.has(name)) {
      faults.push(...this.#check(name, message.error));
    } else if (name !== undefined && this.types.has(name)) {
      const isEnvelope = this.types.defined[name].properties?.jsonrpc !== undefined;
      faults.push(...this.#check(name, isEnvelope ? message : message.error));
    }
    const { code } = message.error;
    const isReserved = code >= -32768 && code <= -32000;
    if (isReserved && name === undefined && !(code === -32002 && this.revision !== '2026-07-28')) {
      faults.push(`error code ${code} of the reserved range, which ${this.revision} does not define`);
    }
    return faults;
  }

  #faultsOfResult(method, message) {
    const envelope = this.types.has('JSONRPCResultResponse') ? 'JSONRPCResultResponse' : 'JSONRPCResponse';
    const name = message.result.resultType === 'input_required' ? 'InputRequiredResult' : resultTypes[method];
    if (name === undefined) return [`a result for ${method || 'an id that was not asked'}`];
    const listed = method === 'resources/list' ? message.result.resources : undefined;
    if (!Array.isArray(listed)) return [...this.#check(envelope, message), ...this.#check(name, message.result)];
    const plain = { ...message.result, resources: listed.map((one) => this.#withoutDialect(one)) };
    return [...this.#check(envelope, message), ...this.#check(name, plain), ...this.#faultsOfEntries(listed)];
  }
}

/// Copies of a good message that are wrong in one place each: a validator that takes them is none.
function* spoiled(method, message) {
  if (!message.result) return;
  const required = {
    'resources/list': 'resources',
    'resources/templates/list': 'resourceTemplates',
    'resources/read': 'contents',
    'resources/get': 'resource',
    'completion/complete': 'completion',
    'tools/list': 'tools',
    'prompts/list': 'prompts',
    'prompts/get': 'messages',
    initialize: 'serverInfo',
    'server/discover': 'supportedVersions',
    'resources/directory/read': 'resources',
    'skills/list': 'skills',
    'skills/get': 'skill',
  }[method];
  if (required === undefined) return;
  const { [required]: left, ...rest } = message.result;
  yield { ...message, result: rest };
  yield { ...message, result: { ...message.result, [required]: 7 } };
  if (Array.isArray(left) && typeof left[0] === 'object') {
    yield { ...message, result: { ...message.result, [required]: [{ ...left[0], uri: 7, uriTemplate: 7, name: 7, role: 7 }] } };
  }
}

function checkFolder(folder, checker) {
  const faults = [];
  let count = 0;
  const judged = new Set();
  for (const file of readdirSync(folder).sort()) {
    for (const line of readFileSync(path.join(folder, file), 'utf8').split('\n')) {
      if (line === '') continue;
      ++count;
      // The same message comes over every transport.
      if (judged.has(line)) continue;
      judged.add(line);
      const { method, message } = JSON.parse(line);
      for (const fault of checker.faults(method, message)) faults.push(`${file}: ${fault}\n    ${line.slice(0, 500)}`);
      const probe = new Checker(checker.revision, checker.types);
      for (const bad of spoiled(method, message)) {
        if (probe.faults(method, bad).length === 0) faults.push(`${file}: the schema takes ${JSON.stringify(bad).slice(0, 300)}`);
      }
    }
  }
  return { count, faults };
}

const folder = process.argv[2];
if (folder === undefined) {
  console.error('usage: node validate_schemas.mjs EMITTED_FOLDER');
  process.exit(2);
}
let failed = false;
for (const [revision, types] of loadRevisions()) {
  const checker = new Checker(revision, types);
  const place = path.join(folder, revision);
  const { count, faults } = existsSync(place) ? checkFolder(place, checker) : { count: 0, faults: [] };
  for (const name of [...mustBeSeen[revision], ...seenEverywhere]) {
    if (!checker.seen.has(name)) faults.push(`no ${name} was said in any transcript`);
  }
  for (const fault of faults) console.log(`${revision}: ${fault}`);
  failed ||= faults.length > 0;
  console.log(`${revision}: ${count} messages, ${faults.length} faults`);
}
process.exit(failed ? 1 : 0);
