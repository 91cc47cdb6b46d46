// Real clients of both eras subscribe to notes that change: what they asked for arrives, all of it, and nothing else.
//
// Usage: node.sh subscriptions.mjs CHANGING_SERVER
import assert from 'node:assert/strict';
import { start_server } from './listening.mjs';
import { all_peers } from './peers.mjs';
import { call_loudly, collect, read_now, subscriptions } from './subscribers.mjs';
import { check, judge } from './verdict.mjs';

const program = process.argv[2];
const notes = Array.from({ length: 32 }, (_, number) => `note:///${number}`);
const uris = (items) => items.map((one) => one.uri);

async function converse({ name, make }) {
  const peer = make();
  const updated = collect(peer, 'notifications/resources/updated');
  const list_changed = collect(peer, 'notifications/resources/list_changed');
  const logged = collect(peer, 'notifications/message');
  const subscribed = new subscriptions(peer);

  await check(`${name}: connects to a server that offers subscriptions and changed lists`, async () => {
    await peer.connect();
    const { resources } = peer.client.getServerCapabilities();
    assert.deepEqual(resources, { subscribe: true, listChanged: true });
  });
  await check(`${name}: is told that a note it subscribed to has changed, and reads the new text`, async () => {
    await subscribed.add('note:///3');
    const before = await read_now(peer, 'note:///3');
    await read_now(peer, 'change:///3');
    await updated.until('the update of note 3', (items) => items.length > 0);
    assert.deepEqual(uris(updated.take()), ['note:///3']);
    assert.notEqual(await read_now(peer, 'note:///3'), before);
  });
  await check(`${name}: is not told of what it did not subscribe to`, async () => {
    await read_now(peer, 'change:///4');
    await read_now(peer, 'change:///3');
    await updated.until('the update of note 3', (items) => uris(items).includes('note:///3'));
    assert.deepEqual(uris(updated.take()), ['note:///3']);
  });
  await check(`${name}: gets every one of 32 notifications sent back to back, each once`, async () => {
    await subscribed.add(...notes);
    await read_now(peer, 'change:///all');
    await updated.until('32 updates', (items) => items.length >= notes.length);
    assert.deepEqual(uris(updated.take()).sort(), [...notes].sort());
  });
  await check(`${name}: gets every one of 64 log messages that a tool sends back to back, in order`, async () => {
    assert.equal(await call_loudly(peer, 'count'), '64');
    await logged.until('64 log messages', (items) => items.length >= 64);
    assert.deepEqual(logged.take().map((one) => one.data), Array.from({ length: 64 }, (_, i) => i + 1));
  });
  await check(`${name}: is told that the list has changed, and finds the new note in it`, async () => {
    const before = (await peer.pages('resources/list', 'resources')).flat();
    list_changed.take();
    await read_now(peer, 'change:///list');
    await list_changed.until('the changed list', (items) => items.length > 0);
    const after = (await peer.pages('resources/list', 'resources')).flat();
    assert.equal(after.length, before.length + 1);
  });
  await check(`${name}: is no longer told of what it unsubscribed from`, async () => {
    await subscribed.remove('note:///3');
    updated.take();
    await read_now(peer, 'change:///3');
    await read_now(peer, 'change:///5');
    await updated.until('the update of note 5', (items) => uris(items).includes('note:///5'));
    assert.deepEqual(uris(updated.take()), ['note:///5']);
  });
  await check(`${name}: ends in order, without an error on the way`, async () => {
    await subscribed.end();
    assert.deepEqual(peer.errors, []);
    await peer.close(); // over HTTP+SSE this may abort a POST whose answer has long come by the stream: that is no error
  });
}

/** One change, and every client that listens at that moment hears of it, whatever its era. */
async function together(peers) {
  const listeners = [];
  for (const { make } of peers) {
    const peer = make();
    const updated = collect(peer, 'notifications/resources/updated');
    await peer.connect();
    const subscribed = new subscriptions(peer);
    await subscribed.add('note:///7', 'note:///8');
    listeners.push({ peer, updated, subscribed });
  }
  await read_now(listeners[0].peer, 'change:///7');
  for (const { updated } of listeners) {
    await updated.until('the update of note 7', (items) => items.length > 0);
    assert.deepEqual(uris(updated.items), ['note:///7']);
  }
  await listeners[0].subscribed.end();
  await listeners[0].peer.close();
  await read_now(listeners[1].peer, 'change:///8');
  for (const { peer, updated, subscribed } of listeners.slice(1)) {
    await updated.until('the update of note 8', (items) => items.length > 1);
    assert.deepEqual(uris(updated.items), ['note:///7', 'note:///8']);
    await subscribed.end();
    await peer.close();
  }
  return `${listeners.length} clients`;
}

await judge(async () => {
  const server = await start_server([program, '0']);
  const peers = all_peers(['stdio'], () => server.url);
  for (const one of peers) await converse(one);
  const remote = peers.filter(({ name }) => !name.endsWith('over stdio'));
  await check('clients of both eras hear of the same change, also when one of them has left', () => together(remote));
  await check('the server ends with 0 on SIGTERM', () => server.stop());
});
