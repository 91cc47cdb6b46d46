// A real authorization server (npm oidc-provider), a real client (both eras) and our own client against a protected hondana:
// log in, read what the scopes allow, step up, be refused after expiry, rotation of keys and revocation.
//
// Usage: node.sh authorization.mjs HONDANA
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as v2 from '@modelcontextprotocol/client';
import { authorization_server } from './authorization_server.mjs';
import { browse } from './browse.mjs';
import { free_port } from './free_port.mjs';
import { program, serve } from './hondana.mjs';
import { uri_of } from './repository.mjs';
import { check, event_deadline, eventually, judge, temporary_folder } from './verdict.mjs';

const redirect = 'http://127.0.0.1:1/callback'; // nobody listens there: the browser of this test stops before it
const scopes = ['shelf:read', 'shelf:admin'];
const here = dirname(fileURLToPath(import.meta.url));

/** A folder with a public and a private shelf behind a server that asks for tokens of `issuer`. */
async function protected_server(port, issuer, introspection) {
  const folder = temporary_folder();
  for (const shelf of ['open', 'closed']) {
    mkdirSync(join(folder, shelf));
    writeFileSync(join(folder, shelf, 'book.txt'), `a book of the ${shelf} shelf\n`);
  }
  const resource = `http://127.0.0.1:${port}/mcp`;
  const config = join(temporary_folder(), 'hondana.toml');
  const secret = join(dirname(config), 'secret');
  if (introspection) writeFileSync(secret, introspection.client_secret, { mode: 0o600 });
  writeFileSync(
    config,
    `[[source]]
type = "files"
path = "${folder}"

[auth]
scopes = ["shelf:read"]

[auth.oauth]
issuer = "${issuer}"
resource = "${resource}"
clock_skew_s = 0
${introspection ? `[auth.oauth.introspection]\nendpoint = "${issuer}/token/introspection"\nclient_id = "${introspection.client_id}"\nclient_secret_file = "${secret}"\n` : ''}
[[auth.rule]]
uris = ["${uri_of(join(folder, 'closed'))}/"]
scopes = ["shelf:admin"]
`,
  );
  const server = await serve(['--config', config], { port });
  return {
    ...server,
    resource,
    open: uri_of(join(folder, 'open', 'book.txt')),
    closed: uri_of(join(folder, 'closed', 'book.txt')),
  };
}

/** What a host keeps for the client, and the page that it is asked to show. */
class keeper {
  redirectUrl = redirect;
  clientMetadata = { client_name: 'hondana-interop', redirect_uris: [redirect], application_type: 'native' };
  clientInformation() {
    return host;
  }
  tokens() {
    return this.kept;
  }
  saveTokens(tokens) {
    this.kept = tokens;
  }
  redirectToAuthorization(url) {
    this.page = url;
  }
  discoveryState() {
    return this.discovered;
  }
  saveDiscoveryState(discovered) {
    this.discovered = discovered;
  }
  saveCodeVerifier(verifier) {
    this.verifier = verifier;
  }
  codeVerifier() {
    return this.verifier;
  }
}

/** One client of the TypeScript SDK; `transport` is made anew for each attempt, as after a restart of the host. */
class sdk_client {
  constructor(url, mode) {
    Object.assign(this, { url, mode, kept: new keeper() });
  }
  async connect() {
    this.transport = new v2.StreamableHTTPClientTransport(new URL(this.url), { authProvider: this.kept });
    this.client = new v2.Client({ name: 'hondana-interop', version: '1.0.0' }, { versionNegotiation: { mode: this.mode } });
    await this.client.connect(this.transport);
  }
  /** What must be refused until somebody has logged in; then that happens. */
  async log_in(attempt) {
    this.kept.page = undefined;
    await assert.rejects(attempt, v2.UnauthorizedError);
    assert.ok(this.kept.page, 'the client was sent to no page');
    const back = await browse(this.kept.page, redirect);
    await this.transport.finishAuth(back.searchParams);
    return new Set(this.kept.page.searchParams.get('scope').split(' '));
  }
  async read(uri) {
    return (await this.client.readResource({ uri })).contents[0].text;
  }
  close() {
    return this.client.close();
  }
}

async function sdk_story(mode, as, server) {
  const who = `client 2.4 (${mode})`;
  const one = new sdk_client(server.url, mode);
  await check(`${who}: is sent to the authorization server, logs in and reads what its scope allows`, async () => {
    const asked = await one.log_in(one.connect());
    assert.ok(asked.has('shelf:read') && !asked.has('shelf:admin'), `asked for ${[...asked].join(' ')}`);
    await one.connect();
    assert.match(await one.read(server.open), /open shelf/);
  });
  await check(`${who}: steps up when a resource needs another scope`, async () => {
    const asked = await one.log_in(one.read(server.closed));
    assert.ok(asked.has('shelf:admin') && asked.has('shelf:read'), [...asked].join(' '));
    assert.match(await one.read(server.closed), /closed shelf/);
  });
  await check(`${who}: goes on after the keys were rotated, since its refresh gets a token of the new key`, async () => {
    as.rotate_keys();
    one.kept.saveTokens({ ...one.kept.kept, access_token: one.kept.kept.access_token.replace(/.$/, (c) => (c === 'A' ? 'B' : 'A')) });
    assert.match(await one.read(server.open), /open shelf/);
  });
  await one.close();
}

/** Asks with a token as it is, whatever it may be: the status and the challenge. */
async function ask(server, token) {
  const answer = await fetch(server.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'resources/read',
      'mcp-name': server.open,
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'resources/read',
      params: {
        uri: server.open,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  });
  const text = await answer.text();
  assert.ok(!token || !text.includes(token), 'the refusal repeats the token');
  return { status: answer.status, challenge: answer.headers.get('www-authenticate') ?? '', text };
}

/** Asks until the answer is the one that must come; how long that took. */
async function ask_until(server, token, status) {
  const begin = performance.now();
  return eventually(async () => {
    const got = await ask(server, token);
    assert.equal(got.status, status);
    return { ...got, took: (performance.now() - begin) / 1000 };
  });
}

/** A token by the client credentials of a machine. */
async function machine_token(as, resource, scope) {
  const answer = await fetch(`${as.issuer}/token`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from(`${machine.client_id}:${machine.client_secret}`).toString('base64')}`,
    },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope, resource }),
  });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text).access_token;
}

async function token_story(as, server) {
  await check('nobody and garbage are refused with a challenge that says where to go', async () => {
    const none = await ask(server);
    assert.equal(none.status, 401);
    assert.ok(!none.challenge.includes('error='), none.challenge);
    const [, metadata] = /resource_metadata="([^"]+)"/.exec(none.challenge);
    const known = await (await fetch(metadata)).json();
    assert.equal(known.resource, server.resource);
    assert.deepEqual(known.authorization_servers, [as.issuer]);
    const garbage = await ask(server, 'x.y.z');
    assert.equal(garbage.status, 401);
    assert.match(garbage.challenge, /error="invalid_token"/);
  });
  await check('a token is refused after it has expired', async () => {
    let token;
    // It has to be used once before it expires; on a slow machine it gets more time.
    for (let seconds = 2, status = 0; status !== 200; seconds *= 2) {
      assert.ok(seconds < 150, `still ${status}`);
      as.lifetime.seconds = seconds;
      token = await machine_token(as, server.resource, 'shelf:read');
      as.lifetime.seconds = 600;
      ({ status } = await ask(server, token));
    }
    const refused = await ask_until(server, token, 401);
    assert.match(refused.challenge, /expired/);
  });
  await check('a token is refused when its key is not published any more, and one of the new key is taken at once', async () => {
    const old = await machine_token(as, server.resource, 'shelf:read');
    assert.equal((await ask(server, old)).status, 200);
    as.rotate_keys();
    const next = await machine_token(as, server.resource, 'shelf:read');
    const taken = await ask_until(server, next, 200);
    const refused = await ask(server, old);
    assert.equal(refused.status, 401, refused.text);
    return `taken after ${taken.took.toFixed(1)} s`;
  });
}

async function introspection_story(as, server) {
  await check('an opaque token is refused soon after it was revoked', async () => {
    const token = await machine_token(as, server.resource, 'shelf:read');
    assert.ok(!token.includes('.'), 'it is opaque');
    assert.equal((await ask(server, token)).status, 200);
    const said = await fetch(`${as.issuer}/token/revocation`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${machine.client_id}:${machine.client_secret}`).toString('base64')}` },
      body: new URLSearchParams({ token }),
    });
    assert.equal(said.status, 200, await said.text());
    const refused = await ask_until(server, token, 401);
    return `after ${refused.took.toFixed(1)} s`;
  });
}

/** Our own program with a home and a browser of its own. */
function own_client(server) {
  const home = temporary_folder();
  const browser = join(home, 'browser');
  writeFileSync(browser, `#!/bin/sh\nexec "${process.execPath}" "${join(here, 'browser.mjs')}" "$1"\n`);
  chmodSync(browser, 0o755);
  const environment = {
    PATH: process.env.PATH,
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_DATA_HOME: join(home, 'data'),
    DISPLAY: ':0',
    BROWSER: browser,
  };
  const run = promisify(execFile);
  return async (...args) => {
    try {
      const { stdout, stderr } = await run(program, [...args, '--on', server.url], { env: environment, timeout: event_deadline });
      return { code: 0, stdout, stderr };
    } catch (error) {
      if (typeof error.code !== 'number') throw error;
      return { code: error.code, stdout: error.stdout, stderr: error.stderr };
    }
  };
}

async function own_story(as, server) {
  const hondana = own_client(server);
  await check('hondana: is refused with exit code 3, and told to log in', async () => {
    const refused = await hondana('ls');
    assert.equal(refused.code, 3, refused.stderr);
    assert.match(refused.stderr, /hondana login/);
  });
  await check('hondana: logs in and reads what its scope allows', async () => {
    const login = await hondana('login', '--store', 'file');
    assert.equal(login.code, 0, login.stderr);
    const read = await hondana('read', server.open);
    assert.equal(read.code, 0, read.stderr);
    assert.match(read.stdout, /open shelf/);
  });
  await check('hondana: is told which scope a resource needs, and steps up', async () => {
    const refused = await hondana('read', server.closed);
    assert.equal(refused.code, 3, refused.stderr);
    assert.match(refused.stderr, /shelf:admin/);
    const login = await hondana('login', '--store', 'file', '--scope', 'shelf:admin');
    assert.equal(login.code, 0, login.stderr);
    const read = await hondana('read', server.closed);
    assert.equal(read.code, 0, read.stderr);
    assert.match(read.stdout, /closed shelf/);
  });
  await check('hondana: refreshes by itself after the token has expired and the keys were rotated', async () => {
    as.lifetime.seconds = 1;
    assert.equal((await hondana('login', '--store', 'file')).code, 0);
    as.lifetime.seconds = 600;
    as.rotate_keys();
    await as.expired();
    const read = await hondana('read', server.open);
    assert.equal(read.code, 0, read.stderr);
  });
  await check('hondana: commands that refresh at once do not log each other out', async () => {
    as.lifetime.seconds = 1;
    assert.equal((await hondana('login', '--store', 'file')).code, 0);
    as.lifetime.seconds = 600;
    await as.expired();
    const all = await Promise.all([1, 2, 3, 4].map(() => hondana('ls')));
    for (const one of all) assert.equal(one.code, 0, one.stderr);
    assert.equal((await hondana('ls')).code, 0);
  });
  await check('hondana: logs out, and is refused again', async () => {
    const logout = await hondana('logout');
    assert.equal(logout.code, 0, logout.stderr);
    assert.equal((await hondana('ls')).code, 3);
  });
  await check('hondana: is refused when the authorization server has forgotten everything', async () => {
    as.lifetime.seconds = 1;
    assert.equal((await hondana('login', '--store', 'file')).code, 0);
    as.lifetime.seconds = 600;
    as.forget();
    await as.expired();
    const refused = await hondana('ls');
    assert.equal(refused.code, 3, refused.stderr);
    assert.match(refused.stderr, /hondana login/);
  });
}

/** Clients that were registered by hand and prove by a key who they are: a person's, and a machine's. */
async function key_story(as, server) {
  const hondana = own_client(server);
  const key = join(temporary_folder(), 'key.pem');
  writeFileSync(key, client_key.privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 });
  const renewed = async (more) => {
    as.lifetime.seconds = 1;
    const login = await hondana('login', '--store', 'file', ...more);
    assert.equal(login.code, 0, login.stderr);
    as.lifetime.seconds = 600;
    await as.expired();
    const read = await hondana('read', server.open);
    assert.equal(read.code, 0, read.stderr);
    assert.match(read.stdout, /open shelf/);
  };
  const ours = ['--client-secret-file', key, '--issuer', as.issuer];
  await check('hondana: a client with a key logs in, and refreshes by that key after the token has expired', async () => {
    await renewed(['--client-id', keyed.client_id, ...ours]);
    assert.ok(!as.asked.some((one) => one.endsWith('/reg')), 'it has registered itself');
  });
  await check('hondana: another log-in is by the same client and key', async () => {
    await renewed([]);
    assert.ok(!as.asked.some((one) => one.endsWith('/reg')), 'it has registered itself');
  });
  await check('hondana: a machine with a key gets new tokens by itself after they have expired', () =>
    renewed(['--machine', '--client-id', keyed_machine.client_id, '--scope', 'shelf:read', ...ours]));
}

const client_key = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const by_key = {
  token_endpoint_auth_method: 'private_key_jwt',
  jwks: { keys: [{ ...client_key.publicKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' }] },
};
const keyed = {
  ...by_key,
  client_id: 'keyed',
  application_type: 'native',
  redirect_uris: ['http://127.0.0.1/callback'],
};
const keyed_machine = {
  ...by_key,
  client_id: 'keyed-machine',
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
};
const machine = {
  client_id: 'machine',
  client_secret: 'a secret of a machine that is long enough',
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
};
const reader = { ...machine, client_id: 'resource-server', client_secret: 'another secret that is long enough' };
/** Registered beforehand: the SDK would register for the first scopes that it needs and no others. */
const host = {
  client_id: 'host',
  token_endpoint_auth_method: 'none',
  application_type: 'native',
  redirect_uris: [redirect],
};

/** An authorization server and a server that it protects. Each story has its own: the server looks for new keys twice a minute. */
async function stage(format) {
  const port = await free_port();
  const resource = `http://127.0.0.1:${port}/mcp`;
  const as = await authorization_server({ resource, scopes, format, clients: [machine, reader, host, keyed, keyed_machine] });
  return { as, server: await protected_server(port, as.issuer, format === 'opaque' ? reader : undefined) };
}

await judge(async () => {
  for (const mode of ['auto', 'legacy']) {
    const { as, server } = await stage('jwt');
    await sdk_story(mode, as, server);
  }
  const own = await stage('jwt');
  await own_story(own.as, own.server);
  const by_keys = await stage('jwt');
  await key_story(by_keys.as, by_keys.server);
  const jwt = await stage('jwt');
  await token_story(jwt.as, jwt.server);
  const opaque = await stage('opaque');
  await introspection_story(opaque.as, opaque.server);
});
