// A real authorization server (npm oidc-provider) on loopback for one resource: its users say yes, its keys rotate on demand.
import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';
import { finally_do } from './verdict.mjs';

const user = 'alice';

/** A new private key as a JSON Web Key. */
function new_key(kid) {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' };
}

/** Keeps everything in memory, across providers: a rotation of keys forgets no grant. */
function adapter_over(kept) {
  return class {
    constructor(kind) {
      this.kind = kind;
    }
    key(id) {
      return `${this.kind}:${id}`;
    }
    async upsert(id, payload) {
      kept.set(this.key(id), { ...payload });
    }
    async find(id) {
      return kept.get(this.key(id));
    }
    async findByUid(uid) {
      return [...kept.values()].find((one) => one.uid === uid);
    }
    async findByUserCode() {
      return undefined;
    }
    async consume(id) {
      kept.get(this.key(id)).consumed = Math.floor(Date.now() / 1000);
    }
    async destroy(id) {
      kept.delete(this.key(id));
    }
    async revokeByGrantId(grant) {
      for (const [key, one] of kept) if (one.grantId === grant) kept.delete(key);
    }
  };
}

/**
 * Starts one. `resource`: the URL its tokens are for; `scopes`: those of it; `format`: "jwt", or "opaque" for tokens that only
 * introspection can read; `clients`: those it knows beforehand.
 */
export async function authorization_server({ resource, scopes, format = 'jwt', clients = [] }) {
  const kept = new Map();
  const lifetime = { seconds: 600 };
  const asked = [];
  let last_expiry = 0; // in seconds of the clock, of the token given last
  const cookie_key = randomBytes(16).toString('hex');
  let generation = 0;
  let provider;
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url.split('?')[0]}`);
    if (request.url.startsWith('/interaction/')) {
      consent(request, response).catch((error) => response.writeHead(500).end(String(error)));
    } else {
      provider.callback()(request, response);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  finally_do(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${server.address().port}`;

  /** What a person would do: log in, and agree to everything. */
  async function consent(request, response) {
    const { prompt, params, grantId: known, session } = await provider.interactionDetails(request, response);
    if (prompt.name === 'login') {
      return provider.interactionFinished(request, response, { login: { accountId: user } });
    }
    const grant = known
      ? await provider.Grant.find(known)
      : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    const { missingOIDCScope = [], missingResourceScopes = {} } = prompt.details;
    if (missingOIDCScope.length > 0) grant.addOIDCScope(missingOIDCScope.join(' '));
    for (const [of, all] of Object.entries(missingResourceScopes)) grant.addResourceScope(of, all.join(' '));
    return provider.interactionFinished(
      request,
      response,
      { consent: { grantId: await grant.save() } },
      { mergeWithLastSubmission: true },
    );
  }

  function make_provider(keys) {
    const made = new Provider(issuer, {
      adapter: adapter_over(kept),
      clients,
      jwks: { keys },
      scopes: ['openid', 'offline_access', ...scopes],
      cookies: { keys: [cookie_key] },
      clientDefaults: { grant_types: ['authorization_code', 'refresh_token'], id_token_signed_response_alg: 'ES256' },
      enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
      findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
      interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
      issueRefreshToken: async (_, client) => client.grantTypeAllowed('refresh_token'),
      rotateRefreshToken: true,
      pkce: { required: () => true },
      ttl: { Interaction: 600, Session: 600, Grant: 3600, RefreshToken: 3600, IdToken: 600 },
      features: {
        devInteractions: { enabled: false },
        registration: { enabled: true },
        introspection: { enabled: true },
        revocation: { enabled: true },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => resource,
          useGrantedResource: () => true,
          getResourceServerInfo: (_, indicator) => {
            assert.equal(indicator, resource);
            return {
              scope: scopes.join(' '),
              audience: resource,
              accessTokenFormat: format,
              accessTokenTTL: lifetime.seconds,
              jwt: { sign: { alg: 'ES256' } },
            };
          },
        },
      },
    });
    made.on('grant.success', (ctx) => {
      last_expiry = Date.now() / 1000 + ctx.body.expires_in;
    });
    made.on('server_error', (_, error) => console.log(`     the authorization server: ${error.stack}`));
    return made;
  }

  const next_provider = () => {
    generation += 1;
    provider = make_provider([new_key(`key-${generation}`)]);
  };
  next_provider();
  return {
    issuer,
    /** "METHOD path" of every request, in order. */
    asked,
    lifetime,
    /** When the token given last has expired, which only the clock brings about. */
    async expired() {
      assert.ok(last_expiry > 0, 'no token was given');
      while (Date.now() / 1000 <= last_expiry) {
        await new Promise((resolve) => setTimeout(resolve, last_expiry * 1000 - Date.now() + 1));
      }
    },
    /** From now on tokens are signed by another key, and the one before is not published any more. */
    rotate_keys: next_provider,
    /** Forgets all refresh and opaque tokens, as if everybody had been logged out. */
    forget: () => kept.clear(),
  };
}
