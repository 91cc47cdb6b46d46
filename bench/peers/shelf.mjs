// What both servers offer of a folder: three files by name and its notes by a template that lists them, each read from disk for
// every request. The URIs are those that hondana has for the same files.
import { readFile } from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

export function shelf(folder) {
  const uri_of = (name) => `file://${join(folder, name)}`;
  const notes = readdirSync(folder).filter((name) => name.startsWith('note-'));
  const read_text = async (uri, name) => ({
    contents: [{ uri, mimeType: 'text/plain', text: await readFile(join(folder, name), 'utf8') }],
  });
  const listed = notes.map((name) => ({ uri: uri_of(name), name, mimeType: 'text/plain' }));

  /** `server`: an McpServer of either SDK, with its own ResourceTemplate. */
  return function fill(server, ResourceTemplate) {
    for (const name of ['small.txt', 'text.txt']) {
      server.registerResource(name, uri_of(name), { mimeType: 'text/plain' }, (uri) => read_text(uri.href, name));
    }
    server.registerResource('blob.bin', uri_of('blob.bin'), { mimeType: 'application/octet-stream' }, async (uri) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: 'application/octet-stream',
          blob: (await readFile(join(folder, 'blob.bin'))).toString('base64'),
        },
      ],
    }));
    const template = new ResourceTemplate(`file://${folder}/{name}`, { list: () => ({ resources: listed }) });
    server.registerResource('notes', template, { mimeType: 'text/plain' }, (uri, { name }) => {
      if (!notes.includes(name)) throw new Error(`there is no ${name}`);
      return read_text(uri.href, name);
    });
  };
}
