// How Google's own client is given tokens by the stand-in of Google's authorization server, and refused.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { auth, drive } from '@googleapis/drive';
import { readonly, refused, routes, service_client, user_client } from './drive_server.mjs';
import { check } from './verdict.mjs';

export async function tokens(server) {
  await check('a service account is given a token for an assertion that it signed', async () => {
    const { who, api } = await service_client(server);
    const { data } = await api.about.get({ fields: 'user' });
    assert.equal(data.user.emailAddress, 'reader@stand-in.iam.gserviceaccount.com');
    assert.equal(data.user.me, true);
    const left = who.credentials.expiry_date - Date.now();
    assert.ok(left > 3_500_000 && left < 3_700_000, `${left} ms`);
  });
  await check('it acts for a person who delegated to it, and for nobody else', async () => {
    const { api } = await service_client(server, { subject: 'hanako@example.com' });
    assert.equal((await api.about.get({ fields: 'user' })).data.user.emailAddress, 'hanako@example.com');
    const { api: other } = await service_client(server, { subject: 'mallory@example.com' });
    const { error } = await refused(other.about.get({ fields: 'user' }));
    assert.equal(error.status, 401);
    assert.equal(error.response.data.error, 'unauthorized_client');
  });
  await check('an assertion that another key signed, or for an account that there is not, is refused', async () => {
    const account = await server.tell('service_account');
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = { ...account, private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) };
    const wrong = await refused((await service_client(server, { key })).api.about.get({ fields: 'user' }));
    assert.equal(wrong.status, 400);
    assert.deepEqual(wrong.error.response.data, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' });
    const nobody = { ...account, client_email: 'nobody@stand-in.iam.gserviceaccount.com' };
    const unknown = await refused((await service_client(server, { key: nobody })).api.about.get({ fields: 'user' }));
    assert.equal(unknown.error.response.data.error_description, 'Invalid grant: account not found');
  });
  await check('an assertion of a clock that is wrong by more than is allowed is refused', async () => {
    await server.tell('configure', { mostSkew: -4000 });
    const { error } = await refused((await service_client(server)).api.about.get({ fields: 'user' }));
    assert.equal(error.status, 400);
    assert.match(error.response.data.error_description, /^Invalid JWT: Token must be a short-lived token \(60 minutes\)/);
    await server.tell('configure', { mostSkew: 300 });
  });
  await check('a person says yes on the page, the code is changed for tokens, and only with its verifier', async () => {
    const { client_id: clientId, client_secret: clientSecret, user } = await server.tell('client');
    const redirectUri = 'http://127.0.0.1:9/callback';
    const who = new auth.OAuth2({ clientId, clientSecret, redirectUri, ...routes(server.url) });
    const { codeVerifier, codeChallenge } = await who.generateCodeVerifierAsync();
    const page = new URL(
      who.generateAuthUrl({ scope: readonly, access_type: 'offline', state: 'a b', code_challenge: codeChallenge, code_challenge_method: 'S256' }),
    );
    const answer = await fetch(new URL(page.pathname + page.search, server.url), { redirect: 'manual' });
    assert.equal(answer.status, 302);
    const back = new URL(answer.headers.get('location'));
    assert.equal(back.origin + back.pathname, redirectUri);
    assert.equal(back.searchParams.get('state'), 'a b');
    const code = back.searchParams.get('code');
    const { tokens: given } = await who.getToken({ code, codeVerifier });
    assert.ok(given.refresh_token && given.access_token && given.scope === readonly, JSON.stringify(given));
    who.setCredentials(given);
    const { data } = await drive({ version: 'v3', auth: who }).about.get({ fields: 'user' });
    assert.equal(data.user.emailAddress, user);
    const again = await refused(who.getToken({ code, codeVerifier }));
    assert.equal(again.error.response.data.error, 'invalid_grant', 'a code is good once');
  });
  await check('a refresh token brings access tokens until it is revoked, and an access token may end before', async () => {
    const { who, api } = await user_client(server);
    await api.files.list({ pageSize: 1 });
    const first = who.credentials.access_token;
    await server.tell('revoke', { whom: 'taro@example.com', refresh: false });
    await api.files.list({ pageSize: 1 });
    assert.notEqual(who.credentials.access_token, first, 'it was asked for anew after 401');
    assert.equal((await who.getTokenInfo(who.credentials.access_token)).email, 'taro@example.com');
    await who.revokeToken(who.credentials.refresh_token);
    await server.tell('revoke', { whom: 'taro@example.com', refresh: false });
    const { error } = await refused(api.files.list({ pageSize: 1 }));
    assert.deepEqual(error.response.data, { error: 'invalid_grant', error_description: 'Token has been expired or revoked.' });
  });
  await check('a token without the scope lists names, but neither contents nor shared drives', async () => {
    const { api } = await service_client(server, { scopes: ['https://www.googleapis.com/auth/drive.metadata.readonly'] });
    assert.ok((await api.files.list({ pageSize: 1 })).data.files.length === 1);
    for (const call of [
      () => api.drives.list(),
      () => api.files.get({ fileId: 'blob', alt: 'media' }, { responseType: 'json' }),
      () => api.files.export({ fileId: 'plan', mimeType: 'text/plain' }, { responseType: 'json' }),
    ]) {
      const { status, reason, body } = await refused(call());
      assert.deepEqual([status, reason, body.status], [403, 'insufficientPermissions', 'PERMISSION_DENIED']);
      assert.equal(body.details[0].reason, 'ACCESS_TOKEN_SCOPE_INSUFFICIENT');
    }
  });
}
