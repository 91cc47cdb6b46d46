// A folder of 200 000 files is listed at once and completely; 100 MB of text and of blob come through when the limit allows.
//
// Usage: node.sh tree.mjs HONDANA
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash, randomFillSync } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { program, serve } from './hondana.mjs';
import { all_peers } from './peers.mjs';
import { uri_of } from './repository.mjs';
import { check, judge, temporary_folder, within } from './verdict.mjs';

const folders = 200;
const files_each = 1000;
const megabyte = 1_000_000;

/** Awkward names in turn; every one is unique within its folder. */
const names = [
  (i) => `file ${i}.txt`,
  (i) => `日本語の書類${i}.md`,
  (i) => `100%${i}`,
  (i) => `what?${i}.txt`,
  (i) => `#${i}.c`,
  (i) => `a+b&c=${i};d,e@f.h`,
  (i) => `quote'${i}".py`,
  (i) => `${i}`,
];

/** Makes the files and gives the URIs of everything that must be listed. */
function grow(tree) {
  const uris = [uri_of(tree)];
  for (let f = 0; f < folders; ++f) {
    const folder = join(tree, f % 3 === 0 ? `本 ${f}` : f % 3 === 1 ? `shelf-${f}` : `50%?#${f}`);
    mkdirSync(folder);
    uris.push(uri_of(folder));
    for (let i = 0; i < files_each; ++i) {
      const path = join(folder, names[i % names.length](i));
      closeSync(openSync(path, 'w'));
      uris.push(uri_of(path));
    }
  }
  return uris;
}

/** Whether `a` comes before `b` when they are compared segment by segment. */
function is_before(a, b) {
  const left = a.split('/');
  const right = b.split('/');
  const at = left.findIndex((segment, i) => segment !== right[i]);
  return at === -1 ? left.length < right.length : right[at] !== undefined && left[at] < right[at];
}

async function list_everything({ name, make }, expected, is_cold) {
  const peer = make();
  await peer.connect();
  await check(`${name}: the first page of ${expected.size} entries comes at once, the others without gaps and repeats`, async () => {
    const begin = performance.now();
    let page = await peer.page('resources/list');
    const first = performance.now() - begin;
    const seen = new Set();
    let last = '';
    let pages = 0;
    for (;;) {
      pages += 1;
      for (const { uri } of page.resources) {
        assert.ok(last === '' || is_before(last, uri), `out of order: ${uri} after ${last}`);
        seen.add((last = uri));
      }
      if (page.nextCursor === undefined) break;
      page = await peer.page('resources/list', page.nextCursor);
    }
    const total = performance.now() - begin;
    assert.equal(seen.size, expected.size);
    for (const uri of expected) assert.ok(seen.has(uri), `not listed: ${uri}`);
    assert.ok(first < 1000, `the first page took ${first} ms`);
    const state = is_cold ? 'nothing walked before' : 'walked before';
    return `first page ${first.toFixed(1)} ms (${state}), all ${pages} pages ${total.toFixed(0)} ms`;
  });
  await check(`${name}: ends in order`, () => peer.close());
}

/** Lists while files come and go between pages, until a walk behind the list has picked up a change. */
async function list_while_it_changes({ name, make }, tree, expected) {
  await check(`${name}: what is there throughout is listed exactly once while files come and go`, async () => {
    const peer = make();
    await peer.connect();
    const mark = uri_of(join(tree, 'shelf-1', `passing ${name}`));
    const passing = (i) => join(tree, 'shelf-1', `passing ${name} ${i}`);
    let made = 0;
    let rounds = 0;
    for (let picked_up = false; !picked_up; ) {
      assert.ok((rounds += 1) <= 50, 'no change was ever picked up');
      const seen = new Map();
      let cursor;
      do {
        const page = await peer.page('resources/list', cursor);
        for (const { uri } of page.resources) {
          seen.set(uri, (seen.get(uri) ?? 0) + 1);
          picked_up ||= uri.startsWith(mark);
        }
        cursor = page.nextCursor;
        closeSync(openSync(passing((made += 1)), 'w'));
        if (made > 5) rmSync(passing(made - 5));
      } while (cursor !== undefined);
      for (const uri of expected) assert.equal(seen.get(uri), 1, `listed ${seen.get(uri)} times in round ${rounds}: ${uri}`);
    }
    await peer.close();
    return `${rounds} rounds, ${made} files came`;
  });
}

const digest = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** Writes 100 MB of lines with characters of one to four bytes, quotes, backslashes and control characters. */
function write_text(path) {
  const line = Buffer.from('{"key": "value \\\\ 日本語 📚 é"}\t\u0001 0123456789abcdef\r\n');
  const block = Buffer.alloc(line.length * 1000);
  for (let i = 0; i < 1000; ++i) line.copy(block, i * line.length);
  const file = openSync(path, 'w');
  let size = 0;
  for (; size + block.length <= 100 * megabyte; size += block.length) writeSync(file, block);
  writeSync(file, Buffer.alloc(100 * megabyte - size, 'x'));
  closeSync(file);
}

function write_blob(path) {
  const file = openSync(path, 'w');
  const block = Buffer.alloc(megabyte);
  for (let i = 0; i < 100; ++i) writeSync(file, randomFillSync(block));
  closeSync(file);
}

/** The most memory a process has had, in MiB. */
const peak_of = (pid) => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

const bytes_of = (content) => (content.text === undefined ? Buffer.from(content.blob, 'base64') : Buffer.from(content.text, 'utf8'));

/** Reads a URI from a server on its standard input and output, without a client's limits; the contents and the peak of memory. */
async function read_over_stdio(config, uri) {
  const child = spawn(program, ['stdio', '--config', config], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const pieces = [];
  const answered = new Promise((resolve, reject) => {
    child.stdout.on('data', (piece) => {
      pieces.push(piece);
      if (piece.at(-1) === 0x0a) resolve();
    });
    child.once('exit', (code) => reject(new Error(`hondana stdio ended with ${code}`)));
  });
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri, _meta } })}\n`);
  try {
    await within('the answer over stdio', answered);
    const peak = peak_of(child.pid);
    child.stdin.end();
    assert.deepEqual(await within('the end of hondana stdio', exited), [0, null]);
    return { contents: JSON.parse(Buffer.concat(pieces).toString('utf8')).result.contents, peak };
  } finally {
    child.kill('SIGKILL');
  }
}

async function read_large(folder) {
  const files = { text: join(folder, 'large.txt'), blob: join(folder, 'large.bin') };
  write_text(files.text);
  write_blob(files.blob);
  const config = join(temporary_folder(), 'hondana.toml');
  writeFileSync(config, `max_read_bytes = "128MiB"\n[[source]]\ntype = "files"\npath = ${JSON.stringify(folder)}\n`);

  const limited = await serve([folder]);
  const raised = await serve(['--config', config]);
  const over_http = (url) => all_peers([], () => url).filter((one) => one.name.endsWith('over HTTP'));
  for (const [form, path] of Object.entries(files)) {
    const uri = uri_of(path);
    const expected = digest(readFileSync(path));
    for (const { name, make } of over_http(limited.url)) {
      await check(`${name}: 100 MB of ${form} are refused by the limit of 64 MiB, with a way round it`, async () => {
        const peer = make();
        await peer.connect();
        const error = await peer.read(uri).then(() => assert.fail('it was read'), (failure) => failure);
        for (const wanted of ['100000000', '67108864', 'lines', 'bytes']) assert.ok(error.message.includes(wanted), error.message);
        const part = await peer.read(`${uri}?bytes=99999990-99999999`);
        assert.ok(bytes_of(part.contents[0]).equals(readFileSync(path).subarray(-10)));
        await peer.close();
      });
    }
    for (const { name, make } of over_http(raised.url)) {
      await check(`${name}: 100 MB of ${form} come byte for byte when the limit is raised`, async () => {
        const peer = make();
        await peer.connect();
        const { contents } = await peer.read(uri);
        assert.equal(typeof contents[0][form], 'string');
        assert.equal(digest(bytes_of(contents[0])), expected);
        await peer.close();
        const peak = peak_of(raised.pid);
        assert.ok(peak < 32, `the server took ${peak.toFixed(1)} MiB`);
        return `peak memory of the server ${peak.toFixed(1)} MiB`;
      });
    }
    await check(`100 MB of ${form} come byte for byte over stdio`, async () => {
      const { contents, peak } = await read_over_stdio(config, uri);
      assert.equal(typeof contents[0][form], 'string');
      assert.equal(digest(bytes_of(contents[0])), expected);
      assert.ok(peak < 32, `the server took ${peak.toFixed(1)} MiB`);
      return `peak memory of the server ${peak.toFixed(1)} MiB`;
    });
  }
  await limited.stop();
  await raised.stop();
}

await judge(async () => {
  const tree = temporary_folder();
  let expected = new Set();
  await check(`makes ${folders * files_each} files`, () => {
    expected = new Set(grow(tree));
    assert.equal(expected.size, 1 + folders + folders * files_each);
  });
  const server = await serve([tree]);
  let is_cold = true;
  for (const one of all_peers(['stdio', tree], () => server.url)) {
    await list_everything(one, expected, is_cold || one.name.endsWith('over stdio'));
    if (one.name.endsWith('over HTTP')) is_cold = false;
  }
  for (const one of all_peers([], () => server.url).filter(({ name }) => name.endsWith('over HTTP')).slice(0, 2)) {
    await list_while_it_changes(one, tree, expected);
  }
  await check('hondana serve ends with 0 on SIGTERM', () => server.stop());
  await read_large(temporary_folder());
});
