// The stand-in of Google Drive as a program, and Google's own client of it, whose requests to Google go there.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { auth, drive } from '@googleapis/drive';
import { finally_do, temporary_folder, within } from './verdict.mjs';

export const types = Object.fromEntries(
  ['folder', 'shortcut', 'document', 'spreadsheet', 'presentation', 'drawing', 'script', 'form'].map((one) => [
    one,
    `application/vnd.google-apps.${one}`,
  ]),
);
export const office = {
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
};
export const readonly = 'https://www.googleapis.com/auth/drive.readonly';

/** Starts `program` with a seed; its URL, and what it can be told. */
export async function start_drive(program, seed) {
  const file = join(temporary_folder(), 'seed.json');
  writeFileSync(file, JSON.stringify(seed));
  const child = spawn(program, [file], { stdio: ['pipe', 'pipe', 'inherit'] });
  finally_do(() => child.kill('SIGKILL'));
  let said = '';
  const greeted = new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      said += text;
      const url = /listening on (http:\S+)\n/.exec(said)?.[1];
      if (url) resolve(url);
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => reject(new Error(`${program} ended with ${signal ?? code}`)));
  });
  const url = await within(`the address of ${program}`, greeted);
  const tell = async (word, what = {}) => {
    const answer = await fetch(`${url}/_control/${word}`, { method: 'POST', body: JSON.stringify(what) });
    assert.ok(answer.ok, `${word}: ${answer.status} ${answer.ok ? '' : await answer.text()}`);
    return answer.json();
  };
  return {
    url,
    tell,
    log: (path = '') => tell('log', { path }),
    async content(id, as = '') {
      const answer = await fetch(`${url}/_control/content?${new URLSearchParams({ id, as })}`);
      assert.ok(answer.ok, `content of ${id}: ${answer.status}`);
      return Buffer.from(await answer.arrayBuffer());
    },
    async stop() {
      const exited = once(child, 'exit');
      child.stdin.end();
      await within('the end of the stand-in', exited);
    },
  };
}

/** What fetches: whatever host of Google is asked, the stand-in answers. */
function routed(url) {
  const hosts = new Set(['www.googleapis.com', 'oauth2.googleapis.com', 'accounts.google.com']);
  return (input, init) => {
    const wanted = new URL(input?.url ?? input);
    assert.ok(hosts.has(wanted.host) || wanted.origin === url, `${wanted} leads out of the test`);
    return fetch(new URL(wanted.pathname + wanted.search, url), init);
  };
}

/** Options of every client of google-auth-library. */
export function routes(url) {
  return { transporterOptions: { fetchImplementation: routed(url) } };
}

/** Google's client as a service account, or for whom it stands. */
export async function service_client(server, { scopes = [readonly], subject, key } = {}) {
  const account = key ?? (await server.tell('service_account'));
  const who = new auth.JWT({
    email: account.client_email,
    key: account.private_key,
    keyId: account.private_key_id,
    scopes,
    subject,
    ...routes(server.url),
  });
  return { who, api: drive({ version: 'v3', auth: who }) };
}

/** Google's client of a person who has a refresh token. */
export async function user_client(server, whom = 'taro@example.com', scope = readonly) {
  const { client_id: clientId, client_secret: clientSecret } = await server.tell('client');
  const { token } = await server.tell('refresh_token', { whom, scope });
  const who = new auth.OAuth2({ clientId, clientSecret, redirectUri: 'http://127.0.0.1:1/', forceRefreshOnFailure: true, ...routes(server.url) });
  who.setCredentials({ refresh_token: token });
  return { who, api: drive({ version: 'v3', auth: who }), refresh: token };
}

/** The error that a call of Google's client ends with: its status, reason and message. */
export async function refused(call) {
  try {
    await call;
  } catch (error) {
    assert.equal(error.constructor.name, 'GaxiosError', String(error.stack));
    const { data } = error.response ?? {};
    // Where bytes were asked for, the error comes as bytes, too.
    const { error: body } = (data instanceof ArrayBuffer ? JSON.parse(Buffer.from(data).toString()) : data) ?? {};
    const told = body?.errors?.[0] ?? {};
    return { status: error.status, reason: told.reason, location: told.location, message: body?.message ?? error.message, body, error };
  }
  return assert.fail('it succeeded');
}
