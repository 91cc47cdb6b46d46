// Real clients behind one face: the SDK's own of the legacy era, and the client of both eras in each of its modes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as sdk from '@modelcontextprotocol/sdk/client/index.js';
import * as sdk_http from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as sdk_sse from '@modelcontextprotocol/sdk/client/sse.js';
import * as sdk_stdio from '@modelcontextprotocol/sdk/client/stdio.js';
import { UriTemplate as SdkUriTemplate } from '@modelcontextprotocol/sdk/shared/uriTemplate.js';
import * as v2 from '@modelcontextprotocol/client';
import * as v2_stdio from '@modelcontextprotocol/client/stdio';
import { is_running, program } from './hondana.mjs';
import { within } from './verdict.mjs';

const who = { name: 'hondana-interop', version: '1.0.0' };

/** What a client and a transport have in common. `era` is what the conversation must settle on. */
class peer {
  constructor(client, transport, era, UriTemplate) {
    Object.assign(this, { client, transport, era, UriTemplate, errors: [] });
    // Over HTTP+SSE an answer may arrive before the POST it belongs to is confirmed; closing then aborts that POST.
    client.onerror = (error) => {
      if (!this.is_closing || error.name !== 'AbortError') this.errors.push(error);
    };
  }

  async connect() {
    await within('connecting', this.client.connect(this.transport));
    this.pid = this.transport.pid;
    const pass_on = this.transport.onmessage;
    this.transport.onmessage = (message, ...more) => {
      if (message.error) this.last_error = message.error;
      pass_on(message, ...more);
    };
  }

  /** The error that a request ends with, as it was on the wire: clients translate some codes into others. */
  async refused(request) {
    this.last_error = undefined;
    await request.then(
      () => assert.fail('it succeeded'),
      () => undefined,
    );
    assert.ok(this.last_error, 'the client failed without an answer');
    return this.last_error;
  }

  /** All pages, one by one. */
  async pages(method, key) {
    const pages = [];
    let cursor;
    do {
      const page = await this.page(method, cursor);
      pages.push(page[key]);
      cursor = page.nextCursor;
      assert.ok(pages.length <= 1000, 'the pages do not end');
    } while (cursor !== undefined);
    return pages;
  }

  read(uri) {
    return this.client.readResource({ uri });
  }

  complete(template, name, value) {
    const ref = { type: 'ref/resource', uri: template };
    return this.client.complete({ ref, argument: { name, value } }).then((answer) => answer.completion);
  }

  expand(template, values) {
    return new this.UriTemplate(template).expand(values);
  }

  /** Ends the conversation; over stdio the server must leave at the end of its input, before it is told by a signal. */
  async close() {
    this.is_closing = true;
    // As both SDKs call it. They would send a signal two seconds after the end of the input.
    const child = this.transport._process;
    if (child !== undefined) {
      const left = once(child, 'close');
      child.stdin.end();
      assert.deepEqual(await within('the end of the server at the end of its input', left), [0, null]);
    }
    await within('closing', this.client.close());
    if (this.pid === undefined || this.pid === null) return;
    assert.ok(child !== undefined && !is_running(this.pid), 'the server is still there');
  }
}

class sdk_peer extends peer {
  constructor(transport) {
    super(new sdk.Client(who), transport, 'legacy', SdkUriTemplate);
    this.takes_schemas = true; // where the client of both eras takes the name of a method
  }
  page(method, cursor) {
    const params = cursor === undefined ? {} : { cursor };
    return method === 'resources/list' ? this.client.listResources(params) : this.client.listResourceTemplates(params);
  }
  listed() {
    return this.pages('resources/list', 'resources').then((pages) => pages.flat());
  }
}

class v2_peer extends peer {
  constructor(transport, mode, era) {
    super(new v2.Client(who, { versionNegotiation: { mode } }), transport, era, v2.UriTemplate);
  }
  async connect() {
    await super.connect();
    assert.equal(this.client.getProtocolEra(), this.era);
    assert.equal(this.client.getNegotiatedProtocolVersion(), this.era === 'modern' ? '2026-07-28' : '2025-11-25');
  }
  page(method, cursor) {
    return this.client.request({ method, params: cursor === undefined ? {} : { cursor } });
  }
  /** As the client gathers them itself. */
  listed() {
    return this.client.listResources().then((all) => all.resources);
  }
}

const kinds = [
  { name: 'SDK 1.32', make: (t) => new sdk_peer(t), http: sdk_http, stdio: sdk_stdio },
  { name: 'client 2.4, legacy', make: (t) => new v2_peer(t, 'legacy', 'legacy'), http: v2, stdio: v2_stdio },
  { name: 'client 2.4, auto', make: (t) => new v2_peer(t, 'auto', 'modern'), http: v2, stdio: v2_stdio },
  { name: 'client 2.4, pinned 2026-07-28', make: (t) => new v2_peer(t, { pin: '2026-07-28' }, 'modern'), http: v2, stdio: v2_stdio },
];

/** The transport of the oldest revision, by the clients that still have it; `url()` is the newer one's address. */
const paired = [
  { name: 'SDK 1.32 over HTTP+SSE', make: (url) => new sdk_peer(new sdk_sse.SSEClientTransport(new URL('/sse', url))) },
  {
    name: 'client 2.4, legacy over HTTP+SSE',
    make: (url) => new v2_peer(new v2.SSEClientTransport(new URL('/sse', url)), 'legacy', 'legacy'),
  },
];

/** Every client over every transport, as names and makers of peers; `stdio_args` start a server, `url()` is a running one. */
export function all_peers(stdio_args, url) {
  const over_pair = paired.map(({ name, make }) => ({ name, make: () => make(url()) }));
  return over_pair.concat(kinds.flatMap(({ name, make, http, stdio }) => [
    {
      name: `${name} over stdio`,
      make: () => make(new stdio.StdioClientTransport({ command: program, args: stdio_args, stderr: 'inherit' })),
    },
    { name: `${name} over HTTP`, make: () => make(new http.StreamableHTTPClientTransport(new URL(url()))) },
  ]));
}
