// Real clients of both eras list, complete and read a repository, and a folder of awkward files, over stdio and HTTP.
//
// Usage: node.sh clients.mjs HONDANA REPOSITORY
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { program, serve } from './hondana.mjs';
import { all_peers } from './peers.mjs';
import { compare_with_git, copy_of, files_by_git, expect_content, path_below, uri_of, work_tree } from './repository.mjs';
import { denied, fill, notes, oddities } from './sampler.mjs';
import { check, judge, temporary_folder } from './verdict.mjs';

const original = work_tree(process.argv[3]);
const repository = copy_of(original);
const sampler = temporary_folder();
const reads_at_once = 8;

/** Runs `job` for every item, a few at once. */
async function for_all(items, job) {
  const queue = items[Symbol.iterator]();
  const work = async () => {
    for (const item of queue) await job(item);
  };
  await Promise.all(Array.from({ length: reads_at_once }, work));
}

const template_of = (folder) => `${uri_of(folder)}/{+path}{?lines,bytes}`;

const text_of = (answer) => {
  assert.equal(answer.contents.length, 1);
  return answer.contents[0].text;
};

/** Everything one client must see. */
async function converse({ name, make }) {
  const peer = make();
  let all = [];
  await check(`${name}: connects to hondana, which offers resources and completions`, async () => {
    await peer.connect();
    assert.equal(peer.client.getServerVersion().name, 'hondana');
    const offered = peer.client.getServerCapabilities();
    assert.ok(offered.resources && offered.completions, JSON.stringify(offered));
  });

  await check(`${name}: lists all pages, without gaps and repeats`, async () => {
    const pages = await peer.pages('resources/list', 'resources');
    all = pages.flat();
    assert.ok(pages.length >= 3, `${all.length} entries came in ${pages.length} pages`);
    assert.ok(pages.slice(0, -1).every((page) => page.length === 500), 'full pages have 500 entries');
    assert.equal(new Set(all.map((entry) => entry.uri)).size, all.length, 'every URI once');
    const gathered = await peer.listed();
    assert.deepEqual(gathered.map((entry) => entry.uri), all.map((entry) => entry.uri), 'the same list again');
    return `${all.length} entries in ${pages.length} pages`;
  });

  await check(`${name}: the files listed of the repository are those of git`, () => {
    const { listed, denied: left_out } = compare_with_git(repository, all);
    for (const [path, entry] of listed) {
      const facts = statSync(join(repository, path));
      assert.equal(entry.name, path);
      assert.equal(entry.size, facts.size, path);
      assert.ok(Math.abs(Date.parse(entry.annotations.lastModified) - facts.mtimeMs) < 1000, `${path}: lastModified`);
    }
    return `${listed.size} files, ${left_out.length} denied: ${left_out.join(' ')}`;
  });

  await check(`${name}: every listed file of the repository is read byte for byte`, async () => {
    const { listed } = compare_with_git(repository, all);
    await for_all(listed, async ([path, entry]) => {
      const answer = await peer.read(entry.uri);
      expect_content(answer.contents, entry.uri, join(repository, path));
    });
    return `${listed.size} files`;
  });

  await check(`${name}: awkward names and contents come through, what is denied does not`, async () => {
    const entries = new Map(all.map((entry) => [path_below(sampler, entry.uri), entry]));
    for (const path of Object.keys(oddities)) assert.ok(entries.has(path), `not listed: ${path}`);
    for (let i = 0; i < notes; ++i) assert.ok(entries.has(`notes/note ${i}.txt`), `not listed: note ${i}`);
    assert.equal(entries.get('link to lines')?.mimeType, 'inode/symlink');
    assert.equal(entries.get('picture.png').mimeType, 'image/png');
    for (const path of denied) assert.ok(!entries.has(path), `listed: ${path}`);
    await for_all(Object.keys(oddities), async (path) => {
      const { uri } = entries.get(path);
      expect_content((await peer.read(uri)).contents, uri, join(sampler, path));
    });
    const link = entries.get('link to lines').uri;
    expect_content((await peer.read(link)).contents, link, join(sampler, 'lines.txt'));
  });

  await check(`${name}: finds one template for each folder, expands it and reads parts of files`, async () => {
    const templates = (await peer.pages('resources/templates/list', 'resourceTemplates')).flat();
    const forms = templates.map((one) => one.uriTemplate);
    assert.deepEqual([...forms].sort(), [template_of(repository), template_of(sampler)].sort());
    const in_sampler = (values) => peer.expand(template_of(sampler), values);
    const in_repository = (values) => peer.expand(template_of(repository), values);
    const part = async (uri) => {
      const answer = await peer.read(uri);
      assert.equal(answer.contents[0].uri, uri, 'the URI is repeated as asked');
      return text_of(answer);
    };
    assert.equal(in_sampler({ path: 'lines.txt', lines: '10-12' }), `${uri_of(sampler)}/lines.txt?lines=10-12`);
    assert.equal(await part(in_sampler({ path: 'lines.txt', lines: '10-12' })), 'line 10\nline 11\nline 12\n');
    assert.equal(await part(in_sampler({ path: 'lines.txt', bytes: '0-5' })), 'line 1');
    assert.equal(await part(in_sampler({ path: 'かな.txt', bytes: '1-7' })), 'い', 'narrowed to whole code points');
    assert.equal(await part(in_sampler({ path: '日本語 メモ.md', lines: '3-3' })), '本文。\n');
    const licence = readFileSync(join(repository, 'LICENSE'), 'utf8').split('\n').slice(0, 3).join('\n');
    assert.equal(await part(in_repository({ path: 'LICENSE', lines: '1-3' })), `${licence}\n`);
    assert.equal(await part(in_repository({ path: 'LICENSE' })), readFileSync(join(repository, 'LICENSE'), 'utf8'));
    const backwards = await peer.refused(peer.read(in_sampler({ path: 'lines.txt', lines: '12-10' })));
    assert.equal(backwards.code, -32602);
    assert.match(backwards.message, /lines/);
  });

  await check(`${name}: completes path`, async () => {
    const values = async (folder, typed) => (await peer.complete(template_of(folder), 'path', typed)).values;
    assert.equal((await values(repository, 'LICEN'))[0], 'LICENSE');
    assert.ok((await values(repository, 'src/cl')).includes('src/client/'), 'src/cl becomes src/client/');
    assert.deepEqual(await values(sampler, '日本'), ['日本語 メモ.md']);
    assert.deepEqual(await values(sampler, '.h'), [], 'nothing hidden is disclosed');
    const many = await peer.complete(template_of(sampler), 'path', 'notes/note 1');
    assert.equal(many.values.length, 100);
    assert.equal(many.hasMore, true);
    assert.ok(many.values.every((value) => value.startsWith('notes/note 1')), many.values[0]);
  });

  await check(`${name}: reads a folder: its children first, then its text files`, async () => {
    const uri = `${uri_of(sampler)}/deep/er/than/that`;
    const { contents } = await peer.read(uri);
    assert.deepEqual(
      contents.map(({ uri, mimeType, text }) => ({ uri, mimeType, text })),
      [
        { uri, mimeType: 'inode/directory', text: `${uri}/file.txt\n` },
        { uri: `${uri}/file.txt`, mimeType: 'text/plain', text: 'deep\n' },
      ],
    );
    const above = await peer.read(uri_of(sampler));
    const children = above.contents[0].text.trimEnd().split('\n').map((child) => path_below(sampler, child));
    const expected = [...new Set(Object.keys(oddities).map((path) => path.split('/')[0])), 'notes', 'link to lines'];
    assert.deepEqual(children.sort(), expected.sort());
    const sent = above.contents.slice(1).map((content) => path_below(sampler, content.uri));
    assert.ok(sent.includes('日本語 メモ.md') && !sent.includes('picture.png') && !sent.includes('latin1.txt'), sent.join());
  });

  await check(`${name}: what is not there, and what is denied, is not found, with the code of the era`, async () => {
    const code = peer.era === 'modern' ? -32602 : -32002;
    const missing = [`${uri_of(repository)}/there-is-no-such-file`, 'file:///nowhere', 'memo:///zzz'];
    for (const path of denied) missing.push(uri_of(join(sampler, path)));
    missing.push(`${uri_of(repository)}/src%2Fcli`, `${uri_of(repository)}/../outside`);
    for (const uri of missing) {
      assert.deepEqual(await peer.refused(peer.read(uri)), { code, message: 'Resource not found', data: { uri } });
    }
    for (const cursor of ['no cursor of ours', '']) {
      assert.equal((await peer.refused(peer.page('resources/list', cursor))).code, -32602);
    }
  });

  await check(`${name}: ends in order, without an error on the way`, async () => {
    await peer.close();
    assert.deepEqual(peer.errors, []);
  });
}

await judge(async () => {
  fill(sampler);
  const server = await serve(['--no-git', repository, sampler]);
  for (const one of all_peers(['stdio', '--no-git', repository, sampler], () => server.url)) await converse(one);
  await check('hondana check says of every file of the original that it is served, or why it is not', () => {
    const out = execFileSync(program, ['check', '--json', original], { encoding: 'utf8', maxBuffer: 1 << 26 });
    const items = new Map(out.trimEnd().split('\n').map((line) => JSON.parse(line)).map((item) => [item.name, item]));
    const { files } = files_by_git(original);
    const left_out = new Map();
    for (const path of files) {
      const above = path.split('/').map((_, i, all) => all.slice(0, i + 1).join('/'));
      const item = items.get(above.find((name) => items.get(name)?.served === false) ?? path);
      assert.ok(item, `not mentioned: ${path}`);
      if (item.served) assert.equal(item.uri, uri_of(join(original, path)));
      else assert.ok(item.reason, `left out for no reason: ${path}`);
      if (!item.served) left_out.set(path, item.reason);
    }
    return [...left_out].map(([path, reason]) => `${path} (${reason})`).join(', ');
  });
  await check('hondana serve ends with 0 on SIGTERM', () => server.stop());
});
