// A tree of Japanese documents, each file in the encoding that tests/four_encodings/texts.tsv names, and what must be seen of it.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const origin = join(dirname(fileURLToPath(import.meta.url)), '../four_encodings');

/** What stands in the texts and is not for readers: in scripts, hidden elements and elements that a style hides. */
export const hidden = ['合言葉は稲穂', '台本の中の文字列', '目印は河童', '部品を数える台本', '下書きの覚え書き'];

/** Media types of texts, by the endings of files. */
export const text_types = {
  md: 'text/markdown',
  rst: 'text/x-rst',
  adoc: 'text/asciidoc',
  txt: 'text/plain',
  html: 'text/markdown',
};

/** How each format of the tree writes a link; its target is the first group. */
const links = {
  md: /\]\(([^)\s]+)\)/g,
  rst: /<([^>\s]+)>`_/g,
  adoc: /(?:link|xref):([^[\s]+)\[/g,
  html: /href="([^"]+)"/g,
  txt: /(?!)/g,
};

function read_table() {
  const [head, ...rows] = readFileSync(join(origin, 'texts.tsv'), 'utf8').trimEnd().split('\n');
  const names = head.split('\t');
  return rows.map((row) => {
    const one = Object.fromEntries(row.split('\t').map((cell, i) => [names[i], cell]));
    const ending = one.path.split('.').at(-1);
    const text = readFileSync(join(origin, 'texts', one.path), 'utf8');
    const targets = [...text.matchAll(links[ending])].map(([, target]) => target);
    const leads_to = (target) => decodeURIComponent(new URL(target, `docs://all/${encodeURI(one.path)}`).pathname).slice(1);
    return { ...one, ending, text, leads: targets.map(leads_to) };
  });
}

/** path, charset, title, priority_rank, language and phrase of each document, its text, and the paths that its links lead to, in order. */
export const documents = read_table();

/** The document of this path. */
export const document_at = (path) => documents.find((one) => one.path === path);

/** The URI that a set has for a path. */
export const uri_in = (set, path) => `docs://${set}/${path.split('/').map(encodeURIComponent).join('/')}`;

/** Whether there is a program that converts encodings; Node can only read them. */
export function can_convert() {
  try {
    return execFileSync('iconv', ['-f', 'UTF-8', '-t', 'ISO-2022-JP'], { input: 'あ' }).length > 3;
  } catch {
    return false;
  }
}

/** Fills an empty folder. Each document gets its `bytes`. */
export function fill_with_documents(folder) {
  for (const one of documents) {
    one.bytes = execFileSync('iconv', ['-f', 'UTF-8', '-t', one.charset], { input: one.text });
    mkdirSync(dirname(join(folder, one.path)), { recursive: true });
    writeFileSync(join(folder, one.path), one.bytes);
  }
}
