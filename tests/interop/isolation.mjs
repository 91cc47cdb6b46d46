// Clients that use equal request ids at the same time get their own answers and their own progress, and nobody else's.
//
// Usage: node.sh isolation.mjs CHANGING_SERVER
import assert from 'node:assert/strict';
import { start_server } from './listening.mjs';
import { all_peers } from './peers.mjs';
import { read_now } from './subscribers.mjs';
import { check, judge, within } from './verdict.mjs';

const program = process.argv[2];

/** Connects a client and notes the ids it sends and everything it receives. */
async function connected({ make }) {
  const peer = make();
  await peer.connect();
  const seen = { sent: [], received: [] };
  const { send, onmessage } = peer.transport;
  peer.transport.send = (message, ...more) => {
    if (message.method !== undefined && message.id !== undefined) seen.sent.push({ id: message.id, uri: message.params?.uri });
    return send.call(peer.transport, message, ...more);
  };
  peer.transport.onmessage = (message, ...more) => {
    seen.received.push(message);
    return onmessage(message, ...more);
  };
  return { peer, seen };
}

/** Two clients, each waiting at its own URI under the same id; the second is answered first. */
async function cross(one, other) {
  const clients = [await connected(one), await connected(other)];
  const helper = await connected(one);
  const names = ['first', 'second'];
  const reads = clients.map(({ peer }, i) => read_now(peer, `held:///${names[i]}`, { onprogress: () => undefined }));
  await read_now(helper.peer, 'release:///second');
  assert.equal(await within('the second answer', reads[1]), 'held:///second');
  await read_now(helper.peer, 'release:///first');
  assert.equal(await within('the first answer', reads[0]), 'held:///first');
  const ids = clients.map(({ seen }) => seen.sent.find((message) => message.uri?.startsWith('held:')).id);
  assert.equal(ids[0], ids[1], 'the clients were to use equal ids');
  clients.forEach(({ seen }, i) => {
    const theirs = `held:///${names[1 - i]}`;
    assert.ok(!JSON.stringify(seen.received).includes(theirs), `${names[i]} received ${theirs}`);
    const progress = seen.received.filter((message) => message.method === 'notifications/progress');
    assert.deepEqual(progress.map((message) => message.params.message), [names[i]]);
    assert.equal(seen.received.filter((message) => message.id === ids[i]).length, 1, 'one answer an id');
  });
  for (const { peer } of [...clients, helper]) await peer.close();
  return `both under id ${ids[0]}`;
}

/** Many clients, the same ids, all at once. */
async function crowd(kind, clients, reads) {
  const all = await Promise.all(Array.from({ length: clients }, () => connected(kind)));
  await Promise.all(
    all.map(async ({ peer }, i) => {
      const texts = await Promise.all(Array.from({ length: reads }, () => read_now(peer, `note:///${i}`)));
      for (const text of texts) assert.match(text, new RegExp(`^note ${i}, `));
    }),
  );
  const ids = all.map(({ seen }) => seen.sent.map((message) => message.id).join());
  assert.equal(new Set(ids).size, 1, 'the clients were to use equal ids');
  for (const { peer } of all) await peer.close();
  return `${clients} clients, ${reads} reads each`;
}

await judge(async () => {
  const server = await start_server([program, '0']);
  for (const kind of all_peers([], () => server.url).filter(({ name }) => !name.endsWith('over stdio'))) {
    await check(`${kind.name}: two clients with equal ids never see each other's answers or progress`, () => cross(kind, kind));
    await check(`${kind.name}: nor do many at once`, () => crowd(kind, 12, 40));
  }
  await check('the server ends with 0 on SIGTERM', () => server.stop());
});
