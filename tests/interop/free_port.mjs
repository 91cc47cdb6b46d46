// A port for who must name it before listening there.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/**
 * A port of 127.0.0.1 that is free. It is none of those that the kernel gives to connections and to listeners that ask for any,
 * so that nobody is given it before it is used.
 */
export async function free_port() {
  const [first_given] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/).map(Number);
  const lowest = 10_100; // of those below it fetch refuses some, and some services have theirs there
  for (;;) {
    const port = first_given > lowest + 1000 ? randomInt(lowest, first_given) : 0;
    const probe = createServer().listen(port, '127.0.0.1');
    try {
      await once(probe, 'listening');
    } catch (error) {
      if (error.code !== 'EADDRINUSE') throw error;
      continue;
    }
    const { port: found } = probe.address();
    probe.close();
    await once(probe, 'close');
    return found;
  }
}
