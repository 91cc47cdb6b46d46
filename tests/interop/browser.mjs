// The browser that hondana starts in tests: takes a URL to its end, and says there that the user is back.
//
// Usage: node.sh browser.mjs URL
import { get } from 'node:http';
import { browse } from './browse.mjs';

const page = new URL(process.argv[2]);
const back = await browse(page, page.searchParams.get('redirect_uri'));
// As browsers say when a page is visited; `fetch` would not let us.
const headers = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'cross-site' };
get(back, { headers }, (answer) => {
  answer.resume();
  answer.once('end', () => process.exit(answer.statusCode === 200 ? 0 : 1));
});
