// Google's own client of Drive, unchanged, works with the stand-in of Google Drive as with Google: what it is given, and how it is
// refused.
//
// Usage: node.sh drive_stand_in.mjs DRIVE_STAND_IN
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { tokens } from './drive_grants.mjs';
import { office, refused, service_client, start_drive, types, user_client } from './drive_server.mjs';
import { check, finally_do, judge, within } from './verdict.mjs';

const binary = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7) % 256));
const markdown = '# 通信方式\n\n水門は無線で話す。\n';
const team = '0ATeamDrive000PVA';
const drives = { supportsAllDrives: true, includeItemsFromAllDrives: true };
const seed = {
  drives: [
    { id: team, name: 'チーム' },
    { id: '0AOthersDrive0PVA', name: 'Others', members: [{ whom: 'ken@example.com' }] },
  ],
  files: [
    { id: 'plan', path: '設計/通信方式', mimeType: types.document, text: markdown, modifiedTime: '2026-03-01T00:00:00.000Z' },
    { id: 'blob', path: '設計/a.bin', mimeType: 'application/octet-stream', base64: binary.toString('base64') },
    { id: 'empty', name: 'empty.txt' },
    { id: 'table', name: '表', mimeType: types.spreadsheet, sheets: [{ name: '一', rows: [['a', 'x,y'], ['1', '"q"']] }, { name: '二', rows: [['b']] }] },
    { id: 'talk', name: '話', mimeType: types.presentation, slides: [{ title: 'T', text: 'body', notes: '話し方' }] },
    { id: 'sketch', name: '図', mimeType: types.drawing },
    { id: 'code', name: 'script', mimeType: types.script, scripts: [{ name: 'Code', source: 'function f() {}' }] },
    { id: 'big', name: 'big', mimeType: types.document, text: '# 大\n', exportSize: 11_000_000 },
    { id: 'quoted', name: "O'Brien \\ notes.txt", text: 'q', starredBy: ['taro@example.com'] },
    { id: 'bad', name: 'bad.exe', mimeType: 'application/x-dosexec', text: 'MZ', isAbusive: true },
    { id: 'locked', name: 'locked.txt', text: 'l', mayDownload: false },
    { id: 'secret', name: 'secret.txt', text: 's', permissions: [{ role: 'owner', whom: 'hanako@example.com' }] },
    { id: 'linked', name: 'linked.txt', text: 'by link', permissions: [{ type: 'anyone' }], resourceKey: '0-key', needsKey: true },
    { id: 'leads', name: 'leads', mimeType: types.shortcut, target: 'linked' },
    { id: 'ours', name: 'ours.txt', drive: team, text: 'in the shared drive' },
  ],
};
const generated = { files: 230, perFolder: 100, mimeType: 'text/plain' };

const text_of = async (call) => Buffer.from((await call).data);
const header = ({ headers }, name) => headers.get?.(name) ?? headers[name];
const sum = (bytes) => createHash('md5').update(bytes).digest('hex');

/** All of a list, page by page. */
async function all_pages(list, key, parameters) {
  const pages = [];
  let pageToken;
  do {
    const { data } = await list({ ...parameters, pageToken });
    pages.push(data[key] ?? []);
    pageToken = data.nextPageToken;
    assert.ok(pages.length < 100, 'the pages do not end');
  } while (pageToken);
  return pages;
}

/** What Google posts to an address of ours. */
async function listen_for_notices() {
  const heard = [];
  let wake = () => {};
  const server = createServer((request, response) => {
    heard.push(request.headers);
    response.writeHead(204).end();
    wake();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  finally_do(() => server.close());
  const next = (count) =>
    within(`notice ${count}`, (async () => {
      while (heard.length < count) await new Promise((resolve) => (wake = resolve));
      return heard[count - 1];
    })());
  return { address: `http://127.0.0.1:${server.address().port}/notices`, heard, next };
}

async function listing(server, api) {
  const list = (parameters) => api.files.list(parameters);
  const ids = async (q, more = {}) => (await all_pages(list, 'files', { q, pageSize: 1000, ...more })).flat().map(({ id }) => id).sort();

  await check('lists come in pages without gaps and repeats', async () => {
    const pages = await all_pages(list, 'files', { pageSize: 50, fields: 'nextPageToken, files(id, name)' });
    const all = pages.flat().map(({ id }) => id);
    assert.equal(new Set(all).size, all.length);
    assert.ok(pages.length >= 5 && pages.slice(0, -1).every((page) => page.length === 50), `${pages.map((one) => one.length)}`);
    assert.ok(all.includes('plan') && !all.includes('secret') && !all.includes('ours') && !all.includes('linked'));
    return `${all.length} files in ${pages.length} pages`;
  });
  await check('`fields` is obeyed, also where it leaves out the next page', async () => {
    const { data } = await list({ pageSize: 10, fields: 'files(id,owners/emailAddress)' });
    assert.deepEqual(Object.keys(data), ['files']);
    assert.deepEqual(data.files.find(({ id }) => id !== undefined).owners, [{ emailAddress: 'hanako@example.com' }]);
    const usual = (await list({ q: "name = '表'" })).data;
    assert.deepEqual(usual, { kind: 'drive#fileList', incompleteSearch: false, files: [{ kind: 'drive#file', id: 'table', name: '表', mimeType: types.spreadsheet }] });
    const wrong = await refused(list({ fields: 'files(title)' }));
    assert.deepEqual([wrong.status, wrong.reason, wrong.location], [400, 'invalidParameter', 'fields']);
  });
  await check('queries ask for folders, types, names, times and flags', async () => {
    const [folder] = await ids("name = '設計' and mimeType = 'application/vnd.google-apps.folder'");
    assert.deepEqual(await ids(`'${folder}' in parents and trashed = false`), ['blob', 'plan']);
    assert.deepEqual(await ids("name = 'O\\'Brien \\\\ notes.txt'"), ['quoted']);
    assert.deepEqual(await ids("name contains 'O\\'Br'"), ['quoted']);
    assert.deepEqual(await ids("mimeType contains 'application/vnd.google-apps.s' and not name contains 'lead'"), ['code', 'table']);
    assert.deepEqual(await ids("(name = '表' or name = '話') and mimeType != 'application/vnd.google-apps.spreadsheet'"), ['talk']);
    assert.deepEqual(await ids("modifiedTime = '2026-03-01T00:00:00' and modifiedTime < '2026-03-01T10:00:00+09:00'"), ['plan']);
    assert.deepEqual(await ids("modifiedTime > '2026-02-28T23:59:59Z' and modifiedTime <= '2026-03-01T00:00:00Z'"), ['plan']);
    assert.deepEqual(await ids('starred = true'), []);
    assert.ok((await ids("sharedWithMe and 'hanako@example.com' in owners")).includes('plan'));
    assert.deepEqual(await ids("fullText contains '無線'"), ['plan']);
    assert.deepEqual(await ids("shortcutDetails.targetId = 'linked'"), ['leads']);
    const { api: taro } = await user_client(server);
    assert.deepEqual((await taro.files.list({ q: 'starred = true' })).data.files.map(({ id }) => id), ['quoted']);
  });
  await check('queries that are none are refused, and so is a folder that is not seen', async () => {
    for (const q of ["name = 'open", "title = 'x'", "name ~ 'x'", "name = 'x' and", 'trashed = maybe', "modifiedTime > 'yesterday'", "name = O'Brien"]) {
      const { status, reason, location } = await refused(list({ q }));
      assert.deepEqual([status, reason, location], [400, 'invalid', 'q'], q);
    }
    const { status, reason, location } = await refused(list({ q: "'secret' in parents" }));
    assert.deepEqual([status, reason, location], [404, 'notFound', 'fileId']);
  });
  await check('lists come in the order that is asked for', async () => {
    const names = async (orderBy) => (await list({ orderBy, pageSize: 1000, fields: 'files(name,mimeType)' })).data.files;
    const folders_first = await names('folder,name desc');
    const last_folder = folders_first.findLastIndex(({ mimeType }) => mimeType === types.folder);
    assert.ok(folders_first.slice(0, last_folder + 1).every(({ mimeType }) => mimeType === types.folder));
    const rest = folders_first.slice(last_folder + 1).map(({ name }) => name);
    assert.deepEqual(rest, [...rest].sort((one, other) => Buffer.compare(Buffer.from(other), Buffer.from(one))));
    assert.equal((await refused(list({ orderBy: 'size' }))).location, 'orderBy');
  });
  await check('a page token is good for the list it came from, and until it expires', async () => {
    const { data } = await list({ pageSize: 10, q: 'trashed = false' });
    const other = await refused(list({ pageSize: 10, q: 'trashed = true', pageToken: data.nextPageToken }));
    assert.deepEqual([other.status, other.reason, other.location], [400, 'invalid', 'pageToken']);
    for (const [status, reason] of [[403, 'pageTokenExpired'], [400, 'invalid'], [410, 'gone']]) {
      const { data: page } = await list({ pageSize: 10, q: 'trashed = false' });
      await server.tell('expire', { status });
      const gone = await refused(list({ pageSize: 10, q: 'trashed = false', pageToken: page.nextPageToken }));
      assert.deepEqual([gone.status, gone.reason], [status, reason]);
    }
    assert.equal((await refused(list({ pageSize: 1001 }))).location, 'pageSize');
  });
  await check('shared drives are listed to their members, and their files to who says that it knows of them', async () => {
    const { data } = await api.drives.list();
    assert.deepEqual(data.drives, [{ kind: 'drive#drive', id: team, name: 'チーム' }]);
    const inside = (await list({ corpora: 'drive', driveId: team, ...drives })).data.files;
    assert.deepEqual(inside.map(({ id, driveId }) => [id, driveId]), [['ours', team]]);
    assert.deepEqual(await ids(`'${team}' in parents`, drives), ['ours']);
    assert.ok((await ids(undefined, { corpora: 'allDrives', ...drives })).includes('ours'));
    await server.tell('configure', { saysIncomplete: true });
    assert.equal((await list({ corpora: 'allDrives', ...drives })).data.incompleteSearch, true);
    await server.tell('configure', { saysIncomplete: false });
    const cases = [
      [{ corpora: 'drive', ...drives }, 403, 'teamDriveIdRequiresTeamDriveCorpora'],
      [{ corpora: 'drive', driveId: team, supportsAllDrives: true }, 403, 'includeTeamDriveItemsRequired'],
      [{ corpora: 'drive', driveId: '0AOthersDrive0PVA', ...drives }, 404, 'notFound'],
    ];
    for (const [parameters, status, reason] of cases) {
      const told = await refused(list(parameters));
      assert.deepEqual([told.status, told.reason], [status, reason]);
    }
    assert.equal((await refused(api.files.get({ fileId: 'ours' }))).status, 404);
    assert.equal((await api.files.get({ fileId: 'ours', supportsAllDrives: true })).data.name, 'ours.txt');
  });
}

async function contents(server, api) {
  const media = (fileId, headers = {}) => api.files.get({ fileId, alt: 'media' }, { responseType: 'arraybuffer', headers });
  const exported = (fileId, mimeType) => text_of(api.files.export({ fileId, mimeType }, { responseType: 'arraybuffer' }));

  await check('metadata of a file has size, checksum, owner, link, parents and no members of ours', async () => {
    const { data } = await api.files.get({ fileId: 'blob', fields: '*' });
    assert.equal(data.size, String(binary.length));
    assert.equal(data.md5Checksum, sum(binary));
    assert.equal(data.owners[0].emailAddress, 'hanako@example.com');
    assert.equal(data.ownedByMe, false);
    assert.ok(data.sharedWithMeTime && data.webViewLink.startsWith('https://drive.google.com/file/d/blob/') && data.parents.length === 1);
    assert.ok(!data.exportLinks && !data.permissions && data.capabilities.canDownload && !Object.keys(data).some((name) => name.startsWith('#')));
    const top = await api.files.get({ fileId: 'table', fields: 'parents,exportLinks' });
    assert.equal(top.data.parents, undefined, 'My Drive of somebody else is not told');
    assert.deepEqual(Object.keys(top.data.exportLinks).sort(), ['application/pdf', office.xlsx, 'text/csv', 'text/tab-separated-values'].sort());
  });
  await check('contents come byte for byte, whole, in parts and of no bytes', async () => {
    assert.ok((await text_of(media('blob'))).equals(binary));
    assert.equal((await text_of(media('empty'))).length, 0);
    const part = await media('blob', { Range: 'bytes=1000-1999' });
    assert.equal(part.status, 206);
    assert.equal(header(part, 'content-range'), `bytes 1000-1999/${binary.length}`);
    assert.ok(Buffer.from(part.data).equals(binary.subarray(1000, 2000)));
    assert.ok((await text_of(media('blob', { Range: 'bytes=-10' }))).equals(binary.subarray(-10)));
    assert.equal((await refused(media('blob', { Range: 'bytes=200000-' }))).status, 416);
  });
  await check('contents come as a stream', async () => {
    const { data } = await api.files.get({ fileId: 'blob', alt: 'media' }, { responseType: 'stream' });
    const parts = [];
    for await (const one of data) parts.push(one);
    assert.ok(Buffer.concat(parts).equals(binary));
  });
  await check('each Docs editors file is exported as each type that `about` names', async () => {
    const { data } = await api.about.get({ fields: 'exportFormats' });
    let count = 0;
    for (const [fileId, type] of [['plan', types.document], ['table', types.spreadsheet], ['talk', types.presentation], ['sketch', types.drawing], ['code', types.script]]) {
      for (const mimeType of data.exportFormats[type]) {
        const bytes = await exported(fileId, mimeType);
        assert.ok(bytes.length > 0 && bytes.equals(await server.content(fileId, mimeType)), `${fileId} as ${mimeType}`);
        count += 1;
      }
    }
    assert.equal(String(await exported('plan', 'text/markdown')), markdown);
    assert.equal(String(await exported('table', 'text/csv')), 'a,"x,y"\r\n1,"""q"""');
    assert.ok((await exported('sketch', 'image/png')).subarray(1, 4).equals(Buffer.from('PNG')));
    assert.equal(JSON.parse(await exported('code', `${types.script}+json`)).files[0].source, 'function f() {}');
    return `${count} exports`;
  });
  await check('what cannot be downloaded or exported says why', async () => {
    const cases = [
      [() => media('plan'), 403, 'fileNotDownloadable'],
      [() => exported('blob', 'text/plain'), 403, 'fileNotExportable'],
      [() => exported('plan', 'image/png'), 400, 'badRequest'],
      [() => exported('big', 'text/markdown'), 403, 'exportSizeLimitExceeded'],
      [() => media('bad'), 403, 'cannotDownloadAbusiveFile'],
      [() => api.files.get({ fileId: 'bad', alt: 'media', acknowledgeAbuse: true }), 403, 'invalidAbuseAcknowledgment'],
      [() => media('locked'), 403, 'cannotDownloadFile'],
      [() => media('secret'), 404, 'notFound'],
      [() => api.files.get({ fileId: '../../admin' }), 404, 'notFound'],
      [() => api.about.get({}), 400, 'required'],
    ];
    for (const [call, status, reason] of cases) {
      const told = await refused(call());
      assert.deepEqual([told.status, told.reason], [status, reason], JSON.stringify(told.body));
    }
  });
  await check('export links lead to what is too large to be exported', async () => {
    const { data } = await api.files.get({ fileId: 'big', fields: 'exportLinks' });
    for (const redirects of [false, true]) {
      await server.tell('configure', { redirectsExportLinks: redirects });
      const { token } = await server.tell('access_token', { whom: 'taro@example.com' });
      const answer = await fetch(data.exportLinks['text/markdown'], { headers: { authorization: `Bearer ${token}` } });
      assert.equal(await answer.text(), '# 大\n');
      assert.equal(answer.redirected, redirects);
    }
    assert.ok([401, 403].includes((await fetch(data.exportLinks['text/markdown'])).status));
  });
  await check('a shortcut says where it leads, and a link wants its resource key', async () => {
    const { data } = await api.files.get({ fileId: 'leads', fields: 'shortcutDetails' });
    assert.deepEqual(data.shortcutDetails, { targetId: 'linked', targetMimeType: 'text/plain', targetResourceKey: '0-key' });
    assert.equal((await refused(api.files.get({ fileId: 'linked' }))).status, 404);
    const headers = { 'X-Goog-Drive-Resource-Keys': 'other/1,linked/0-key' };
    assert.equal((await api.files.get({ fileId: 'linked' }, { headers })).data.resourceKey, '0-key');
  });
}

async function changing(server, api) {
  const start = async (more = {}) => (await api.changes.getStartPageToken(more)).data.startPageToken;
  const since = async (pageToken, more = {}) => (await api.changes.list({ pageToken, ...more })).data;

  await check('changes tell of what is new, edited, trashed, gone and no longer shared, each once', async () => {
    const token = await start();
    assert.deepEqual((await since(token)).changes, []);
    await server.tell('add', { id: 'fresh', name: 'fresh.txt', text: 'f' });
    await server.tell('edit', { id: 'fresh', text: 'ff' });
    await server.tell('trash', { id: 'empty' });
    await server.tell('remove', { id: 'quoted' });
    await server.tell('unshare', { id: 'locked', whom: 'reader@stand-in.iam.gserviceaccount.com' });
    await server.tell('edit', { id: 'secret', text: 'unseen' });
    await server.tell('edit', { id: 'ours', text: 'of the shared drive' });
    const { changes, newStartPageToken } = await since(token, { fields: '*' });
    const told = changes.map(({ fileId, removed, file }) => [fileId, removed, file?.trashed, file?.size]);
    assert.deepEqual(told, [['fresh', false, false, '2'], ['empty', false, true, '0'], ['quoted', true, undefined, undefined], ['locked', true, undefined, undefined]]);
    assert.deepEqual((await since(newStartPageToken)).changes, []);
    const kept = await since(token, { includeRemoved: false });
    assert.deepEqual(kept.changes.map(({ fileId }) => fileId), ['fresh', 'empty']);
  });
  await check('a version grows with each edit', async () => {
    const version = async () => Number((await api.files.get({ fileId: 'fresh', fields: 'version' })).data.version);
    const before = await version();
    await server.tell('edit', { id: 'fresh', text: 'fff' });
    assert.ok((await version()) > before);
  });
  await check('changes come in pages, and a shared drive has a log of its own', async () => {
    const token = await start();
    const of_drive = await start({ driveId: team, supportsAllDrives: true });
    for (let i = 0; i < 5; ++i) await server.tell('add', { id: `more${i}`, name: `more ${i}` });
    await server.tell('edit', { id: 'ours', text: 'again' });
    const first = await since(token, { pageSize: 3 });
    assert.equal(first.changes.length, 3);
    assert.equal(first.newStartPageToken, undefined);
    const second = await since(first.nextPageToken, { pageSize: 3 });
    assert.equal(second.changes.length, 2);
    assert.ok(second.newStartPageToken && !second.nextPageToken);
    const { changes } = await since(of_drive, { driveId: team, ...drives });
    assert.deepEqual(changes.map(({ fileId }) => fileId), ['ours']);
    await server.tell('leave', { id: team, whom: 'reader@stand-in.iam.gserviceaccount.com' });
    const left = (await since(second.newStartPageToken, { ...drives })).changes;
    assert.deepEqual(left.map(({ changeType, driveId, removed }) => [changeType, driveId, removed]), [['drive', team, true]]);
    assert.equal((await refused(api.changes.list({ pageToken: of_drive, driveId: team, ...drives }))).status, 404);
    await server.tell('join', { id: team, whom: 'reader@stand-in.iam.gserviceaccount.com' });
  });
  await check('page tokens of changes expire, and are no words', async () => {
    for (const [status, reason] of [[403, 'pageTokenExpired'], [400, 'invalid'], [410, 'gone']]) {
      const token = await start();
      await server.tell('expire', { status });
      const told = await refused(since(token));
      assert.deepEqual([told.status, told.reason, told.location], [status, reason, 'pageToken']);
      assert.deepEqual((await since(await start())).changes, []);
    }
    assert.equal((await refused(since('next'))).reason, 'invalid');
  });
  await check('a channel sends notices of changes with its token until it is stopped', async () => {
    const { address, heard, next } = await listen_for_notices();
    const requestBody = { id: 'channel-1', type: 'web_hook', address, token: 'of=ours', expiration: String(Date.now() + 3_600_000) };
    const { data } = await api.changes.watch({ pageToken: await start(), requestBody });
    assert.deepEqual([data.kind, data.id, data.token], ['api#channel', 'channel-1', 'of=ours']);
    const first = await next(1);
    assert.equal(first['x-goog-resource-state'], 'sync');
    assert.equal(first['x-goog-message-number'], '1');
    await server.tell('edit', { id: 'fresh', text: '4' });
    const second = await next(2);
    assert.deepEqual(
      ['id', 'token'].map((name) => second[`x-goog-channel-${name}`]).concat(second['x-goog-resource-state'], second['x-goog-resource-id']),
      ['channel-1', 'of=ours', 'change', data.resourceId],
    );
    assert.ok(Date.parse(second['x-goog-channel-expiration']) > Date.now());
    const again = await refused(api.changes.watch({ pageToken: await start(), requestBody }));
    assert.equal(again.reason, 'channelIdNotUnique');
    const plain = { ...requestBody, id: 'channel-2', address: 'http://hooks.example.com/' };
    assert.equal((await refused(api.changes.watch({ pageToken: await start(), requestBody: plain }))).reason, 'push.webhookUrlNotHttps');
    await api.channels.stop({ requestBody: { id: data.id, resourceId: data.resourceId } });
    await server.tell('edit', { id: 'fresh', text: '5' });
    assert.equal((await server.tell('channels')).open, 0);
    assert.equal((await refused(api.channels.stop({ requestBody: { id: data.id, resourceId: data.resourceId } }))).status, 404);
    assert.equal(heard.length, 2);
  });
}

async function failing(server, api) {
  await check('faults on order have the bodies of Google, and are those that the client retries', async () => {
    const reasons = {
      403: ['userRateLimitExceeded', 'rateLimitExceeded', 'dailyLimitExceeded', 'accessNotConfigured', 'domainPolicy', 'appNotAuthorizedToFile', 'insufficientFilePermissions'],
      404: ['notFound'],
      429: ['rateLimitExceeded'],
      500: ['internalError'],
      503: ['transientError'],
    };
    for (const [status, all] of Object.entries(reasons)) {
      for (const reason of all) {
        await server.tell('fail', { status: Number(status), reason, retryAfter: '7' });
        const told = await refused(api.files.list({}, { retry: false }));
        assert.deepEqual([told.status, told.reason], [Number(status), reason]);
        assert.ok(told.message.length > 5 && header(told.error.response, 'retry-after') === '7');
      }
    }
    await server.tell('forget');
    await server.tell('fail', { status: 503, times: 2 });
    await api.files.list({ pageSize: 1 }, { retryConfig: { retryDelay: 1, retry: 3 } });
    assert.deepEqual((await server.log('/drive/v3/files')).map(({ status }) => status), [503, 503, 200]);
  });
  await check('a quota is counted, and says when to come back', async () => {
    await server.tell('configure', { mostRequests: 3, quotaWindow: 600_000 });
    for (let i = 0; i < 3; ++i) await api.files.list({ pageSize: 1 });
    const told = await refused(api.files.list({ pageSize: 1 }, { retry: false }));
    await server.tell('configure', { mostRequests: 0 });
    assert.deepEqual([told.status, told.reason], [403, 'userRateLimitExceeded']);
    const wait = Number(header(told.error.response, 'retry-after'));
    assert.ok(wait >= 1 && wait <= 600, String(wait));
  });
  await check('a body that stalls, is cut or of a wrong length is an error of the client', async () => {
    const media = (more = {}) => api.files.get({ fileId: 'blob', alt: 'media' }, { responseType: 'arraybuffer', retry: false, ...more });
    for (const fault of [{ cutAt: 5000 }, { wrongLength: 100 }, { isClosed: true }]) {
      await server.tell('fail', fault);
      await assert.rejects(media(), JSON.stringify(fault));
    }
    await server.tell('fail', { stallsAt: 5000 });
    await assert.rejects(media({ signal: AbortSignal.timeout(500) }));
    await server.tell('heal');
    await server.tell('fail', { aChunk: 5 });
    assert.ok(Buffer.from((await media()).data).equals(binary), 'slow, but whole');
  });
  await check('nothing is written, and who has no token is told how to get one', async () => {
    const write = await refused(api.files.create({ requestBody: { name: 'x' } }));
    assert.deepEqual([write.status, write.reason], [403, 'insufficientPermissions']);
    assert.equal((await refused(api.files.delete({ fileId: 'plan' }))).status, 403);
    const none = await fetch(`${server.url}/drive/v3/files`);
    assert.equal(none.status, 403);
    const wrong = await fetch(`${server.url}/drive/v3/files`, { headers: { authorization: 'Bearer ya29.none' } });
    assert.equal(wrong.status, 401);
    assert.match(wrong.headers.get('www-authenticate'), /^Bearer realm="https:\/\/accounts.google.com\/", error="?invalid_token"?$/);
    const { error } = await wrong.json();
    assert.deepEqual([error.status, error.errors[0].reason, error.errors[0].location], ['UNAUTHENTICATED', 'authError', 'Authorization']);
  });
}

await judge(async () => {
  const server = await start_drive(process.argv[2], { ...seed, generate: generated });
  await tokens(server);
  const { api } = await service_client(server);
  await listing(server, api);
  await contents(server, api);
  await changing(server, api);
  await failing(server, api);
  await check('the stand-in ends with its input', () => server.stop());
});
