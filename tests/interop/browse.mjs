// A browser without a person: follows redirects and keeps cookies.
import assert from 'node:assert/strict';

/** What a browser does with an authorization URL, until it is sent to `redirect`: that last URL. */
export async function browse(url, redirect) {
  const jar = new Map();
  let next = new URL(url);
  for (let hops = 0; hops < 20; ++hops) {
    if (next.href.startsWith(redirect)) return next;
    const answer = await fetch(next, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [pair] = line.split(';');
      const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    const to = answer.headers.get('location');
    const text = await answer.text();
    assert.ok(to, `${next} answered ${answer.status} and leads nowhere: ${text}`);
    next = new URL(to, next);
  }
  throw new Error('the authorization server redirects without end');
}
