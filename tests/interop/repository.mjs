// What git says a work tree has: the oracle for what is served of it.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, lstatSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { skip, temporary_folder } from './verdict.mjs';

/** Literal bound on how many files of this repository may be left out. */
const most_denied = 24;

// The user's own ignore file and git's doubts about who owns the folder are no part of the repository.
const manners = ['-c', 'core.excludesFile=/dev/null', '-c', 'safe.directory=*'];

/** The top folder of the work tree under test, as the command line names it; without git's word on it there is no test. */
export function work_tree(path) {
  const folder = realpathSync(path);
  const run = spawnSync('git', [...manners, 'rev-parse', '--show-prefix'], { cwd: folder, encoding: 'utf8' });
  if (run.error) throw run.error;
  if (run.status !== 0 || run.stdout.trim() !== '') skip(`${folder} is no work tree of git, so what it should have is not known`);
  return folder;
}

/** Files and links of a work tree by path below it, as `git ls-files -co --exclude-standard` has them. */
export function files_by_git(folder) {
  const args = [...manners, 'ls-files', '-co', '--exclude-standard', '-z'];
  const out = execFileSync('git', args, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28 });
  const files = new Set();
  const links = new Set();
  for (const path of out.split('\0')) {
    if (path === '') continue;
    const facts = lstatSync(join(folder, path), { throwIfNoEntry: false });
    if (facts?.isFile()) files.add(path);
    if (facts?.isSymbolicLink()) links.add(path);
  }
  return { files, links };
}

/**
 * A work tree with the same files and links in it, committed or not, and with things that its ignore files name. It stays as it
 * is while somebody works on the original.
 */
export function copy_of(folder) {
  const copy = join(temporary_folder(), 'repository');
  const { files, links } = files_by_git(folder);
  for (const path of [...files, ...links]) cpSync(join(folder, path), join(copy, path), { verbatimSymlinks: true, preserveTimestamps: true });
  for (const ignored of ['build/dev/main.o', 'node_modules/a/index.js', 'tests/interop/node_modules/b/index.js', 'src/cli/.main.cpp.swp']) {
    mkdirSync(dirname(join(copy, ignored)), { recursive: true });
    writeFileSync(join(copy, ignored), 'ignored\n');
  }
  execFileSync('git', [...manners, '-c', 'init.defaultBranch=main', 'init', '--quiet', copy]);
  assert.deepEqual(files_by_git(copy), { files, links }, 'the copy is one for git, too');
  return copy;
}

/** The `file://` URI of an absolute path: what may stand raw in a segment (RFC 3986, pchar) does, all else is percent-encoded. */
export function uri_of(path) {
  return `file://${path
    .split('/')
    .map((name) => encodeURIComponent(name).replace(/%(24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent))
    .join('/')}`;
}

/** The path below `folder` of a `file://` URI, read by Node; null when it is not below. */
export function path_below(folder, uri) {
  const path = fileURLToPath(uri.split('?')[0]);
  if (path === folder) return '';
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : null;
}

const is_hidden = (path) => path.split('/').some((name) => name.startsWith('.'));

/** Holds a complete list of resources against git; gives the files listed, and the files left out. */
export function compare_with_git(folder, resources) {
  const { files, links } = files_by_git(folder);
  const listed = new Map();
  const folders = new Set();
  for (const resource of resources) {
    const path = path_below(folder, resource.uri);
    if (path === null) continue;
    assert.ok(!listed.has(path) && !folders.has(path), `listed twice: ${resource.uri}`);
    if (resource.mimeType === 'inode/directory') folders.add(path);
    else if (resource.mimeType !== 'inode/symlink') listed.set(path, resource);
  }
  const denied = [...files].filter((path) => !listed.has(path)).sort();
  const unknown = [...listed.keys()].filter((path) => !files.has(path)).sort();
  assert.deepEqual(unknown, [], 'listed, but not a file that git would list');
  assert.deepEqual(denied.filter((path) => !is_hidden(path)), [], 'a file that git lists, that is not hidden and not served');
  assert.ok(denied.length <= most_denied, `${denied.length} files are denied: ${denied.join(' ')}`);
  for (const path of listed.keys()) {
    assert.ok(!is_hidden(path), `a hidden file is listed: ${path}`);
    for (let above = dirname(path); above !== '.'; above = dirname(above)) {
      assert.ok(folders.has(above), `the folder of ${path} is not listed: ${above}`);
    }
  }
  assert.ok(folders.has(''), 'the folder itself is listed');
  return { listed, denied, links };
}

/** The bytes of what was read, from the form that the content must have: text exactly when it is UTF-8 without NUL. */
export function expect_content(contents, uri, path) {
  assert.equal(contents.length, 1, `${uri}: one content`);
  const [content] = contents;
  assert.equal(content.uri, uri, 'the URI is repeated as asked');
  const expected = readFileSync(path);
  let is_text = !expected.includes(0);
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(expected);
  } catch {
    is_text = false;
  }
  assert.equal(typeof content.text, is_text ? 'string' : 'undefined', `${uri}: text exactly when it is text`);
  assert.equal(typeof content.blob, is_text ? 'undefined' : 'string', `${uri}: blob exactly when it is none`);
  const bytes = is_text ? Buffer.from(content.text, 'utf8') : Buffer.from(content.blob, 'base64');
  assert.equal(bytes.length, expected.length, `${uri}: all bytes came`);
  if (!is_text) assert.equal(content.blob, bytes.toString('base64'), `${uri}: padded base64 of the standard alphabet`);
  // Secrets are masked, by as many stars, and nothing else differs.
  const others = bytes.filter((byte, at) => byte !== expected[at] && byte !== 0x2a).length;
  assert.equal(others, 0, `${uri}: ${others} bytes are neither those of the file nor a mask`);
  assert.ok(bytes.equals(expected) || may_hold_secrets(path), `${uri}: has no secrets that would be masked`);
}

/** Where this repository has what looks like a secret: messages of its tests and examples in its docs. */
const may_hold_secrets = (path) => /\/((fuzz|tests|docs|examples|src\/text\/secrets)\/|README(\.ja)?\.md$)/.test(path);
