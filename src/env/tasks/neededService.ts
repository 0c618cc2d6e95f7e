import type { TestReport } from '../testing/testRunner.js';

const USUAL_PORTS: Readonly<Record<string, string>> = {
  '3306': 'MySQL',
  '5432': 'PostgreSQL',
  '5672': 'RabbitMQ',
  '6379': 'Redis',
  '9042': 'Cassandra',
  '9092': 'Kafka',
  '9200': 'Elasticsearch',
  '11211': 'memcached',
  '27017': 'MongoDB',
};

const REFUSALS: readonly RegExp[] = [
  // Node: `connect ECONNREFUSED 127.0.0.1:5432`; the address may be `::1`.
  /ECONNREFUSED (?<host>[\w.:-]+):(?<port>\d+)/,
  // libpq: `connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused`.
  /connection to server at "(?<host>[^"]+)"[^\n]*?, port (?<port>\d+) failed/i,
  // Go: `dial tcp 127.0.0.1:5432: connect: connection refused`.
  /dial tcp (?<host>[\w.:[\]-]+?):(?<port>\d+): (?:connect: connection refused|lookup|i\/o timeout)/,
  // Python's urllib3, redis, pymongo and others: a host and a port somewhere before the refusal.
  /(?<host>localhost|127\.0\.0\.1|\[?::1\]?|0\.0\.0\.0)[:\s'",=]+(?:port[\s'"=:]+)?(?<port>\d{2,5})\b[^\n]{0,200}?(?:connection ?refused|refused the connection|Errno 111)/i,
  /(?:Errno 111|connection ?refused)[^\n]{0,200}?(?<host>localhost|127\.0\.0\.1|::1)[:\s'",=]+(?<port>\d{2,5})\b/i,
  // Java: `Connection to localhost:5432 refused`.
  /connection to (?<host>[\w.-]+):(?<port>\d+) refused/i,
];
const PLAIN_REFUSAL = /ConnectionRefusedError|ECONNREFUSED|connection refused|Errno 111/i;
const NO_NAME =
  /(?:ENOTFOUND|EAI_AGAIN) (?<host>[\w.-]+)|Could not resolve host:? (?<host2>[\w.-]+)|lookup (?<host3>[\w.-]+):|UnknownHostException: (?<host4>[\w.-]+)/;

/** The service that a text of a failing test says it could not reach, such as `PostgreSQL at localhost:5432`; null for none. */
export function serviceIn(text: string): string | null {
  for (const refusal of REFUSALS) {
    const groups = refusal.exec(text)?.groups;
    if (!groups) continue;
    const name = USUAL_PORTS[groups.port];
    return `${name === undefined ? 'a service' : name} at ${groups.host}:${groups.port}`;
  }
  if (PLAIN_REFUSAL.test(text)) return 'a service that refused the connection';
  const groups = NO_NAME.exec(text)?.groups;
  const host = groups && (groups.host ?? groups.host2 ?? groups.host3 ?? groups.host4);
  return host ? `the network (${host})` : null;
}

/** The service that most failing tests of a report lack, with their number; null where none says so. */
export function neededService({ results }: TestReport): { readonly service: string; readonly tests: number } | null {
  const counts = new Map<string, number>();
  for (const { status, message } of results) {
    const service = status === 'failed' ? serviceIn(message) : null;
    if (service !== null) counts.set(service, (counts.get(service) ?? 0) + 1);
  }
  const [first] = [...counts].sort(([, a], [, b]) => b - a);
  if (first === undefined) return null;
  return { service: first[0], tests: [...counts.values()].reduce((sum, count) => sum + count, 0) };
}
