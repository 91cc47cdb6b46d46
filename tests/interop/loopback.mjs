// Loaded before servers that would listen on every interface (node --import): they listen on 127.0.0.1 only.
import { Server } from 'node:net';

const listen = Server.prototype.listen;
Server.prototype.listen = function (port, ...rest) {
  if (typeof port === 'object' || typeof rest[0] === 'string') return listen.call(this, port, ...rest);
  return listen.call(this, Number(port), '127.0.0.1', ...rest);
};
