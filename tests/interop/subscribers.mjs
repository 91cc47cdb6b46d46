// What the clients of peers.mjs have in common when something changes: subscribing, and what they are told.
import { CallToolResultSchema, LoggingMessageNotificationSchema, ReadResourceResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { ResourceListChangedNotificationSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { within } from './verdict.mjs';

const schemas = {
  'notifications/resources/updated': ResourceUpdatedNotificationSchema,
  'notifications/resources/list_changed': ResourceListChangedNotificationSchema,
  'notifications/message': LoggingMessageNotificationSchema,
};

/** Things that arrive one by one, and waiting for them. */
export class inbox {
  constructor() {
    this.items = [];
    this.waiting = new Set();
  }

  put(item) {
    this.items.push(item);
    for (const look of [...this.waiting]) look();
  }

  /** Returns when `enough` says so of all that has arrived. */
  async until(what, enough) {
    let look;
    const arrived = new Promise((resolve) => {
      look = () => enough(this.items) && resolve();
      this.waiting.add(look);
      look();
    });
    try {
      await within(`${what}, after ${JSON.stringify(this.items).slice(0, 2000)}`, arrived);
    } finally {
      this.waiting.delete(look);
    }
  }

  take() {
    return this.items.splice(0);
  }
}

/** An inbox for the params of `method`, whichever client it is. Call before connecting. */
export function collect(peer, method) {
  const box = new inbox();
  const first = peer.takes_schemas ? schemas[method] : method;
  peer.client.setNotificationHandler(first, (notification) => box.put(notification.params ?? {}));
  return box;
}

/** Reads past any cache of the client's; the text. */
export async function read_now(peer, uri, options = {}) {
  const request = { method: 'resources/read', params: { uri } };
  const { client } = peer;
  const answer = await (peer.takes_schemas
    ? client.request(request, ReadResourceResultSchema, options)
    : client.request(request, options));
  return answer.contents[0].text;
}

/** Calls a tool without arguments and asks for its log messages; the text of its answer. */
export async function call_loudly(peer, name) {
  const params = { name, arguments: {} };
  const { client } = peer;
  if (peer.era === 'modern') params._meta = { 'io.modelcontextprotocol/logLevel': 'debug' };
  else await client.setLoggingLevel('debug');
  const request = { method: 'tools/call', params };
  const answer = await (peer.takes_schemas ? client.request(request, CallToolResultSchema) : client.request(request));
  return answer.content[0].text;
}

/** What one peer is subscribed to. A modern peer has one stream, which is opened anew when that changes. */
export class subscriptions {
  constructor(peer) {
    Object.assign(this, { peer, uris: new Set(), stream: undefined });
  }

  async add(...uris) {
    for (const uri of uris) this.uris.add(uri);
    if (this.peer.era === 'modern') return this.#listen();
    for (const uri of uris) await this.peer.client.subscribeResource({ uri });
  }

  async remove(uri) {
    this.uris.delete(uri);
    if (this.peer.era === 'modern') return this.#listen();
    await this.peer.client.unsubscribeResource({ uri });
  }

  async #listen() {
    const before = this.stream;
    this.stream = await this.peer.client.listen({ resourcesListChanged: true, resourceSubscriptions: [...this.uris] });
    await before?.close();
    return this.stream;
  }

  async end() {
    await this.stream?.close();
  }
}
