import { describe, expect, it } from 'vitest';
import { neededService, serviceIn } from './neededService.js';
import { reportOf } from './scriptedEnvironment.testing.js';

describe('serviceIn', () => {
  it.each([
    ['connect ECONNREFUSED 127.0.0.1:5432', 'PostgreSQL at 127.0.0.1:5432'],
    ['Error: connect ECONNREFUSED ::1:6379', 'Redis at ::1:6379'],
    [
      'connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused',
      'PostgreSQL at localhost:5432',
    ],
    ['dial tcp 127.0.0.1:3306: connect: connection refused', 'MySQL at 127.0.0.1:3306'],
    [
      'redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.',
      'Redis at localhost:6379',
    ],
    [
      "HTTPConnectionPool(host='localhost', port=9200): Max retries exceeded (Errno 111)",
      'Elasticsearch at localhost:9200',
    ],
    ['localhost:27017: [Errno 111] Connection refused', 'MongoDB at localhost:27017'],
    ['Connection to localhost:5432 refused. Check that the hostname', 'PostgreSQL at localhost:5432'],
    ['connect ECONNREFUSED 127.0.0.1:8123', 'a service at 127.0.0.1:8123'],
    ['ConnectionRefusedError: [Errno 111] Connection refused', 'a service that refused the connection'],
    ['getaddrinfo EAI_AGAIN api.example.org', 'the network (api.example.org)'],
    ['Expected 2 to equal 3', null],
  ])('reads %j', (text, service) => {
    expect(serviceIn(text)).toBe(service);
  });
});

describe('neededService', () => {
  it('names what most of the failing tests need, and counts all that need something', () => {
    const refused = reportOf({ a: 'failed', b: 'failed', c: 'passed' }, 'completed', 'ECONNREFUSED 127.0.0.1:5432');
    const other = reportOf({ d: 'failed' }, 'completed', 'ECONNREFUSED 127.0.0.1:6379');
    const report = { ...refused, results: [...other.results, ...refused.results] };
    expect(neededService(report)).toEqual({ service: 'PostgreSQL at 127.0.0.1:5432', tests: 3 });
    expect(neededService(reportOf({ a: 'failed', b: 'passed' }))).toBeNull();
  });
});
