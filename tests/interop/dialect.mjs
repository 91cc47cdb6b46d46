// The versioned dialect through real clients of both eras, which know nothing of it but send what they are given: filtered lists,
// resources with their versions, Not Modified, and changes told with the entry.
//
// Usage: node.sh dialect.mjs HONDANA
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { start_server } from './listening.mjs';
import { all_peers } from './peers.mjs';
import { inbox } from './subscribers.mjs';
import { check, eventually, judge, temporary_folder } from './verdict.mjs';

const program = process.argv[2];
const anything = z.looseObject({});

const ask = (peer, method, params) => peer.client.request({ method, params }, anything);

async function converse({ name, make }, folder) {
  const peer = make();
  const uri = (below) => `file://${folder}/${below}`;
  const told = new inbox();
  peer.client.fallbackNotificationHandler = async (notification) => {
    if (notification.method === 'notifications/resources/content_changed') told.put(notification.params);
  };
  await peer.connect();

  await check(`${name}: a filter chooses what is listed, page by page`, async () => {
    // What has just been written has no version until its time stamps can be trusted.
    await eventually(async () => {
      const { resources } = await ask(peer, 'resources/list', { filter: { uriPattern: `file://${folder}/**/*.md`, kind: 'file' } });
      assert.deepEqual(resources.map((one) => one.uri).sort(), [uri('docs/a.md'), uri('docs/b.md')]);
      assert.ok(resources.every((one) => one.version !== undefined && one.kind === 'file'), JSON.stringify(resources));
    });
    const refused = await peer.refused(ask(peer, 'resources/list', { filter: { minPriority: 'high' } }));
    assert.equal(refused.code, -32602);
    assert.match(refused.message, /filter\.minPriority/);
  });

  await check(`${name}: a resource comes with its version once, and is Not Modified then`, async () => {
    const got = await ask(peer, 'resources/get', { uri: uri('docs/a.md') });
    assert.equal(got.contents.content, readFileSync(join(folder, 'docs/a.md'), 'utf8'));
    assert.equal(got.contents.contentType, 'text/markdown');
    const { version } = got.resource;
    const refused = await peer.refused(ask(peer, 'resources/get', { uri: uri('docs/a.md'), version }));
    assert.deepEqual(refused, { code: 304, message: 'Not Modified', data: { uri: uri('docs/a.md'), version } });
    const picture = await ask(peer, 'resources/get', { uri: uri('picture.png') });
    const digest = (bytes) => createHash('sha256').update(bytes).digest('hex');
    assert.equal(digest(Buffer.from(picture.contents.blob, 'base64')), digest(readFileSync(join(folder, 'picture.png'))));
    writeFileSync(join(folder, 'docs/a.md'), `# Changed for ${name}\n`);
    const fresh = await ask(peer, 'resources/get', { uri: uri('docs/a.md'), version });
    assert.equal(fresh.contents.content, `# Changed for ${name}\n`);
    assert.notEqual(fresh.resource.version, version);
  });

  if (peer.era === 'legacy') {
    await check(`${name}: a change is told with the entry as it is then`, async () => {
      await ask(peer, 'resources/subscribe', { uris: [uri('docs/b.md'), uri('docs/later.md')] });
      const before = (await ask(peer, 'resources/get', { uri: uri('docs/b.md') })).resource.version;
      writeFileSync(join(folder, 'docs/b.md'), `# B of ${name}\n`);
      await told.until('the change', (items) => items.some((one) => one.resource.uri === uri('docs/b.md')));
      const { resource } = told.take().find((one) => one.resource.uri === uri('docs/b.md'));
      assert.notEqual(resource.version, before);
      assert.equal(resource.title, `B of ${name}`);
      await ask(peer, 'resources/unsubscribe', { uris: [uri('docs/b.md'), uri('docs/later.md')] });
    });
  }
  await peer.close();
}

await judge(async () => {
  const folder = temporary_folder();
  mkdirSync(join(folder, 'docs'));
  for (const one of ['a', 'b']) writeFileSync(join(folder, `docs/${one}.md`), `# ${one.toUpperCase()}\n`);
  writeFileSync(join(folder, 'notes.txt'), 'no Markdown');
  writeFileSync(join(folder, 'picture.png'), Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7) % 256)));
  const server = await start_server([program, 'serve', '--port', '0', folder]);
  for (const one of all_peers(['stdio', folder], () => server.url)) await converse(one, folder);
  await check('the server ends with 0 on SIGTERM', () => server.stop());
});
