// The browser that hondana starts in tests: takes a URL to its end, and says there that the user is back.
//
// Usage: node.sh browser.mjs URL
import { browse } from './browse.mjs';

const page = new URL(process.argv[2]);
const back = await browse(page, page.searchParams.get('redirect_uri'));
const answer = await fetch(back);
await answer.text();
process.exit(answer.ok ? 0 : 1);
