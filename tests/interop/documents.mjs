// Real clients of both eras and the Inspector list, read, complete and search Japanese documents in four encodings.
//
// Usage: node.sh documents.mjs HONDANA
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { can_convert, document_at, documents, fill_with_documents, hidden, text_types, uri_in } from './four_encodings.mjs';
import { program, serve } from './hondana.mjs';
import { all_peers } from './peers.mjs';
import { check, event_deadline, eventually, judge, skip, temporary_folder } from './verdict.mjs';

if (!can_convert()) skip('there is no iconv that knows ISO-2022-JP');

const set = 'mizukuchi';
const uri_of = (path) => uri_in(set, path);
const all_in_one = `docs://${set}/`;
const template = (parameter) => `docs://${set}/{+path}{?${parameter}}`;
const searching = 'search:///{?q,limit,lang,scheme,uriPrefix,minPriority,audience,modifiedSince,owner}';
const waiting = 'search:///?wait=complete';
const without_blanks = (text) => text.replace(/\s+/g, '');

/** Fails when `text` has anything that the documents hide. */
function expect_nothing_hidden(text, where) {
  for (const phrase of hidden) assert.ok(!without_blanks(text).includes(phrase), `${where} has "${phrase}": ${text.slice(0, 2000)}`);
}

/** The entries of a list by their URIs. */
function by_uri(entries) {
  const listed = new Map(entries.map((one) => [one.uri, one]));
  assert.equal(listed.size, entries.length, 'every URI once');
  return listed;
}

/** Whether the entries of a list are those of the documents, with what each says of itself. */
function compare_with_table(listed) {
  const folders = new Set(documents.map(({ path }) => path).filter((path) => path.includes('/')).map(dirname));
  for (const one of folders) assert.equal(listed.get(uri_of(one))?.mimeType, 'inode/directory', one);
  const expected = [...documents.map(({ path }) => path), ...folders].map(uri_of).concat(all_in_one, 'search:///');
  assert.deepEqual([...listed.keys()].sort(), expected.sort());
  for (const { path, title, language, charset, ending } of documents) {
    const { name, title: said, mimeType, annotations, _meta } = listed.get(uri_of(path));
    assert.deepEqual(
      { name, title: said, mimeType, language: _meta['dev.hondana/lang'], charset: _meta['dev.hondana/charset'] },
      { name: path.split('/').at(-1), title, mimeType: text_types[ending], language, charset },
      path,
    );
    assert.equal(_meta['dev.hondana/invalidSequences'], undefined, path);
    assert.ok(Math.abs(Date.parse(annotations.lastModified) - Date.now()) < 7_200_000, `${path}: ${annotations.lastModified}`);
  }
  const audiences = documents.map(({ path }) => [path, listed.get(uri_of(path)).annotations.audience]).filter(([, who]) => who);
  assert.deepEqual(Object.fromEntries(audiences), {
    '案内/overview.md': ['user', 'assistant'],
    '設計/通信方式.md': ['assistant'],
    '運用/停電.md': ['user'],
  });
}

/** Every document of a higher rank is worth more than every one of a lower. */
function compare_priorities(priority_of) {
  const ranks = ['high', 'middle', 'low'].map((rank) => {
    const those = documents.filter((one) => one.priority_rank === rank).map(({ path }) => ({ path, priority: priority_of(path) }));
    those.sort((one, other) => other.priority - one.priority);
    return { rank, first: those[0], last: those.at(-1) };
  });
  for (const { first, last } of ranks) assert.ok(first.priority <= 0.95 && last.priority >= 0.1, JSON.stringify(ranks));
  for (let i = 1; i < ranks.length; ++i) {
    const [above, below] = [ranks[i - 1].last, ranks[i].first];
    assert.ok(above.priority > below.priority, `${above.path} has ${above.priority}, ${below.path} has ${below.priority}`);
  }
  // What the documents say themselves counts as it is.
  for (const [path, said] of [['案内/overview.md', 0.5], ['設計/通信方式.md', 0.5], ['運用/停電.md', 0.9]])
    assert.equal(priority_of(path), said, path);
  return ranks.map(({ rank, first, last }) => `${rank} ${first.priority} to ${last.priority}`).join(', ');
}

/** A read of a whole document: its text, and the file itself where that is something else. */
function expect_document(contents, one) {
  const [text, original] = contents;
  assert.equal(text.uri, uri_of(one.path));
  assert.equal(text.mimeType, text_types[one.ending]);
  if (one.ending !== 'html') assert.equal(text.text, one.text);
  assert.ok(without_blanks(text.text).includes(without_blanks(one.phrase)), `${one.path}: ${text.text}`);
  expect_nothing_hidden(text.text, one.path);
  assert.doesNotMatch(text.text, /<(script|style|body|p)\b/i, one.path);
  assert.ok(!text.text.includes('\ufffd'), one.path);
  const is_same = one.ending !== 'html' && one.charset === 'UTF-8';
  assert.equal(contents.length, is_same ? 1 : 2, one.path);
  if (is_same) return;
  assert.equal(original.uri, `${uri_of(one.path)}?format=original`);
  assert.equal(text._meta['dev.hondana/original'], original.uri);
  assert.ok(Buffer.from(original.blob, 'base64').equals(one.bytes), `${one.path}: the original`);
  assert.equal(original._meta?.['dev.hondana/active'] !== undefined, one.ending === 'html', `${one.path}: active`);
}

/** The place of a document among those found, counted from 1, and a result of it that has the phrase. */
function expect_found({ results }, one) {
  expect_nothing_hidden(JSON.stringify(results), `the results for ${one.phrase}`);
  const place = [...new Set(results.map(({ uri }) => uri))].indexOf(uri_of(one.path)) + 1;
  const said = `${one.phrase} in ${one.path}: ${JSON.stringify(results.map(({ uri, why }) => [decodeURIComponent(uri), why]))}`;
  assert.ok(place >= 1 && place <= 3, said);
  const has_it = ({ uri, passage }) => uri === uri_of(one.path) && without_blanks(passage).includes(without_blanks(one.phrase));
  const result = results.find(has_it);
  assert.ok(result, `no passage has it: ${said}`);
  assert.equal(result.title, one.title);
  assert.ok(result.score > 0 && result.score <= 1 && result.explanation, said);
  return { place, result };
}

/**
 * The answer of a complete index. It is not complete while it looks anew at what changes, such as a file that was only just written; `wait`
 * returns when it is.
 */
async function complete_answer(wait, ask) {
  return eventually(async () => {
    const answer = await ask();
    if (!answer.isComplete) await wait();
    assert.ok(answer.isComplete, 'the index is not complete, however often one waits for it');
    return answer;
  });
}

/** How often the right document came first. */
const note_on = (places) => `first for ${places.filter((place) => place === 1).length} of ${places.length}`;

/** All that arrives at a client, as text. */
function overhear(peer) {
  const heard = [];
  const pass_on = peer.transport.onmessage;
  peer.transport.onmessage = (message, ...more) => {
    heard.push(JSON.stringify(message));
    pass_on(message, ...more);
  };
  return heard;
}

/** Everything one client must see. */
async function converse({ name, make }) {
  const peer = make();
  let heard = [];
  let listed = new Map();
  const json = async (uri) => JSON.parse((await peer.read(uri)).contents[0].text);
  const complete = (ask) => complete_answer(() => json(waiting), ask);
  const found = (q, more = {}) => complete(() => json(peer.expand(searching, { q, ...more })));
  const values = async (parameter, argument, value, chosen = {}) => {
    const ref = { type: 'ref/resource', uri: template(parameter) };
    const answer = await peer.client.complete({ ref, argument: { name: argument, value }, context: { arguments: chosen } });
    return answer.completion.values;
  };

  await check(`${name}: lists each document with its title, language and encoding`, async () => {
    await peer.connect();
    heard = overhear(peer);
    listed = by_uri((await peer.pages('resources/list', 'resources')).flat());
    compare_with_table(listed);
    const templates = (await peer.pages('resources/templates/list', 'resourceTemplates')).flat().map((one) => one.uriTemplate);
    for (const one of [template('section'), template('format'), searching]) assert.ok(templates.includes(one), templates.join());
    return `${listed.size} entries`;
  });
  await check(`${name}: lists them with priorities by their ranks`, () =>
    compare_priorities((path) => listed.get(uri_of(path)).annotations.priority));
  await check(`${name}: reads the tree of all documents, the important first`, async () => {
    const whole = await json(`${all_in_one}?format=json`);
    assert.equal(whole.documents.length, documents.length);
    for (const { uri, title, lang, priority } of whole.documents) {
      const entry = listed.get(uri);
      assert.deepEqual([title, lang, priority], [entry.title, entry._meta['dev.hondana/lang'], entry.annotations.priority], uri);
    }
    const { text, mimeType } = (await peer.read(all_in_one)).contents[0];
    assert.equal(mimeType, 'text/markdown');
    const before = new Map();
    let count = 0;
    for (const [, title, uri, priority] of text.matchAll(/^ *- \[(.+)\]\((docs:[^)]+)\) \(([\d.]+), (?:ja|en)\)/gm)) {
      const folder = uri.slice(0, uri.lastIndexOf('/'));
      assert.equal(title, listed.get(uri).title);
      assert.ok(Number(priority) <= (before.get(folder) ?? 1), `${title} comes behind what is worth less`);
      before.set(folder, Number(priority));
      count += 1;
    }
    assert.equal(count, documents.length, text);
  });
  await check(`${name}: reads each document in UTF-8, and the file as it is`, async () => {
    for (const one of documents) expect_document((await peer.read(uri_of(one.path))).contents, one);
  });
  await check(`${name}: reads, or is told, the URI of a path in NFD, in another width or case`, async () => {
    for (const [written, path] of [
      ['案内/ガイド.rst'.normalize('NFD'), '案内/ガイド.rst'],
      ['案内/ｶﾞｲﾄﾞ.rst', '案内/ガイド.rst'],
      ['案内/Ｏｖｅｒｖｉｅｗ.MD', '案内/overview.md'],
    ]) {
      let uri = uri_of(written);
      if (!peer.pid) {
        // From afar only the URI that is listed is read.
        const { code, message } = await peer.refused(peer.read(uri));
        assert.equal(code, -32602, written);
        uri = /docs:\/\/[^ ]+(?=\.)/.exec(message)?.[0];
        assert.equal(uri, uri_of(path), message);
      }
      assert.ok((await peer.read(uri)).contents[0].text.includes(document_at(path).phrase), written);
    }
  });
  await check(`${name}: reads sections by their Japanese headings`, async () => {
    for (const [path, section, has, lacks] of [
      ['運用/停電.md', '発電機を運ぶ', '一酸化炭素の中毒', '手回しの取っ手'],
      ['設計/全体構成.adoc', '中央のｻｰﾊﾞ', '隣町の庁舎', '三日間は自力で'],
      ['設計/データ形式.rst', '文字コード'.normalize('NFD'), '新しい記録は UTF-8', 'うるう秒'],
      ['運用/監視.html', '黙らせる', '四時間まで', '草が絡んで'],
      ['運用/監視.html', 'uketa', '草が絡んで', '四時間まで'],
      ['案内/overview.md', 'ＷＨＡＴ it does', 'consent', 'hand crank'],
    ]) {
      const { text } = (await peer.read(peer.expand(template('section'), { path, section }))).contents[0];
      assert.ok(text.includes(has) && !text.includes(lacks), `${path}, ${section}: ${text}`);
      expect_nothing_hidden(text, path);
    }
  });
  await check(`${name}: resolves the links between documents to URIs`, async () => {
    let count = 0;
    for (const { path, leads } of documents) {
      const { links, headings } = await json(peer.expand(template('format'), { path, format: 'json' }));
      const paths = links.map(({ uri }) => uri);
      assert.deepEqual(paths, leads.map(uri_of), path);
      for (const { uri, title } of links) assert.equal(title, listed.get(uri).title, `${path} to ${decodeURIComponent(uri)}`);
      if (!path.endsWith('.txt')) assert.ok(headings.length > 1 && headings.every(({ heading, uri }) => heading && uri), path);
      count += links.length;
    }
    return `${count} links`;
  });
  await check(`${name}: completes paths by Japanese prefixes, titles and in any form`, async () => {
    const in_order = (path, typed) => values(path, 'path', typed);
    assert.deepEqual((await in_order('format', '')).sort(), documents.map(({ path }) => path).sort());
    const below = documents.map(({ path }) => path).filter((path) => path.startsWith('設計/'));
    assert.deepEqual((await in_order('section', '設計/')).slice(0, below.length).sort(), below.sort());
    for (const [typed, path] of [
      ['案内/料', '案内/料金.html'],
      ['停電', '運用/停電.md'],
      ['利用ガ', '案内/ガイド.rst'],
      ['水門との', '設計/通信方式.md'],
      ['案内/ガ'.normalize('NFD'), '案内/ガイド.rst'],
      ['ﾊﾞｯｸ', '運用/バックアップ.adoc'],
      ['設計/ﾃﾞｰﾀ', '設計/データ形式.rst'],
      ['案内/ＯＶＥＲ', '案内/overview.md'],
      ['変更履歴/変更履歴－２０２５', '変更履歴/変更履歴-2025.txt'],
    ])
      assert.equal((await in_order('section', typed))[0], path, typed);
  });
  await check(`${name}: completes sections by Japanese prefixes and in any form`, async () => {
    const sections = (path, typed) => values('section', 'section', typed, { path });
    const all = ['項目', '時刻', '欠けた値', '文字コード', '関連する文書'];
    assert.deepEqual((await sections('設計/データ形式.rst', '')).filter((one) => one !== 'データ形式'), all);
    for (const [path, typed, heading] of [
      ['運用/停電.md', '手で', '手で水門を動かす'],
      ['運用/停電.md', '電気が'.normalize('NFD'), '電気が戻ったら'],
      ['設計/全体構成.adoc', '中央のｻｰﾊﾞ', '中央のサーバ'],
      ['設計/データ形式.rst', 'コード'.normalize('NFD'), '文字コード'],
      ['運用/監視.html', '警報を', '警報を受けたら'],
      ['案内/overview.md', 'ｗｈｅｒｅ', 'Where to read on'],
    ])
      assert.equal((await sections(path, typed))[0], heading, `${path}, ${typed}`);
  });
  await check(`${name}: has the index complete when it asks for that`, async () => {
    const state = await json(waiting);
    assert.equal(state.isComplete, true, JSON.stringify(state));
    assert.ok(state.passages >= documents.length && state.error === undefined, JSON.stringify(state));
    return `${state.passages} passages, ${state.tokenizer}`;
  });
  await check(`${name}: finds each document by a phrase of it, through search:///`, async () => {
    const places = [];
    for (const one of documents) places.push(expect_found(await found(one.phrase), one).place);
    return note_on(places);
  });
  const call = (tool, args) => peer.client.callTool({ name: tool, arguments: args });
  const ranges = new Map();
  await check(`${name}: finds each document by a phrase of it, through the tool`, async () => {
    const places = [];
    for (const one of documents) {
      const answer = await complete(() => call('search_resources', { q: one.phrase }).then((all) => all.structuredContent));
      const { place, result } = expect_found(answer, one);
      places.push(place);
      ranges.set(one, result);
    }
    return note_on(places);
  });
  await check(`${name}: reads the lines that the tool told`, async () => {
    assert.equal(ranges.size, documents.length);
    for (const [one, result] of ranges) {
      const part = await call('read_resource', { uri: result.uri, range: result.range });
      assert.ok(!part.isError, JSON.stringify(part));
      const text = part.content.map(({ resource }) => resource?.text ?? '').join('');
      assert.ok(without_blanks(text).includes(without_blanks(one.phrase)), `${one.path}, ${result.range}: ${text}`);
    }
  });
  await check(`${name}: searches in any width and normal form, and what it is told to`, async () => {
    const paths = async (...what) => {
      const { results } = await found(...what);
      const below = results.map(({ uri }) => decodeURI(uri).slice(all_in_one.length));
      return [...new Set(below)].filter((path) => path !== ''); // the list of all documents has words, too
    };
    for (const typed of ['ﾊﾞｯｸｱｯﾌﾟ', 'バックアップ'.normalize('NFD')]) assert.equal((await paths(typed))[0], '運用/バックアップ.adoc', typed);
    assert.deepEqual(await paths('ＨＡＮＤ　ＣＲＡＮＫ'), ['案内/overview.md']);
    assert.deepEqual(await paths('gate', { lang: 'en' }), ['案内/overview.md']);
    const important = await paths('水門', { minPriority: 0.75, limit: 50 });
    assert.ok(important.length >= 3 && important.every((path) => document_at(path).priority_rank === 'high'), important.join());
    const designs = await paths('水門', { uriPrefix: uri_of('設計'), limit: 50 });
    assert.ok(designs.length >= 3 && designs.every((path) => path.startsWith('設計/')), designs.join());
    const japanese = await paths('水門', { lang: 'ja', limit: 50 });
    assert.ok(japanese.length >= 10 && !japanese.includes('案内/overview.md'), japanese.join());
  });
  await check(`${name}: is never shown what the documents hide`, async () => {
    const arrived = heard.length;
    const wordy = [...hidden, '隠された値引きの合言葉は稲穂', '見えない段落の目印は河童', '稲穂', '河童', 'kotoba', 'kazoeru'];
    for (const phrase of wordy) expect_nothing_hidden(JSON.stringify((await found(phrase, { limit: 50 })).results), phrase);
    for (const word of ['稲穂', '河童', 'kotoba', 'kazoeru', 'naibu']) assert.deepEqual((await found(word)).results, [], word);
    // The answers repeat what was asked; all before must be clean.
    for (const message of heard.slice(0, arrived)) expect_nothing_hidden(message, 'a message');
    return `${arrived} messages`;
  });
  await check(`${name}: ends in order, without an error on the way`, async () => {
    await peer.close();
    assert.deepEqual(peer.errors, []);
  });
}

const inspector = join(dirname(fileURLToPath(import.meta.url)), 'node_modules/.bin/mcp-inspector');
const home = temporary_folder();
const run = promisify(execFile);

/** What the Inspector's command line sees of it; it has no method for completions. */
async function look_with_inspector(name, target, era, samples) {
  const inspect = async (method, ...more) => {
    const args = [inspector, '--cli', '--format', 'json', '--quiet', '--protocol-era', era, '--method', method, ...more, ...target];
    const env = { ...process.env, HOME: home, NO_COLOR: '1' };
    const { stdout } = await run(process.execPath, args, { env, timeout: event_deadline, maxBuffer: 1 << 26 });
    if (!method.startsWith('tools')) expect_nothing_hidden(stdout, method);
    const answer = JSON.parse(stdout);
    return answer.result ?? answer;
  };
  const json = async (uri) => JSON.parse((await inspect('resources/read', '--uri', uri)).contents[0].text);

  await check(`${name}: lists each document with its title, language and encoding, and priorities by their ranks`, async () => {
    const listed = by_uri((await inspect('resources/list')).resources);
    compare_with_table(listed);
    return compare_priorities((path) => listed.get(uri_of(path)).annotations.priority);
  });
  await check(`${name}: reads documents in UTF-8, and the files as they are`, async () => {
    for (const one of samples) expect_document((await inspect('resources/read', '--uri', uri_of(one.path))).contents, one);
    return samples.map(({ path, charset }) => `${path} (${charset})`).join(', ');
  });
  await check(`${name}: resolves links between documents`, async () => {
    const { links } = await json(`${uri_of('目次.md')}?format=json`);
    assert.deepEqual(links.map(({ uri }) => uri), document_at('目次.md').leads.map(uri_of));
  });
  await check(`${name}: waits for the index and finds documents by phrases, through search:/// and the tool`, async () => {
    await eventually(async () => assert.equal((await json(waiting)).isComplete, true));
    const places = [];
    for (const one of samples) {
      // Over stdio each is asked of a server that has just begun, with what the one before it kept.
      places.push(expect_found(await json(`search:///?q=${encodeURIComponent(one.phrase)}`), one).place);
      const { structuredContent } = await inspect('tools/call', '--tool-name', 'search_resources', '--tool-arg', `q=${one.phrase}`);
      places.push(expect_found(structuredContent, one).place);
    }
    return note_on(places);
  });
}

await judge(async () => {
  const folder = temporary_folder();
  const tree = join(folder, '文書');
  mkdirSync(tree);
  fill_with_documents(tree);
  // An index belongs to one process at a time.
  const config_for = (whom) => {
    const config = join(folder, `${whom}.toml`);
    const index = `[search]\npath = "${join(folder, 'kept', `${whom}.db`)}"\n`;
    writeFileSync(config, `[[source]]\ntype = "docs"\nname = "${set}"\npath = "${tree}"\n\n${index}`);
    return config;
  };
  const stdio = ['stdio', '--config', config_for('stdio')];
  const server = await serve(['--config', config_for('http')]);
  const peers = all_peers(stdio, () => server.url).filter(({ name }) => name.startsWith('client 2.4'));
  for (const one of peers) await converse(one);
  const one_of_each = ['案内/はじめに.md', '案内/料金.html', '運用/監視.html', '設計/全体構成.adoc'].map(document_at);
  for (const era of ['legacy', 'modern']) {
    const over_http = ['--transport', 'http', '--server-url', server.url];
    await look_with_inspector(`Inspector, ${era}, over HTTP`, over_http, era, one_of_each);
    await look_with_inspector(`Inspector, ${era}, over stdio`, ['--', program, ...stdio], era, one_of_each.slice(1, 2));
  }
  await check('hondana serve ends with 0 on SIGTERM', () => server.stop());
});
