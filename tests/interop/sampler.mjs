// A folder with one of everything, and enough of it for several pages.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How many numbered notes there are. */
export const notes = 1200;

/** The first bytes of a PNG, with all byte values after them. */
export const picture = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(Array.from({ length: 256 }, (_, i) => i))]);

/** Files by path, each name and content picked to be awkward on its way into a URI or a message. */
export const oddities = {
  'lines.txt': Array.from({ length: 50 }, (_, i) => `line ${i + 1}\n`).join(''),
  '日本語 メモ.md': '# 見出し\n\n本文。\n',
  'かな.txt': 'あいうえお',
  '100% sure?.txt': 'percent and question mark\n',
  'a#b [c] {d} e+f&g=h;i,j.txt': 'reserved characters\n',
  "it's ~tilde!.txt": 'quotes "inside", a backslash \\ and a tab\t\r\n',
  'back\\slash.txt': 'a backslash in the name\n',
  'emoji 📚.txt': '📚\u2028\u2029\u0001\u001f\u007f',
  'empty.txt': '',
  'bom.txt': '\ufeffbyte order mark\n',
  'picture.png': picture,
  'latin1.txt': Buffer.from('caf\xe9\n', 'latin1'),
  'nul.txt': Buffer.from('a\0b\n'),
  'cut.txt': Buffer.from('e38182e381', 'hex'),
  'deep/er/than/that/file.txt': 'deep\n',
};

/** Fills an empty folder. */
export function fill(folder) {
  mkdirSync(join(folder, 'notes'));
  for (let i = 0; i < notes; ++i) writeFileSync(join(folder, 'notes', `note ${i}.txt`), `note ${i}\n`);
  mkdirSync(join(folder, 'deep/er/than/that'), { recursive: true });
  for (const [path, content] of Object.entries(oddities)) writeFileSync(join(folder, path), content);
  writeFileSync(join(folder, '.hidden'), 'hidden\n');
  writeFileSync(join(folder, '.env'), 'PASSWORD=secret\n');
  writeFileSync(join(folder, 'server.pem'), 'a key\n');
  writeFileSync(join(folder, 'ignored.log'), 'ignored\n');
  writeFileSync(join(folder, '.gitignore'), '*.log\n');
  symlinkSync('lines.txt', join(folder, 'link to lines'));
  symlinkSync('/etc/passwd', join(folder, 'link outside'));
}

/** What must not be found, although it is there. */
export const denied = ['.hidden', '.env', '.gitignore', 'server.pem', 'ignored.log', 'link outside'];
