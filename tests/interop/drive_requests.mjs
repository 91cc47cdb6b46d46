// For the same calls hondana asks Google Drive what Google's own client asks: methods, paths, parameters and headers, as the
// stand-in of Google Drive hears them. What differs on purpose is listed with its reason.
//
// Usage: node.sh drive_requests.mjs DRIVE_STAND_IN DRIVE_CALLS
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { service_client, start_drive, types } from './drive_server.mjs';
import { check, event_deadline, judge, temporary_folder } from './verdict.mjs';

const team = '0ATeamDrive000PVA';
const all_drives = { includeItemsFromAllDrives: true, supportsAllDrives: true };
const seed = {
  setup: { noticesTo: 9 }, // nobody listens there, and nobody has to
  drives: [{ id: team, name: 'チーム' }],
  files: [
    { id: 'file', name: "O'Brien.txt", text: 'content' },
    { id: 'document', name: '文書', mimeType: types.document, text: '# 文書\n' },
    { id: 'other', name: 'other' },
    { id: 'inside', name: 'inside', drive: team },
  ],
};

/** Headers that differ on purpose: how each side has them, and why. All others must be the same. */
const different_headers = {
  'user-agent': [/^hondana\/\S+ \(gzip\)$/, /^google-api-nodejs-client\/\S+ \(gzip\)/, 'each says who it is, and to the API that it takes gzip'],
  'x-goog-api-client': [undefined, /^gdcl\/\S+ gl-node\//, 'statistics of Google about its own libraries'],
  accept: [/^(\*\/\*|application\/json)$/, /^(\*\/\*|application\/json)$/, 'Drive answers by alt= and not by what is accepted'],
  'accept-encoding': ['gzip', /^gzip(, identity)?$/, 'a range is of what travels, and hondana takes it as it is; fetch adds identity'],
  'accept-language': [undefined, '*', "Node's fetch adds it"],
  'sec-fetch-mode': [undefined, 'cors', "Node's fetch adds it"],
  connection: [undefined, 'keep-alive', 'HTTP/1.1 keeps connections unless told otherwise'],
  'content-length': [/^\d+$/, /^\d+$/, 'bodies are compared as what they mean'],
  authorization: [/^Bearer ya29\.\S+$/, /^Bearer ya29\.\S+$/, 'a token each'],
  'x-goog-drive-resource-keys': [/./, /./, 'compared where keys are given'],
  host: [/^127\.0\.0\.1:\d+$/, /^127\.0\.0\.1:\d+$/, 'the stand-in'],
};

const differing = new Set();
const run = promisify(execFile);

function parameters_of({ parameters }) {
  return parameters.map(([name, value]) => `${name}=${value}`).sort();
}

/** A query as it came, with its escapes; page tokens are never the same twice. */
function spelled({ query }) {
  return query.split('&').map((one) => one.replace(/^pageToken=~.*|^pageToken=%7E.*/i, 'pageToken=')).sort();
}

function fits(value, expected) {
  if (expected === undefined) return true;
  return value === undefined || (expected instanceof RegExp ? expected.test(value) : value === expected);
}

function expect_same_headers(ours, theirs) {
  for (const name of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const different = different_headers[name];
    if (!different) {
      assert.equal(ours[name], theirs[name], `header ${name}`);
      continue;
    }
    if (ours[name] !== theirs[name]) differing.add(name);
    assert.ok(different[0] !== undefined || ours[name] === undefined, `${name} of hondana: ${ours[name]}`);
    assert.ok(fits(ours[name], different[0]), `${name} of hondana: ${ours[name]}`);
    assert.ok(fits(theirs[name], different[1]), `${name} of Google's client: ${theirs[name]}`);
  }
}

const claims_of = (assertion) => assertion.split('.').slice(0, 2).map((part) => JSON.parse(Buffer.from(part, 'base64url')));

await judge(async () => {
  const [, , program, calls] = process.argv;
  const server = await start_drive(program, seed);
  const account = await server.tell('service_account');
  const key = join(temporary_folder(), 'key.json');
  writeFileSync(key, JSON.stringify(account), { mode: 0o600 });

  let ours = [];
  await check('each call of hondana is answered', async () => {
    await run(calls, [server.url, key, `${server.url}/token`, 'file', 'document', team], { timeout: event_deadline });
    ours = await server.log();
    assert.ok(ours.every(({ status }) => status < 300), JSON.stringify(ours.map(({ path, status }) => [path, status])));
    return `${ours.length} requests`;
  });
  // Which members of a resource are wanted is for who asks to say: the same to both.
  const fields = ours.map((one) => Object.fromEntries(one.parameters).fields);
  const by_path = ours.map(({ path }) => path);
  assert.equal(by_path[0], '/token');
  await server.tell('forget');

  let theirs = [];
  await check("each call of Google's client is answered", async () => {
    const { api } = await service_client(server);
    let at = 0;
    const wanted = () => {
      at += 1;
      return fields[at] === undefined ? {} : { fields: fields[at] };
    };
    await api.about.get({ ...wanted() });
    await api.drives.list({ pageSize: 100, ...wanted() });
    await api.drives.get({ driveId: team, ...wanted() });
    const list = { corpora: 'user', pageSize: 1000, spaces: 'drive', ...all_drives };
    await api.files.list({ ...list, q: "name contains 'O\\'Br' and trashed = false", orderBy: 'modifiedTime desc', ...wanted() });
    const paged = { ...list, pageSize: 2 };
    const { data: first } = await api.files.list({ ...paged, ...wanted() });
    await api.files.list({ ...paged, pageToken: first.nextPageToken, ...wanted() });
    await api.files.list({ ...list, corpora: 'drive', driveId: team, q: `'${team}' in parents`, ...wanted() });
    const headers = { 'X-Goog-Drive-Resource-Keys': 'file/0-key,other/1-key' };
    await api.files.get({ fileId: 'file', supportsAllDrives: true, ...wanted() }, { headers });
    await api.files.get({ fileId: 'file', supportsAllDrives: true, alt: 'media', ...wanted() }, { responseType: 'stream' });
    const range = { headers: { Range: 'bytes=1-3' }, responseType: 'stream' };
    await api.files.get({ fileId: 'file', supportsAllDrives: true, alt: 'media', ...wanted() }, range);
    await api.files.export({ fileId: 'document', mimeType: 'text/markdown', ...wanted() }, { responseType: 'stream' });
    const { data: start } = await api.changes.getStartPageToken({ supportsAllDrives: true, ...wanted() });
    const { data: of_drive } = await api.changes.getStartPageToken({ driveId: team, supportsAllDrives: true, ...wanted() });
    const since = { pageSize: 1000, includeRemoved: true, ...all_drives };
    await api.changes.list({ pageToken: start.startPageToken, ...since, ...wanted() });
    await api.changes.list({ pageToken: of_drive.startPageToken, driveId: team, ...since, ...wanted() });
    const requestBody = { id: 'channel-2', type: 'web_hook', address: 'https://hooks.example.com/drive', token: 'a token', params: { ttl: '3600' } };
    const { data: channel } = await api.changes.watch({ pageToken: start.startPageToken, ...since, ...wanted(), requestBody });
    await api.channels.stop({ requestBody: { id: channel.id, resourceId: channel.resourceId }, ...wanted() });
    theirs = await server.log();
    assert.equal(theirs.length, ours.length);
    return `${theirs.length} requests`;
  });

  await check('a token is asked for as Google asks for it', () => {
    const [mine, other] = [ours[0], theirs[0]];
    assert.deepEqual([mine.method, mine.path, mine.query], [other.method, other.path, other.query]);
    assert.match(mine.headers['content-type'], /^application\/x-www-form-urlencoded/);
    assert.match(other.headers['content-type'], /^application\/x-www-form-urlencoded/);
    const [form, their_form] = [mine, other].map(({ body }) => new URLSearchParams(body));
    assert.deepEqual([...form.keys()].sort(), [...their_form.keys()].sort());
    assert.equal(form.get('grant_type'), their_form.get('grant_type'));
    const [[head, claims], [their_head, their_claims]] = [form, their_form].map((one) => claims_of(one.get('assertion')));
    // `typ` and `kid` may be left out; who says them says the same.
    for (const name of new Set([...Object.keys(head), ...Object.keys(their_head)]))
      if (head[name] !== undefined && their_head[name] !== undefined) assert.equal(head[name], their_head[name], name);
    assert.equal(head.kid, account.private_key_id);
    assert.deepEqual([claims.iss, claims.scope, claims.sub], [their_claims.iss, their_claims.scope, their_claims.sub]);
    assert.equal(claims.aud, `${server.url}/token`, 'the place that is asked');
    assert.equal(their_claims.aud, 'https://oauth2.googleapis.com/token', 'the place it thinks it asks');
    assert.ok(claims.exp - claims.iat <= 3600 && their_claims.exp - their_claims.iat === 3600);
  });

  for (let i = 1; i < Math.min(ours.length, theirs.length); ++i) {
    const [mine, other] = [ours[i], theirs[i]];
    await check(`request ${i} is the same: ${mine.method} ${mine.path}`, () => {
      assert.deepEqual([mine.method, mine.path], [other.method, other.path]);
      const tokens = (one) => parameters_of(one).map((each) => each.replace(/^pageToken=~.*/, 'pageToken=~'));
      assert.deepEqual(tokens(mine), tokens(other));
      assert.deepEqual(spelled(mine), spelled(other), 'escapes');
      if (mine.body || other.body) {
        const [body, their_body] = [mine, other].map((one) => JSON.parse(one.body));
        for (const one of [body, their_body]) {
          if (one.id?.startsWith('channel-')) one.id = 'channel';
          if (one.resourceId) one.resourceId = 'resource';
        }
        assert.deepEqual(body, their_body);
      }
      expect_same_headers(mine.headers, other.headers);
      if (mine.headers['x-goog-drive-resource-keys'] || other.headers['x-goog-drive-resource-keys'])
        assert.equal(mine.headers['x-goog-drive-resource-keys'], other.headers['x-goog-drive-resource-keys']);
    });
  }
  for (const name of differing) console.log(`differs on purpose: ${name}: ${different_headers[name][2]}`);
});
