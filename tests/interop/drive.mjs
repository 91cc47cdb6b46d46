// A Drive through the whole program: real clients of both eras list it, read each kind of file as Google's own client exports it, and
// have a question answered from a Japanese document; then it changes, and fails.
//
// Usage: node.sh drive.mjs HONDANA DRIVE_STAND_IN
//
// With HONDANA_REAL_DRIVE, a file (0600) with the key of a service account or a log-in that sees some files, what only reads is asked of
// Google itself; with HONDANA_REAL_DRIVE_QUESTION and HONDANA_REAL_DRIVE_ANSWER, a question and words of the passage that answers it,
// so is that. tests/drive/README.md says more.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drive, auth } from '@googleapis/drive';
import { office, readonly, service_client, start_drive, types } from './drive_server.mjs';
import { serve } from './hondana.mjs';
import { all_peers } from './peers.mjs';
import { check, eventually, judge, temporary_folder, within } from './verdict.mjs';

const real_key = process.env.HONDANA_REAL_DRIVE;
const most_real_files = 40;
const reader = 'reader@stand-in.iam.gserviceaccount.com';
const team = '0ATeamDrive000PVA';

const manual = `# 水門の手引き

この手引きは現場の係のためのものである。

## 平常時の点検

毎週月曜日に油と錆を確かめる。記録は台帳に残す。${'扉の左右の溝に落ち葉がたまっていないか、巻き上げ機の油が足りているか、鎖に傷がないかを順に見る。'.repeat(12)}

## 停電のとき

非常用発電機が動かないときは、手回しハンドルを使って水門を閉める。ハンドルは管理棟の赤い箱にある。
閉め終えたら必ず本部に電話する。

## 連絡先

本部の番号は台帳の表紙にある。${'雨の季節には当番の名前を毎朝掲示板に書き、交替のときに鍵と台帳を一緒に渡す。'.repeat(14)}
`;
const question = process.env.HONDANA_REAL_DRIVE_QUESTION ?? '停電で発電機が動かないとき、水門をどうやって閉めるか';
const answer = process.env.HONDANA_REAL_DRIVE_ANSWER ?? '手回しハンドルを使って水門を閉める';
const tables = [
  { name: '数値', rows: [['項目', '値'], ['水位', '12.5'], ['流量', '300']] },
  { name: '備考, その他', rows: [['a', 'x,y', '"q"'], ['', '二行\n目', ''], ['逆流防止弁', '点検済み', '']] },
];
const slides = [
  { title: '計画', text: '一つ目\n二つ目', notes: '最初に挨拶する' },
  { title: '予算', text: '三百万円', notes: '' },
];
const binary = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 31) % 256));
const seed = {
  drives: [{ id: team, name: 'Team' }],
  files: [
    { id: 'manual', path: '設備/水門の手引き', mimeType: types.document, text: manual, modifiedTime: '2026-03-01T00:00:00.000Z' },
    { id: 'minutes', path: '設備/議事録', mimeType: types.document, text: '# 議事録\n\n春の祭りの話をした。\n' },
    { id: 'table', name: '台帳', mimeType: types.spreadsheet, sheets: tables },
    { id: 'talk', name: '発表', mimeType: types.presentation, slides },
    { id: 'sketch', name: '図面', mimeType: types.drawing },
    { id: 'code', name: 'macro', mimeType: types.script, scripts: [{ name: 'Code', source: 'function f() { return 1; }' }] },
    { id: 'binary', name: 'data.bin', mimeType: 'application/octet-stream', base64: binary.toString('base64') },
    { id: 'note', name: 'note.txt', text: 'a plain note\n' },
    { id: 'big', name: '大きな文書', mimeType: types.document, text: '# 大きな文書\n\n書き出すには大きい。\n', exportSize: 20_000_000 },
    { id: 'quoted', name: 'O\'Brien\'s "plan" \\ 1/2.txt', text: 'quotes\n' },
    { id: 'twice-a', name: 'twice.txt', text: 'first\n' },
    { id: 'twice-b', name: 'twice.txt', text: 'second\n' },
    { id: 'survey', name: 'アンケート', mimeType: types.form },
    { id: 'circle-a', name: 'circle a', mimeType: types.shortcut, target: 'circle-b' },
    { id: 'circle-b', name: 'circle b', mimeType: types.shortcut, target: 'circle-a' },
    { id: 'linked', name: 'linked.txt', text: 'by its link\n', permissions: [{ type: 'anyone' }], resourceKey: '0-key', needsKey: true },
    { id: 'leads', name: 'leads', mimeType: types.shortcut, target: 'linked' },
    { id: 'ours', name: 'ours.txt', drive: team, text: 'in the shared drive\n' },
    { id: 'log', name: '点検の記録', mimeType: types.document, owner: 'taro@example.com', text: '# 点検の記録\n\n水門の扉に油を差した。\n' },
    { id: 'secret', name: 'secret.txt', text: 's', permissions: [{ role: 'owner', whom: 'hanako@example.com' }] },
  ],
};

/** Files that are rendered, too: exports of the documents above. */
const office_files = [
  ['minutes', office.docx, '議事録.docx'],
  ['table', office.xlsx, 'table.xlsx'],
  ['talk', office.pptx, 'talk.pptx'],
  ['sketch', 'application/pdf', 'sketch.pdf'],
];

const without_blanks = (text) => text.replace(/\s+/g, '');
const csv_of = (rows) =>
  rows.map((row) => row.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(','));
/** Rows of CSV whatever ends its lines, without what is empty at their ends. */
const rows_in = (csv) => csv.replaceAll('\r\n', '\n').replace(/\n$/, '').split('\n').map((row) => row.replace(/,+$/, ''));
const by_id = (id) => `gdrive:///${id}`;

/** The stand-in and Google are asked alike: `api` is Google's client, `config` what hondana is told. */
async function open_google() {
  if (real_key) {
    const account = JSON.parse(readFileSync(real_key, 'utf8'));
    const { client_email: email, private_key: key, private_key_id: keyId, client_id: clientId, client_secret: clientSecret } = account;
    const who = email ? new auth.JWT({ email, key, keyId, scopes: [readonly] }) : new auth.OAuth2({ clientId, clientSecret });
    if (!email) who.setCredentials({ refresh_token: account.refresh_token });
    return { api: drive({ version: 'v3', auth: who }), config: `credentials_file = "${real_key}"\n` };
  }
  const server = await start_drive(process.argv[3], seed);
  for (const [id, type, name] of office_files)
    await server.tell('add', { id: `${id}-file`, name, mimeType: type, base64: (await server.content(id, type)).toString('base64') });
  const key = join(temporary_folder(), 'key.json');
  writeFileSync(key, JSON.stringify(await server.tell('service_account')), { mode: 0o600 });
  const { api } = await service_client(server);
  return { server, api, config: `credentials_file = "${key}"\ntoken_url = "${server.url}/token"\napi_url = "${server.url}"\n` };
}

const bytes_of = async (call) => Buffer.from((await call).data);
const exported = (api, fileId, mimeType) => bytes_of(api.files.export({ fileId, mimeType }, { responseType: 'arraybuffer' }));
const media = (api, fileId) => bytes_of(api.files.get({ fileId, alt: 'media', supportsAllDrives: true }, { responseType: 'arraybuffer' }));

/** All files that Google's client lists. */
async function all_files(api) {
  const out = [];
  let pageToken;
  do {
    const { data } = await api.files.list({
      pageToken, pageSize: 1000, q: 'trashed = false', corpora: 'allDrives', supportsAllDrives: true, includeItemsFromAllDrives: true,
      fields: 'nextPageToken,files(id,name,mimeType,size,modifiedTime,webViewLink,owners,driveId)',
    });
    out.push(...data.files);
    pageToken = data.nextPageToken;
  } while (pageToken);
  return real_key ? out.slice(0, most_real_files) : out;
}

/** How a file must be read, by what Google's client says that it has. */
const matrix = {
  async [types.document](api, { id }, [content]) {
    assert.equal(content.mimeType, 'text/markdown');
    const bytes = id === 'big' ? Buffer.from(seed.files.find((one) => one.id === 'big').text) : await exported(api, id, 'text/markdown');
    assert.ok(Buffer.from(content.text).equals(bytes), `${content.text} is not ${bytes}`);
  },
  async [types.spreadsheet](api, { id }, contents) {
    assert.ok(contents.every(({ mimeType }) => mimeType === 'text/csv'));
    assert.deepEqual(rows_in(contents[0].text), rows_in(String(await exported(api, id, 'text/csv'))));
    if (id !== 'table') return;
    assert.deepEqual(contents.map(({ _meta }) => _meta['dev.hondana/sheet']), tables.map(({ name }) => name));
    for (const [i, { rows }] of tables.entries()) assert.deepEqual(rows_in(contents[i].text), rows_in(csv_of(rows).join('\n')), tables[i].name);
  },
  async [types.presentation](api, { id }, [content]) {
    const lines = String(await exported(api, id, 'text/plain')).replace('\ufeff', '').split(/[\r\n\v]+/).map(without_blanks).filter(Boolean);
    const text = without_blanks(content.text);
    for (const one of lines) assert.ok(text.includes(one), `"${one}" is not in ${content.text}`);
    if (id !== 'talk') return;
    const places = ['計画', '一つ目', '二つ目', '最初に挨拶する', '予算', '三百万円'].map((one) => text.indexOf(one));
    assert.ok(places.every((at, i) => at >= 0 && (i === 0 || at > places[i - 1])), content.text);
  },
  async [types.drawing](api, { id }, [content]) {
    assert.equal(content.mimeType, 'image/png');
    assert.ok(Buffer.from(content.blob, 'base64').equals(await exported(api, id, 'image/png')));
  },
  async [types.script](api, { id }, [content]) {
    assert.equal(content.mimeType, 'application/json');
    assert.ok(Buffer.from(content.text).equals(await exported(api, id, `${types.script}+json`)));
  },
  async bytes(api, { id, mimeType }, contents) {
    const original = contents.at(-1);
    const bytes = original.text !== undefined ? Buffer.from(original.text) : Buffer.from(original.blob, 'base64');
    assert.equal(original.mimeType.split(';')[0], mimeType);
    assert.ok(bytes.equals(await media(api, id)), `${bytes.length} bytes`);
    if (!id.endsWith('-file')) return;
    assert.equal(contents.length, 2, 'its text, and itself');
    const expected = { 'minutes-file': '春の祭り', 'table-file': '水位', 'talk-file': '最初に挨拶する', 'sketch-file': '' }[id];
    assert.ok(contents[0].text.includes(expected), contents[0].text);
  },
};

/** The answer of a complete index, as documents.mjs has it. */
async function complete_answer(wait, ask) {
  return eventually(async () => {
    const found = await ask();
    if (!found.isComplete) await wait();
    assert.ok(found.isComplete, 'the index is not complete, however often one waits for it');
    return found;
  });
}

/** What one client sees at rest. */
async function converse({ name, make }, google) {
  const peer = make();
  const json = async (uri) => JSON.parse((await peer.read(uri)).contents[0].text);
  const wait = () => json('search:///?wait=complete');
  const files = await all_files(google.api);
  let listed = new Map();

  await check(`${name}: lists what Google's client lists, with its facts`, async () => {
    await peer.connect();
    const all = (await peer.pages('resources/list', 'resources')).flat().filter(({ uri }) => uri.startsWith('gdrive:'));
    listed = new Map(all.filter(({ _meta }) => _meta?.['dev.hondana/id'] && !_meta['dev.hondana/sheet']).map((one) => [one._meta['dev.hondana/id'], one]));
    for (const one of files) {
      // A shortcut to what is listed is not.
      if (one.mimeType === types.shortcut) continue;
      const entry = listed.get(one.id);
      assert.ok(entry, `not listed: ${one.id} ${one.name}`);
      assert.equal(entry.title, one.name.normalize('NFC').replace(/[\x00-\x1f\x7f]+/g, ' '));
      assert.equal(entry._meta['dev.hondana/webLink'], one.webViewLink);
      if (one.mimeType === types.folder) continue;
      assert.equal(Date.parse(entry.annotations.lastModified), Date.parse(one.modifiedTime));
      if (one.owners) assert.ok(entry._meta['dev.hondana/owner'].includes(one.owners[0].displayName) || entry._meta['dev.hondana/owner'] === one.owners[0].emailAddress);
    }
    if (!real_key) assert.ok(!listed.has('secret'));
    assert.equal(new Set(all.map(({ uri }) => uri)).size, all.length, 'every URI once');
    return `${all.length} entries`;
  });

  let compared = 0;
  await check(`${name}: reads each file as Google's client exports or downloads it, by id and by path`, async () => {
    for (const one of files) {
      const rule = matrix[one.mimeType] ?? (one.mimeType.startsWith('application/vnd.google-apps.') ? undefined : matrix.bytes);
      if (!rule) continue;
      for (const uri of [by_id(one.id), listed.get(one.id).uri]) {
        try {
          await rule(google.api, one, (await peer.read(uri)).contents);
        } catch (error) {
          throw new Error(`${uri}, ${one.name} (${one.mimeType}): ${error.message}`, { cause: error });
        }
        compared += 1;
      }
    }
    return `${compared} reads`;
  });

  if (real_key && !process.env.HONDANA_REAL_DRIVE_QUESTION) return peer.close();
  await check(`${name}: has the question answered by search_resources and search:///, with the passage's place`, async () => {
    const call = (tool, args) => peer.client.callTool({ name: tool, arguments: args });
    const ways = {
      search_resources: () => call('search_resources', { q: question }).then((one) => one.structuredContent),
      'search:///': () => json(`search:///?q=${encodeURIComponent(question)}`),
    };
    const notes = [];
    for (const [way, ask] of Object.entries(ways)) {
      const { results } = await complete_answer(wait, ask);
      const place = results.findIndex(({ passage }) => without_blanks(passage).includes(without_blanks(answer)));
      assert.ok(place >= 0 && place < 3, `${way}: ${JSON.stringify(results.slice(0, 3))}`);
      const { uri, range, title } = results[place];
      if (!real_key) {
        assert.equal(uri, listed.get('manual').uri);
        assert.equal(title, '水門の手引き');
      }
      assert.match(range, /^lines=\d+-\d+$/);
      const [first, last] = range.slice(6).split('-').map(Number);
      const whole = (await peer.read(uri)).contents[0].text.split('\n');
      assert.ok(without_blanks(whole.slice(first - 1, last).join('\n')).includes(without_blanks(answer)), `${range} of ${uri}`);
      const part = await call('read_resource', { uri, range });
      const text = part.content.map(({ resource }) => resource?.text ?? '').join('');
      assert.ok(without_blanks(text).includes(without_blanks(answer)), text);
      notes.push(`${way}: place ${place + 1}, ${range}`);
    }
    return notes.join('; ');
  });

  if (!real_key) {
    await check(`${name}: finds what one person owns, by the address that entries have`, async () => {
      const owned = async (owner) =>
        (await complete_answer(wait, () => json(`search:///?q=${encodeURIComponent('水門')}&limit=50&owner=${encodeURIComponent(owner)}`))).results.map(({ uri }) => uri);
      const of = (id) => listed.get(id)._meta['dev.hondana/owner'];
      assert.equal(of('log'), 'taro@example.com');
      assert.deepEqual([...new Set(await owned('Taro@Example.com'))], [listed.get('log').uri]);
      const hers = await owned(of('manual'));
      assert.ok(hers.includes(listed.get('manual').uri) && !hers.includes(listed.get('log').uri), hers.join());
      assert.deepEqual(await owned('taro'), []);
      const { message } = await peer.refused(json(`search:///?q=x&owner=${'a'.repeat(5000)}`));
      assert.match(message, /owner/);
    });
    await check(`${name}: finds what stands in a spreadsheet's second sheet alone`, async () => {
      const sheet = `${listed.get('table').uri}?sheet=${encodeURIComponent(tables[1].name)}`;
      await within('the passage of the second sheet', (async () => {
        for (;;) {
          const { results } = await complete_answer(wait, () => json(`search:///?q=${encodeURIComponent('逆流防止弁')}`));
          // The sheets are listed once the spreadsheet was read, by whomever.
          if (results.some(({ uri, passage }) => decodeURIComponent(uri) === decodeURIComponent(sheet) && passage.includes('逆流防止弁'))) return;
        }
      })());
    });
    await check(`${name}: reads one sheet by its name, a link by its key, and what is too large by its export link`, async () => {
      const [sheet] = (await peer.read(`${listed.get('table').uri}?sheet=${encodeURIComponent(tables[1].name)}`)).contents;
      assert.deepEqual(rows_in(sheet.text), rows_in(csv_of(tables[1].rows).join('\n')));
      const [linked] = (await peer.read(by_id('leads'))).contents;
      assert.equal(linked.text, 'by its link\n');
      assert.match((await peer.read(by_id('big'))).contents[0].text, /書き出すには大きい/);
      const asked = (await google.server.log('/')).filter(({ query }) => query.includes('big')).map(({ path }) => path);
      assert.ok(asked.some((path) => path.startsWith('/feeds/download/')), asked.join());
    });
    await check(`${name}: is told why something is not given`, async () => {
      const cases = [
        [by_id('secret'), /share it with/],
        [by_id('survey'), /browser/],
        [by_id('circle-a'), /circle/],
        ['gdrive:///..%2F..%2Fadmin', /not found/],
        [`${listed.get('table').uri}?sheet=none`, /has no sheet "none"; it has "/],
      ];
      for (const [uri, expected] of cases) {
        const { message } = await peer.refused(peer.read(uri));
        assert.match(message, expected, uri);
      }
    });
  }
  await check(`${name}: ends in order, without an error on the way`, async () => {
    await peer.close();
    assert.deepEqual(peer.errors, []);
  });
}

/** What happens in the Drive while somebody listens. */
async function change({ name, make }, { server }) {
  const peer = make();
  const json = async (uri) => JSON.parse((await peer.read(uri)).contents[0].text);
  const until = (what, ask) =>
    within(what, (async () => {
      for (;;) {
        const out = await ask();
        if (out) return out;
        await json('search:///?wait=complete');
      }
    })());
  const found = async (q) => (await json(`search:///?q=${encodeURIComponent(q)}`)).results;
  await peer.connect();

  await check(`${name}: an edit is found by searches within one poll, and read`, async () => {
    await server.tell('forget');
    await server.tell('edit', { id: 'minutes', text: '# 議事録\n\n秋の収穫祭について決めた。\n' });
    await until('the edited passage', async () => (await found('収穫祭')).some(({ passage }) => passage.includes('収穫祭')));
    const asked = await server.log('/drive/v3/');
    const fetched = asked.findIndex(({ path }) => path === '/drive/v3/files/minutes/export');
    const all_polls = asked.slice(0, fetched).filter(({ path, parameters }) => path === '/drive/v3/changes' && !parameters.some(([key]) => key === 'driveId'));
    // A poll that finds the change begins the next one behind it; one may have been under way when the file was edited.
    const from = ({ parameters }) => Object.fromEntries(parameters).pageToken;
    const polls = all_polls.filter((one) => from(one) === from(all_polls[0]));
    assert.ok(fetched > 0 && polls.length >= 1 && polls.length <= 2, `${polls.length} polls`);
    assert.match((await peer.read(by_id('minutes'))).contents[0].text, /収穫祭/);
    return `${polls.length} polls`;
  });
  await check(`${name}: what is no longer shared is neither read nor found`, async () => {
    assert.ok((await found('手回しハンドル')).length > 0);
    await server.tell('unshare', { id: 'manual', whom: reader });
    await until('the end of its passages', async () => !(await found('手回しハンドル')).some(({ passage }) => passage.includes('手回し')));
    await peer.refused(peer.read(by_id('manual')));
  });
  await check(`${name}: a fault of one file leaves the others alone, and nobody waits for it`, async () => {
    const path = '/drive/v3/files/fresh';
    await server.tell('fail', { path, status: 403, reason: 'cannotDownloadFile', times: 1_000_000 });
    await server.tell('add', { id: 'fresh', name: 'fresh.bin', mimeType: 'application/octet-stream', base64: 'AAEC' });
    await until('the new file in the list', async () =>
      (await peer.pages('resources/list', 'resources')).flat().some(({ _meta }) => _meta?.['dev.hondana/id'] === 'fresh'));
    await eventually(async () => assert.ok((await json('search:///?wait=complete')).isComplete));
    await peer.refused(peer.read(by_id('fresh')));
    assert.equal((await peer.read(by_id('twice-a'))).contents[0].text, 'first\n');
    await server.tell('heal');
    assert.equal((await peer.read(by_id('fresh'))).contents[0].blob, 'AAEC');
  });
  await check(`${name}: ends in order after all that`, () => peer.close());
}

/** What a program that begins while Drive is gone still gives. */
async function without_drive({ name, make }, { server }, restart) {
  await server.tell('fail', { path: '/', isClosed: true, times: 1_000_000 });
  await restart();
  const peer = make();
  await check(`${name}: after a restart without Drive, what was read is given with its age`, async () => {
    await peer.connect();
    const [content] = (await peer.read(by_id('note'))).contents;
    assert.equal(content.text, 'a plain note\n');
    assert.equal(content._meta['dev.hondana/offline'], true, JSON.stringify(content._meta));
    assert.ok(content._meta['dev.hondana/ageSeconds'] >= 0, JSON.stringify(content._meta));
    await peer.close();
    return `${content._meta['dev.hondana/ageSeconds']} s`;
  });
  await server.tell('heal');
}

await judge(async () => {
  const google = await open_google();
  const folder = temporary_folder();
  const config_for = (whom) => {
    const config = join(folder, `${whom}.toml`);
    const source = `[[source]]\ntype = "gdrive"\nname = "drive"\nmin_poll_interval_s = 1\nmax_poll_interval_s = 1\nstore = "${join(folder, whom, 'drive.db')}"\n`;
    writeFileSync(config, `${source}${google.config}\n[search]\npath = "${join(folder, whom, 'index', 'search.db')}"\n`);
    return config;
  };
  const over_http = ['--config', config_for('http')];
  let server = await serve(over_http);
  const peers = all_peers(['stdio', '--config', config_for('stdio')], () => server.url);
  const named = (name) => peers.find((one) => one.name === name);
  for (const name of ['client 2.4, auto over HTTP', 'client 2.4, legacy over HTTP', 'client 2.4, pinned 2026-07-28 over stdio'])
    await converse(named(name), google);
  const again = async () => {
    await server.stop();
    server = await serve(over_http);
  };
  if (google.server) {
    await change(named('client 2.4, auto over HTTP'), google);
    await without_drive(named('client 2.4, auto over HTTP'), google, again);
  }
  await check('hondana serve ends with 0 on SIGTERM', () => server.stop());
});
